/** What stands above every view of a model: what it is, and steps back and forth. */

import type { Model } from "./api";
import type { Store } from "./state";

const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

export const About = ({ model }: { model: Model }) => (
  <span class="about">{model.kind}, {model.n_variables.toLocaleString("en")} variables, {count(model.n_interactions, model.called)}
    {model.n_rows > 0 && `, ${model.n_rows.toLocaleString("en")} rows`}</span>
);

export const Steps = ({ store }: { store: Store }) => (
  <span class="steps" role="group" aria-label="steps">
    <button type="button" disabled={!store.canUndo} onClick={() => store.undo()}>Undo</button>
    <button type="button" disabled={!store.canRedo} onClick={() => store.redo()}>Redo</button>
    <button type="button" onClick={() => store.reset()}>Reset</button>
  </span>
);
