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

/** Paths of methods; those that are given what is known, or a text, are posted. */
const POSTED: Record<string, string> = { distributions: "marginals", ask: "query", what_if: "what-if", sample: "sample" };

export const http: Transport = {
  call(model, method, args, signal) {
    const of = `models/${encodeURIComponent(model)}`;
    if (method in POSTED) return request(`${of}/${POSTED[method]}`, args, signal);
    const named = Object.entries(args).filter(([, value]) => value !== null).map(([name, value]) => [name, String(value)]);
    return request(`${of}/${method}?${new URLSearchParams(named)}`, undefined, signal);
  },
  models: () => request<{ models: Model[] }>("models").then((answer) => answer.models),
};

/** The OpenAPI description. */
export const description = () => request<any>("openapi.json");
