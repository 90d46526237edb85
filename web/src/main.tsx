/** The explorer: models, what is clamped, and the views on them. */

import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import { Gone, questions, type Answer, type Given, type Model, type Questions } from "./api";
import { AskBox } from "./askbox";
import { EvidencePanel } from "./evidence";
import { GraphPanel } from "./graph";
import { http, takeToken } from "./http";
import { ApiView, CompareView, InteractionsView, SampleView, WeightsView, WhatIfView } from "./views";
import "./style.css";

const VIEWS = ["Graph", "Interactions", "What if", "Samples", "Compare", "Weights", "API"] as const;
type View = (typeof VIEWS)[number];
const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function App({ ask }: { ask: Questions }) {
  const [models, setModels] = useState<Model[]>([]);
  const [model, setModel] = useState("");
  const [focus, setFocus] = useState<string | null>(null);
  const [given, setGiven] = useState<Given>({});
  const [view, setView] = useState<View>("Graph");
  const [version, setVersion] = useState("");
  const [problem, setProblem] = useState("");
  const [gone, setGone] = useState(false);

  const failed = useCallback((error: unknown): string => {
    if (error instanceof Gone) { setGone(true); return "the server does not answer; this page waits for it"; }
    return error instanceof Error ? error.message : String(error);
  }, []);
  const seen = useCallback((answer: Answer) => {
    setProblem(answer.stale ?? "");
    setVersion((old) => (old.split("+")[0] === answer.version ? old : answer.version));
  }, []);

  /** Begin, or begin again after the server was away. */
  const connect = useCallback(() => ask.models().then((found) => {
    setModels(found);
    setGone(false);
    setModel((old) => (found.some((m) => m.name === old) ? old : found[0]?.name ?? ""));
    setVersion((old) => `${old.split("+")[0]}+${Date.now()}`);
  }), []);
  useEffect(() => { connect().catch((error) => setProblem(failed(error))); }, []);
  useEffect(() => {
    if (!gone) return;
    const timer = setInterval(() => { connect().then(() => setProblem("")).catch(() => undefined); }, 1500);
    return () => clearInterval(timer);
  }, [gone]);

  const choose = (name: string) => {
    if (name === model) return;
    setModel(name);
    setGiven({}); setFocus(null);
  };
  const look = (name: string | null) => { setFocus(name); setView("Graph"); };
  const about = models.find((m) => m.name === model);
  const common = { ask, model, given, version, seen, failed };

  return (
    <>
      <header>
        <h1>Fullspan</h1>
        <label>Model <select value={model} onChange={(e) => choose((e.target as HTMLSelectElement).value)}>
          {models.map((m) => <option value={m.name}>{m.name}</option>)}</select></label>
        {about && <span class="about">{about.kind}, {about.n_variables.toLocaleString("en")} variables, {count(about.n_interactions, about.called)}
          {about.n_rows > 0 && `, ${about.n_rows.toLocaleString("en")} rows`}</span>}
      </header>
      {gone && <p class="banner" role="alert">The server does not answer. This page keeps what you have clamped, and goes on when it is back.</p>}
      {!gone && problem && <p class="banner" role="alert">{problem} <button type="button" onClick={() => setProblem("")}>Dismiss</button></p>}
      {model && <Opened key={model} {...common} models={models} view={view} setView={setView} focus={focus} look={look} change={setGiven} />}
    </>
  );
}

/** One model, opened: the variables beside the view that was chosen. */
function Opened(props: Parameters<typeof EvidencePanel>[0] & {
  models: Model[]; view: View; setView: (view: View) => void; focus: string | null; look: (name: string | null) => void;
}) {
  const { ask, model, given, version, failed, models, view, setView, focus, look, change } = props;
  const common = { ask, model, given, version, seen: props.seen, failed };
  const variables = useAnswer(() => ask.variables(model, "", 200), [model, version], failed).answer?.variables ?? [];
  const names = variables.map((v) => v.name);
  const now = useAnswer(() => (names.length ? ask.marginals(model, given, names) : null), [given, names, version], failed).answer?.marginals ?? {};
  return (
    <div class="columns">
      <aside aria-label="Variables"><EvidencePanel {...common} change={change} look={look} /></aside>
      <main>
        <AskBox {...common} variables={variables} />
        <nav aria-label="Views">
          {VIEWS.map((v) => <button type="button" aria-current={v === view ? "page" : undefined} onClick={() => setView(v)}>{v}</button>)}
        </nav>
        {view === "Graph" && <GraphPanel {...common} change={change} focus={focus} look={look} />}
        {view === "Interactions" && <InteractionsView {...common} />}
        {view === "What if" && <WhatIfView {...common} names={names} />}
        {view === "Samples" && <SampleView {...common} />}
        {view === "Compare" && <CompareView {...common} models={models} variables={variables} now={now} />}
        {view === "Weights" && <WeightsView {...common} />}
        {view === "API" && <ApiView failed={failed} />}
      </main>
    </div>
  );
}

takeToken();
render(<App ask={questions(http)} />, document.getElementById("app")!);
