// The surface of two features: which numbers are shown, where cells stand on each axis, and conditions from pixels and back.
// Arrays and numbers in, numbers out.

import type { Both, Condition, HeatmapPicture, SurfaceAxis } from "../model";
import { fmtX, wholeOf } from "./format";
import { type Linear, linear, readable, readableDate } from "./scale";

/** What is shown: the effect, the selection's, its difference to the rest, what the two main effects do not explain. */
export type Mode = "pd" | "selection" | "difference" | "interaction";

/** A picture that has a surface. */
export type Surface = HeatmapPicture;

export const hasSurface = (picture: Partial<HeatmapPicture> | null): picture is Surface => !!picture?.average;

const zip = (a: ArrayLike<number>, value: (v: number, i: number) => number) => Float64Array.from(a, value);

/** The numbers of a mode, first feature x second feature; null where they are not known. */
export function matrixOf(picture: Surface, mode: Mode): Float64Array | null {
  const { average, selection, rest, main_a, main_b, mean } = picture;
  if (mode === "pd") return zip(average, (v) => v);
  if (mode === "selection") return selection && zip(selection, (v) => v);
  if (mode === "difference") return selection && rest && zip(selection, (v, i) => v - rest[i]);
  if (!main_a || !main_b || mean === null) return null;
  const n = main_b.length;
  return zip(average, (v, i) => v - main_a[Math.floor(i / n)] - main_b[i % n] + mean);
}

/** The same matrix with rows as columns. */
export function transposed(values: ArrayLike<number>, rows: number, columns: number): Float64Array {
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = values[i * columns + j];
  return out;
}

/** 1 for cells with no row in them, nor beside them along an axis of numbers: a fine grid has gaps where there are data. */
export function emptyCells(x: SurfaceAxis, y: SurfaceAxis, counts: ArrayLike<number>): Uint8Array {
  const [nx, ny] = [x.x.length, y.x.length];
  const near = (axis: SurfaceAxis, k: number): number[] =>
    axis.kind === "category" || k === axis.missing
      ? [k]
      : [k - 1, k, k + 1].filter((i) => i >= 0 && i < axis.x.length && i !== axis.missing);
  return Uint8Array.from({ length: nx * ny }, (_, cell) => {
    const [i, j] = [Math.floor(cell / ny), cell % ny];
    return near(x, i).some((p) => near(y, j).some((q) => counts[p * ny + q] > 0)) ? 0 : 1;
  });
}

/** One axis in px: numbers to scale, levels in equal steps, a missing level of a number axis apart, at its start. */
export interface Lane {
  axis: SurfaceAxis;
  /** Ends of every cell in px, low before high. */
  low: Float64Array;
  high: Float64Array;
  /** Axis units to px, of numbers and dates. */
  scale: Linear | null;
  domain: [number, number];
  /** Ends in px, as the axis runs. */
  range: [number, number];
}

const APART = 4;

/** Ends of the cells around each point, halfway to the next ones; the outer ones end where the data do. */
export function cellEdges(points: ArrayLike<number>, data: ArrayLike<number> | null = null): Float64Array {
  const n = points.length;
  const edges = new Float64Array(n + 1);
  if (n === 0) return edges;
  const half = n > 1 ? 0 : Math.abs(points[0]) / 20 || 0.5;
  for (let k = 1; k < n; k++) edges[k] = points[k - 1] / 2 + points[k] / 2;
  edges[0] = n > 1 ? points[0] - (edges[1] - points[0]) : points[0] - half;
  edges[n] = n > 1 ? points[n - 1] + (points[n - 1] - edges[n - 1]) : points[0] + half;
  if (n > 1 && data) {
    edges[0] = Math.max(edges[0], Math.min(data[0], points[0]));
    edges[n] = Math.min(edges[n], Math.max(data[data.length - 1], points[n - 1]));
  }
  return edges;
}

export function laneOf(axis: SurfaceAxis, range: [number, number], room: number): Lane {
  const n = axis.x.length;
  const [from, to] = range;
  const way = Math.sign(to - from) || 1;
  const low = new Float64Array(n);
  const high = new Float64Array(n);
  const put = (k: number, a: number, b: number) => {
    low[k] = Math.min(a, b);
    high[k] = Math.max(a, b);
  };
  const { missing } = axis;
  const gap = missing >= 0 && n > 1 ? APART * way : 0;
  if (axis.kind === "category") {
    const step = (to - from - gap) / Math.max(1, n);
    for (let k = 0; k < n; k++) {
      const start = from + step * k + (k === missing ? gap : 0);
      put(k, start, start + step);
    }
    return { axis, low, high, scale: null, domain: [0, n], range };
  }
  let start = from;
  if (missing >= 0) {
    const size = Math.min(room, Math.abs(to - from) * (n > 1 ? 0.15 : 1)) * way;
    put(missing, from, from + size);
    start = from + size + gap;
  }
  const known = Array.from(axis.x, (_, k) => k).filter((k) => k !== missing);
  const edges = cellEdges(
    known.map((k) => axis.x[k]),
    axis.hist.edges,
  );
  const domain: [number, number] = known.length > 0 ? [edges[0], edges[edges.length - 1]] : [0, 1];
  const scale = linear(domain, [start, to]);
  known.forEach((k, i) => {
    put(k, scale(edges[i]), scale(edges[i + 1]));
  });
  return { axis, low, high, scale, domain, range };
}

