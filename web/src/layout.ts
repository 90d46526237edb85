/** Where the graph's variables and communities stand, and which of them have room for a label. */

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { Edge, Graph, Group } from "./api";

export const TALL = 30, UNDER = 16, DOT = 5;
/** Variables from which on communities are folded unless the person says otherwise, and items that all have room for a label. */
export const MANY = 60, FEW = 45;
/** Lines that are drawn unless the person asks for weaker ones. */
export const LINES = 400;
const LEAST_MEMBERS = 3;

/** A variable, or a community that is folded into one. */
export interface Item { id: string; label: string; members: string[]; community: number; folded: boolean; strength: number }
/** A line: a pair, or all pairs between two items. */
export interface Line { a: string; b: string; strength: number; direction: number; approximate: boolean; words: string; pairs: number }
export interface Drawn {
  items: Item[]; lines: Line[]; groups: Group[];
  /** Communities that can be folded, by what they are called, and whether they are. */
  communities: { id: number; label: string; size: number; folded: boolean }[];
  /** The least strength drawn, pairs at least as strong, and variables left out because none of theirs is. */
  least: number; pairs: number; alone: number;
}
export interface Place { item: Item; x: number; y: number; width: number; room: number }
export interface Pane { width: number; height: number }
export type Open = "" | "all" | "none" | string;

export const short = (name: string) => (name.length > 20 ? name.slice(0, 19) + "…" : name);
/** Pixels: names have the same size on every screen. */
export const letters = (pane: Pane) => (pane.width < 600 ? { font: 12, wide: 6.9, around: 18 } : { font: 14, wide: 7.8, around: 32 });

/** The weakest strength that is drawn where the person has not said: if all is open, that of the last of so many lines. */
export const leastOf = (graph: Graph, open: Open) =>
  graph.edges.length > LINES && (open === "all" || (open === "" && graph.nodes.length <= MANY)) ? graph.edges[LINES - 1].strength : 0;

const order = (a: { strength: number }, b: { strength: number }) => b.strength - a.strength;
const direction = (edges: Edge[]) => (edges.every((e) => e.direction === edges[0].direction) ? edges[0].direction : 0);

/** What is drawn of a graph: strong enough pairs, communities folded into one item each. */
export function reduced(graph: Graph, least: number, open: Open, focus: string | null): Drawn {
  const edges = graph.edges.filter((e) => e.strength >= least), groups = graph.groups.filter((g) => g.strength >= least);
  const strength = new Map<string, number>();
  const add = (name: string, by: number) => strength.set(name, (strength.get(name) ?? 0) + by);
  for (const e of edges) { add(e.a, e.strength); add(e.b, e.strength); }
  for (const g of groups) for (const name of g.members) add(name, g.strength / g.members.length);
  const kept = graph.nodes.length > FEW ? graph.nodes.filter((n) => strength.has(n.name) || n.name === focus) : graph.nodes;
  const members = new Map<number, string[]>();
  for (const n of kept) members.set(n.community, [...(members.get(n.community) ?? []), n.name]);
  for (const own of members.values()) own.sort((a, b) => (strength.get(b) ?? 0) - (strength.get(a) ?? 0));
  const opened = open === "" ? (kept.length > MANY && focus === null ? "none" : "all") : open;
  const isFolded = (c: number) => members.get(c)!.length >= LEAST_MEMBERS && (opened === "none" || (opened !== "all" && !opened.split(",").includes(String(c))));
  const called = (own: string[]) => `${own.slice(0, 2).map(short).join(", ")}${own.length > 2 ? ` +${own.length - 2}` : ""}`;
  const of = new Map<string, Item>(), items: Item[] = [];
  for (const [community, own] of members) {
    const sum = own.reduce((all, name) => all + (strength.get(name) ?? 0), 0);
    if (isFolded(community)) {
      const item = { id: `community ${community}`, label: called(own), members: own, community, folded: true, strength: sum };
      items.push(item);
      for (const name of own) of.set(name, item);
    } else for (const name of own) {
      const item = { id: name, label: short(name), members: [name], community, folded: false, strength: strength.get(name) ?? 0 };
      items.push(item);
      of.set(name, item);
    }
  }
  return {
    items: items.sort(order), lines: joined(edges, of), groups: groups.filter((g) => g.members.every((name) => of.has(name) && !of.get(name)!.folded)),
    communities: [...members].filter(([, own]) => own.length >= LEAST_MEMBERS).map(([id, own]) => ({ id, label: called(own), size: own.length, folded: isFolded(id) })),
    least, pairs: edges.length, alone: graph.nodes.length - kept.length,
  };
}

