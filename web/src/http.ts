/** Questions by HTTP, as the page asks its server. */

import { Gone, type Model, type Transport } from "./api";

const TOKEN = "fullspan-token";

/** The token comes in the address once, and is then kept for this tab alone. */
export function takeToken(): void {
  const said = new URLSearchParams(location.hash.slice(1)), token = said.get("token");
  if (token === null) return;
  sessionStorage.setItem(TOKEN, token);
  said.delete("token");
  history.replaceState(null, "", location.pathname + (said.size ? `#${said}` : ""));
}

/** Whatever the server answers to a request; a body is JSON, or a file with its type. */
async function reply(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  const token = sessionStorage.getItem(TOKEN), file = body instanceof Blob ? body : null;
  if (token) headers["authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = file ? file.type : "application/json";
  try {
    return await fetch(`api/${path}`, {
      method: body === undefined ? "GET" : "POST", headers, signal,
      body: body === undefined ? undefined : file ?? JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Gone("the server does not answer");
  }
}

async function request<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await reply(path, body, signal);
  const answer = await response.json().catch((error) => {
    if (!response.ok) return { detail: response.statusText };
    throw signal?.aborted ? error : new Gone("the server's answer breaks off");  // never half an answer as a whole one
  });
  if (!response.ok) throw new Error(answer.detail ?? response.statusText);
  return answer as T;
}

/** Paths of methods; those that are given what is known, or a text, are posted. */
const POSTED: Record<string, string> = {
  distributions: "marginals", ask: "query", what_if: "what-if", sample: "sample", consequences: "consequences",
  margins: "margins", compare: "compare", row: "row", effect: "effect",
};

export const http: Transport = {
  call(model, method, args, signal) {
    const of = `models/${encodeURIComponent(model)}`;
    if (method in POSTED) return request(`${of}/${POSTED[method]}`, args, signal);
    const named = Object.entries(args).filter(([, value]) => value !== null).map(([name, value]) => [name, String(value)]);
    return request(`${of}/${method}?${new URLSearchParams(named)}`, undefined, signal);
  },
  models: () => request<{ models: Model[] }>("models").then((answer) => answer.models),
};

/** A file that the server makes, to be saved. */
async function file(path: string, body?: unknown): Promise<Blob> {
  const response = await reply(path, body);
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail ?? response.statusText);
  return response.blob();
}

/** Rows drawn from a model, as a file. */
export const sampleFile = (model: string, kind: "csv" | "parquet", n: number, seed: number, given: unknown) =>
  file(`models/${encodeURIComponent(model)}/sample-file`, { n, seed, given, kind });

/** A fit that was started from the page; costs are seconds and nats per row. */
export interface Fit {
  name: string; learner: string; state: "running" | "done" | "failed"; seconds: number; stopping: boolean; problem: string; words: string;
  costs: [number, number][];
}
export const fits = {
  list: () => request<{ allowed: boolean; fits: Fit[] }>("fits"),
  start: (table: File, learner: string) =>
    request<Fit>(`fits?${new URLSearchParams({ name: table.name, learner })}`, new Blob([table], { type: "text/csv" })),
  stop: (name: string) => request<Fit>(`fits/${encodeURIComponent(name)}/stop`, {}),
  model: (name: string) => file(`fits/${encodeURIComponent(name)}/model`),
};

/** The OpenAPI description. */
export const description = () => request<any>("openapi.json");
