/**
 * What the page shows, in one place: model, tab, evidence, and the settings of its panels. Components change it only through
 * the store, so that everything can be undone, and the address (address.ts) can say it all.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Common, Given, Model, Variable } from "./api";

/** Settings of panels by name, such as `focus` or `sort`; a setting that is not there has its default. */
export type View = Record<string, string>;
export interface Page { model: string; tab: string; given: Given; view: View }
/** Changes of a page. Settings are merged; an empty one returns to its default. */
export type Change = Partial<Page>;
interface Entry { id: string; page: Page }

/** What every panel of a model is given. A panel is one file, and one line in the list of main.tsx. */
export interface PanelProps extends Common {
  models: Model[];
  /** The first variables of the model, and their probabilities when nothing is known. */
  variables: Variable[];
  view: View;
  /** Change the page. `quiet` replaces the step before instead of adding one that can be undone: for typing and dragging. */
  change: (what: Change, quiet?: boolean) => void;
  /** Ask again which models there are, and then show one. */
  reload: (model?: string) => void;
}

/** Settings that lie in the address, or, where there is none, in the component itself. */
export interface Settings { view: View; set: (view: View, quiet?: boolean) => void }

/** The settings that a component was given, or its own. */
export function useSettings(given?: Settings): Settings {
  const [view, setView] = useState<View>({});
  return given ?? { view, set: (more) => setView((old) => ({ ...old, ...more })) };
}

/** A slider that is dragged: its first move is a step that can be undone, the others replace it. */
export function useDrag<T>(set: (value: T, quiet: boolean) => void) {
  const moving = useRef(false);
  return {
    to: (value: T) => { set(value, moving.current); moving.current = true; },
    end: () => { moving.current = false; },
  };
}

const EMPTY: Page = { model: "", tab: "", given: {}, view: {} };

/** The page after a change. Another model has columns of its own, so that evidence and settings are dropped with the old one. */
function changed(page: Page, what: Change): Page {
  const same = what.model === undefined || what.model === page.model || page.model === "";
  const start = same ? page : { ...EMPTY, tab: page.tab };
  const view = Object.fromEntries(Object.entries({ ...start.view, ...what.view }).filter(([, value]) => value !== ""));
  return { ...start, ...what, view };
}

/** A page with its past and its future. */
export class Store {
  private entries: Entry[];
  private at = 0;
  private listeners = new Set<(added: boolean) => void>();
  /** How steps are taken: the address takes them through the history of the browser, so that Back is undo. */
  travel = (steps: number): void => this.go(this.at + steps);

  constructor(page: Partial<Page> = {}) { this.entries = [{ id: "0", page: { ...EMPTY, ...page } }]; }

  get page(): Page { return this.entries[this.at].page; }
  get id(): string { return this.entries[this.at].id; }
  get canUndo(): boolean { return this.at > 0; }
  get canRedo(): boolean { return this.at + 1 < this.entries.length; }

  change(what: Change, quiet = false): void {
    const page = changed(this.page, what);
    if (JSON.stringify(page) === JSON.stringify(this.page)) return;
    if (quiet) this.entries[this.at] = { id: this.id, page };
    else {
      this.entries = [...this.entries.slice(0, this.at + 1), { id: `${Date.now()}-${this.at + 1}`, page }];
      this.at += 1;
    }
    this.tell(!quiet);
  }
  undo(): void { if (this.canUndo) this.travel(-1); }
  redo(): void { if (this.canRedo) this.travel(1); }
  /** Back to the model as it was opened, in the same tab. */
  reset(): void {
    const { model, tab } = this.page;
    const view = Object.fromEntries(Object.keys(this.page.view).map((key) => [key, ""]));
    this.change({ model, tab, given: {}, view });
  }
  /** Show the entry of this name; false where there is none. */
  show(id: string): boolean {
    const found = this.entries.findIndex((entry) => entry.id === id);
    if (found >= 0) this.go(found);
    return found >= 0;
  }
  /** Call when the page has changed, and say whether a step was added. */
  listen(listener: (added: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  }

  private go(at: number): void {
    this.at = Math.min(Math.max(at, 0), this.entries.length - 1);
    this.tell(false);
  }
  private tell(added: boolean): void { for (const listener of this.listeners) listener(added); }
}

/** The page, drawn again when it changes. */
export function usePage(store: Store): Page {
  const [page, setPage] = useState(store.page);
  useEffect(() => {
    setPage(store.page);
    return store.listen(() => setPage(store.page));
  }, [store]);
  return page;
}
