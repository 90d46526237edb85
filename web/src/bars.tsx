/** Probabilities as bars. A level is a button: press it to clamp the variable there, press again to free it. */

import type { Given, Level, Variable } from "./api";

export const percent = (p: number): string =>
  p >= 0.9995 && p < 1 ? "99.9+%" : p > 0 && p < 0.0005 ? "<0.1%" : `${(100 * p).toFixed(1)}%`;

export function Levels(props: {
  variable: Variable; now: number[]; given: Given; clamp: (name: string, level: Level | null) => void;
}) {
  const { variable, now, given, clamp } = props;
  return (
    <div class="levels" role="group" aria-label={`levels of ${variable.name}`}>
      {variable.levels.map((level, k) => {
        const pressed = given[variable.name] === level;
        return (
          <button type="button" class="level" aria-pressed={pressed}
            title={`${variable.name} = ${level}: ${percent(now[k])}, ${percent(variable.prior[k])} when nothing is clamped`}
            onClick={() => clamp(variable.name, pressed ? null : level)}>
            <span class="fill" style={{ width: `${100 * now[k]}%` }} />
            <span class="was" style={{ left: `${100 * variable.prior[k]}%` }} />
            <span class="text">{String(level)}</span>
            <span class="number">{percent(now[k])}</span>
          </button>
        );
      })}
    </div>
  );
}

/** A strength as people read it, such as "~12.3 nats saved". */
export const amount = (strength: number, approximate: boolean): string =>
  `${approximate ? "~" : ""}${strength.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })}`;

export function Bar(props: { value: number }) {
  return <span class="bar"><span class="fill" style={{ width: `${100 * Math.min(Math.max(props.value, 0), 1)}%` }} /></span>;
}
