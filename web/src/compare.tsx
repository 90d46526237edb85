/** Two models, given the same, in the columns that they have in common. */

import { useAnswer } from "./answers";
import { Bar, percent, points } from "./bars";
import { saveTable } from "./saving";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

/** This model in blue, the other one in orange; the columns in which they differ most come first. */
export function CompareView(props: PanelProps) {
  const { ask, model, given, version, failed, view, change } = props;
  const others = useAnswer(() => ask.comparable(model), [model, version, props.models.length], failed);
  const known = others.answer?.models ?? [], second = known.some((m) => m.name === view.with) ? view.with : known[0]?.name ?? "";
  const { answer, wrong } = useAnswer(() => (second ? ask.compare(model, second, given) : null), [model, second, given, version], failed);
  if (others.answer && !known.length) return (
    <section class="view" aria-label="Compare">
      <p>{props.models.length > 1 ? "No other model has a column of the same name and levels as this one." : <>Serve several models of the same columns to compare them: <code>fullspan serve a.fsm b.fsm</code></>}</p>
    </section>
  );
  const rows = (answer?.variables ?? []).flatMap((v) => v.levels.map((level, k) => ({ name: v.name, level, a: v.now[k], b: v.other[k] })).slice(v.levels.length === 2 ? 1 : 0));
  return (
    <section class="view" aria-label="Compare">
      <div class="row">
        <label>Compare {model} with <select value={second} onChange={(e) => change({ view: { with: (e.target as HTMLSelectElement).value } })}>
          {known.map((m) => <option value={m.name}>{m.name} ({m.n_common} common {m.n_common === 1 ? "column" : "columns"})</option>)}</select></label>
        <button type="button" onClick={() => saveTable(`${model}-${second}`, ["variable", "level", model, second], rows.map((r) => [r.name, r.level, r.a, r.b]))}>Save as CSV</button>
      </div>
      <Wrong text={others.wrong || wrong} />
      {answer && !wrong && (
        <>
          <ul class="legend"><li><i class="first" /> {model}</li><li><i class="second" /> {second}</li></ul>
          <div class="scroll" tabindex={0}>
            <table>
              <thead><tr><th scope="col">level</th><th scope="col" class="n">{model}</th><th scope="col" class="n">{second}</th>
                <th scope="col" class="n">percentage points</th><td class="wide" /></tr></thead>
              <tbody>
                {rows.map((row) => (
                  <tr>
                    <td>{row.name} = {String(row.level)}</td><td class="n">{percent(row.a)}</td><td class="n">{percent(row.b)}</td>
                    <td class="n">{points(row.b - row.a)}</td>
                    <td class="wide"><Bar value={row.a} /><Bar value={row.b} class="second" /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {answer.total > answer.variables.length && <p class="hint">The {answer.variables.length} columns that differ most, of {answer.total.toLocaleString("en")}.</p>}
        </>
      )}
    </section>
  );
}
