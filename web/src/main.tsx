/** The explorer: models, what is known, and the panels on them. */

import { render, type FunctionComponent } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { follow, read } from "./address";
import { useAnswer } from "./answers";
import { Gone, questions, type Answer, type Model, type Questions } from "./api";
import { ApiView } from "./apidoc";
import { AskBox } from "./askbox";
import { CompareView } from "./compare";
import { EvidencePanel } from "./evidence";
import { FitView } from "./fit";
import { GraphTab } from "./graph";
import { About, Steps } from "./header";
import { http, takeToken } from "./http";
import { InteractionsView } from "./interactions";
import { RowView } from "./rows";
import { SampleView } from "./samples";
import { Store, usePage, type PanelProps } from "./state";
import { WeightsView } from "./weights";
import { WhatIfView } from "./whatif";
import "./style.css";

/** The panels by the names of their tabs; the first is shown unless the address says another. A new panel is one more line. */
const TABS: [string, FunctionComponent<PanelProps>][] = [
  ["Interactions", InteractionsView],
  ["Graph", GraphTab],
  ["What if", WhatIfView],
  ["Row", RowView],
  ["Samples", SampleView],
  ["Compare", CompareView],
  ["Fit", FitView],
  ["Weights", WeightsView],
  ["API", ApiView],
];

function App({ ask, store }: { ask: Questions; store: Store }) {
  const [models, setModels] = useState<Model[]>([]);
  const [isEmpty, setEmpty] = useState(false);
  const page = usePage(store);
  const [version, setVersion] = useState("");
  const [problem, setProblem] = useState("");
  const [stale, setStale] = useState("");
  const [gone, setGone] = useState(false);

  const failed = useCallback((error: unknown): string => {
    if (error instanceof Gone) { setGone(true); return "the server does not answer; this page waits for it"; }
    return error instanceof Error ? error.message : String(error);
  }, []);
  const seen = useCallback((answer: Answer) => {
    setStale(answer.stale ?? "");
    setVersion((old) => (old.split("+")[0] === answer.version ? old : answer.version));
  }, []);

  /** Begin, or begin again after the server was away. */
  const connect = useCallback((show?: string) => ask.models().then((found) => {
    setModels(found);
    setEmpty(found.length === 0);
    setGone(false);
    setVersion((old) => `${old.split("+")[0]}+${Date.now()}`);
    if (show !== undefined) store.change({ model: show, tab: "" });
    const wanted = store.page.model;
    if (found.some((m) => m.name === wanted)) return;
    if (wanted && found.length) setProblem(`The address names a model ${wanted}, which is not served; shown is ${found[0]?.name}.`);
    store.change({ model: found[0]?.name ?? "" }, true);
  }), []);
  useEffect(() => { connect().catch((error) => setProblem(failed(error))); }, []);
  useEffect(() => {
    if (!gone) return;
    const timer = setInterval(() => { connect().then(() => setProblem("")).catch(() => undefined); }, 1500);
    return () => clearInterval(timer);
  }, [gone]);

  const about = models.find((m) => m.name === page.model);
  const change: PanelProps["change"] = (what, quiet) => store.change(what, quiet);
  const reload = useCallback((show?: string) => { connect(show).catch((error) => setProblem(failed(error))); }, []);
  const common = { reload, ask, model: page.model, given: page.given, version, seen, failed, change, view: page.view, models };
  return (
    <>
      <header>
        <h1>Fullspan</h1>
        <label>Model <select value={page.model} onChange={(e) => change({ model: (e.target as HTMLSelectElement).value })}>
          {models.map((m) => <option value={m.name}>{m.name}</option>)}</select></label>
        {about && <About model={about} />}
        <Steps store={store} />
      </header>
      {gone && <p class="banner" role="alert">The server does not answer. This page keeps what you have clamped, and goes on when it is back.</p>}
      {!gone && stale && <p class="banner" role="alert">{stale}</p>}
      {!gone && problem && <p class="banner" role="alert">{problem} <button type="button" onClick={() => setProblem("")}>Dismiss</button></p>}
      {isEmpty && <main><FitView {...common} variables={[]} /></main>}
      {about && <Opened key={page.model} {...common} tab={page.tab} />}
    </>
  );
}

/** One model, opened: the variables beside the panel that was chosen. */
function Opened(props: Omit<PanelProps, "variables"> & { tab: string }) {
  const { ask, model, version, failed, change } = props;
  const variables = useAnswer(() => ask.variables(model, "", 200), [model, version], failed).answer?.variables ?? [];
  const [name, Panel] = TABS.find(([own]) => own === props.tab) ?? TABS[0];
  const panel = { ...props, variables }, aside = useRef<HTMLElement>(null);
  return (
    <div class="columns">
      <aside ref={aside} tabindex={-1} aria-label="Variables">
        <EvidencePanel {...props} change={(given) => change({ given })} look={(focus) => change({ tab: "Graph", view: { focus } })}
          settings={{ view: props.view, set: (view) => change({ view }) }} />
      </aside>
      <main>
        <AskBox {...panel} />
        <nav aria-label="Views">
          <a class="down" href="#variables" onClick={(event) => { event.preventDefault(); aside.current!.scrollIntoView(); aside.current!.focus(); }}>Variables ↓</a>
          {TABS.map(([own]) => <button type="button" aria-current={own === name ? "page" : undefined} onClick={() => change({ tab: own })}>{own}</button>)}
        </nav>
        <Panel {...panel} />
      </main>
    </div>
  );
}

takeToken();
const store = new Store(read(location.hash));
follow(store);
render(<App ask={questions(http)} store={store} />, document.getElementById("app")!);
