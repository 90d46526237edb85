/** The evidence and the graph of one model in a notebook: a module for anywidget. */

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { questions, type Given, type Model, type Questions } from "./api";
import { EvidencePanel } from "./evidence";
import { GraphPanel } from "./graph";
import { About, Steps } from "./header";
import { messages, type Kernel } from "./messages";
import { Store, usePage } from "./state";
import page from "./style.css?inline";
import own from "./widget.css?inline";
import { Wrong } from "./wrong";

const failed = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Keep the evidence of a store and that of the widget in Python in step; what ends it is given back. */
function follow(store: Store, kernel: Kernel): () => void {
  const stop = store.listen(() => {
    if (JSON.stringify(kernel.get("given")) === JSON.stringify(store.page.given)) return;
    kernel.set("given", store.page.given);
    kernel.save_changes();
  });
  const set = () => store.change({ given: kernel.get("given") as Given });
  kernel.on("change:given", set);
  return () => { stop(); kernel.off("change:given", set); };
}

function Widget({ ask, store }: { ask: Questions; store: Store }) {
  const { given, view } = usePage(store);
  const [model, setModel] = useState<Model | null>(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => { ask.models().then(([found]) => setModel(found)).catch((error) => setWrong(failed(error))); }, []);
  if (!model) return <Wrong text={wrong} />;
  const look = (focus: string | null) => store.change({ view: { focus: focus ?? "" } });
  const common = { ask, model: model.name, given, version: model.version, seen: () => undefined, failed, look, change: (known: Given) => store.change({ given: known }) };
  return (
    <>
      <header><b>Fullspan</b><About model={model} /><Steps store={store} /></header>
      <div class="columns">
        <aside aria-label="Variables"><EvidencePanel {...common} /></aside>
        <main><GraphPanel {...common} focus={view.focus ?? null} /></main>
      </div>
    </>
  );
}

/** Whether the notebook around an element writes light letters on dark paper, whatever the system prefers. */
function isDark(element: Element): boolean {
  const [red, green, blue] = getComputedStyle(element).color.match(/\d+(\.\d+)?/g)?.map(Number) ?? [0, 0, 0];
  return 0.3 * red + 0.6 * green + 0.1 * blue > 127;
}

/** The view lies in a shadow root, so that neither its style nor that of the notebook reaches the other. */
function show({ model, el }: { model: Kernel; el: HTMLElement }): () => void {
  const host = document.createElement("div");
  el.append(host);
  host.style.colorScheme = isDark(el) ? "dark" : "light";
  const root = host.attachShadow({ mode: "open" });
  const style = document.createElement("style"), body = document.createElement("div");
  style.textContent = page + own;
  body.className = "widget";
  root.append(style, body);
  const { transport, close } = messages(model), store = new Store({ given: model.get("given") });
  const stop = follow(store, model);
  render(<Widget ask={questions(transport)} store={store} />, body);
  return () => { render(null, body); stop(); close(); host.remove(); };
}

export default { render: show };
