/** One row, pasted or picked: how likely it is, which of its cells is odd, and what its empty cells may be. */

import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { OddCell, OddRow } from "./api";
import { Bar, percent } from "./bars";
import { saveTable } from "./saving";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

const HEAD = ["column", "is", "probability given the rest", "likeliest", "its probability", "gain in nats"];

/** How odd the row is, in words. */
function Words({ row }: { row: OddRow }) {
  const odd = row.cells[0], found = odd && odd.gain !== null && odd.gain > 0 ? odd : null;
  return (
    <>
      <p><strong>log-probability {(-row.score).toFixed(3).replace("-", "−")} nats.</strong> {percent(row.share)} (± {(100 * row.share_error).toFixed(1)}) of rows drawn from the model are at least as improbable in the same columns.</p>
      <p>{found ? <>Oddest cell: <b>{found.column} = {String(found.level)}</b>, of probability {percent(found.probability ?? 0)} given the rest; with {found.column} = {String(found.likeliest)} the row would
        be {Number(Math.exp(found.gain!).toPrecision(3)).toLocaleString("en")} times as probable.</> : "Every cell is the likeliest one given the rest."}</p>
    </>
  );
}

function Cells({ title, cells }: { title: string; cells: OddCell[] }) {
  if (!cells.length) return null;
  const empty = cells[0].level === null;
  return (
    <>
      <h3>{title}</h3>
      <div class="scroll" tabindex={0}>
        <table class="cells">
          <thead><tr><th scope="col">column</th>{!empty && <><th scope="col">is</th><th scope="col" class="n">probability given the rest</th></>}
            <th scope="col">likeliest</th><th scope="col" class="n">its probability</th>{!empty && <th scope="col" class="n">gain in nats</th>}<td class="wide" /></tr></thead>
          <tbody>{cells.map((cell) => (
            <tr><th scope="row">{cell.column}</th>{!empty && <><td>{String(cell.level)}</td><td class="n">{percent(cell.probability ?? 0)}</td></>}
              <td>{String(cell.likeliest)}</td><td class="n">{percent(cell.its_probability)}</td>{!empty && <td class="n">{(cell.gain ?? 0).toFixed(2)}</td>}
              <td class="wide"><Bar value={empty ? cell.its_probability : cell.probability ?? 0} /></td></tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

export function RowView(props: PanelProps) {
  const { ask, model, version, failed, view, change } = props;
  const [text, setText] = useState(view.row ?? "");
  const number = view.number ? Number(view.number) : null;
  const { answer, wrong } = useAnswer(() => (number !== null || view.row ? ask.row(model, number === null ? view.row! : "", number) : null),
    [model, view.row, number, version], failed);
  const shown = view.row || number !== null ? answer : null;
  useEffect(() => { setText(number === null ? view.row ?? "" : shown?.text ?? ""); }, [view.row, number, shown]);
  const about = props.models.find((m) => m.name === model), [first, second] = props.variables;
  const [seed, setSeed] = useState(1);
  const draw = () => ask.sample(model, 1, seed, props.given).then((found) => {
    setSeed(seed + 1);
    change({ view: { number: "", row: found.variables.map((name, k) => cellText(`${name}=${found.rows[0][k]}`)).join(", ") } });
  }).catch(() => undefined);
  return (
    <section class="view" aria-label="Row">
      <form onSubmit={(event) => { event.preventDefault(); change({ view: { row: text.trim(), number: "" } }); }}>
        <label>Row <textarea rows={3} value={text} placeholder={first && second ? `${first.name}=${first.levels[0]}, ${second.name}=${second.levels[0]}` : ""}
          onInput={(e) => setText((e.target as HTMLTextAreaElement).value)} /></label>
        <p class="hint">Paste cells with their names, as above, a line of a CSV file in the order of the columns, or a header and a line. Columns that are left out, and empty cells, are imputed.</p>
        <p class="row"><button type="submit" class="main" disabled={!text.trim()}>Look at this row</button>
          <button type="button" onClick={draw}>Draw one from the model</button>
          {shown && <button type="button" onClick={() => saveTable(`${model}-row`, HEAD, shown.cells.map((c) => [c.column, c.level, c.probability, c.likeliest, c.its_probability, c.gain]))}>Save as CSV</button>}</p>
      </form>
      {about?.data && <p class="row"><label>Row <input type="number" min={1} value={number ?? ""} onChange={(e) => change({ view: { number: (e.target as HTMLInputElement).value, row: "" } })} /> of {about.data.replace(/^[\d,.e+]+ rows of /, "")}</label></p>}
      <Wrong text={wrong} />
      {shown && !wrong && (
        <>
          <Words row={shown} />
          <Cells title="Cells, the oddest first" cells={shown.cells.filter((c) => c.level !== null)} />
          <Cells title="Empty cells, imputed" cells={shown.cells.filter((c) => c.level === null)} />
        </>
      )}
    </section>
  );
}

/** A cell as the server reads it: with quotes where it has a separator. */
const cellText = (text: string) => (/[",;\t]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
