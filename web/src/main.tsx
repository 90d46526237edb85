/** The explorer: models, what is clamped, and the views on them. */

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask, Gone, takeToken, type Given, type Graph, type Level, type Marginals, type Model, type Variable } from "./api";
import { AskBox } from "./askbox";
import { Levels } from "./bars";
import { GraphView, Legend } from "./graph";
import { ApiView, CompareView, InteractionsView, SampleView, WeightsView, WhatIfView } from "./views";
import "./style.css";

const VIEWS = ["Graph", "Interactions", "What if", "Samples", "Compare", "Weights", "API"] as const;
type View = (typeof VIEWS)[number];
const LISTED = 200;
const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

function App() {
  const [models, setModels] = useState<Model[]>([]);
  const [model, setModel] = useState("");
  const [variables, setVariables] = useState<Variable[]>([]);
  const [total, setTotal] = useState(0);
  const [search, setSearch] = useState("");
  const [graph, setGraph] = useState<Graph | null>(null);
  const [nodes, setNodes] = useState<Map<string, Variable>>(new Map());
  const [focus, setFocus] = useState<string | null>(null);
  const [radius, setRadius] = useState(2);
  const [given, setGiven] = useState<Given>({});
  const [answer, setAnswer] = useState<Marginals | null>(null);
  const [view, setView] = useState<View>("Graph");
  const [version, setVersion] = useState("");
  const [problem, setProblem] = useState("");
  const [gone, setGone] = useState(false);
  const turn = useRef(0);

  const failed = useCallback((error: unknown): string => {
    if (error instanceof Gone) { setGone(true); return "the server does not answer; this page waits for it"; }
    return error instanceof Error ? error.message : String(error);
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

  useEffect(() => {
    if (!model) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask.variables(model, search, LISTED, stop.signal)
        .then((found) => { setVariables(found.variables); setTotal(found.total); })
        .catch((error) => { if (!stop.signal.aborted) setProblem(failed(error)); });
    }, search ? 150 : 0);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [model, search, version]);

  useEffect(() => {
    if (!model) return;
    let current = true;
    ask.graph(model, focus, radius).then(async (found) => {
      const missing = found.nodes.map((n) => n.name);
      const details = await Promise.all(
        found.total_nodes <= LISTED ? [ask.variables(model, "", LISTED)] : missing.map((name) => ask.variables(model, name, 20)),
      );
      if (!current) return;
      const known = new Map(details.flatMap((d) => d.variables).map((v) => [v.name, v]));
      setNodes(known);
      setGraph(found);
    }).catch((error) => { if (current) setProblem(failed(error)); });
    return () => { current = false; };
  }, [model, focus, radius, version]);

  const key = JSON.stringify(given);
  const names = [...new Set([...variables.map((v) => v.name), ...(graph?.nodes.map((n) => n.name) ?? [])])].slice(0, 500);
  useEffect(() => {
    if (!model || !names.length) return;
    const mine = ++turn.current;
    ask.marginals(model, given, names).then((found) => {
      if (mine !== turn.current) return;
      setAnswer(found);
      setProblem(found.stale ?? "");
      setVersion((old) => (old.split("+")[0] === found.version ? old : found.version));
    }).catch((error) => { if (mine === turn.current) setProblem(failed(error)); });
  }, [model, key, names.join("\n"), version]);

  const clamp = (name: string, level: Level | null) => setGiven((old) => {
    const next = { ...old };
    if (level === null) delete next[name];
    else next[name] = level;
    return next;
  });
  const choose = (name: string) => {
    if (name === model) return;
    setModel(name);
    setGiven({}); setFocus(null); setSearch(""); setAnswer(null); setGraph(null); setVariables([]);
  };
  const now = answer?.marginals ?? {};
  const about = models.find((m) => m.name === model);
  const clamped = Object.entries(given);
  const common = { model, given, version, failed };

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
      <div class="columns">
        <aside aria-label="Variables">
          <label class="search">Find a variable <input type="search" value={search} onInput={(e) => setSearch((e.target as HTMLInputElement).value)} /></label>
          <div class="given" aria-live="polite">
            {clamped.length === 0 ? <p>Press a level to clamp it: every bar then shows the probability given what is clamped, exact under the model. The thin line marks the probability when nothing is clamped.</p> : (
              <>
                {clamped.map(([name, level]) => (
                  <button type="button" class="chip" onClick={() => clamp(name, null)} title={`unclamp ${name}`}>{name} = {String(level)} ×</button>
                ))}
                <button type="button" onClick={() => setGiven({})}>Unclamp all</button>
                {answer && answer.log_prob !== null && <p>Probability of the clamped levels: {Math.exp(answer.log_prob).toPrecision(3)}</p>}
              </>
            )}
          </div>
          <ul class="variables">
            {variables.map((v) => (
              <li>
                <div class="name"><span>{v.name}</span>
                  <button type="button" class="small" onClick={() => { setFocus(v.name); setView("Graph"); }} aria-label={`show the neighbours of ${v.name} in the graph`}>neighbours</button></div>
                <Levels variable={v} now={now[v.name] ?? v.prior} given={given} clamp={clamp} />
              </li>
            ))}
          </ul>
          {total > variables.length && <p>The first {variables.length} of {total.toLocaleString("en")}; search for others.</p>}
        </aside>
        <main>
          {model && <AskBox {...common} key={model} variables={variables} />}
          <nav aria-label="Views">
            {VIEWS.map((v) => <button type="button" aria-current={v === view ? "page" : undefined} onClick={() => setView(v)}>{v}</button>)}
          </nav>
          {view === "Graph" && graph && (
            <section class="view" aria-label="Graph">
              <div class="row">
                {focus === null
                  ? <span>{graph.nodes.length < graph.total_nodes ? `The ${graph.nodes.length} of ${graph.total_nodes.toLocaleString("en")} variables that are joined most strongly` : "All variables"}</span>
                  : <><span><b>{focus}</b> and its neighbours, up to {radius} {radius === 1 ? "step" : "steps"} away</span>
                    <label>Steps <input type="number" min={1} max={6} value={radius} onInput={(e) => setRadius(Math.min(6, Math.max(1, +(e.target as HTMLInputElement).value || 1)))} /></label>
                    <button type="button" onClick={() => setFocus(null)}>Show all</button></>}
              </div>
              <Legend graph={graph} clamped={clamped.length > 0} />
              <GraphView graph={graph} variables={nodes} now={now} given={given} focus={focus} clamp={clamp} look={setFocus} />
              <p class="hint">Point at a line or a shade for its words and its numbers. Click a variable to clamp its levels in turn; shift-click to show its neighbours. Keyboard: Tab to reach it, Enter to clamp, f for its neighbours. Drag and scroll, or use two fingers, to move.</p>
            </section>
          )}
          {view === "Interactions" && <InteractionsView {...common} key={model} />}
          {view === "What if" && <WhatIfView {...common} key={model} names={variables.map((v) => v.name)} />}
          {view === "Samples" && <SampleView {...common} />}
          {view === "Compare" && <CompareView {...common} key={model} models={models} variables={variables} now={now} />}
          {view === "Weights" && <WeightsView {...common} key={model} />}
          {view === "API" && <ApiView failed={failed} />}
        </main>
      </div>
    </>
  );
}

takeToken();
render(<App />, document.getElementById("app")!);