/** Groups that are drawn as a hub, because nothing else shows what one of their variables is joined with. */
export function hubs(drawn: Drawn, shaded: number): Group[] {
  const joined = new Set(drawn.lines.flatMap((l) => [l.a, l.b]));
  return drawn.groups.slice(shaded).filter((group) => group.members.some((name) => !joined.has(name)));
}

/** One line for all pairs between two items; pairs inside a folded community have none. */
function joined(edges: Edge[], of: Map<string, Item>): Line[] {
  const between = new Map<string, Edge[]>();
  for (const e of edges) {
    const a = of.get(e.a), b = of.get(e.b);
    if (!a || !b || a === b) continue;
    const key = JSON.stringify([a.id, b.id].sort());
    between.set(key, [...(between.get(key) ?? []), e]);
  }
  return [...between].map(([key, own]) => {
    const [a, b] = JSON.parse(key) as [string, string];
    const strength = own.reduce((sum, e) => sum + e.strength, 0);
    const words = own.length === 1 ? own[0].words : `${own.length} pairs, the strongest: ${own[0].words}`;
    return { a, b, strength, direction: direction(own), approximate: own.some((e) => e.approximate), words, pairs: own.length };
  }).sort(order);
}

/** The width of the text below a name. */
export type Below = (item: Item) => string;

/** Places of all items: with room for every label where there are few, else as far apart as the pane allows. */
export function layout(drawn: Drawn, below: Below, wanted: Pane): { places: Map<string, Place>; pane: Pane } {
  const { wide, around } = letters(wanted), few = drawn.items.length <= FEW;
  const nodes: Place[] = drawn.items.map((item, i) => {
    const angle = (2 * Math.PI * i) / drawn.items.length, width = around + wide * item.label.length;
    return { item, x: 200 * Math.cos(angle), y: 130 * Math.sin(angle), width, room: Math.max(width, 6.6 * below(item).length) };
  });
  simulate(nodes, drawn, few);
  const area = few ? nodes.reduce((sum, n) => sum + 2.4 * (n.room + 16) * (TALL + UNDER + 12), 0) : nodes.length * 2600;
  const height = few ? area / wanted.width : Math.min(area / wanted.width, 1.5 * wanted.width, 1000);
  const pane = { width: wanted.width, height: Math.max(wanted.height, height) };
  fill(nodes, pane, few);
  return { places: new Map(nodes.map((node) => [node.item.id, node])), pane };
}

function simulate(nodes: Place[], drawn: Drawn, few: boolean): void {
  const top = Math.max(...drawn.lines.map((l) => l.strength), 1e-9);
  const links = drawn.lines.map((l) => ({ source: l.a, target: l.b, weight: l.strength / top }));
  for (const group of [...drawn.groups.slice(0, 8), ...hubs(drawn, 8)])
    for (const member of group.members.slice(1)) links.push({ source: group.members[0], target: member, weight: 0.05 });
  const held = new Set(links.flatMap((l) => [l.source, l.target]));
  const pull = (wide: number) => (d: any) => (held.has(d.item.id) ? wide : 0.2);
  const far = few ? (nodes.length > 30 ? 80 : 170) : 30;
  forceSimulation(nodes as any)
    .force("link", forceLink(links as any).id((d: any) => d.item.id).distance(far).strength((l: any) => 0.03 + 0.35 * Math.sqrt(l.weight)))
    .force("charge", forceManyBody().strength(few ? (nodes.length > 30 ? -420 : -1300) : -90))
    .force("apart", forceCollide((d: any) => (few ? d.room / 2 + 10 : 14)))
    .force("x", forceX(0).strength(pull(0.05)))
    .force("y", forceY(0).strength(pull(few ? 0.11 : 0.07)))
    .stop()
    .tick(nodes.length > 150 ? 160 : 320);
}

