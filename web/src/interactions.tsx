/** What the variables do together: the list that leads. */

import type { Interactions } from "./api";
import { amount, Bar, percent } from "./bars";
import { kind, Sample } from "./graph";
import { usePages } from "./pages";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

/** × or ÷ a number of three digits, as the words have it. */
const times = (ratio: number): string => {
  const sign = ratio < 1 ? "÷" : "×", size = ratio < 1 ? 1 / ratio : ratio;
  return size > 1e6 ? `beyond ${sign}10^6` : sign + Number(size.toPrecision(3)).toLocaleString("en");
};

/** What joins the variables: effect in words, interval, strength. */
export function InteractionsView(props: PanelProps) {
  const { pages, wrong, button } = usePages<Interactions>(props, (offset) => props.ask.interactions(props.model, offset), (p) => p.interactions);
  const rows = pages.flatMap((page) => page.interactions);
  const top = Math.max(...rows.map((row) => row.strength), 1e-9);
  const stated = rows.some((row) => row.low !== null), averaged = rows.some((row) => row.chosen !== 1);
  return (
    <section class="view" aria-label="Interactions">
      <Wrong text={wrong} />
      {pages.length > 0 && <p class="hint">{pages[0].note}</p>}
      {pages.length > 0 && rows.length === 0 && <p>The model joins no variables: they are independent.</p>}
      {rows.length > 0 && (
        <div class="scroll" tabindex={0}>
          <table class="interactions">
            <thead><tr><th scope="col">{pages[0].called}</th><th scope="col" class="n">order</th>{averaged && <th scope="col" class="n">chosen</th>}
              {stated && <th scope="col" class="n">95 % interval</th>}<th scope="col" class="n">{pages[0].measure}</th><td /></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr><td><Sample name={kind(row.direction)} /> {row.words}</td><td class="n" data-label="order">{row.order}</td>
                  {averaged && <td class="n" data-label="chosen">{percent(row.chosen)}</td>}
                  {stated && <td class="n" data-label="95 % interval">{row.low === null || row.high === null ? "–" : `${times(row.low)} to ${times(row.high)}`}</td>}
                  <td class="n" data-label={pages[0].measure}>{amount(row.strength, row.approximate)}</td><td class="wide"><Bar value={row.strength / top} /></td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {button}
    </section>
  );
}
