/** What is known, and what follows for each variable. */

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Common, Given, Level, Variable } from "./api";
import { Levels } from "./bars";

const LISTED = 200;

/** The evidence with one variable clamped to a level, or free again. */
export const clamped = (given: Given, name: string, level: Level | null): Given => {
  const { [name]: _, ...rest } = given;
  return level === null ? rest : { ...rest, [name]: level };
};

/** The variables with their levels as bars; press a level to clamp it. */
export function EvidencePanel(props: Common & { change: (given: Given) => void; look?: (name: string) => void }) {
  const { ask, model, given, change, look, version, seen, failed } = props;
  const [search, setSearch] = useState("");
  const list = useAnswer((signal) => ask.variables(model, search, LISTED, signal), [model, search, version], failed, search ? 150 : 0);
  const variables: Variable[] = list.answer?.variables ?? [];
  const total = list.answer?.total ?? 0;
  const names = variables.map((v) => v.name);
  const found = useAnswer(() => (names.length ? ask.marginals(model, given, names) : null), [model, given, names, version], failed);
  const now = found.answer?.marginals ?? {};
  useEffect(() => setSearch(""), [model]);
  useEffect(() => { if (found.answer) seen(found.answer); }, [found.answer]);
  const known = Object.entries(given);
  return (
    <>
      <label class="search">Find a variable <input type="search" value={search} onInput={(e) => setSearch((e.target as HTMLInputElement).value)} /></label>
      <div class="given" aria-live="polite">
        {known.length === 0 ? <p>Press a level to clamp it: every bar then shows the probability given what is clamped, exact under the model. The thin line marks the probability when nothing is clamped.</p> : (
          <>
            {known.map(([name, level]) => (
              <button type="button" class="chip" onClick={() => change(clamped(given, name, null))} title={`unclamp ${name}`}>{name} = {String(level)} ×</button>
            ))}
            <button type="button" onClick={() => change({})}>Unclamp all</button>
            {found.answer && found.answer.log_prob !== null && <p>Probability of the clamped levels: {Math.exp(found.answer.log_prob).toPrecision(3)}</p>}
          </>
        )}
      </div>
      {(found.wrong || list.wrong) && <pre class="wrong" role="alert">{found.wrong || list.wrong}</pre>}
      <ul class="variables">
        {variables.map((v) => (
          <li>
            <div class="name"><span>{v.name}</span>
              {look && <button type="button" class="small" onClick={() => look(v.name)} aria-label={`show the neighbours of ${v.name} in the graph`}>neighbours</button>}</div>
            <Levels variable={v} now={now[v.name] ?? v.prior} given={given} clamp={(name, level) => change(clamped(given, name, level))} />
          </li>
        ))}
      </ul>
      {total > variables.length && <p>The first {variables.length} of {total.toLocaleString("en")}; search for others.</p>}
    </>
  );
}
