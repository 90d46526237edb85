/** What is known, and what follows for each variable. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Common, Given, Variable } from "./api";
import { Levels } from "./bars";
import { clamped, words } from "./given";
import { useSettings, type Settings } from "./state";
export { clamped } from "./given";

const LISTED = 200;

/** The variables with their levels as bars; press a level to clamp it. */
export function EvidencePanel(props: Common & { change: (given: Given) => void; look?: (name: string) => void; settings?: Settings }) {
  const { ask, model, given, change, look, version, seen, failed } = props;
  const { view, set } = useSettings(props.settings);
  const [search, setSearch] = useState("");
  const order = view.order === "changed" ? "changed" : "table";
  const { answer, wrong } = useAnswer(() => ask.consequences(model, given, { search, order, limit: LISTED }),
    [model, given, search, order, version], failed, search ? 150 : 0);
  const variables = answer?.variables ?? [], total = answer?.total ?? 0;
  const met = useRef(new Map<string, Variable>());
  for (const variable of variables) met.current.set(variable.name, variable);
  useEffect(() => setSearch(""), [model]);
  useEffect(() => { if (answer) seen(answer); }, [answer]);
  const known = Object.keys(given);
  return (
    <>
      <div class="row find">
        <label class="search">Find a variable <input type="search" value={search} onInput={(e) => setSearch((e.target as HTMLInputElement).value)} /></label>
        <label class="search">Order <select value={order} onChange={(e) => set({ order: (e.target as HTMLSelectElement).value === "changed" ? "changed" : "" })}>
          <option value="table">table</option><option value="changed">most changed</option></select></label>
      </div>
      <div class="given" aria-live="polite">
        {known.length === 0 ? <p>Press a level to clamp it: every bar then shows the probability given what is known, exact under the model. The thin line marks the probability when nothing is known. ≠ excludes a level.</p> : (
          <>
            {known.map((name) => (
              <button type="button" class="chip" onClick={() => change(clamped(given, name, null))} title={`forget ${name}`}>{words(given, name, met.current.get(name))} ×</button>
            ))}
            <button type="button" onClick={() => change({})}>Forget all</button>
            {answer && answer.log_prob !== null && <p>Probability of what is known: {Math.exp(answer.log_prob).toPrecision(3)}</p>}
          </>
        )}
      </div>
      {wrong && <pre class="wrong" role="alert">{wrong}</pre>}
      <ul class="variables">
        {variables.map((v) => (
          <li key={v.name}>
            <div class="name"><span>{v.name}</span>
              {known.length > 0 && !known.includes(v.name) && v.moved >= 0.0005 && <span class="moved" title="half the sum of the changes of its probabilities">{(100 * v.moved).toFixed(1)} points</span>}
              {look && <button type="button" class="small" onClick={() => look(v.name)} aria-label={`show the neighbours of ${v.name} in the graph`}>neighbours</button>}</div>
            <Levels variable={v} given={given} change={change} />
          </li>
        ))}
      </ul>
      {total > variables.length && <p>The first {variables.length} of {total.toLocaleString("en")}; search for others.</p>}
    </>
  );
}
