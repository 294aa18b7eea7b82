// From pixels and bars to conditions on the focused feature, and back.

import { partsOf } from "../brush";
import { brushPx, type Scene } from "../draw/scene";
import { readable, readableDate } from "../geometry/scale";
import { someOutside } from "../geometry/subset";
import type { Condition } from "../model";
import type { Ui } from "./ui";

export type Range = Extract<Condition, { type: "range" }>;
export type Levels = Extract<Condition, { type: "levels" }>;

/** The condition on the focused feature that is on screen: the draft, else the selection's. */
export function current<T extends "range" | "levels">(
  ui: Ui,
  type: T,
  feature: string,
): Extract<Condition, { type: T }> | null {
  const draft = ui.store.brush.draft.value;
  const drafted = draft ? partsOf(draft.condition).filter((c) => c.feature === feature && c.type !== "ice") : [];
  const list = drafted.length > 0 ? drafted : ui.store.selection.value.conditions;
  return (list.find((c) => c.type === type && c.feature === feature) as Extract<Condition, { type: T }>) ?? null;
}

/** A pixel as an end of a range: readable, whole for whole numbers, open at the ends of the axis. */
function endOf(scene: Scene, pixel: number, side: "low" | "high"): number | null {
  const [x0, x1] = scene.x.range;
  if (pixel <= x0 || pixel >= x1) return null;
  const [d0, d1] = scene.xDomain;
  const step = (d1 - d0) / (x1 - x0);
  const value = scene.x.invert(pixel);
  const { kind, integer } = scene.curve;
  if (kind === "datetime" || kind === "timedelta") return readableDate(value, step);
  if (!integer) return readable(value, step);
  // A whole number's bar reaches half a unit to both sides; its edges belong to the range that ends there.
  if (step < 0.5) return side === "low" ? Math.round(value + EDGE) : Math.ceil(value - EDGE - 0.5);
  return Math.round(readable(value, step));
}

const EDGE = 1e-3;
/** As near, in px, as a hand comes to the end that it means. */
const SNAP = 4;

/** px from which on a range is open: where the outer bars end, if nothing lies beyond them, else the ends of the axis. */
function outer({ x, curve }: Scene): [number, number] {
  const [x0, x1] = x.range;
  const edges = curve.hist?.edges;
  if (!edges || someOutside(curve)) return [x0, x1];
  const near = Math.min(SNAP, (x(edges[1]) - x(edges[0])) / 2); // no other bar
  return [Math.max(x0, x(edges[0])) + near, Math.min(x1, x(edges[edges.length - 1])) - near];
}

export function rangeBetween(scene: Scene, a: number, b: number): Range {
  const [low, high] = a <= b ? [a, b] : [b, a];
  const [x0, x1] = scene.x.range;
  const [first, last] = outer(scene);
  const from = low <= first ? null : endOf(scene, Math.min(low, x1 - 0.01), "low");
  const to = high >= last ? null : endOf(scene, Math.max(high, x0 + 0.01), "high");
  // On the border of two whole numbers both ends may round apart.
  const crossed = from !== null && to !== null && from > to;
  return { type: "range", feature: scene.curve.feature, low: from, high: crossed ? from : to };
}

/** The range of one bar of a number axis. */
export function rangeOfBar(scene: Scene, bar: number): Range | null {
  const { curve, x } = scene;
  const edges = curve.hist?.edges;
  if (!edges || bar < 0 || bar >= edges.length - 1) return null;
  const ends = { type: "range" as const, feature: curve.feature };
  if (curve.integer) return { ...ends, low: Math.ceil(edges[bar]), high: Math.ceil(edges[bar + 1]) - 1 };
  // The outer ends are open where nothing lies beyond them, so that rounding loses no row.
  const [first, last] = someOutside(curve) ? [edges[0], edges[edges.length - 1]] : [null, null];
  const between = rangeBetween(scene, x(edges[bar]), x(edges[bar + 1]));
  return {
    ...ends,
    low: bar === 0 ? first : between.low,
    high: bar === edges.length - 2 ? last : between.high,
  };
}

export const levelsOf = (feature: string, a: number, b = a): Levels => ({
  type: "levels",
  feature,
  levels: Array.from({ length: Math.abs(b - a) + 1 }, (_, i) => Math.min(a, b) + i),
});

export const ANY = { type: "range", low: null, high: null } as const;

/** Whether two conditions on one feature are the same on the screen; the kernel rounds ranges a little. */
export function alike(scene: Scene, a: Condition, b: Condition): boolean {
  if (a.type === "levels" && b.type === "levels") return a.levels.join() === b.levels.join();
  if (a.type !== "range" || b.type !== "range") return false;
  const [p, q] = [brushPx(scene, a), brushPx(scene, b)];
  return Math.abs(p[0] - q[0]) < 1.5 && Math.abs(p[1] - q[1]) < 1.5;
}
