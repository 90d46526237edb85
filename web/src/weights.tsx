/** The weights of the basis. */

import type { Terms } from "./api";
import { amount, percent } from "./bars";
import { usePages } from "./pages";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

/** The weights of the basis, for those who compute with them. */
export function WeightsView(props: PanelProps) {
  const { pages, wrong, button } = usePages<Terms>(props, (offset) => props.ask.terms(props.model, offset), (p) => p.terms);
  const rows = pages.flatMap((page) => page.terms);
  const number = (x: number | null, digits: number) => (x === null ? "–" : x.toFixed(digits));
  const averaged = pages.length > 0 && pages[0].headings.includes("chosen");
  return (
    <section class="view" aria-label="Weights">
      <Wrong text={wrong} />
      {pages.length > 0 && <p class="hint">{pages[0].total > 0
        ? "The weights of the terms in the basis of the model, single columns among them. What variables do together is in the tab Interactions."
        : "This model has no weights of terms."}</p>}
      {rows.length > 0 && (
        <div class="scroll" tabindex={0}>
          <table class="interactions">
            <thead><tr>{pages[0].headings.map((text, k) => <th scope="col" class={k ? "n" : ""}>{text}</th>)}</tr></thead>
            <tbody>
              {rows.map((t) => (
                <tr><td>{t.words}</td><td class="n" data-label="order">{t.order}</td>{averaged && <td class="n" data-label="chosen">{percent(t.chosen)}</td>}
                  <td class="n" data-label="weight">{number(t.weight, 3)}</td>
                  <td class="n" data-label={averaged ? "spread" : "std. error"}>{number(t.standard_error, 3)}</td>
                  <td class="n" data-label="nats saved">{t.nats_saved === null ? "–" : amount(t.nats_saved, t.approximate)}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {button}
    </section>
  );
}
