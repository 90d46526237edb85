/** What the variables do together: the list that leads. */

import { useEffect, useState } from "preact/hooks";
import type { Interaction, Interactions, Listing } from "./api";
import { amount, Bar, percent, times } from "./bars";
import { EffectPanel } from "./effect";
import { kind, Sample } from "./graph";
import { usePages } from "./pages";
import { saveTable } from "./saving";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

const interval = (row: Interaction) => (row.low === null || row.high === null ? "–" : `${times(row.low)} to ${times(row.high)}`);
const same = (a: string[], b: string) => JSON.stringify([...a].sort()) === b;
const MOST_SAVED = 5000;

/** The heading of a column, which sorts by it: first the largest, or for words from A. */
function Sorted(props: { by: string; view: PanelProps["view"]; change: PanelProps["change"]; number?: boolean; children: preact.ComponentChildren }) {
  const { by, view, change } = props, now = (view.sort ?? "strength") === by;
  const first = by === "words" ? "up" : "down", turn = view.turn ?? (now && by === "words" ? "up" : "down");
  const next = now ? (turn === "down" ? "up" : "down") : first;
  return (
    <th scope="col" class={props.number ? "n" : ""} aria-sort={now ? (turn === "down" ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" onClick={() => change({ view: { sort: by === "strength" ? "" : by, turn: next === first ? "" : next } })}>{props.children}</button>
    </th>
  );
}

const listing = (view: PanelProps["view"]): Listing => {
  const sort = view.sort ?? "strength";
  const turn = view.turn ?? (sort === "words" ? "up" : "down");
  return { search: view.find ?? "", variable: view.variable ?? null, sort, descending: turn === "down" };
};

/** Search and filter; typing is one step that can be undone, however many letters it has. */
function Filters(props: PanelProps & { total: number | null; called: string; download: () => void }) {
  const { view, change, variables } = props;
  const [text, setText] = useState(view.find ?? "");
  useEffect(() => setText(view.find ?? ""), [view.find]);
  useEffect(() => {
    if (text === (view.find ?? "")) return;
    const timer = setTimeout(() => change({ view: { find: text } }, view.find !== undefined), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const names = variables.map((v) => v.name);
  return (
    <div class="row filters">
      <label>Search <input type="search" value={text} onInput={(e) => setText((e.target as HTMLInputElement).value)} /></label>
      <label>Variable <input type="search" list="of-variables" value={view.variable ?? ""} onChange={(e) => change({ view: { variable: (e.target as HTMLInputElement).value } })} /></label>
      <datalist id="of-variables">{names.map((name) => <option value={name} />)}</datalist>
      {props.total !== null && <span class="hint" role="status">{props.total.toLocaleString("en")} {props.called}{props.total === 1 ? "" : "s"}</span>}
      <button type="button" onClick={props.download}>Save as CSV</button>
    </div>
  );
}

/** What joins the variables: effect in words, interval, strength. Press one to see its effect. */
export function InteractionsView(props: PanelProps) {
  const { ask, model, view, change } = props, how = listing(view);
  const { pages, wrong, button } = usePages<Interactions>(props, (offset) => ask.interactions(model, offset, how), (p) => p.interactions, [how]);
  const [failure, setFailure] = useState("");
  const rows = pages.flatMap((page) => page.interactions), [page] = pages;
  const top = Math.max(page?.strongest ?? 0, 1e-9);
  const stated = rows.some((row) => row.low !== null), averaged = rows.some((row) => row.chosen !== 1);
  const filtered = how.search !== "" || how.variable !== null;
  const opened = view.effect ?? "";
  const open = (variables: string[]) => change({ view: { effect: same(variables, opened) ? "" : JSON.stringify([...variables].sort()) } });
  const listed = rows.some((row) => same(row.variables, opened));
  const look = (focus: string) => change({ tab: "Graph", view: { focus } });
  const download = async () => {
    const all: Interaction[] = [];
    for (;;) {
      const found = await ask.interactions(model, all.length, how, 200);
      all.push(...found.interactions);
      if (all.length >= Math.min(found.total, MOST_SAVED) || !found.interactions.length) break;
    }
    const head = ["variables", "words", "order", "kind", "ratio", "low", "high", page?.measure ?? "strength", "approximate", "chosen"];
    saveTable(`${model}-interactions`, head, all.map((r) => [r.variables.join(" "), r.words, r.order, r.kind, r.ratio, r.low, r.high, r.strength, r.approximate, r.chosen]));
  };
  const panel = (variables: string[]) => <EffectPanel {...props} variables={variables} open={open} look={look} />;
  const n = 4 + (averaged ? 1 : 0) + (stated ? 1 : 0);
  return (
    <section class="view" aria-label="Interactions">
      <Filters {...props} total={page?.total ?? null} called={page?.called ?? "interaction"} download={() => { download().catch((error) => setFailure(props.failed(error))); }} />
      <Wrong text={wrong || failure} />
      {page && <details class="hint"><summary>How to read this list</summary>{page.note}</details>}
      {page && !wrong && rows.length === 0 && <p>{filtered ? "None is like that." : "The model joins no variables: they are independent."}</p>}
      {opened && page && !listed && <div class="apart"><b>{(JSON.parse(opened) as string[]).join(", ")}</b> <button type="button" class="small" onClick={() => change({ view: { effect: "" } })}>close</button>{panel(JSON.parse(opened))}</div>}
      {rows.length > 0 && (
        <div class="scroll whole">
          <table class="interactions">
            <thead><tr><Sorted by="words" {...props}>{page.called}</Sorted><Sorted by="order" number {...props}>order</Sorted>
              {averaged && <Sorted by="chosen" number {...props}>chosen</Sorted>}
              {stated && <Sorted by="ratio" number {...props}>95 % interval</Sorted>}
              <Sorted by="strength" number {...props}>{page.measure}</Sorted><td class="wide" /></tr></thead>
            <tbody>
              {rows.map((row) => {
                const isOpen = same(row.variables, opened);
                return (
                  <>
                    <tr class={isOpen ? "opened" : ""}><td><button type="button" class="words" aria-expanded={isOpen} onClick={() => open(row.variables)}><Sample name={kind(row.direction)} /> <span>{row.words}</span></button></td>
                      <td class="n" data-label="order">{row.order}</td>
                      {averaged && <td class="n" data-label="chosen">{percent(row.chosen)}</td>}
                      {stated && <td class="n" data-label="95 % interval">{interval(row)}</td>}
                      <td class="n" data-label={page.measure}>{amount(row.strength, row.approximate)}</td><td class="wide"><Bar value={row.strength / top} /></td></tr>
                    {isOpen && <tr class="detail"><td colSpan={n}>{panel(row.variables)}</td></tr>}
                  </>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {button}
    </section>
  );
}

