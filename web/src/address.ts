/** The address says the whole page after its #, so that a link reproduces it; what is there never reaches a server's log. */

import type { Given } from "./api";
import type { Page, Store } from "./state";

/** A page as the part of an address after its #. */
export function written({ model, tab, given, view }: Page): string {
  const known = Object.keys(given).length ? JSON.stringify(given) : "";
  const said = Object.entries({ model, tab, given: known, ...view }).filter(([, value]) => value !== "");
  return new URLSearchParams(said).toString();
}

const isLevel = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);

/** Evidence from an address that someone may have cut or mistyped: what is none is left out. */
function evidence(text: string | null): Given {
  let found: unknown;
  try { found = JSON.parse(text ?? "{}"); } catch { return {}; }
  if (typeof found !== "object" || found === null || Array.isArray(found)) return {};
  return Object.fromEntries(Object.entries(found).filter(([, v]) => isLevel(v) || (Array.isArray(v) && v.length > 0 && v.every(isLevel))));
}

/** The page that an address says. */
export function read(text: string): Page {
  const { model = "", tab = "", given, token: _, ...view } = Object.fromEntries(new URLSearchParams(text.replace(/^#/, "")));
  return { model, tab, given: evidence(given ?? null), view };
}

/** Keep the address of the window and a store in step. */
export function follow(store: Store): void {
  const address = () => { const text = written(store.page); return text ? `#${text}` : location.pathname; };
  let late = 0;
  const replace = () => history.replaceState(store.id, "", address());
  store.travel = (steps) => history.go(steps);
  store.listen((added) => {
    clearTimeout(late);
    if (added) history.pushState(store.id, "", address());
    else late = setTimeout(replace, 150);  // browsers refuse to note every step of a slider
  });
  addEventListener("popstate", (event) => {
    clearTimeout(late);
    if (typeof event.state === "string" && store.show(event.state)) { clearTimeout(late); return; }
    const said = read(location.hash), gone = Object.keys(store.page.view).filter((key) => !(key in said.view));
    store.change({ ...said, model: said.model || store.page.model, view: { ...Object.fromEntries(gone.map((key) => [key, ""])), ...said.view } }, true);
  });
  replace();
}