/** The cell under a pixel, or the nearest one. */
export function cellAt(lane: Lane, pixel: number): number {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  for (let k = 0; k < lane.low.length; k++) {
    const d = Math.max(lane.low[k] - pixel, pixel - lane.high[k], 0);
    if (d < distance || (d === distance && lane.high[k] - lane.low[k] > lane.high[best] - lane.low[best])) {
      distance = d;
      best = k;
    }
  }
  return best;
}

/** Cells in the order in which they stand, from the axis' start. */
export function inOrder({ low, range }: Lane): number[] {
  const way = range[1] >= range[0] ? 1 : -1;
  return Array.from(low, (_, k) => k).sort((a, b) => way * (low[a] - low[b]));
}

/** A cell's place on its axis in words. */
export function cellText({ axis, domain }: Lane, k: number): string {
  if (k === axis.missing) return "missing";
  if (axis.kind === "category") return axis.labels[k] ?? String(k);
  return fmtX(axis.x[k], axis.kind, domain[1] - domain[0], wholeOf(axis));
}

/** px from the end of an axis that still count as the end. */
const NEAR = 3;

/** An end of a range, readable; open at the ends of the axis, beyond which there are rows of the outermost cells. */
function endOf({ axis, scale, domain, range }: Lane, pixel: number, side: "low" | "high"): number | null {
  const unit = (domain[1] - domain[0]) / Math.abs(range[1] - range[0]);
  const value = scale!.invert(pixel);
  if (side === "low" ? value <= domain[0] + NEAR * unit : value >= domain[1] - NEAR * unit) return null;
  if (axis.kind === "datetime" || axis.kind === "timedelta") return readableDate(value, unit);
  if (!axis.integer) return readable(value, unit);
  // The cell of a whole number reaches half a unit to both sides, and one that is touched counts.
  return side === "low" ? Math.round(value + 1e-3) : Math.ceil(value - 1e-3 - 0.5);
}

/** The condition that holds between two pixels of an axis; null when that is all of it. */
export function between(lane: Lane, a: number, b: number): Condition | null {
  const { axis, low, high } = lane;
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  const inside = inOrder(lane).filter((k) => high[k] > from && low[k] < to);
  const all = inside.length === low.length;
  if (axis.kind === "category" || (inside.length === 1 && inside[0] === axis.missing)) {
    if (all && axis.left_out === 0) return null;
    const levels = inside.map((k) => axis.at[k]).sort((p, q) => p - q);
    return { type: "levels", feature: axis.feature, levels };
  }
  const ends = lane.scale!.range;
  const ascending = ends[1] >= ends[0];
  const [p, q] = ascending ? [from, to] : [to, from];
  const range = {
    type: "range" as const,
    feature: axis.feature,
    low: endOf(lane, p, "low"),
    high: endOf(lane, q, "high"),
  };
  if (range.low !== null && range.high !== null && range.low > range.high) range.low = range.high;
  return range.low === null && range.high === null && all ? null : range;
}

/** The condition of one cell, or of all cells between two. */
export function ofCells(lane: Lane, a: number, b = a): Condition | null {
  // A little inside, so that a neighbour's edge does not count.
  const from = Math.min(lane.low[a], lane.low[b]);
  const to = Math.max(lane.high[a], lane.high[b]);
  const inner = Math.min(0.25, (to - from) / 4);
  if (lane.axis.kind === "category" || a === lane.axis.missing || b === lane.axis.missing)
    return between(lane, from + inner, to - inner);
  return between(lane, from, to);
}

/** Both sides of a rectangle; null when that is everything. */
export function rectangle(a: Condition | null, b: Condition | null): Condition | Both | null {
  return a && b ? { type: "all", conditions: [a, b] } : (a ?? b);
}

/** Where a condition stands on an axis: intervals in px; none where it cannot be drawn. */
export function stretches(lane: Lane, condition: Condition): [number, number][] {
  const { axis, low, high } = lane;
  if (condition.type === "levels") {
    const out: [number, number][] = [];
    for (const k of inOrder(lane)) {
      if (!condition.levels.includes(axis.at[k])) continue;
      const last = out[out.length - 1];
      if (last && Math.abs(last[1] - low[k]) < 1) last[1] = high[k];
      else if (last && Math.abs(last[0] - high[k]) < 1) last[0] = low[k];
      else out.push([low[k], high[k]]);
    }
    return out;
  }
  if (condition.type !== "range" || !lane.scale) return [];
  const half = axis.integer ? 0.5 : 0;
  const ends = [...lane.scale.range].sort((p, q) => p - q);
  const px = [
    condition.low === null ? lane.domain[0] : condition.low - half,
    condition.high === null ? lane.domain[1] : condition.high + half,
  ].map((v) => Math.max(ends[0], Math.min(ends[1], lane.scale!(v))));
  return [[Math.min(...px), Math.max(...px)]];
}
