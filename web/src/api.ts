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
  n_interactions: number; called: string; n_rows: number; status: string;
}
export interface Variable { name: string; levels: Level[]; ordered: boolean; prior: number[] }
export interface Node extends Variable { degree: number }
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
}
export interface Interactions extends Answer { total: number; called: string; measure: string; note: string; interactions: Interaction[] }
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
export interface Samples extends Answer { variables: string[]; rows: Level[][] }

/** Carries a question to where models are open. */
export interface Transport {
  /** What a method of `Explorer` answers about a model. */
  call<T>(model: string, method: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<T>;
  models(): Promise<Model[]>;
}

/** Nobody answers at all, as opposed to answering that something is wrong. */
export class Gone extends Error {}

/** All that can be asked. */
export const questions = (to: Transport) => ({
  models: () => to.models(),
  variables: (model: string, search: string, limit: number, signal?: AbortSignal) =>
    to.call<Variables>(model, "variables", { search, limit }, signal),
  graph: (model: string, focus: string | null, radius: number) =>
    to.call<Graph>(model, "graph", { focus, radius, limit: 60 }),
  interactions: (model: string, offset: number) => to.call<Interactions>(model, "interactions", { offset, limit: 100 }),
  terms: (model: string, offset: number) => to.call<Terms>(model, "terms", { offset, limit: 100 }),
  marginals: (model: string, given: Given, variables: string[]) =>
    to.call<Marginals>(model, "distributions", { given, variables }),
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
