/** What every line, colour, width and shade of the graph means: those that the picture uses, and no other. */

import type { Graph } from "./api";
import { hubs, type Drawn, type Look } from "./layout";

export const GROUPS = 4;
export const kind = (direction: number) => (direction > 0 ? "with" : direction < 0 ? "against" : "neither");

/** Wide and full where strong, thin and faint where weak. */
export const stroke = (share: number) => ({ width: 1 + 5.5 * share ** 0.6, opacity: 0.4 + 0.55 * share ** 0.5 });

/** A line of the picture as a sample, at a share of the greatest strength. */
export function Sample(props: { name: string; share?: number }) {
  const { width, opacity } = stroke(props.share ?? 0.4);
  return <svg class="graph-key" width="30" height="12" aria-hidden="true"><line class={props.name} x1="0" y1="6" x2="30" y2="6" stroke-width={width} stroke-opacity={opacity} /></svg>;
}

export function Legend(props: { graph: Graph; drawn: Drawn; clamped: boolean; looks: Look[] }) {
  const { graph, drawn, clamped } = props;
  const used = new Set(drawn.lines.map((l) => kind(l.direction)));
  const groups = drawn.groups.slice(0, GROUPS), rough = drawn.lines.filter((l) => l.approximate).length;
  const mixed = drawn.lines.some((l) => l.pairs > 1);
  const unnamed = props.looks.some((look) => look.kind === "dot"), named = props.looks.some((look) => look.kind === "named");
  const known = graph.edges.some((e) => e.direction === 0 && e.kind !== null) || mixed;
  return (
    <ul class="legend" aria-label="legend">
      {used.has("with") && <li><Sample name="with" /> goes with</li>}
      {used.has("against") && <li><Sample name="against" /> goes against</li>}
      {used.has("neither") && <li><Sample name="neither" /> {known ? "no single direction" : "joined; no direction is given"}</li>}
      {graph.total_edges > graph.edges.length && <li>the strongest {graph.edges.length.toLocaleString("en")} of {graph.total_edges.toLocaleString("en")} pairs</li>}
      {used.size > 0 && <li><Sample name="width" share={0} /><Sample name="width" share={1} /> width and opacity grow with {graph.measure}{mixed && ", summed between communities"}
        {rough > 0 && (rough === drawn.lines.length ? " (approximate)" : " (some approximate)")}</li>}
      {groups.length > 0 && <li>shaded: joined by an interaction of three or more variables{drawn.groups.length > groups.length && `, the strongest ${groups.length} of ${graph.total_groups.toLocaleString("en")}`}</li>}
      {groups.map((group, k) => <li title={group.words}><i class={`group shade${k}`} />{group.members.join(", ")}</li>)}
      {hubs(drawn, GROUPS).length > 0 && <li><svg class="graph-key" width="30" height="14" aria-hidden="true"><path class="spoke" d="M1,12 15,7 29,12 M15,7 15,0" /><rect class="hub" x="12" y="4" width="6" height="6" /></svg> joined by {groups.length > 0 ? "another" : "an"} interaction of three or more variables</li>}
      {drawn.items.some((item) => item.folded) && <li><i class="folded" /> folded: variables that are joined more strongly with each other than with the rest</li>}
      {drawn.items.some((item) => !item.folded) && props.looks.some((look) => look.kind === "pill") && <li><i class="level" /> fill: probability of the level below the name, the likeliest one</li>}
      {(unnamed || named) && <li><i class="dot" /> {unnamed ? "a variable or community without room for its name; zoom in, or point at it" : "a variable without room for its level; zoom in"}</li>}
      {clamped && <li><i class="clamped" /> clamped, or with levels excluded</li>}
    </ul>
  );
}
