/** Probabilities as bars. A level is a button: press it to clamp the variable there, press again to free it. */

import type { Given, Level, Moved, Variable } from "./api";
import { allowed, clamped, isOrdered, only, toggled } from "./given";

export const percent = (p: number): string =>
  p >= 0.9995 && p < 1 ? "99.9+%" : p > 0 && p < 0.0005 ? "<0.1%" : `${(100 * p).toFixed(1)}%`;

/** × or ÷ a number of three digits, as the words have it. */
export const times = (ratio: number): string => {
  const size = Number((ratio < 1 ? 1 / ratio : ratio).toPrecision(3)), sign = ratio < 1 && size !== 1 ? "÷" : "×";
  return size > 1e6 ? `beyond ${sign}10^6` : sign + size.toLocaleString("en");
};

/** A change of a probability in percentage points. */
export const points = (change: number): string => {
  const size = Math.abs(100 * change).toFixed(1);
  return Number(size) === 0 ? size : (change > 0 ? "+" : "−") + size;
};

/** A range of the levels of an ordered variable. */
function Range({ variable, given, change }: { variable: Variable; given: Given; change: (given: Given) => void }) {
  const { name, levels } = variable, now = allowed(given, variable);
  const first = levels.indexOf(now[0]), last = levels.indexOf(now[now.length - 1]);
  const end = (label: string, value: number, set: (k: number) => void) => (
    <label>{label} <select aria-label={`${name} ${label}`} value={value} onChange={(e) => set(+(e.target as HTMLSelectElement).value)}>
      {levels.map((level, k) => <option value={k}>{String(level)}</option>)}</select></label>
  );
  const set = (a: number, b: number) => change(only(given, variable, levels.slice(Math.min(a, b), Math.max(a, b) + 1)));
  return <div class="range">{end("from", first, (k) => set(k, Math.max(k, last)))}{end("to", last, (k) => set(Math.min(first, k), k))}</div>;
}

export function Levels(props: { variable: Moved; given: Given; change: (given: Given) => void }) {
  const { variable, given, change } = props, { name, levels, now, prior } = variable;
  const own = given[name], left = allowed(given, variable);
  return (
    <>
      <div class="levels" role="group" aria-label={`levels of ${name}`}>
        {levels.map((level, k) => {
          const pressed = !Array.isArray(own) && own === level, out = !left.includes(level);
          return (
            <div class={out && Array.isArray(own) ? "choice out" : "choice"}>
              <button type="button" class="level" aria-pressed={pressed}
                title={`${name} = ${level}: ${percent(now[k])}, ${percent(prior[k])} when nothing is known`}
                onClick={() => change(clamped(given, name, pressed ? null : level as Level))}>
                <span class="fill" style={{ width: `${100 * now[k]}%` }} />
                <span class="was" style={{ left: `${100 * prior[k]}%` }} />
                <span class="text">{String(level)}</span>
                <span class="number">{percent(now[k])}</span>
              </button>
              {levels.length > 2 && (
                <button type="button" class="not" aria-pressed={out && own !== undefined} aria-label={`exclude ${name} = ${level}`}
                  title={out && own !== undefined ? "allow this level" : "exclude this level"} onClick={() => change(toggled(given, variable, level))}>≠</button>
              )}
            </div>
          );
        })}
      </div>
      {isOrdered(variable) && levels.length > 3 && <Range variable={variable} given={given} change={change} />}
    </>
  );
}

/** A strength as people read it, such as "~12.3 nats saved". */
export const amount = (strength: number, approximate: boolean): string =>
  `${approximate ? "~" : ""}${strength.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })}`;

export function Bar(props: { value: number; class?: string }) {
  return <span class={`bar ${props.class ?? ""}`}><span class="fill" style={{ width: `${100 * Math.min(Math.max(props.value, 0), 1)}%` }} /></span>;
}
