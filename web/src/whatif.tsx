/** What if: a column had other shares, or one more column were known. */

import { useEffect, useState } from "preact/hooks";
import type { WhatIf } from "./api";
import { Bar, percent } from "./bars";
import { MarginsView } from "./margins";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

const QUESTIONS = [["", "a column had other shares"], ["known", "one more column were known"]];

/** One of two questions. */
export function WhatIfView(props: PanelProps) {
  const { view, change } = props, asked = view.if ?? "";
  return (
    <section class="view" aria-label="What if">
      <div class="row" role="group" aria-label="What if">
        <span>What if</span>
        {QUESTIONS.map(([key, words]) => <button type="button" aria-pressed={asked === key} onClick={() => change({ view: { if: key } })}>{words}</button>)}
      </div>
      {asked === "known" ? <KnownView {...props} /> : <MarginsView {...props} />}
    </section>
  );
}

/** How the distribution of a variable changes if one more is known. */
function KnownView(props: PanelProps) {
  const names = props.variables.map((v) => v.name);
  const chosen = props.view.target ?? "", setTarget = (target: string) => props.change({ view: { target } });
  const target = chosen || (names.find((name) => !(name in props.given)) ?? names[0] ?? "");
  const [table, setTable] = useState<WhatIf | null>(null);
  const [level, setLevel] = useState<number | null>(null);
  const [wrong, setWrong] = useState("");
  const key = JSON.stringify(props.given);
  useEffect(() => {
    if (!target) return;
    let current = true;
    props.ask.whatIf(props.model, target, props.given)
      .then((found) => { if (current) { setTable(found); setWrong(""); } })
      .catch((error) => { if (current) setWrong(props.failed(error)); });
    return () => { current = false; };
  }, [props.model, props.version, target, key]);
  const last = table ? Math.min(level ?? table.levels.length - 1, table.levels.length - 1) : 0;
  return (
    <>
      <div class="row">
        <label>Target <input list="targets" value={target} onChange={(e) => { setTarget((e.target as HTMLInputElement).value); setLevel(null); }} /></label>
        {table && <label>Level <select value={last} onChange={(e) => setLevel(+(e.target as HTMLSelectElement).value)}>
          {table.levels.map((l, k) => <option value={k}>{String(l)}</option>)}</select></label>}
      </div>
      <datalist id="targets">{names.map((name) => <option value={name} />)}</datalist>
      <Wrong text={wrong} />
      {table && !wrong && (
        <>
          <p>
            {table.target} is now {table.levels.map((l, k) => `${l} ${percent(table.now[k])}`).join(", ")}
            {Object.keys(props.given).some((name) => name !== table.target) && ", given what is clamped"}
            {table.target in props.given && "; its own clamp is left out here"}. The table shows the probability
            of {table.target} = {String(table.levels[last])} if one more variable is known. Variables that change the distribution
            of {table.target} most, on average, come first.
          </p>
          <div class="scroll" tabindex={0}>
            <table>
              <thead><tr><th scope="col">variable</th><th scope="col">level</th><th scope="col" class="n">probability of the level</th>
                <th scope="col" class="n">then P({table.target} = {String(table.levels[last])})</th><td /></tr></thead>
              <tbody>
                {table.rows.map((row) => row.levels.map((level, k) => (
                  <tr class={k === 0 ? "first" : ""}>
                    {k === 0 && <th scope="rowgroup" rowSpan={row.levels.length}>{row.variable}</th>}
                    <td>{String(level.level)}</td><td class="n">{percent(level.probability)}</td>
                    <td class="n">{percent(level.target[last])}</td><td class="wide"><Bar value={level.target[last]} /></td>
                  </tr>
                )))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}
