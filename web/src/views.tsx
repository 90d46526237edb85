/** Interactions, what-if, samples, comparison, weights, and the description of the API. */

import { useEffect, useState } from "preact/hooks";
import type { Common, Interactions, Marginals, Model, Samples, Terms, Variable, WhatIf } from "./api";
import { amount, Bar, percent } from "./bars";
import { kind, Sample } from "./graph";
import { description } from "./http";

const Wrong = ({ text }: { text: string }) => (text ? <pre class="wrong" role="alert">{text}</pre> : null);

/** How the distribution of a variable changes if one more is known. */
export function WhatIfView(props: Common & { names: string[] }) {
  const [target, setTarget] = useState(props.names.find((name) => !(name in props.given)) ?? props.names[0] ?? "");
  const [table, setTable] = useState<WhatIf | null>(null);
  const [level, setLevel] = useState<number | null>(null);
  const [wrong, setWrong] = useState("");
  const key = JSON.stringify(props.given);
  useEffect(() => {
    if (!target) return;
    let current = true;
    props.ask.whatIf(props.model, target, props.given)
      .then((found) => { if (current) { setTable(found); setWrong(""); } })
      .catch((error) => { if (current) setWrong(props.failed(error)); });
    return () => { current = false; };
  }, [props.model, props.version, target, key]);
  const last = table ? Math.min(level ?? table.levels.length - 1, table.levels.length - 1) : 0;
  return (
    <section class="view" aria-label="What if">
      <div class="row">
        <label>Target <input list="targets" value={target} onChange={(e) => { setTarget((e.target as HTMLInputElement).value); setLevel(null); }} /></label>
        {table && <label>Level <select value={last} onChange={(e) => setLevel(+(e.target as HTMLSelectElement).value)}>
          {table.levels.map((l, k) => <option value={k}>{String(l)}</option>)}</select></label>}
      </div>
      <datalist id="targets">{props.names.map((name) => <option value={name} />)}</datalist>
      <Wrong text={wrong} />
      {table && !wrong && (
        <>
          <p>
            {table.target} is now {table.levels.map((l, k) => `${l} ${percent(table.now[k])}`).join(", ")}
            {Object.keys(props.given).some((name) => name !== table.target) && ", given what is clamped"}
            {table.target in props.given && "; its own clamp is left out here"}. The table shows the probability
            of {table.target} = {String(table.levels[last])} if one more variable is known. Variables that change the distribution
            of {table.target} most, on average, come first.
          </p>
          <div class="scroll" tabindex={0}>
            <table>
              <thead><tr><th scope="col">variable</th><th scope="col">level</th><th scope="col" class="n">probability of the level</th>
                <th scope="col" class="n">then P({table.target} = {String(table.levels[last])})</th><td /></tr></thead>
              <tbody>
                {table.rows.map((row) => row.levels.map((level, k) => (
                  <tr class={k === 0 ? "first" : ""}>
                    {k === 0 && <th scope="rowgroup" rowSpan={row.levels.length}>{row.variable}</th>}
                    <td>{String(level.level)}</td><td class="n">{percent(level.probability)}</td>
                    <td class="n">{percent(level.target[last])}</td><td class="wide"><Bar value={level.target[last]} /></td>
                  </tr>
                )))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

/** Rows drawn from the model, given what is clamped. */
export function SampleView(props: Common) {
  const [n, setN] = useState(10);
  const [seed, setSeed] = useState(1);
  const [rows, setRows] = useState<Samples | null>(null);
  const [wrong, setWrong] = useState("");
  const draw = (event: Event) => {
    event.preventDefault();
    props.ask.sample(props.model, n, seed, props.given)
      .then((found) => { setRows(found); setWrong(""); setSeed(seed + 1); })
      .catch((error) => setWrong(props.failed(error)));
  };
  return (
    <section class="view" aria-label="Samples">
      <form class="row" onSubmit={draw}>
        <label>Rows <input type="number" min={1} max={1000} value={n} onInput={(e) => setN(+(e.target as HTMLInputElement).value)} /></label>
        <label>Seed <input type="number" min={0} value={seed} onInput={(e) => setSeed(+(e.target as HTMLInputElement).value)} /></label>
        <button type="submit" class="main">Draw</button>
      </form>
      <p>Independent rows drawn from the model{Object.keys(props.given).length ? ", given what is clamped" : ""}.</p>
      <Wrong text={wrong} />
      {rows && (
        <div class="scroll" tabindex={0}>
          <table>
            <thead><tr>{rows.variables.slice(0, 60).map((v) => <th scope="col" class={v in props.given ? "clamped" : ""}>{v}</th>)}</tr></thead>
            <tbody>{rows.rows.map((row) => <tr>{row.slice(0, 60).map((cell) => <td>{String(cell)}</td>)}</tr>)}</tbody>
          </table>
          {rows.variables.length > 60 && <p>The first 60 of {rows.variables.length} variables.</p>}
        </div>
      )}
    </section>
  );
}

/** Two models side by side, given the same. */
export function CompareView(props: Common & { models: Model[]; variables: Variable[]; now: Record<string, number[]> }) {
  const others = props.models.filter((m) => m.name !== props.model);
  const [second, setSecond] = useState(others[0]?.name ?? "");
  const [found, setFound] = useState<Marginals | null>(null);
  const [wrong, setWrong] = useState("");
  const key = JSON.stringify([props.given, props.variables.map((v) => v.name)]);
  useEffect(() => {
    if (!second) return;
    let current = true;
    props.ask.marginals(second, props.given, props.variables.map((v) => v.name))
      .then((answer) => { if (current) { setFound(answer); setWrong(""); } })
      .catch((error) => { if (current) { setFound(null); setWrong(props.failed(error)); } });
    return () => { current = false; };
  }, [second, key, props.version]);
  if (!others.length) return <section class="view"><p>Serve several models to compare them: <code>fullspan serve a.fsm b.fsm</code></p></section>;
  const rows = props.variables.flatMap((v) => {
    const other = found?.marginals[v.name];
    if (!other || other.length !== v.levels.length) return [];
    return v.levels.map((level, k) => ({ name: v.name, level, a: (props.now[v.name] ?? v.prior)[k], b: other[k] })).slice(v.levels.length === 2 ? 1 : 0);
  }).sort((x, y) => Math.abs(y.a - y.b) - Math.abs(x.a - x.b)).slice(0, 100);
  return (
    <section class="view" aria-label="Compare">
      <label>Compare {props.model} with <select value={second} onChange={(e) => setSecond((e.target as HTMLSelectElement).value)}>
        {others.map((m) => <option value={m.name}>{m.name}</option>)}</select></label>
      <Wrong text={wrong} />
      {found && (
        <div class="scroll" tabindex={0}>
          <table>
            <thead><tr><th scope="col">level</th><th scope="col" class="n">{props.model}</th><th scope="col" class="n">{second}</th>
              <th scope="col" class="n">{second} − {props.model}, percentage points</th><th scope="col" class="wide">{props.model} above, {second} below</th></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr>
                  <td>{row.name} = {String(row.level)}</td><td class="n">{percent(row.a)}</td><td class="n">{percent(row.b)}</td>
                  <td class="n">{(100 * (row.b - row.a)).toFixed(1)}</td>
                  <td class="wide"><Bar value={row.a} /><Bar value={row.b} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** × or ÷ a number of three digits, as the words have it. */
const times = (ratio: number): string => {
  const sign = ratio < 1 ? "÷" : "×", size = ratio < 1 ? 1 / ratio : ratio;
  return size > 1e6 ? `beyond ${sign}10^6` : sign + Number(size.toPrecision(3)).toLocaleString("en");
};

/** Rows of a table that come page by page. */
function usePages<T extends { total: number }>(props: Common, ask: (offset: number) => Promise<T>, rows: (found: T) => unknown[]) {
  const [pages, setPages] = useState<T[]>([]);
  const [wrong, setWrong] = useState("");
  const more = (old: T[]) => ask(old.reduce((sum, page) => sum + rows(page).length, 0))
    .then((found) => { setPages([...old, found]); setWrong(""); })
    .catch((error) => setWrong(props.failed(error)));
  useEffect(() => { more([]); }, [props.model, props.version]);
  const left = pages.length ? pages[0].total - pages.reduce((sum, page) => sum + rows(page).length, 0) : 0;
  const button = left > 0 && <button type="button" onClick={() => more(pages)}>{left.toLocaleString("en")} more</button>;
  return { pages, wrong, button };
}

/** What joins the variables: effect in words, interval, strength. */
export function InteractionsView(props: Common) {
  const { pages, wrong, button } = usePages<Interactions>(props, (offset) => props.ask.interactions(props.model, offset), (p) => p.interactions);
  const rows = pages.flatMap((page) => page.interactions);
  const top = Math.max(...rows.map((row) => row.strength), 1e-9);
  const stated = rows.some((row) => row.low !== null), averaged = rows.some((row) => row.chosen !== 1);
  return (
    <section class="view" aria-label="Interactions">
      <Wrong text={wrong} />
      {pages.length > 0 && <p class="hint">{pages[0].note}</p>}
      {pages.length > 0 && rows.length === 0 && <p>The model joins no variables: they are independent.</p>}
      {rows.length > 0 && (
        <div class="scroll" tabindex={0}>
          <table class="interactions">
            <thead><tr><th scope="col">{pages[0].called}</th><th scope="col" class="n">order</th>{averaged && <th scope="col" class="n">chosen</th>}
              {stated && <th scope="col" class="n">95 % interval</th>}<th scope="col" class="n">{pages[0].measure}</th><td /></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr><td><Sample name={kind(row.direction)} /> {row.words}</td><td class="n" data-label="order">{row.order}</td>
                  {averaged && <td class="n" data-label="chosen">{percent(row.chosen)}</td>}
                  {stated && <td class="n" data-label="95 % interval">{row.low === null || row.high === null ? "–" : `${times(row.low)} to ${times(row.high)}`}</td>}
                  <td class="n" data-label={pages[0].measure}>{amount(row.strength, row.approximate)}</td><td class="wide"><Bar value={row.strength / top} /></td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {button}
    </section>
  );
}

/** The weights of the basis, for those who compute with them. */
export function WeightsView(props: Common) {
  const { pages, wrong, button } = usePages<Terms>(props, (offset) => props.ask.terms(props.model, offset), (p) => p.terms);
  const rows = pages.flatMap((page) => page.terms);
  const number = (x: number | null, digits: number) => (x === null ? "–" : x.toFixed(digits));
  const averaged = pages.length > 0 && pages[0].headings.includes("chosen");
  return (
    <section class="view" aria-label="Weights">
      <Wrong text={wrong} />
      {pages.length > 0 && <p class="hint">{pages[0].total > 0
        ? "The weights of the terms in the basis of the model, single columns among them. What variables do together is in the tab Interactions."
        : "This model has no weights of terms."}</p>}
      {rows.length > 0 && (
        <div class="scroll" tabindex={0}>
          <table class="interactions">
            <thead><tr>{pages[0].headings.map((text, k) => <th scope="col" class={k ? "n" : ""}>{text}</th>)}</tr></thead>
            <tbody>
              {rows.map((t) => (
                <tr><td>{t.words}</td><td class="n" data-label="order">{t.order}</td>{averaged && <td class="n" data-label="chosen">{percent(t.chosen)}</td>}
                  <td class="n" data-label="weight">{number(t.weight, 3)}</td>
                  <td class="n" data-label={averaged ? "spread" : "std. error"}>{number(t.standard_error, 3)}</td>
                  <td class="n" data-label="nats saved">{t.nats_saved === null ? "–" : amount(t.nats_saved, t.approximate)}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {button}
    </section>
  );
}

/** The OpenAPI description as a page. */
export function ApiView(props: { failed: (error: unknown) => string }) {
  const [api, setApi] = useState<any>(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => { description().then(setApi).catch((error) => setWrong(props.failed(error))); }, []);
  if (!api) return <section class="view"><Wrong text={wrong} /></section>;
  const name = (schema: any): string => schema?.$ref?.split("/").pop() ?? "";
  return (
    <section class="view api" aria-label="API">
      <p>Everything on this page is a question to a JSON API, described by OpenAPI at <a href="api/openapi.json">api/openapi.json</a>.</p>
      {Object.entries<any>(api.paths).flatMap(([path, methods]) => Object.entries<any>(methods).map(([method, what]) => {
        const body = name(what.requestBody?.content?.["application/json"]?.schema);
        const answer = name(what.responses?.["200"]?.content?.["application/json"]?.schema);
        return (
          <details>
            <summary><b>{method.toUpperCase()}</b> <code>{path}</code> {what.description ?? what.summary}</summary>
            {what.parameters?.length > 0 && <ul>{what.parameters.map((p: any) => <li><code>{p.name}</code> ({p.in}) {JSON.stringify(p.schema)}</li>)}</ul>}
            {body && <><p>Takes {body}</p><pre>{JSON.stringify(api.components.schemas[body].properties, null, 2)}</pre></>}
            {answer && <><p>Gives {answer}</p><pre>{JSON.stringify(api.components.schemas[answer].properties, null, 2)}</pre></>}
          </details>
        );
      }))}
    </section>
  );
}
