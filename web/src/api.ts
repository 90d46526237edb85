/** Questions to the server, and what it answers; the shapes are those of /api/openapi.json. */

export type Level = string | number | boolean;
export type Given = Record<string, Level>;
export interface Answer { version: string; stale: string | null }
export interface Model extends Answer {
  name: string; kind: string; n_variables: number; log2_states: number; n_terms: number;
  n_interactions: number; called: string; n_rows: number; status: string;
}
export interface Variable { name: string; levels: Level[]; prior: number[] }
export interface Variables extends Answer { total: number; variables: Variable[] }
interface Link { strength: number; approximate: boolean; words: string; kind: string | null }
export interface Edge extends Link { a: string; b: string; direction: number }
export interface Group extends Link { members: string[] }
export interface Graph extends Answer {
  nodes: { name: string; degree: number }[]; edges: Edge[]; groups: Group[]; total_edges: number; total_groups: number; total_nodes: number; total_interactions: number;
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
  probability: number | null; nats: number | null; variables: string[]; rows: { levels: Level[]; probability: number }[];
}
export interface WhatIf extends Answer {
  target: string; levels: Level[]; now: number[];
  rows: { variable: string; moves: number; levels: { level: Level; probability: number; target: number[] }[] }[];
}
export interface Samples extends Answer { variables: string[]; rows: Level[][] }

/** The server does not answer at all, as opposed to answering that something is wrong. */
export class Gone extends Error {}

const TOKEN = "fullspan-token";

/** The token comes in the address once, and is then kept for this tab alone. */
export function takeToken(): void {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(TOKEN, decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname);
  }
}

async function request<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = {};
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers["authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(`api/${path}`, {
      method: body === undefined ? "GET" : "POST", headers, signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Gone("the server does not answer");
  }
  const answer = await response.json().catch((error) => {
    if (!response.ok) return { detail: response.statusText };
    throw signal?.aborted ? error : new Gone("the server's answer breaks off");  // never half an answer as a whole one
  });
  if (!response.ok) throw new Error(answer.detail ?? response.statusText);
  return answer as T;
}

const of = (model: string) => `models/${encodeURIComponent(model)}`;

export const ask = {
  models: () => request<{ models: Model[] }>("models").then((answer) => answer.models),
  variables: (model: string, search: string, limit: number, signal?: AbortSignal) =>
    request<Variables>(`${of(model)}/variables?search=${encodeURIComponent(search)}&limit=${limit}`, undefined, signal),
  graph: (model: string, focus: string | null, radius: number) =>
    request<Graph>(`${of(model)}/graph?radius=${radius}&limit=60${focus === null ? "" : `&focus=${encodeURIComponent(focus)}`}`),
  interactions: (model: string, offset: number) => request<Interactions>(`${of(model)}/interactions?offset=${offset}&limit=100`),
  terms: (model: string, offset: number) => request<Terms>(`${of(model)}/terms?offset=${offset}&limit=100`),
  marginals: (model: string, given: Given, variables: string[]) =>
    request<Marginals>(`${of(model)}/marginals`, { given, variables }),
  query: (model: string, text: string, given: Given) => request<Reply>(`${of(model)}/query`, { text, given }),
  whatIf: (model: string, target: string, given: Given) =>
    request<WhatIf>(`${of(model)}/what-if`, { target, given, limit: 30 }),
  sample: (model: string, n: number, seed: number | null, given: Given) =>
    request<Samples>(`${of(model)}/sample`, { n, seed, given }),
  description: () => request<any>("openapi.json"),
};
