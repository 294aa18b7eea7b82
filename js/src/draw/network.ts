// The interaction network: features as circles as large as their own effect, pairs as lines as wide as their strength.

import { type Box, distanceToEdge, type Node } from "../geometry/network";
import type { Palette } from "../theme";
import { clip } from "./layers";
import { mix, type Ramps } from "./matrix";

export interface Link {
  /** Positions among the nodes. */
  a: number;
  b: number;
  share: number;
}

export interface Scene {
  /** Which feature each node is. */
  features: number[];
  names: string[];
  nodes: Node[];
  labels: ([number, number] | null)[];
  /** The strongest first. */
  links: Link[];
  box: Box;
}

/** Two features, or one twice. */
type Two = [number, number];

export const endsOf = ({ features }: Scene, { a, b }: Link): Two => [features[a], features[b]];

/** The feature or the pair at a place: a circle before a line. */
export function markAt(scene: Scene, x: number, y: number): Two | null {
  const { features, nodes, links } = scene;
  let node = -1;
  let near = 4;
  nodes.forEach((o, k) => {
    const d = Math.hypot(x - o.x, y - o.y) - o.r;
    if (d < near) [near, node] = [d, k];
  });
  if (node >= 0) return [features[node], features[node]];
  let link = -1;
  near = 6;
  links.forEach(({ a, b }, k) => {
    const d = distanceToEdge(x, y, nodes[a], nodes[b]);
    if (d < near) [near, link] = [d, k];
  });
  return link < 0 ? null : endsOf(scene, links[link]);
}

export const lineWidth = (share: number, unit: number): number =>
  (0.75 + 5.25 * Math.max(0, Math.min(1, share))) * unit;

export function paintNetwork(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  at: Two | null,
  focus: number,
  pair: Two | null,
  colours: Palette,
  ramp: Ramps,
  measure: (text: string) => number,
): void {
  const { nodes, links, features, names, labels } = scene;
  const within = (two: Two | null, one: number, other: number) => two?.includes(one) && two.includes(other);
  const alone = at && at[0] === at[1] ? at[0] : -1;
  // The weakest first, so that strong ones lie on top.
  for (let k = links.length - 1; k >= 0; k--) {
    const { a, b, share } = links[k];
    const ends = endsOf(scene, links[k]);
    const strong = within(at, ...ends) || within(pair, ...ends) || ends.includes(alone);
    ctx.lineWidth = lineWidth(share, colours.unit);
    ctx.strokeStyle = strong ? colours.ink : mix(ramp.pair, 0.25 + 0.75 * share);
    ctx.beginPath();
    ctx.moveTo(nodes[a].x, nodes[a].y);
    ctx.lineTo(nodes[b].x, nodes[b].y);
    ctx.stroke();
  }
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  nodes.forEach(({ x, y, r }, k) => {
    const strong = at?.includes(features[k]) || features[k] === focus;
    ctx.beginPath();
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    ctx.fillStyle = mix(ramp.own, 0.62);
    ctx.fill();
    ctx.lineWidth = (strong ? 2 : 1) * colours.unit;
    ctx.strokeStyle = strong ? colours.ink : colours.bg;
    ctx.stroke();
  });
  nodes.forEach(({ x, y, r }, k) => {
    const strong = at?.includes(features[k]) || features[k] === focus;
    let label = labels[k];
    const text = clip(names[k], 110 * colours.unit, measure);
    // A name without room of its own is shown while it is pointed at.
    if (!label && strong)
      label = [Math.max(0, Math.min(scene.box.x1 - measure(text), x - measure(text) / 2)), y + r + 1];
    if (!label) return;
    ctx.font = `${strong ? "600 " : ""}${colours.text * 0.92}px ${colours.font}`;
    ctx.lineWidth = 3;
    ctx.strokeStyle = colours.bg;
    ctx.strokeText(text, ...label);
    ctx.fillStyle = colours.ink;
    ctx.fillText(text, ...label);
  });
}
