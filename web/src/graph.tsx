/** The interaction graph: what goes together by full lines, what goes against each other by dashed ones, groups shaded. */

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Given, Graph, Level, Variable } from "./api";
import { percent } from "./bars";

const WIDTH = 960, HEIGHT = 620, LETTER = 7.6, TALL = 30;

interface Place { name: string; x: number; y: number; width: number }

const short = (name: string) => (name.length > 20 ? name.slice(0, 19) + "…" : name);

function layout(graph: Graph): Map<string, Place> {
  const nodes: Place[] = graph.nodes.map(({ name }, i) => {
    const angle = (2 * Math.PI * i) / graph.nodes.length;
    return { name, x: 200 * Math.cos(angle), y: 130 * Math.sin(angle), width: 34 + LETTER * short(name).length };
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
    .force("apart", forceCollide((d: any) => d.width / 2 + 10))
    .force("x", forceX(0).strength(pull(0.05)))
    .force("y", forceY(0).strength(pull(0.11)))
    .stop()
    .tick(320);
  return new Map(nodes.map((node) => [node.name, node]));
}

function fitted(places: Map<string, Place>): string {
  const all = [...places.values()];
  if (!all.length) return `0 0 ${WIDTH} ${HEIGHT}`;
  const x0 = Math.min(...all.map((p) => p.x - p.width / 2)) - 30, x1 = Math.max(...all.map((p) => p.x + p.width / 2)) + 30;
  const y0 = Math.min(...all.map((p) => p.y)) - 45, y1 = Math.max(...all.map((p) => p.y)) + 45;
  const width = Math.max(x1 - x0, WIDTH / 2), height = Math.max(y1 - y0, HEIGHT / 2);
  return `${(x0 + x1 - width) / 2} ${(y0 + y1 - height) / 2} ${width} ${height}`;
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
  const places = useMemo(() => layout(graph), [graph]);
  const frame = useRef<SVGSVGElement>(null);
  const inner = useRef<SVGGElement>(null);
  useEffect(() => {
    const behaviour = zoom<SVGSVGElement, unknown>().scaleExtent([0.3, 5])
      .on("zoom", (event) => inner.current?.setAttribute("transform", String(event.transform)));
    const svg = select(frame.current!);
    svg.call(behaviour).call(behaviour.transform, zoomIdentity).on("dblclick.zoom", null);
    return () => { svg.on(".zoom", null); };
  }, [graph]);
  const top = Math.max(...graph.edges.map((e) => e.strength), 1e-9);

  /** Free, then each level in turn, then free again. */
  const next = (name: string) => {
    const levels = variables.get(name)?.levels ?? [];
    const at = name in given ? levels.indexOf(given[name]) : -1;
    clamp(name, at + 1 < levels.length ? levels[at + 1] : null);
  };
  return (
    <svg ref={frame} class="graph" viewBox={fitted(places)} role="group" aria-label="interaction graph">
      <g ref={inner}>
        {graph.groups.slice(0, 6).map((group, k) => {
          const corners = hull(group.members.map((m) => [places.get(m)!.x, places.get(m)!.y]));
          return (
            <g class={`shade shade${k % 4}`}>
              <polygon points={corners.map((c) => c.join(",")).join(" ")} stroke-width="46" stroke-linejoin="round" />
              <title>{group.members.join(", ")}</title>
            </g>
          );
        })}
        {[...graph.edges].reverse().map((edge) => {
          const a = places.get(edge.a)!, b = places.get(edge.b)!;
          const share = edge.strength / top;
          return (
            <line x1={a.x} y1={a.y} x2={b.x} y2={b.y} stroke-width={1 + 5.5 * share ** 0.6} stroke-opacity={0.4 + 0.55 * share ** 0.5}
              class={edge.direction > 0 ? "with" : edge.direction < 0 ? "against" : "neither"}>
              <title>{`${edge.a} – ${edge.b}`}</title>
            </line>
          );
        })}
        {[...places.values()].map((place) => {
          const variable = variables.get(place.name);
          const p = now[place.name] ?? variable?.prior ?? [];
          const likeliest = p.length ? p.indexOf(Math.max(...p)) : -1;
          const clamped = place.name in given;
          const told = variable && likeliest >= 0 ? `${variable.levels[likeliest]} ${percent(p[likeliest])}` : "";
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
                <rect class="level" width={place.width * (p.length ? p[p.length - 1] : 0)} height={TALL} rx={TALL / 2} />
              </svg>
              <rect class="line" x={-place.width / 2} y={-TALL / 2} width={place.width} height={TALL} rx={TALL / 2} />
              <text text-anchor="middle" dy=".35em">{short(place.name)} </text>
              <text class="told" text-anchor="middle" y={TALL / 2 + 13}>{clamped ? `= ${given[place.name]}` : told}</text>
            </g>
          );
        })}
      </g>
    </svg>
  );
}
