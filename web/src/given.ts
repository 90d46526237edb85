/** Evidence: a level, levels any of which may hold, or a range of an ordered variable; and how people read it. */

import type { Given, Level, Variable } from "./api";

/** Whether the levels of a variable have an order: those of an ordered category, and numbers. */
export const isOrdered = (variable: Variable) => variable.ordered || variable.levels.every((level) => typeof level === "number");

/** The levels that evidence allows of a variable. */
export const allowed = (given: Given, variable: Variable): Level[] => {
  const own = given[variable.name];
  return own === undefined ? variable.levels : Array.isArray(own) ? variable.levels.filter((level) => own.includes(level)) : [own];
};

/** The evidence with one variable clamped to a level, or free again. */
export const clamped = (given: Given, name: string, level: Level | null): Given => {
  const { [name]: _, ...rest } = given;
  return level === null ? rest : { ...rest, [name]: level };
};

/** The evidence with some levels of a variable left: all of them mean that nothing is known, one that it is clamped. */
export const only = (given: Given, variable: Variable, levels: Level[]): Given => {
  const { [variable.name]: _, ...rest } = given;
  const kept = variable.levels.filter((level) => levels.includes(level));
  if (kept.length === 0 || kept.length === variable.levels.length) return rest;
  return { ...rest, [variable.name]: kept.length === 1 ? kept[0] : kept };
};

/** Exclude a level, or allow it again. The last one that is left stays. */
export const toggled = (given: Given, variable: Variable, level: Level): Given => {
  const now = allowed(given, variable);
  if (now.length === 1 && now[0] === level) return given;
  return only(given, variable, now.includes(level) ? now.filter((l) => l !== level) : [...now, level]);
};

/** What is known of one variable, in words: `age = 30`, `age from 30 to 45`, `party ≠ other`. */
export function words(given: Given, name: string, variable?: Variable): string {
  const own = given[name];
  if (!Array.isArray(own)) return `${name} = ${own}`;
  if (!variable) return `${name} = ${own.join(" or ")}`;
  const at = own.map((level) => variable.levels.indexOf(level)).sort((a, b) => a - b);
  const whole = at.every((k, i) => i === 0 || k === at[i - 1] + 1);
  if (isOrdered(variable) && whole && own.length > 1) return `${name} from ${variable.levels[at[0]]} to ${variable.levels[at[at.length - 1]]}`;
  const excluded = variable.levels.filter((level) => !own.includes(level));
  return excluded.length < own.length ? `${name} ≠ ${excluded.join(", ")}` : `${name} = ${own.join(" or ")}`;
}
