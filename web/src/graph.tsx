/** The interaction graph: blue full lines go with, orange dashed ones against, grey ones have no one direction; groups are shaded. */

import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomBehavior, type ZoomTransform } from "d3-zoom";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Common, Given, Graph, Level, Variable } from "./api";
import { amount, percent } from "./bars";
import { clamped } from "./given";
import { DOT, hubs, hull, layout, leastOf, looks, letters, reduced, short, TALL, UNDER, type Drawn, type Item, type Look, type Pane } from "./layout";
import { GROUPS, kind, Legend, stroke } from "./legend";
import { savePicture } from "./saving";
import { useDrag, useSettings, type PanelProps, type Settings } from "./state";
export { kind, Sample } from "./legend";

/** What a pointer is told about a line or a shade. */
const said = (link: { words: string; strength: number; approximate: boolean }, measure: string) =>
  `${link.words}: ${measure} ${amount(link.strength, link.approximate)}`;

interface Facts { variables: Map<string, Variable>; now: Record<string, number[]>; given: Given }

/** Under the name: the level that the fill is about, the clamped one or the likeliest, and its share. */
function told(item: Item, { variables, now, given }: Facts): { share: number; text: string; clamped: boolean } {
  if (item.folded) return { share: 0, text: `${item.members.length} variables`, clamped: item.members.some((name) => name in given) };
  const variable = variables.get(item.id), p = now[item.id] ?? variable?.prior ?? [], own = given[item.id];
  if (own !== undefined && !Array.isArray(own)) return { share: 1, text: `= ${short(String(own))}`, clamped: true };
  const shown = p.indexOf(Math.max(...p)), share = p[shown] ?? 0;
  return { share, text: variable && shown >= 0 ? `${short(String(variable.levels[shown]))} ${percent(share)}` : "", clamped: own !== undefined };
}

/** The longest text that may stand below a name. */
const longest = (variables: Map<string, Variable>) => (item: Item) =>
  item.folded ? `${item.members.length} variables` : "x".repeat(Math.max(...(variables.get(item.id)?.levels ?? []).map((level) => short(String(level)).length), 0)) + " 100.0%";

interface Doing { press: (item: Item) => void; look: (name: string) => void; point: (id: string | null) => void; show: (x: number, y: number) => void }

/** One variable or community. */
function Node(props: { item: Item; x: number; y: number; width: number; look: Look; font: number; focus: boolean; facts: Facts; doing: Doing }) {
  const { item, x, y, width, look, font, facts, doing } = props, { share, text, clamped } = told(item, facts);
  const states = `${clamped ? " clamped" : ""}${props.focus ? " focus" : ""}${item.folded ? " folded" : ""}`;
  const label = item.folded ? `open the community of ${item.members.slice(0, 3).join(", ")}: ${text}` : undefined;
  return (
    <g class={`node ${look.kind}${states}`} tabindex={0} role="button" transform={`translate(${x} ${y})`}
      aria-pressed={item.folded ? undefined : clamped} aria-label={label ?? (look.kind === "pill" ? undefined : `${item.id} ${text}`)}
      onClick={(event) => (event.shiftKey && !item.folded ? doing.look(item.id) : doing.press(item))}
      onMouseEnter={() => doing.point(item.id)} onMouseLeave={() => doing.point(null)}
      onFocus={(event) => { if ((event.currentTarget as Element).matches(":focus-visible")) { doing.point(item.id); doing.show(x, y); } }} onBlur={() => doing.point(null)}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); doing.press(item); }
        if (event.key === "f" && !item.folded) doing.look(item.id);
      }}>
      {look.kind === "pill" ? (
        <>
          <rect class="body" x={-width / 2} y={-TALL / 2} width={width} height={TALL} rx={TALL / 2} />
          {!item.folded && <svg x={-width / 2} y={-TALL / 2} width={width} height={TALL} aria-hidden="true">
            <rect class="level" width={width * share} height={TALL} rx={TALL / 2} />
          </svg>}
          <rect class="line" x={-width / 2} y={-TALL / 2} width={width} height={TALL} rx={item.folded ? 6 : TALL / 2} />
          <text text-anchor="middle" dy=".35em" style={{ fontSize: `${font}px` }}>{item.label} </text>
          <text class="told" text-anchor="middle" y={TALL / 2 + 13}>{text}</text>
        </>
      ) : (
        <>
          <circle class="reach" r={12} />
          <circle class="line" r={item.folded ? DOT + 3 : DOT} />
          {look.kind === "named" && <text class="label" x={look.dx} y={look.dy} text-anchor={look.anchor} style={{ fontSize: `${font - 2}px` }}>{item.label}</text>}
        </>
      )}
    </g>
  );
}

