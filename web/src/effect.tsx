/** One interaction: its shares as bars with the rows next to them, its effects with intervals, and who else is involved. */

import { useAnswer } from "./answers";
import type { Common, Effect, Interaction, Shares } from "./api";
import { amount, percent, times } from "./bars";
import { Wrong } from "./wrong";

/** The share of every level in each state of the others: the model as a bar, the rows as a dot with its 95 % interval. */
function ShareBars({ shares }: { shares: Shares }) {
  const seen = shares.rows.some((row) => row.n !== null);
  return (
    <>
      <h3>{shares.title}</h3>
      <ul class="legend">
        <li><i class="model" /> model</li>
        {seen && <li><i class="rows" /> rows, with 95 % interval</li>}
      </ul>
      <table class="shares">
        <thead><tr><th scope="col">{shares.heading}</th>{shares.columns.length > 1 && <th scope="col">level</th>}<th class="track" scope="col"><span class="unseen">chart</span></th>
          <th scope="col" class="n">model</th>{seen && <><th scope="col" class="n">rows</th><th scope="col" class="n">out of</th></>}</tr></thead>
        <tbody>
          {shares.rows.map((row) => shares.columns.map((column, k) => {
            const { low, high, data } = { low: row.low[k], high: row.high[k], data: row.data[k] };
            return (
              <tr class={k === 0 ? "first" : ""}>
                {k === 0 && <th scope="rowgroup" rowSpan={shares.columns.length}>{row.label}</th>}
                {shares.columns.length > 1 && <td>{column}</td>}
                <td class="track"><span class="lane" aria-hidden="true">
                  <span class="fill" style={{ width: `${100 * row.model[k]}%` }} />
                  {low !== null && high !== null && <span class="range" style={{ left: `${100 * low}%`, width: `${100 * (high - low)}%` }} />}
                  {data !== null && <span class="dot" style={{ left: `${100 * data}%` }} />}
                </span></td>
                <td class="n">{percent(row.model[k])}</td>
                {seen && <><td class="n">{data === null ? "–" : percent(data)}</td><td class="n">{k === 0 ? row.n?.toLocaleString("en") : ""}</td></>}
              </tr>
            );
          }))}
        </tbody>
      </table>
      {shares.left_out && <p class="hint">Shown: {shares.left_out}.</p>}
    </>
  );
}

const WIDE = 420, HIGH = 30;
/** Ratios beyond it stand at the end of the axis; their words say "beyond" too. */
const MOST = 1e6;

/** Odds ratios or cell ratios with their 95 % intervals, on a logarithmic axis. */
function Ratios({ found }: { found: Effect }) {
  const rows = found.effects.filter((e) => e.ratio !== null && e.ratio > 0);
  if (!rows.length) return null;
  const ends = rows.flatMap((e) => [e.ratio!, e.low ?? e.ratio!, e.high ?? e.ratio!]).map((x) => Math.min(Math.max(x, 1 / MOST), MOST));
  const span = Math.max(...ends.map((x) => Math.abs(Math.log(x))), 0.3) * 1.1;
  const at = (x: number) => WIDE * (0.5 + (0.5 * Math.log(Math.min(Math.max(x, 1 / MOST), MOST))) / span);
  const far = Math.exp(span / 1.1);
  const stated = rows.some((e) => e.low !== null);
  const what = found.interaction.kind === "odds ratio" ? "Odds ratio, all other variables held fixed" : "How many times as frequent as smaller sets of variables make it";
  return (
    <>
      <h3>{what}{stated && ", with 95 % interval"}</h3>
      {rows.map((e) => (
        <div class="ratio">
          <span>{e.words}{e.low !== null && e.high !== null && ` (${times(e.low)} to ${times(e.high)})`}</span>
          <svg viewBox={`0 0 ${WIDE} ${HIGH}`} aria-hidden="true">
            <line class="axis" x1={0} x2={WIDE} y1={HIGH / 2} y2={HIGH / 2} />
            <line class="one" x1={WIDE / 2} x2={WIDE / 2} y1={2} y2={HIGH - 2} />
            {e.low !== null && e.high !== null && <line class="range" x1={at(e.low)} x2={at(e.high)} y1={HIGH / 2} y2={HIGH / 2} />}
            <circle class={e.ratio! >= 1 ? "with" : "against"} cx={at(e.ratio!)} cy={HIGH / 2} r={6} />
          </svg>
        </div>
      ))}
      <div class="ratio scale" aria-hidden="true"><span><span>{times(1 / far)}</span><span>×1</span><span>{times(far)}</span></span></div>
    </>
  );
}

/** Everything about one interaction. */
export function EffectPanel(props: Common & { variables: string[]; open: (variables: string[]) => void; look?: (name: string) => void }) {
  const { ask, model, variables, version, failed, open, look } = props;
  const { answer, wrong } = useAnswer(() => ask.effect(model, variables), [model, variables, version], failed);
  if (!answer || wrong) return wrong ? <Wrong text={wrong} /> : <p class="hint">…</p>;
  const { interaction, others } = answer;
  const involved = (row: Interaction) => (
    <li><button type="button" class="link" onClick={() => open(row.variables)}>{row.words}</button> <span class="hint">{answer.measure} {amount(row.strength, row.approximate)}</span></li>
  );
  return (
    <div class="effect">
      <ShareBars shares={answer.shares} />
      <p class="hint">{answer.about_rows}</p>
      <Ratios found={answer} />
      {interaction.smallest !== null && interaction.largest !== null && interaction.smallest !== interaction.largest && (
        <p>The odds ratio depends on other variables: from {times(interaction.smallest)} to {times(interaction.largest)} over their levels.</p>)}
      <h3>Who else is involved</h3>
      {interaction.within.length > 0 && <>
        <p>{interaction.within.length === 1 ? "A larger interaction contains" : `${interaction.within.length} larger interactions contain`} this one:</p>
        <ul class="others">{interaction.within.map((names) => <li><button type="button" class="link" onClick={() => open(names)}>{names.join(", ")}</button></li>)}</ul>
        {others.length > 0 && <p>Others share a variable with it:</p>}</>}
      {others.length ? <ul class="others">{others.map(involved)}</ul> : interaction.within.length === 0 && <p>No other interaction has one of these variables.</p>}
      {look && <p class="row">{variables.map((name) => <button type="button" onClick={() => look(name)}>{name} in the graph</button>)}</p>}
    </div>
  );
}
