/**
 * Questions about models, and their answers; the shapes are those of /api/openapi.json.
 *
 * Components are given `Questions`, and never ask who carries them: the page has HTTP (http.ts), a notebook has messages to
 * its kernel. A transport calls a method of the server's `Explorer` by name, with named arguments.
 */

export type Level = string | number | boolean;
/** What is known: a level, or levels any of which may hold, by variable. */
export type Given = Record<string, Level | Level[]>;
export interface Answer { version: string; stale: string | null }
export interface Model extends Answer {
  name: string; kind: string; n_variables: number; log2_states: number; n_terms: number;
  n_interactions: number; called: string; n_rows: number; status: string; data: string;
}
export interface Variable { name: string; levels: Level[]; ordered: boolean; prior: number[] }
export interface Node extends Variable { degree: number; community: number }
export interface Variables extends Answer { total: number; variables: Variable[] }
interface Link { strength: number; approximate: boolean; words: string; kind: string | null }
export interface Edge extends Link { a: string; b: string; direction: number }
export interface Group extends Link { members: string[] }
export interface Graph extends Answer {
  nodes: Node[]; edges: Edge[]; groups: Group[]; total_edges: number; total_groups: number; total_nodes: number; total_interactions: number;
  measure: string;
}
export interface Interaction extends Link {
  variables: string[]; order: number; nats_saved: number | null; events: string[]; ratio: number | null;
  low: number | null; high: number | null; smallest: number | null; largest: number | null; direction: number; chosen: number;
  within: string[][]; weak: boolean;
}
export interface Interactions extends Answer { total: number; strongest: number; called: string; measure: string; note: string; interactions: Interaction[] }
export interface Term {
  words: string; variables: string[]; order: number;
  weight: number | null; standard_error: number | null; nats_saved: number | null; approximate: boolean; chosen: number;
}
export interface Terms extends Answer { total: number; headings: string[]; terms: Term[] }
export interface Marginals extends Answer { log_prob: number | null; marginals: Record<string, number[]> }
export interface Reply extends Answer {
  probability: number | null; nats: number | null; variables: string[]; rows: { levels: Level[]; probability: number }[]; notes: string[];
}
export interface WhatIf extends Answer {
  target: string; levels: Level[]; now: number[];
  rows: { variable: string; moves: number; levels: { level: Level; probability: number; target: number[] }[] }[];
}
/** A variable with its distribution now, and how far it moved (total variation). */
export interface Moved extends Variable { now: number[]; moved: number }
export interface Consequences extends Answer { log_prob: number | null; total: number; variables: Moved[] }
export interface Changed extends Answer { total: number; changed: Moved[]; variables: Moved[] }
export interface Compared extends Variable { now: number[]; other: number[] }
export interface Comparison extends Answer { other: string; total: number; variables: Compared[] }
export interface Comparable extends Answer { models: { name: string; n_common: number }[] }
export interface Shares {
  title: string; heading: string; columns: string[]; left_out: string;
  rows: { label: string; model: number[]; data: (number | null)[]; low: (number | null)[]; high: (number | null)[]; n: number | null }[];
}
export interface Effect extends Answer {
  interaction: Interaction; measure: string; shares: Shares; about_rows: string; others: Interaction[];
  effects: { events: string[]; words: string; ratio: number | null; low: number | null; high: number | null }[];
}
export interface OddCell {
  column: string; level: Level | null; probability: number | null; likeliest: Level; its_probability: number; gain: number | null;
}
export interface OddRow extends Answer { score: number; share: number; share_error: number; cells: OddCell[]; text: string; n_rows: number }
export interface Samples extends Answer { variables: string[]; rows: Level[][] }

/** Carries a question to where models are open. */
export interface Transport {
  /** What a method of `Explorer` answers about a model. */
  call<T>(model: string, method: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<T>;
  models(): Promise<Model[]>;
}

/** Which interactions, in which order. */
export interface Listing { search: string; variable: string | null; sort: string; descending: boolean }

/** Nobody answers at all, as opposed to answering that something is wrong. */
export class Gone extends Error {}

/** All that can be asked. */
export const questions = (to: Transport) => ({
  models: () => to.models(),
  variables: (model: string, search: string, limit: number, signal?: AbortSignal) =>
    to.call<Variables>(model, "variables", { search, limit }, signal),
  graph: (model: string, focus: string | null, radius: number) =>
    to.call<Graph>(model, "graph", { focus, radius, limit: focus === null ? 500 : 80 }),
  interactions: (model: string, offset: number, how: Partial<Listing> = {}, limit = 100) =>
    to.call<Interactions>(model, "interactions", { offset, limit, ...how }),
  effect: (model: string, variables: string[]) => to.call<Effect>(model, "effect", { variables }),
  terms: (model: string, offset: number) => to.call<Terms>(model, "terms", { offset, limit: 100 }),
  marginals: (model: string, given: Given, variables: string[]) =>
    to.call<Marginals>(model, "distributions", { given, variables }),
  consequences: (model: string, given: Given, how: { search: string; order: "table" | "changed"; limit: number }) =>
    to.call<Consequences>(model, "consequences", { given, ...how }),
  margins: (model: string, margins: Record<string, number[]>, search: string, limit: number) =>
    to.call<Changed>(model, "margins", { margins, search, limit }),
  comparable: (model: string) => to.call<Comparable>(model, "comparable", {}),
  compare: (model: string, other: string, given: Given) => to.call<Comparison>(model, "compare", { other, given, limit: 200 }),
  row: (model: string, text: string, number: number | null) => to.call<OddRow>(model, "row", { text, number }),
  query: (model: string, text: string, given: Given) => to.call<Reply>(model, "ask", { text, given }),
  whatIf: (model: string, target: string, given: Given) => to.call<WhatIf>(model, "what_if", { target, given, limit: 30 }),
  sample: (model: string, n: number, seed: number | null, given: Given) =>
    to.call<Samples>(model, "sample", { n, seed, given }),
});
export type Questions = ReturnType<typeof questions>;

/** What every view of a model is given. */
export interface Common {
  ask: Questions; model: string; given: Given;
  /** Changes when the model has to be asked again. */
  version: string;
  /** Told of every answer: its version of the model, and whether that is out of date. */
  seen: (answer: Answer) => void;
  /** What to show for an error. */
  failed: (error: unknown) => string;
}
