/** Rows drawn from the model. */

import { useState } from "preact/hooks";
import type { Samples } from "./api";
import { sampleFile } from "./http";
import { save } from "./saving";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

/** Rows drawn from the model, given what is clamped. */
export function SampleView(props: PanelProps) {
  const [n, setN] = useState(10);
  const [seed, setSeed] = useState(1);
  const [rows, setRows] = useState<Samples | null>(null);
  const [wrong, setWrong] = useState("");
  const draw = (event: Event) => {
    event.preventDefault();
    props.ask.sample(props.model, n, seed, props.given)
      .then((found) => { setRows(found); setWrong(""); setSeed(seed + 1); })
      .catch((error) => setWrong(props.failed(error)));
  };
  const download = (kind: "csv" | "parquet") => sampleFile(props.model, kind, n, seed, props.given)
    .then((content) => { save(`${props.model}-sample.${kind}`, content); setWrong(""); })
    .catch((error) => setWrong(props.failed(error)));
  return (
    <section class="view" aria-label="Samples">
      <form class="row" onSubmit={draw}>
        <label>Rows <input type="number" min={1} max={1000000} value={n} onInput={(e) => setN(+(e.target as HTMLInputElement).value)} /></label>
        <label>Seed <input type="number" min={0} value={seed} onInput={(e) => setSeed(+(e.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="main" disabled={n > 1000}>Draw</button>
        <button type="button" onClick={() => download("csv")}>Save as CSV</button>
        <button type="button" onClick={() => download("parquet")}>Save as Parquet</button>
      </form>
      <p>Independent rows drawn from the model{Object.keys(props.given).length ? ", given what is known" : ""}: up to 1,000 on the page, up to a million in a file.</p>
      <Wrong text={wrong} />
      {rows && (
        <div class="scroll" tabindex={0}>
          <table>
            <thead><tr>{rows.variables.slice(0, 60).map((v) => <th scope="col" class={v in props.given ? "clamped" : ""}>{v}</th>)}</tr></thead>
            <tbody>{rows.rows.map((row) => <tr>{row.slice(0, 60).map((cell) => <td>{String(cell)}</td>)}</tr>)}</tbody>
          </table>
          {rows.variables.length > 60 && <p>The first 60 of {rows.variables.length} variables.</p>}
        </div>
      )}
    </section>
  );
}
