/** A box for questions such as P(A | B=b), with completion of names and levels. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Common, Interaction, Reply, Variable } from "./api";
import { Bar } from "./bars";
import { words } from "./given";
import { saveTable } from "./saving";

interface Asked { key: number; text: string; also: string; reply?: Reply; wrong?: string; open: boolean }

/** Completions, with the text and caret they were made for: they are never applied to another text. */
interface Offer { text: string; caret: number; options: string[]; chosen: number }
const NONE: Offer = { text: "", caret: -1, options: [], chosen: -1 };

/** Where the word at the caret begins, and, after "name=", of which variable a level is wanted. */
function wordAt(text: string, caret: number): { start: number; word: string; of: string | null } {
  const before = text.slice(0, caret);
  const start = Math.max(...["(", ",", "|", "=", "{"].map((mark) => before.lastIndexOf(mark))) + 1;
  const word = before.slice(start).trimStart();
  const level = /([^\s(,|={]+)\s*=\s*$/.exec(before.slice(0, start));
  return { start: caret - word.length, word, of: level ? level[1].replace(/^['"]|['"]$/g, "") : null };
}

const quoted = (text: string) => (/^[\w.+-]+$/.test(text) ? text : `"${text.replace(/"/g, "'")}"`);

/** A question that this model can answer, about the two variables that it joins most strongly. */
function example(strongest: Interaction | undefined, [a, b]: Variable[]): string {
  if (strongest && strongest.variables.length > 1) {
    const [first, second] = strongest.variables;
    const level = strongest.events.find((event) => event.startsWith(`${second}=`))?.slice(second.length + 1);
    return level === undefined ? `I(${quoted(first)}; ${quoted(second)})` : `P(${quoted(first)} | ${quoted(second)}=${quoted(level)})`;
  }
  return !a ? "" : !b ? `P(${quoted(a.name)})` : `P(${quoted(a.name)}, ${quoted(b.name)})`;
}

/** Texts with what an error suggests put in, such as a name that was meant. */
function suggested(text: string, wrong: string): string[] {
  const found = /'([^']+)' \(did you mean ('[^']+'(?: or '[^']+')*)\?\)/.exec(wrong);
  if (!found) return [];
  const [, word, meant] = found;
  return [...meant.matchAll(/'([^']+)'/g)].map((m) => text.replace(word, quoted(m[1]))).filter((better) => better !== text);
}

export function AskBox(props: Common & { variables: Variable[] }) {
  const { ask, model, given, failed } = props;
  const [text, setText] = useState("");
  const [caret, setCaret] = useState(0);
  const [offer, setOffer] = useState<Offer>(NONE);
  const [history, setHistory] = useState<Asked[]>([]);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const shown = useRef(0);
  const first = useAnswer(() => ask.interactions(model, 0, {}, 1), [model, props.version], failed).answer?.interactions[0];
  const placeholder = example(first, props.variables);

  useEffect(() => {
    const { word, of } = wordAt(text, caret);
    if (!text || (!word && !of)) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask.variables(model, of ?? word, of ? 50 : 8, stop.signal).then((found) => {
        if (stop.signal.aborted) return;
        const levels = found.variables.find((v) => v.name === of)?.levels.map(String) ?? [];
        const names = of === null ? found.variables.map((v) => v.name) : levels.filter((l) => l.startsWith(word));
        setOffer({ text, caret, options: names.filter((name) => name !== word).slice(0, 8), chosen: -1 });
      }).catch(() => undefined);
    }, 120);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [text, caret, model]);

  const options = offer.text === text && offer.caret === caret ? offer.options : [];
  const chosen = options.length ? offer.chosen : -1;
  /** Take over what the box holds, and where its caret is. */
  const note = () => { setText(input.current!.value); setCaret(input.current!.selectionStart ?? 0); };
  /** Whether the offer is for what the box holds at this moment, which may be newer than what is on the screen. */
  const current = () => input.current!.value === offer.text && input.current!.selectionStart === offer.caret;
  const complete = (option: string) => {
    if (!current()) return;
    const box = input.current!;
    const put = offer.text.slice(0, wordAt(offer.text, offer.caret).start) + quoted(option);
    // In the box at once: a caret set in a later frame would jump back while the person goes on typing.
    box.value = put + offer.text.slice(offer.caret);
    box.focus();
    box.setSelectionRange(put.length, put.length);
    note();
  };
  /** The newest answer is open, the ones before are folded. */
  const add = (asked: Omit<Asked, "key" | "open">) =>
    setHistory((old) => [{ ...asked, key: (shown.current += 1), open: true }, ...old.map((one) => ({ ...one, open: false }))].slice(0, 20));
  const answered = (question: string) => {
    setOffer(NONE);
    const also = Object.keys(given).map((name) => words(given, name, props.variables.find((v) => v.name === name))).join(", ");
    ask.query(model, question, given)
      .then((reply) => add({ text: question, also, reply }))
      .catch((error) => add({ text: question, also, wrong: failed(error) }));
  };
  const send = (event: Event) => {
    event.preventDefault();
    if (text.trim()) answered(text.trim());
  };
  const keys = (event: KeyboardEvent) => {
    if (!options.length || !current()) return;
    const move = (step: number) => { event.preventDefault(); setOffer({ ...offer, chosen: (chosen + step + options.length) % options.length }); };
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(chosen < 0 ? 0 : -1);
    else if (event.key === "Escape") setOffer(NONE);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) { event.preventDefault(); complete(options[chosen]); }
  };
  return (
    <section class="ask" aria-label="Ask">
      <form onSubmit={send}>
        <label for={`${list}-box`}>Ask</label>
        <div class="combo">
          <input id={`${list}-box`} ref={input} value={text} placeholder={placeholder} spellcheck={false} autocomplete="off"
            role="combobox" aria-autocomplete="list" aria-expanded={options.length > 0} aria-controls={list}
            aria-activedescendant={chosen >= 0 ? `${list}-${chosen}` : undefined} maxLength={2000}
            onInput={note} onKeyUp={note} onClick={note} onKeyDown={keys} onBlur={() => setOffer(NONE)} />
          <ul id={list} role="listbox" aria-label="completions" hidden={!options.length}>
            {options.map((option, k) => (
              <li id={`${list}-${k}`} role="option" aria-selected={k === chosen}
                onMouseDown={(event) => { event.preventDefault(); complete(option); }}>{option}</li>
            ))}
          </ul>
        </div>
        <button type="submit" class="main">Answer</button>
      </form>
      <div aria-live="polite">
        {history.length > 1 && <button type="button" class="small" onClick={() => setHistory([])}>Dismiss all answers</button>}
        {history.map((asked) => (
          <Answered key={asked.key} asked={asked} again={(better) => { setText(better); answered(better); }}
            fold={(open) => setHistory((old) => old.map((one) => (one.key === asked.key ? { ...one, open } : one)))}
            dismiss={() => setHistory((old) => old.filter((one) => one.key !== asked.key))} />
        ))}
      </div>
    </section>
  );
}

/** A question with its answer, which can be folded and dismissed. */
function Answered({ asked, again, fold, dismiss }: { asked: Asked; again: (text: string) => void; fold: (open: boolean) => void; dismiss: () => void }) {
  const { reply, wrong } = asked;
  return (
    <div class="asked">
      <button type="button" class="small dismiss" aria-label={`dismiss the answer to ${asked.text}`} onClick={dismiss}>×</button>
      <details open={asked.open} onToggle={(event) => { const { open } = event.target as HTMLDetailsElement; if (open !== asked.open) fold(open); }}>
        <summary><code>{asked.text}</code>{asked.also && <span class="about"> and given {asked.also}</span>}
          {reply && reply.probability !== null && <strong> = {reply.probability.toPrecision(6)}</strong>}
          {reply && reply.nats !== null && <strong> = {reply.nats.toPrecision(6)} nats</strong>}</summary>
        {wrong !== undefined && <pre class="wrong">{wrong}</pre>}
        {wrong !== undefined && suggested(asked.text, wrong).map((better) => <button type="button" onClick={() => again(better)}>Ask <code>{better}</code></button>)}
        {reply && reply.rows.length > 0 && (
          <table>
            <thead><tr>{reply.variables.map((v) => <th scope="col">{v}</th>)}<th scope="col" class="n">probability</th><td /></tr></thead>
            <tbody>
              {reply.rows.slice(0, 64).map((row) => (
                <tr>{row.levels.map((l) => <td>{String(l)}</td>)}<td class="n">{row.probability.toPrecision(4)}</td>
                  <td class="wide"><Bar value={row.probability} /></td></tr>
              ))}
            </tbody>
          </table>
        )}
        {reply && reply.rows.length > 0 && <p class="row">{reply.rows.length > 64 && <span class="about">The first 64 of {reply.rows.length.toLocaleString("en")} rows.</span>}
          <button type="button" class="small" onClick={() => saveTable("answer", [...reply.variables, "probability"], reply.rows.map((r) => [...r.levels, r.probability]))}>Save as CSV</button></p>}
        {reply?.notes.map((note) => <p class="about">{note}</p>)}
      </details>
    </div>
  );
}