/** The size of the picture's frame. */
function usePane(outer: { current: HTMLDivElement | null }): Pane {
  const [wanted, setWanted] = useState<Pane>({ width: 960, height: 600 });
  useLayoutEffect(() => {
    const measure = () => {
      const width = Math.max(outer.current!.clientWidth, 200), height = Math.min(Math.max(0.62 * innerHeight, 320), 700);
      setWanted((old) => (Math.abs(old.width - width) < 2 && Math.abs(old.height - height) < 40 ? old : { width, height }));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(outer.current!);
    return () => watch.disconnect();
  }, []);
  return wanted;
}

/** Zoom and pan, by mouse, two fingers or buttons: places move, letters keep their size. */
function useZoom(frame: { current: SVGSVGElement | null }, again: unknown) {
  const [at, setAt] = useState<ZoomTransform>(zoomIdentity);
  const behaviour = useRef<ZoomBehavior<SVGSVGElement, unknown> | null>(null);
  useEffect(() => {
    let asked = 0;
    behaviour.current = zoom<SVGSVGElement, unknown>().scaleExtent([0.3, 12])
      // One finger scrolls the page, two move the picture.
      .filter((event) => !event.ctrlKey && !event.button && (event.type !== "touchstart" || event.touches.length > 1))
      .on("zoom", (event) => { cancelAnimationFrame(asked); asked = requestAnimationFrame(() => setAt(event.transform)); });
    const svg = select(frame.current!);
    svg.call(behaviour.current).call(behaviour.current.transform, zoomIdentity).on("dblclick.zoom", null);
    return () => { cancelAnimationFrame(asked); svg.on(".zoom", null); };
  }, [again]);
  const by = (factor: number) => behaviour.current?.scaleBy(select(frame.current!), factor);
  const move = (x: number, y: number) => behaviour.current?.translateBy(select(frame.current!), x / at.k, y / at.k);
  const whole = () => behaviour.current?.transform(select(frame.current!), zoomIdentity);
  return { at, by, move, whole };
}

export function GraphView(props: {
  graph: Graph; drawn: Drawn; facts: Facts; focus: string | null; name: string;
  press: (item: Item) => void; look: (name: string) => void;
}) {
  const { graph, drawn, facts, focus } = props;
  const frame = useRef<SVGSVGElement>(null), outer = useRef<HTMLDivElement>(null);
  const wanted = usePane(outer);
  const { places, pane } = useMemo(() => layout(drawn, longest(facts.variables), wanted), [drawn, facts.variables, wanted]);
  const { at, by, move, whole } = useZoom(frame, places);
  const [pointed, point] = useState<string | null>(null);
  const { font } = letters(wanted), top = Math.max(...drawn.lines.map((l) => l.strength), 1e-9);
  const spots = useMemo(() => [...places.values()].map((p) => ({ ...p, x: at.applyX(p.x), y: at.applyY(p.y) })), [places, at]);
  const seen = useMemo(() => {
    const weight = (item: Item) => (item.id === focus ? 2 : item.members.some((name) => name in facts.given) ? 1 : 0);
    const first = [...spots].sort((a, b) => weight(b.item) - weight(a.item) || b.item.strength - a.item.strength);
    return looks(first.map(({ item, x, y, width, room }) => ({ id: item.id, label: item.label, x, y, width, room })), pane);
  }, [spots, focus, Object.keys(facts.given).join()]);
  const spot = new Map(spots.map((s) => [s.item.id, s]));
  const show = (x: number, y: number) => {
    const edge = 30, by = (v: number, most: number) => (v < edge ? edge - v : v > most - edge ? most - edge - v : 0);
    const dx = by(x, pane.width), dy = by(y, pane.height);
    if (dx || dy) move(dx, dy);
  };
  const doing: Doing = { press: props.press, look: props.look, point, show };
  const rank = { dot: 0, named: 1, pill: 2 };
  const inOrder = [...spots].sort((a, b) => rank[seen.get(a.item.id)!.kind] - rank[seen.get(b.item.id)!.kind]);
  const raised = pointed !== null && seen.get(pointed)?.kind !== "pill" ? spot.get(pointed) : undefined;
  return (
    <div ref={outer}>
      <Legend graph={graph} drawn={drawn} clamped={drawn.items.some((item) => told(item, facts).clamped)} looks={[...seen.values()]} />
      <div class="row tools" role="group" aria-label="picture">
        <button type="button" class="small" aria-label="zoom in" onClick={() => by(1.5)}>+</button>
        <button type="button" class="small" aria-label="zoom out" onClick={() => by(1 / 1.5)}>−</button>
        <button type="button" class="small" onClick={whole}>Whole picture</button>
        {(["svg", "png"] as const).map((kind) => <button type="button" class="small" onClick={() => { void savePicture(`${props.name}-graph`, frame.current!, kind); }}>Save as {kind.toUpperCase()}</button>)}
      </div>
      <svg ref={frame} class="graph" viewBox={`0 0 ${pane.width} ${pane.height}`} style={{ height: `${pane.height}px` }} role="group" aria-label="interaction graph">
        {drawn.groups.slice(0, GROUPS).map((group, k) => {
          const corners = hull(group.members.map((m) => [spot.get(m)!.x, spot.get(m)!.y]));
          return (
            <g class={`shade shade${k}`}>
              <polygon points={corners.map((c) => c.join(",")).join(" ")} stroke-width="46" stroke-linejoin="round" />
              <title>{said(group, graph.measure)}</title>
            </g>
          );
        })}
        {[...drawn.lines].reverse().map((line) => {
          const a = spot.get(line.a)!, b = spot.get(line.b)!, { width, opacity } = stroke(line.strength / top);
          const faint = pointed !== null && drawn.lines.length > 60 && line.a !== pointed && line.b !== pointed;
          return (
            <line x1={a.x} y1={a.y} x2={b.x} y2={b.y} stroke-width={width} stroke-opacity={faint ? 0.08 : opacity} class={kind(line.direction)}>
              <title>{said(line, graph.measure)}</title>
            </line>
          );
        })}
        {hubs(drawn, GROUPS).map((group) => {
          const ends = group.members.map((m) => spot.get(m)!), x = ends.reduce((sum, e) => sum + e.x, 0) / ends.length, y = ends.reduce((sum, e) => sum + e.y, 0) / ends.length;
          return (
            <g>
              <path class="spoke" d={ends.map((e) => `M${x},${y} ${e.x},${e.y}`).join(" ")} />
              <rect class="hub" x={x - 4} y={y - 4} width={8} height={8} />
              <title>{said(group, graph.measure)}</title>
            </g>
          );
        })}
        {inOrder.map(({ item, x, y, width }) => (
          <Node key={item.id} item={item} x={x} y={y} width={width} look={seen.get(item.id)!} font={font} focus={item.id === focus} facts={facts} doing={doing} />
        ))}
        {raised && (
          <g class="raised" aria-hidden="true" transform={`translate(${Math.min(Math.max(raised.x, raised.room / 2), pane.width - raised.room / 2)} ${raised.y > 60 ? raised.y - TALL - UNDER - 4 : raised.y + TALL})`}>
            <rect x={-raised.room / 2} y={-TALL / 2} width={raised.room} height={TALL + UNDER} rx={6} />
            <text text-anchor="middle" dy=".35em" style={{ fontSize: `${font}px` }}>{raised.item.label}</text>
            <text text-anchor="middle" y={TALL / 2 + 9} class="told">{told(raised.item, facts).text}</text>
          </g>
        )}
      </svg>
    </div>
  );
}

const share = (value: number, low: number, high: number) => (high > low ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : 0);

/** Strength from which on pairs are drawn: a slider over their logarithms. */
function Strength({ graph, least, set }: { graph: Graph; least: number; set: (least: string, quiet: boolean) => void }) {
  const drag = useDrag(set);
  const known = graph.edges.map((e) => e.strength).filter((s) => s > 0);
  if (known.length < 2) return null;
  const low = Math.min(...known), high = Math.max(...known);
  const at = Math.round(1000 * share(Math.max(least, low), low, high));
  const change = (value: number) => drag.to(value <= 0 ? "0" : (low * (high / low) ** (Math.min(value, 999.9) / 1000)).toPrecision(3));
  const n = graph.edges.filter((e) => e.strength >= least).length;
  return (
    <label class="strength">Strength <input type="range" min={0} max={1000} value={at} aria-valuetext={`at least ${least.toPrecision(3)} ${graph.measure}`}
      onInput={(e) => change(+(e.target as HTMLInputElement).value)} onChange={drag.end} />
      <span class="hint">{least > low ? `at least ${least.toPrecision(3)} ${graph.measure}: ` : ""}{n.toLocaleString("en")} of {graph.edges.length.toLocaleString("en")} pairs</span></label>
  );
}

/** Which communities are folded, and buttons that fold and open them. */
function Communities({ drawn, set }: { drawn: Drawn; set: (open: string) => void }) {
  const { communities } = drawn;
  if (communities.length < 2) return null;
  const open = communities.filter((c) => !c.folded), folded = communities.length - open.length;
  const without = (id: number) => open.filter((c) => c.id !== id).map((c) => c.id).join(",") || "none";
  return (
    <div class="row" role="group" aria-label="communities">
      <span class="hint">{communities.length} communities{folded > 0 && `, ${folded} folded`}</span>
      {open.length > 0 && <button type="button" class="small" onClick={() => set("none")}>Fold all</button>}
      {folded > 0 && <button type="button" class="small" onClick={() => set("all")}>Open all</button>}
      {folded > 0 && open.map((c) => <button type="button" class="small" onClick={() => set(without(c.id))}>fold {c.label}</button>)}
    </div>
  );
}

/** The strongest pairs as a list, also of folded communities, which narrow screens show before the picture. */
function Strongest({ graph, least, look }: { graph: Graph; least: number; look: (name: string) => void }) {
  const rows = graph.edges.filter((e) => e.strength >= least).slice(0, 8);
  return (
    <ul class="strongest" aria-label="strongest pairs">
      {rows.map((row) => <li><button type="button" class="link" onClick={() => look(row.a)}>{row.words}</button> <span class="hint">{amount(row.strength, row.approximate)} {graph.measure}</span></li>)}
    </ul>
  );
}

/** The graph with its legend, asked for as needed: what a page or a notebook shows. */
export function GraphPanel(props: Common & {
  change: (given: Given) => void; focus: string | null; look: (name: string | null) => void; settings?: Settings;
}) {
  const { ask, model, given, change, focus, look, version, seen, failed } = props;
  const { view, set } = useSettings(props.settings);
  const radius = Math.min(6, Math.max(1, Number(view.steps) || 1));
  const drawing = useAnswer(() => ask.graph(model, focus, radius), [model, focus, radius, version], failed);
  const graph = drawing.answer, open = view.open ?? "";
  const least = graph ? (view.least === undefined ? leastOf(graph, open) : Number(view.least) || 0) : 0;
  const drawn = useMemo(() => (graph ? reduced(graph, least, open, focus) : null), [graph, least, open, focus]);
  const names = graph?.nodes.map((n) => n.name) ?? [];
  const found = useAnswer(() => (names.length ? ask.marginals(model, given, names) : null), [model, given, names, version], failed);
  useEffect(() => { if (found.answer) seen(found.answer); }, [found.answer]);
  const variables = useMemo(() => new Map<string, Variable>(graph?.nodes.map((n) => [n.name, n])), [graph]);
  if (!graph || !drawn) return drawing.wrong ? <pre class="wrong" role="alert">{drawing.wrong}</pre> : null;
  const facts = { variables, now: found.answer?.marginals ?? {}, given };
  /** Open a community; clamp a variable to each level in turn, then free it. */
  const press = (item: Item) => {
    if (item.folded) {
      const opened = drawn.communities.filter((c) => !c.folded).map((c) => c.id);
      return set({ open: [...opened, item.community].join(",") });
    }
    const levels = variables.get(item.id)?.levels ?? [], own = given[item.id];
    const at = own === undefined ? -1 : Array.isArray(own) ? levels.length : levels.indexOf(own as Level);
    change(clamped(given, item.id, at + 1 < levels.length ? levels[at + 1] : null));
  };
  return (
    <section class="view" aria-label="Graph">
      <div class="row">
        {focus === null
          ? <span>{graph.nodes.length < graph.total_nodes ? `The ${graph.nodes.length} of ${graph.total_nodes.toLocaleString("en")} variables that are joined most strongly` : "All variables"}</span>
          : <><span><b>{focus}</b> and its neighbours, up to {radius} {radius === 1 ? "step" : "steps"} away</span>
            <label>Steps <input type="number" min={1} max={6} value={radius} onInput={(e) => set({ steps: (e.target as HTMLInputElement).value })} /></label>
            <button type="button" onClick={() => look(null)}>Show all</button></>}
        <Strength graph={graph} least={least} set={(text, quiet) => set({ least: text }, quiet)} />
        {drawn.alone > 0 && <span class="hint">{drawn.alone.toLocaleString("en")} {drawn.alone === 1 ? "variable" : "variables"} without such a pair {drawn.alone === 1 ? "is" : "are"} not drawn</span>}
      </div>
      <Communities drawn={drawn} set={(text) => set({ open: text })} />
      <Strongest graph={graph} least={least} look={look} />
      <GraphView graph={graph} drawn={drawn} facts={facts} focus={focus} press={press} look={look} name={model} />
      <p class="hint">Point at a line or a shade for its words and its numbers. Click a variable to clamp its levels in turn; shift-click to show its neighbours. Keyboard: Tab to reach it, Enter to clamp, f for its neighbours. Drag and scroll, use two fingers, or + and −, to move.</p>
    </section>
  );
}

/** The graph as a panel of the page. */
export function GraphTab(props: PanelProps) {
  const { view, change } = props;
  return <GraphPanel {...props} change={(given) => change({ given })} focus={view.focus ?? null} look={(focus) => change({ view: { focus: focus ?? "" } })}
    settings={{ view, set: (more, quiet) => change({ view: more }, quiet) }} />;
}
