/** The interaction graph: blue full lines go with, orange dashed ones against, grey ones have no one direction; groups are shaded. */

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAnswer } from "./answers";
import type { Common, Given, Graph, Level, Variable } from "./api";
import { amount, percent } from "./bars";
import { clamped } from "./given";
import type { PanelProps } from "./state";

const TALL = 30, UNDER = 16, GROUPS = 4;

/** The width of a name's pill, and the room that it takes with the line below it. */
interface Place { name: string; x: number; y: number; width: number; room: number }
interface Pane { width: number; height: number }

const short = (name: string) => (name.length > 20 ? name.slice(0, 19) + "…" : name);
/** Pixels: names have the same size on every screen, and a full picture is taller, not smaller. */
const letters = (pane: Pane) => (pane.width < 600 ? { font: 12, wide: 6.9, around: 18 } : { font: 14, wide: 7.8, around: 32 });

function layout(graph: Graph, variables: Map<string, Variable>, wanted: Pane): { places: Map<string, Place>; pane: Pane } {
  const { wide, around } = letters(wanted);
  const nodes: Place[] = graph.nodes.map(({ name }, i) => {
    const angle = (2 * Math.PI * i) / graph.nodes.length;
    const width = around + wide * short(name).length;
    const below = Math.max(...(variables.get(name)?.levels ?? []).map((level) => short(String(level)).length), 0) + " 100.0%".length;
    return { name, x: 200 * Math.cos(angle), y: 130 * Math.sin(angle), width, room: Math.max(width, 6.6 * below) };
  });
  const top = Math.max(...graph.edges.map((e) => e.strength), 1e-9);
  const links = graph.edges.map((e) => ({ source: e.a, target: e.b, weight: e.strength / top }));
  for (const group of graph.groups.slice(0, 8))
    for (const member of group.members.slice(1)) links.push({ source: group.members[0], target: member, weight: 0.05 });
  const joined = new Set(links.flatMap((l) => [l.source, l.target]));
  const far = nodes.length > 30 ? 80 : 170;
  const pull = (wide: number) => (d: any) => (joined.has(d.name) ? wide : 0.2);
  forceSimulation(nodes as any)
    .force("link", forceLink(links as any).id((d: any) => d.name).distance(far).strength((l: any) => 0.03 + 0.35 * Math.sqrt(l.weight)))
    .force("charge", forceManyBody().strength(nodes.length > 30 ? -420 : -1300))
    .force("apart", forceCollide((d: any) => d.room / 2 + 10))
    .force("x", forceX(0).strength(pull(0.05)))
    .force("y", forceY(0).strength(pull(0.11)))
    .stop()
    .tick(320);
  const area = nodes.reduce((sum, n) => sum + 2.4 * (n.room + 16) * (TALL + UNDER + 12), 0);
  const pane = { width: wanted.width, height: Math.max(wanted.height, area / wanted.width) };
  spread(nodes, pane);
  return { places: new Map(nodes.map((node) => [node.name, node])), pane };
}

/** Fill the pane, then push apart what overlaps, with the line under each name. */
function spread(nodes: Place[], pane: Pane): void {
  const stretch = (at: "x" | "y", low: (n: Place) => number, high: (n: Place) => number) => {
    const least = Math.min(...nodes.map((n) => n[at])), most = Math.max(...nodes.map((n) => n[at]));
    for (const n of nodes) n[at] = low(n) + (most > least ? (n[at] - least) / (most - least) : 0.5) * (high(n) - low(n));
  };
  const left = (n: Place) => n.room / 2 + 6, right = (n: Place) => pane.width - n.room / 2 - 6;
  const above = () => TALL / 2 + 10, below = () => pane.height - TALL / 2 - UNDER - 10;
  stretch("x", left, right);
  stretch("y", above, below);
  for (let turn = 0; turn < 300; turn++) {
    let moved = false;
    nodes.forEach((a, i) => nodes.slice(i + 1).forEach((b) => {
      const x = (a.room + b.room) / 2 + 12 - Math.abs(a.x - b.x), y = TALL + UNDER + 10 - Math.abs(a.y - b.y);
      if (x <= 0.01 || y <= 0.01) return;
      moved = true;
      const at = x < y ? "x" : "y", step = (Math.min(x, y) / 2) * (a[at] < b[at] ? -1 : 1);
      a[at] += step;
      b[at] -= step;
    }));
    for (const n of nodes) {
      n.x = Math.min(Math.max(n.x, left(n)), right(n));
      n.y = Math.min(Math.max(n.y, above()), below());
    }
    if (!moved) return;
  }
}

export const kind = (direction: number) => (direction > 0 ? "with" : direction < 0 ? "against" : "neither");

/** A line of the picture as a sample, at a share of the greatest strength. */
export function Sample(props: { name: string; share?: number }) {
  const { width, opacity } = stroke(props.share ?? 0.4);
  return <svg class="graph-key" width="30" height="12" aria-hidden="true"><line class={props.name} x1="0" y1="6" x2="30" y2="6" stroke-width={width} stroke-opacity={opacity} /></svg>;
}