/** Fill the pane; where all have labels, push apart what overlaps, with the line under each name. */
function fill(nodes: Place[], pane: Pane, few: boolean): void {
  const stretch = (at: "x" | "y", low: (n: Place) => number, high: (n: Place) => number) => {
    const least = Math.min(...nodes.map((n) => n[at])), most = Math.max(...nodes.map((n) => n[at]));
    for (const n of nodes) n[at] = low(n) + (most > least ? (n[at] - least) / (most - least) : 0.5) * (high(n) - low(n));
  };
  const side = (n: Place) => (few ? n.room / 2 + 6 : Math.min(50, pane.width / 8));
  const left = (n: Place) => side(n), right = (n: Place) => pane.width - side(n);
  const above = () => TALL / 2 + 10, below = () => pane.height - TALL / 2 - UNDER - 10;
  stretch("x", left, right);
  stretch("y", above, below);
  for (let turn = 0; few && turn < 300; turn++) {
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

type Box = [number, number, number, number];
/** How an item is drawn: a pill with its name and the line below it, a dot with its name at a side, or a dot. */
export type Look = { kind: "pill" } | { kind: "named"; dx: number; dy: number; anchor: "start" | "end" | "middle" } | { kind: "dot" };

/** Which items have room for their labels, the first of the list first. No label lies on another one, or on a dot. */
export function looks(places: { id: string; x: number; y: number; width: number; room: number; label: string }[], pane: Pane): Map<string, Look> {
  const { wide } = letters(pane), taken: Box[] = [], found = new Map<string, Look>();
  const meets = (a: Box, b: Box) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const dots: Box[] = places.map((p) => [p.x - DOT, p.y - DOT, p.x + DOT, p.y + DOT]);
  const isFree = (box: Box, own: number) => !taken.some((other) => meets(box, other)) && !dots.some((dot, k) => k !== own && meets(box, dot));
  places.forEach((p, own) => {
    const pill: Box = [p.x - p.room / 2, p.y - TALL / 2, p.x + p.room / 2, p.y + TALL / 2 + UNDER];
    const width = 0.95 * wide * p.label.length + 6;
    const sides: [Look, Box][] = [
      [{ kind: "pill" }, pill],
      [{ kind: "named", dx: DOT + 4, dy: 4, anchor: "start" }, [p.x + DOT, p.y - 8, p.x + DOT + width, p.y + 8]],
      [{ kind: "named", dx: -DOT - 4, dy: 4, anchor: "end" }, [p.x - DOT - width, p.y - 8, p.x - DOT, p.y + 8]],
      [{ kind: "named", dx: 0, dy: -DOT - 5, anchor: "middle" }, [p.x - width / 2, p.y - DOT - 18, p.x + width / 2, p.y - DOT]],
      [{ kind: "named", dx: 0, dy: DOT + 14, anchor: "middle" }, [p.x - width / 2, p.y + DOT, p.x + width / 2, p.y + DOT + 18]],
    ];
    const side = sides.find(([, box]) => box[0] >= 0 && box[2] <= pane.width && isFree(box, own)) ?? (places.length <= FEW && isFree(pill, own) ? sides[0] : undefined);
    if (side) taken.push(side[1]);
    found.set(p.id, side ? side[0] : { kind: "dot" });
  });
  return found;
}

/** Corners of the convex hull, in order. */
export function hull(points: [number, number][]): [number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (path: [number, number][]) => {
    const kept: [number, number][] = [];
    for (const p of path) {
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
