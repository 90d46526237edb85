/** Two models, given the same. */

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Marginals } from "./api";
import { Bar, percent } from "./bars";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

/** Two models side by side, given the same. */
export function CompareView(props: PanelProps) {
  const others = props.models.filter((m) => m.name !== props.model);
  const names = props.variables.map((v) => v.name);
  const own = useAnswer(() => (names.length ? props.ask.marginals(props.model, props.given, names) : null),
    [props.model, props.given, names, props.version], props.failed).answer?.marginals ?? {};
  const [second, setSecond] = useState(others[0]?.name ?? "");
  const [found, setFound] = useState<Marginals | null>(null);
  const [wrong, setWrong] = useState("");
  const key = JSON.stringify([props.given, names]);
  useEffect(() => {
    if (!second) return;
    let current = true;
    props.ask.marginals(second, props.given, names)
      .then((answer) => { if (current) { setFound(answer); setWrong(""); } })
      .catch((error) => { if (current) { setFound(null); setWrong(props.failed(error)); } });
    return () => { current = false; };
  }, [second, key, props.version]);
  if (!others.length) return <section class="view"><p>Serve several models to compare them: <code>fullspan serve a.fsm b.fsm</code></p></section>;
  const rows = props.variables.flatMap((v) => {
    const other = found?.marginals[v.name];
    if (!other || other.length !== v.levels.length) return [];
    return v.levels.map((level, k) => ({ name: v.name, level, a: (own[v.name] ?? v.prior)[k], b: other[k] })).slice(v.levels.length === 2 ? 1 : 0);
  }).sort((x, y) => Math.abs(y.a - y.b) - Math.abs(x.a - x.b)).slice(0, 100);
  return (
    <section class="view" aria-label="Compare">
      <label>Compare {props.model} with <select value={second} onChange={(e) => setSecond((e.target as HTMLSelectElement).value)}>
        {others.map((m) => <option value={m.name}>{m.name}</option>)}</select></label>
      <Wrong text={wrong} />
      {found && (
        <div class="scroll" tabindex={0}>
          <table>
            <thead><tr><th scope="col">level</th><th scope="col" class="n">{props.model}</th><th scope="col" class="n">{second}</th>
              <th scope="col" class="n">{second} − {props.model}, percentage points</th><th scope="col" class="wide">{props.model} above, {second} below</th></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr>
                  <td>{row.name} = {String(row.level)}</td><td class="n">{percent(row.a)}</td><td class="n">{percent(row.b)}</td>
                  <td class="n">{(100 * (row.b - row.a)).toFixed(1)}</td>
                  <td class="wide"><Bar value={row.a} /><Bar value={row.b} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