/** What a pointer is told about a line or a shade. */
const said = (link: { words: string; strength: number; approximate: boolean }, measure: string) =>
  `${link.words}: ${measure} ${amount(link.strength, link.approximate)}`;

/** Wide and full where strong, thin and faint where weak. */
const stroke = (share: number) => ({ width: 1 + 5.5 * share ** 0.6, opacity: 0.4 + 0.55 * share ** 0.5 });

const drawn = (graph: Graph) => graph.groups.slice(0, GROUPS);

/** Names every line style, colour, width and shade that the picture uses, and no other. */
export function Legend(props: { graph: Graph; clamped: boolean }) {
  const { graph, clamped } = props;
  const used = new Set(graph.edges.map((e) => kind(e.direction)));
  const groups = drawn(graph);
  const rough = graph.edges.filter((e) => e.approximate).length;
  return (
    <ul class="legend" aria-label="legend">
      {used.has("with") && <li><Sample name="with" /> goes with</li>}
      {used.has("against") && <li><Sample name="against" /> goes against</li>}
      {used.has("neither") && <li><Sample name="neither" /> {graph.edges.some((e) => e.direction === 0 && e.kind !== null) ? "no single direction" : "joined; no direction is given"}</li>}
      {graph.total_edges > graph.edges.length && <li>the strongest {graph.edges.length} of {graph.total_edges.toLocaleString("en")} pairs</li>}
      {used.size > 0 && <li><Sample name="width" share={0} /><Sample name="width" share={1} /> width and opacity grow with {graph.measure}
        {rough > 0 && (rough === graph.edges.length ? " (approximate)" : " (some approximate)")}</li>}
      {groups.length > 0 && <li>shaded: joined by an interaction of three or more variables{graph.total_groups > groups.length && `, the strongest ${groups.length} of ${graph.total_groups.toLocaleString("en")}`}</li>}
      {groups.map((group, k) => <li title={group.words}><i class={`group shade${k}`} />{group.members.join(", ")}</li>)}
      <li><i class="level" /> fill: probability of the level below the name, the likeliest one</li>
      {clamped && <li><i class="clamped" /> clamped</li>}
    </ul>
  );
}

