/** What-if, samples, comparison, terms, and the description of the API. */

import { useEffect, useState } from "preact/hooks";
import { ask, type Given, type Marginals, type Model, type Samples, type Term, type Variable, type WhatIf } from "./api";
import { Bar, percent } from "./bars";

interface Common { model: string; given: Given; version: string; failed: (error: unknown) => string }

const Wrong = ({ text }: { text: string }) => (text ? <pre class="wrong" role="alert">{text}</pre> : null);

/** How a variable would move if one more were known. */
export function WhatIfView(props: Common & { names: string[] }) {
  const [target, setTarget] = useState(props.names.find((name) => !(name in props.given)) ?? props.names[0] ?? "");
  const [table, setTable] = useState<WhatIf | null>(null);
  const [wrong, setWrong] = useState("");
  const key = JSON.stringify(props.given);
  useEffect(() => {
    if (!target) return;
    let current = true;
    ask.whatIf(props.model, target, props.given)
      .then((found) => { if (current) { setTable(found); setWrong(""); } })
      .catch((error) => { if (current) setWrong(props.failed(error)); });
    return () => { current = false; };
  }, [props.model, props.version, target, key]);
  const last = table ? table.levels.length - 1 : 0;
  return (
    <section class="view" aria-label="What if">
      <label>How would <input list="targets" value={target} onChange={(e) => setTarget((e.target as HTMLInputElement).value)} /> move?</label>
      <datalist id="targets">{props.names.map((name) => <option value={name} />)}</datalist>
      <Wrong text={wrong} />
      {table && !wrong && (
        <>
          <p>
            Now: {table.levels.map((l, k) => `${l} ${percent(table.now[k])}`).join(", ")}. Variables that would tell most come first;
            bars show P({table.target} = {String(table.levels[last])}) if that level were known.
          </p>
          <div class="scroll" tabindex={0}>
            <table>
              <thead><tr><th scope="col">if</th><th scope="col">were</th><th scope="col">chance of that</th>
                <th scope="col">then {String(table.levels[last])}</th><td /></tr></thead>
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
    ask.sample(props.model, n, seed, props.given)
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
      <p>Independent rows from the exact distribution{Object.keys(props.given).length ? ", given what is clamped" : ""}.</p>
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
    ask.marginals(second, props.given, props.variables.map((v) => v.name))
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
      <label>{props.model} beside <select value={second} onChange={(e) => setSecond((e.target as HTMLSelectElement).value)}>
        {others.map((m) => <option value={m.name}>{m.name}</option>)}</select></label>
      <Wrong text={wrong} />
      {found && (
        <div class="scroll" tabindex={0}>
          <table>
            <thead><tr><th scope="col">state</th><th scope="col">{props.model}</th><th scope="col">{second}</th><th scope="col">difference</th><td /></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr>
                  <td>{row.name} = {String(row.level)}</td><td class="n">{percent(row.a)}</td><td class="n">{percent(row.b)}</td>
                  <td class="n">{(100 * (row.b - row.a)).toFixed(1)} pp</td>
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

/** What was found, in words. */
export function TermsView(props: Common) {
  const [terms, setTerms] = useState<Term[]>([]);
  const [total, setTotal] = useState(0);
  const [wrong, setWrong] = useState("");
  const more = (offset: number, old: Term[]) => ask.terms(props.model, offset)
    .then((found) => { setTerms([...old, ...found.terms]); setTotal(found.total); })
    .catch((error) => setWrong(props.failed(error)));
  useEffect(() => { more(0, []); }, [props.model, props.version]);
  const top = Math.max(...terms.map((t) => t.nats_saved ?? 0), 1e-9);
  const number = (x: number | null, digits: number) => (x === null ? "–" : x.toFixed(digits));
  return (
    <section class="view" aria-label="Terms">
      <Wrong text={wrong} />
      <div class="scroll" tabindex={0}>
        <table>
          <thead><tr><th scope="col">term</th><th scope="col">order</th><th scope="col">weight</th><th scope="col">std. error</th>
            <th scope="col">nats saved</th><td /></tr></thead>
          <tbody>
            {terms.map((t) => (
              <tr><td>{t.words}</td><td class="n">{t.order}</td><td class="n">{number(t.weight, 3)}</td><td class="n">{number(t.standard_error, 3)}</td>
                <td class="n">{number(t.nats_saved, 1)}</td><td class="wide"><Bar value={(t.nats_saved ?? 0) / top} /></td></tr>
            ))}
          </tbody>
        </table>
      </div>
      {terms.length < total && <button type="button" onClick={() => more(terms.length, terms)}>{total - terms.length} more</button>}
    </section>
  );
}

/** The OpenAPI description as a page. */
export function ApiView(props: { failed: (error: unknown) => string }) {
  const [api, setApi] = useState<any>(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => { ask.description().then(setApi).catch((error) => setWrong(props.failed(error))); }, []);
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
