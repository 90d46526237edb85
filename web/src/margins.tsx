/** What if a column had other shares: its levels are dragged or typed, and all other columns move. */

import { useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Changed, Moved, Variable } from "./api";
import { percent, points } from "./bars";
import { saveTable } from "./saving";
import { useDrag, type PanelProps, type View } from "./state";
import { Wrong } from "./wrong";

type Margins = Record<string, number[]>;
const MOST = 6;

/** Shares from an address that someone may have cut or mistyped: what is none is left out. */
function shares(text: string | undefined): Margins {
  let found: unknown;
  try { found = JSON.parse(text ?? "{}"); } catch { return {}; }
  if (typeof found !== "object" || found === null) return {};
  const isShares = (v: unknown) => Array.isArray(v) && v.every((p) => typeof p === "number" && p >= 0) && v.some((p) => p > 0);
  return Object.fromEntries(Object.entries(found).filter(([, v]) => isShares(v)));
}

/** Shares in which one level has another one, and the others keep their ratios to each other. */
export function withShare(now: number[], at: number, share: number): number[] {
  const rest = now.reduce((sum, p, k) => (k === at ? sum : sum + p), 0);
  return now.map((p, k) => +(k === at ? share : rest > 0 ? (p * (1 - share)) / rest : (1 - share) / (now.length - 1)).toPrecision(6));
}

/** A column whose shares are changed: each level has a slider and a number. */
function Sliders(props: { variable: Variable; now: number[]; set: (now: number[], quiet: boolean) => void; drop: () => void }) {
  const { variable: { name, levels, prior }, now, set, drop } = props;
  const drag = useDrag(set);
  return (
    <fieldset>
      <legend>{name} <button type="button" class="small" onClick={drop} aria-label={`keep the shares of ${name}`}>keep as it was</button></legend>
      {levels.map((level, k) => (
        <label class="slider"><span>{String(level)}</span>
          <input type="range" min={0} max={1000} value={Math.round(1000 * now[k])} aria-label={`share of ${name} = ${level}`} aria-valuetext={percent(now[k])}
            onInput={(e) => drag.to(withShare(now, k, +(e.target as HTMLInputElement).value / 1000))} onChange={drag.end} />
          <input type="number" min={0} max={100} step={0.1} value={+(100 * now[k]).toFixed(1)} aria-label={`share of ${name} = ${level}, in percent`}
            onChange={(e) => set(withShare(now, k, Math.min(1, Math.max(0, +(e.target as HTMLInputElement).value / 100))), false)} />
          <span class="hint">% (was {percent(prior[k])})</span></label>
      ))}
    </fieldset>
  );
}

/** The levels of a column before and after. */
function MovedRows({ variable }: { variable: Moved }) {
  const { name, levels, prior, now } = variable;
  return (
    <>{levels.map((level, k) => (
      <tr class={k === 0 ? "first" : ""}>
        {k === 0 && <th scope="rowgroup" rowSpan={levels.length}>{name}</th>}
        <td>{String(level)}</td><td class="n">{percent(prior[k])}</td><td class="n">{percent(now[k])}</td>
        <td class="n">{points(now[k] - prior[k])}</td>
        <td class="wide"><span class="lane" aria-hidden="true"><span class="fill" style={{ width: `${100 * now[k]}%` }} /><span class="dot" style={{ left: `${100 * prior[k]}%` }} /></span></td>
      </tr>
    ))}</>
  );
}

const quotedArgument = (text: string) => `'${text.replace(/'/g, `'\\''`)}'`;

export function MarginsView(props: PanelProps) {
  const { ask, model, version, failed, view, change, variables } = props;
  const margins = shares(view.margins), named = Object.keys(margins);
  const [wanted, setWanted] = useState("");
  const { answer, wrong, isOld } = useAnswer<Changed>(() => ask.margins(model, margins, "", 100), [model, margins, version], failed, 20);
  const set = (next: Margins, quiet = false) => change({ view: { margins: Object.keys(next).length ? JSON.stringify(next) : "" } as View }, quiet);
  const of = new Map([...variables, ...(answer?.changed ?? [])].map((v) => [v.name, v]));
  const add = async (event: Event) => {
    event.preventDefault();
    const found = of.get(wanted) ?? (await ask.variables(model, wanted, 50)).variables.find((v) => v.name === wanted);
    if (found) { set({ ...margins, [found.name]: found.prior.map((p) => +p.toPrecision(6)) }); setWanted(""); }
  };
  const moving = answer?.variables.filter((v) => v.moved >= 0.00005) ?? [];
  const file = () => saveTable(`${model}-what-if`, ["variable", "level", "before", "after"],
    [...(answer?.changed ?? []), ...(answer?.variables ?? [])].flatMap((v) => v.levels.map((level, k) => [v.name, level, v.prior[k], v.now[k]])));
  const command = named.map((name) => `--margins ${quotedArgument(`${name}: ${of.get(name)?.levels.map((level, k) => `${level}=${margins[name][k]}`).join(", ") ?? ""}`)}`).join(" ");
  return (
    <>
      <p>Give a column other shares, and see all others follow. Everything conditional on the changed columns stays as it was: of all distributions with these shares, this is the nearest to the model. What is clamped is left out here.</p>
      {named.map((name) => {
        const variable = of.get(name);
        return variable && <Sliders variable={variable} now={margins[name]} set={(now, quiet) => set({ ...margins, [name]: now }, quiet)}
          drop={() => set(Object.fromEntries(Object.entries(margins).filter(([other]) => other !== name)))} />;
      })}
      {named.length < MOST && (
        <form class="row" onSubmit={add}>
          <label>Column <input list="columns" value={wanted} onInput={(e) => setWanted((e.target as HTMLInputElement).value)} /></label>
          <datalist id="columns">{variables.filter((v) => !named.includes(v.name)).map((v) => <option value={v.name} />)}</datalist>
          <button type="submit" class={named.length ? "" : "main"} disabled={!wanted}>Change its shares</button>
        </form>
      )}
      <Wrong text={wrong} />
      {named.length > 0 && answer && !wrong && (
        <>
          {moving.length > 0 && <><ul class="legend"><li><i class="model" /> after</li><li><i class="rows" /> before</li></ul>
          <div class="scroll" tabindex={0}>
            <table class="moved"><thead><tr><th scope="col">column</th><th scope="col">level</th><th scope="col" class="n">before</th><th scope="col" class="n">after</th><th scope="col" class="n">percentage points</th><td class="wide" /></tr></thead>
              <tbody>{moving.map((v) => <MovedRows key={v.name} variable={v} />)}</tbody></table>
          </div></>}
          {!moving.length && !isOld && <p>No other column moves.</p>}
          {answer.total > answer.variables.length && <p class="hint">The {answer.variables.length} columns that move most, of {answer.total.toLocaleString("en")}.</p>}
          <p class="row"><button type="button" onClick={file}>Save as CSV</button></p>
          <p class="hint">The same model as a file: <code>fullspan adjust {model}.fsm {command} -o changed.fsm</code></p>
        </>
      )}
    </>
  );
}