/** Corners of the convex hull, in order. */
function hull(points: [number, number][]): [number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (way: [number, number][]) => {
    const kept: [number, number][] = [];
    for (const p of way) {
      while (kept.length > 1) {
        const [a, b] = kept.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        kept.pop();
      }
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return sorted.length > 2 ? [...half(sorted), ...half(sorted.reverse())] : sorted;
}

export function GraphView(props: {
  graph: Graph; variables: Map<string, Variable>; now: Record<string, number[]>; given: Given; focus: string | null;
  clamp: (name: string, level: Level | null) => void; look: (name: string) => void;
}) {
  const { graph, variables, now, given, focus, clamp, look } = props;
  const [wanted, setWanted] = useState<Pane>({ width: 960, height: 600 });
  const { places, pane } = useMemo(() => layout(graph, variables, wanted), [graph, variables, wanted]);
  const { font } = letters(wanted);
  const frame = useRef<SVGSVGElement>(null);
  const outer = useRef<HTMLDivElement>(null);
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
  const inner = useRef<SVGGElement>(null);
  useEffect(() => {
    const behaviour = zoom<SVGSVGElement, unknown>().scaleExtent([0.3, 5])
      // One finger scrolls the page, two move the picture.
      .filter((event) => !event.ctrlKey && !event.button && (event.type !== "touchstart" || event.touches.length > 1))
      .on("zoom", (event) => inner.current?.setAttribute("transform", String(event.transform)));
    const svg = select(frame.current!);
    svg.call(behaviour).call(behaviour.transform, zoomIdentity).on("dblclick.zoom", null);
    return () => { svg.on(".zoom", null); };
  }, [graph]);
  const top = Math.max(...graph.edges.map((e) => e.strength), 1e-9);

  /** Free, then each level in turn, then free again. */
  const next = (name: string) => {
    const levels = variables.get(name)?.levels ?? [];
    const at = name in given ? levels.indexOf(given[name] as Level) : -1;
    clamp(name, at + 1 < levels.length ? levels[at + 1] : null);
  };
  return (
    <div ref={outer}>
    <svg ref={frame} class="graph" viewBox={`0 0 ${pane.width} ${pane.height}`} style={{ height: `${pane.height}px` }} role="group" aria-label="interaction graph">
      <g ref={inner}>
        {drawn(graph).map((group, k) => {
          const corners = hull(group.members.map((m) => [places.get(m)!.x, places.get(m)!.y]));
          return (
            <g class={`shade shade${k}`}>
              <polygon points={corners.map((c) => c.join(",")).join(" ")} stroke-width="46" stroke-linejoin="round" />
              <title>{said(group, graph.measure)}</title>
            </g>
          );
        })}
        {[...graph.edges].reverse().map((edge) => {
          const a = places.get(edge.a)!, b = places.get(edge.b)!;
          const { width, opacity } = stroke(edge.strength / top);
          return (
            <line x1={a.x} y1={a.y} x2={b.x} y2={b.y} stroke-width={width} stroke-opacity={opacity}
              class={kind(edge.direction)}>
              <title>{said(edge, graph.measure)}</title>
            </line>
          );
        })}
        {[...places.values()].map((place) => {
          const variable = variables.get(place.name);
          const p = now[place.name] ?? variable?.prior ?? [];
          const clamped = place.name in given;
          // The fill and the text below the name are about the same level: the clamped one, or the likeliest.
          const shown = p.indexOf(Math.max(...p));
          const share = clamped ? 1 : p[shown] ?? 0;
          const told = clamped ? `= ${short(String(given[place.name]))}` : variable && shown >= 0 ? `${short(String(variable.levels[shown]))} ${percent(share)}` : "";
          return (
            <g class={`node${clamped ? " clamped" : ""}${place.name === focus ? " focus" : ""}`} tabindex={0} role="button"
              aria-pressed={clamped} transform={`translate(${place.x} ${place.y})`}
              onClick={(event) => (event.shiftKey ? look(place.name) : next(place.name))}
              onKeyDown={(event) => {
                if (event.key === "Enter" || event.key === " ") { event.preventDefault(); next(place.name); }
                if (event.key === "f") look(place.name);
              }}>
              <rect class="body" x={-place.width / 2} y={-TALL / 2} width={place.width} height={TALL} rx={TALL / 2} />
              <svg x={-place.width / 2} y={-TALL / 2} width={place.width} height={TALL} aria-hidden="true">
                <rect class="level" width={place.width * share} height={TALL} rx={TALL / 2} />
              </svg>
              <rect class="line" x={-place.width / 2} y={-TALL / 2} width={place.width} height={TALL} rx={TALL / 2} />
              <text text-anchor="middle" dy=".35em" style={{ fontSize: `${font}px` }}>{short(place.name)} </text>
              <text class="told" text-anchor="middle" y={TALL / 2 + 13}>{told}</text>
            </g>
          );
        })}
      </g>
    </svg>
    </div>
  );
}

/** The graph with its legend, asked for as needed: what a page or a notebook shows. */
export function GraphPanel(props: Common & {
  change: (given: Given) => void; focus: string | null; look: (name: string | null) => void;
}) {
  const { ask, model, given, change, focus, look, version, seen, failed } = props;
  const [radius, setRadius] = useState(2);
  const drawing = useAnswer(() => ask.graph(model, focus, radius), [model, focus, radius, version], failed);
  const graph = drawing.answer;
  const names = graph?.nodes.map((n) => n.name) ?? [];
  const found = useAnswer(() => (names.length ? ask.marginals(model, given, names) : null), [model, given, names, version], failed);
  useEffect(() => { if (found.answer) seen(found.answer); }, [found.answer]);
  const variables = useMemo(() => new Map<string, Variable>(graph?.nodes.map((n) => [n.name, n])), [graph]);
  if (!graph) return drawing.wrong ? <pre class="wrong" role="alert">{drawing.wrong}</pre> : null;
  return (
    <section class="view" aria-label="Graph">
      <div class="row">
        {focus === null
          ? <span>{graph.nodes.length < graph.total_nodes ? `The ${graph.nodes.length} of ${graph.total_nodes.toLocaleString("en")} variables that are joined most strongly` : "All variables"}</span>
          : <><span><b>{focus}</b> and its neighbours, up to {radius} {radius === 1 ? "step" : "steps"} away</span>
            <label>Steps <input type="number" min={1} max={6} value={radius} onInput={(e) => setRadius(Math.min(6, Math.max(1, +(e.target as HTMLInputElement).value || 1)))} /></label>
            <button type="button" onClick={() => look(null)}>Show all</button></>}
      </div>
      <Legend graph={graph} clamped={Object.keys(given).length > 0} />
      <GraphView graph={graph} variables={variables} now={found.answer?.marginals ?? {}} given={given} focus={focus}
        clamp={(name, level) => change(clamped(given, name, level))} look={look} />
      <p class="hint">Point at a line or a shade for its words and its numbers. Click a variable to clamp its levels in turn; shift-click to show its neighbours. Keyboard: Tab to reach it, Enter to clamp, f for its neighbours. Drag and scroll, or use two fingers, to move.</p>
    </section>
  );
}

/** The graph as a panel of the page. */
export function GraphTab(props: PanelProps) {
  const { view, change } = props;
  return <GraphPanel {...props} change={(given) => change({ given })} focus={view.focus ?? null} look={(focus) => change({ view: { focus: focus ?? "" } })} />;
}
