/** Fit a model to a table from the page: only a page with a server on the same machine can. */

import { useEffect, useState } from "preact/hooks";
import { fits, type Fit } from "./http";
import { save } from "./saving";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

const LEARNERS = [
  ["FullSpan", "FullSpan: interactions of any order, to be read"],
  ["ChowLiuTree", "ChowLiuTree: the best tree, in a second"],
  ["FullSpanMixture", "FullSpanMixture: predicts better, has no interactions of its own"],
];
const MOST_BYTES = 32 * 1024 * 1024;
const WIDE = 320, HIGH = 90;

/** Nats per row after every step, over time. */
function Costs({ costs }: { costs: [number, number][] }) {
  if (costs.length < 2) return null;
  const end = Math.max(costs[costs.length - 1][0], 1e-9), low = Math.min(...costs.map((c) => c[1])), high = Math.max(...costs.map((c) => c[1]));
  const at = ([seconds, cost]: [number, number]) => `${(WIDE * seconds) / end},${HIGH - 4 - ((HIGH - 8) * (cost - low)) / Math.max(high - low, 1e-12)}`;
  return (
    <figure>
      <svg class="costs" viewBox={`0 0 ${WIDE} ${HIGH}`} role="img" aria-label={`cost from ${high.toFixed(4)} to ${low.toFixed(4)} nats per row in ${end.toFixed(1)} seconds`}>
        <polyline points={costs.map(at).join(" ")} />
      </svg>
      <figcaption class="hint">cost: {high.toFixed(3)} to {low.toFixed(3)} nats per row, {end.toFixed(1)} s</figcaption>
    </figure>
  );
}

function Running({ fit, props, refresh }: { fit: Fit; props: PanelProps; refresh: () => void }) {
  const [wrong, setWrong] = useState("");
  const act = (what: () => Promise<unknown>) => what().then(refresh).catch((error) => setWrong(props.failed(error)));
  return (
    <li class="fit">
      <b>{fit.name}</b> <span class="hint">{fit.learner}, {fit.seconds.toFixed(fit.seconds < 10 ? 1 : 0)} s</span>
      <p role="status">{fit.state === "failed" ? "" : fit.state === "done" ? `Done: ${fit.words}` : fit.stopping ? `Stopping; ${fit.words}` : fit.words}</p>
      <Wrong text={fit.problem || wrong} />
      <Costs costs={fit.costs} />
      <p class="row">
        {fit.state === "running" && <button type="button" onClick={() => act(() => fits.stop(fit.name))}>{fit.stopping ? "End it without a model" : "Stop, and keep the best so far"}</button>}
        {fit.state === "done" && <><button type="button" class="main" onClick={() => props.reload(fit.name)}>Explore</button>
          <button type="button" onClick={() => act(() => fits.model(fit.name).then((content) => save(`${fit.name}.fsm`, content)))}>Save the model</button></>}
      </p>
    </li>
  );
}

export function FitView(props: PanelProps) {
  const [known, setKnown] = useState<{ allowed: boolean; fits: Fit[] } | null>(null);
  const [learner, setLearner] = useState(LEARNERS[0][0]);
  const [file, setFile] = useState<File | null>(null);
  const [wrong, setWrong] = useState("");
  const refresh = () => { fits.list().then((found) => setKnown(found)).catch((error) => setWrong(props.failed(error))); };
  const running = known?.fits.some((fit) => fit.state === "running") ?? false;
  useEffect(refresh, []);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(refresh, 400);
    return () => clearInterval(timer);
  }, [running]);
  const start = (event: Event) => {
    event.preventDefault();
    if (!file) return;
    if (file.size > MOST_BYTES) { setWrong(`${file.name} has ${(file.size / 2 ** 20).toFixed(0)} MiB; the page takes at most 32 MiB: use fullspan fit`); return; }
    setWrong("");
    fits.start(file, learner).then(refresh).catch((error) => setWrong(props.failed(error)));
  };
  if (known && !known.allowed) return <section class="view" aria-label="Fit"><p>Tables are fitted only where the server listens on this machine alone: leave out <code>--host</code>.</p></section>;
  return (
    <section class="view" aria-label="Fit">
      <p>Fit a model to a CSV or TSV file with a header, of at most 32 MiB and 500 columns. It goes to the server on this machine, and nowhere else; both it and the model are deleted when the server ends.</p>
      <form class="row" onSubmit={start}>
        <label>Table <input type="file" accept=".csv,.tsv,text/csv" onChange={(e) => setFile((e.target as HTMLInputElement).files?.[0] ?? null)} /></label>
        <label>Model <select value={learner} onChange={(e) => setLearner((e.target as HTMLSelectElement).value)}>{LEARNERS.map(([key, words]) => <option value={key}>{words}</option>)}</select></label>
        <button type="submit" class="main" disabled={!file || running}>Fit</button>
      </form>
      <Wrong text={wrong} />
      <ul class="fits">{[...(known?.fits ?? [])].reverse().map((fit) => <Running key={fit.name} fit={fit} props={props} refresh={refresh} />)}</ul>
    </section>
  );
}
