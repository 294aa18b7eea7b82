// Answers from the ICE sample while the kernel has not answered yet: means of the selected and of the other rows.

import type { Curve, Ice, Part, Sample } from "../model";

export interface Means {
  selection: Float64Array;
  rest: Float64Array;
  /** Weighted share of the sample that is selected. */
  share: number;
  /** Sampled rows selected. */
  rows: number;
}

const weightOf = (sample: Sample | null, i: number) => (sample?.weight ? sample.weight[i] : 1);

/**
 * Weighted mean curves of the rows with mask 1 and of those with mask 0. `all` is the curve over all rows: the
 * sample's own deviation from it is taken off, so that selecting every row gives exactly `all`.
 */
export function splitMeans(
  ice: Ice,
  mask: ArrayLike<number>,
  sample: Sample | null,
  all: ArrayLike<number> | null = null,
): Means {
  const { m, k, values, offset } = ice;
  const selection = new Float64Array(k);
  const rest = new Float64Array(k);
  const ws = new Float64Array(k);
  const wr = new Float64Array(k);
  let rows = 0;
  let inside = 0;
  let total = 0;
  for (let i = 0; i < m; i++) {
    const w = weightOf(sample, i);
    const on = mask[i] === 1;
    total += w;
    if (on) {
      rows++;
      inside += w;
    }
    const sum = on ? selection : rest;
    const weight = on ? ws : wr;
    const start = i * k;
    for (let j = 0; j < k; j++) {
      const value = values[start + j];
      if (!Number.isNaN(value)) {
        sum[j] += w * value;
        weight[j] += w;
      }
    }
  }
  for (let j = 0; j < k; j++) {
    const weight = ws[j] + wr[j];
    const shift = all && weight > 0 && !Number.isNaN(all[j]) ? all[j] - (selection[j] + rest[j]) / weight : offset;
    selection[j] = ws[j] > 0 ? selection[j] / ws[j] + shift : Number.NaN;
    rest[j] = wr[j] > 0 ? rest[j] / wr[j] + shift : Number.NaN;
  }
  return { selection, rest, share: total > 0 ? inside / total : 0, rows };
}

/** Rows per bar. On a number axis with a missing level the missing rows are the last bar. */
export const barCounts = (curve: Curve): ArrayLike<number> => curve.hist?.counts ?? [];

/** The bar of a histogram that a value falls into, or -1. */
export function binOf(curve: Curve, own: number): number {
  const hist = curve.hist;
  if (!hist) return -1;
  if (Number.isNaN(own)) return curve.missing >= 0 ? barCounts(curve).length - 1 : -1;
  if (!hist.edges) return own >= 0 && own < hist.counts.length ? Math.round(own) : -1;
  const edges = hist.edges;
  const last = edges.length - 1;
  if (!(own >= edges[0] && own <= edges[last])) return -1;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= own) low = middle;
    else high = middle;
  }
  return low;
}

/** Whether the bars show fewer rows than there are: some lie outside the axis. */
export function someOutside({ hist, total, infinite_count, missing, missing_count }: Curve): boolean {
  let shown = infinite_count + (missing < 0 ? missing_count : 0);
  for (let b = 0; b < (hist?.counts.length ?? 0); b++) shown += hist!.counts[b];
  return shown < total;
}

/** The selected part of every bar, estimated: its count times the selected share of the sample rows in it. */
export function splitCounts(curve: Curve, ice: Ice, mask: ArrayLike<number>, sample: Sample | null): Float64Array {
  const counts = barCounts(curve);
  const inside = new Float64Array(counts.length);
  const all = new Float64Array(counts.length);
  for (let i = 0; i < ice.m; i++) {
    const bin = binOf(curve, ice.own[i]);
    if (bin < 0) continue;
    const w = weightOf(sample, i);
    all[bin] += w;
    if (mask[i] === 1) inside[bin] += w;
  }
  for (let b = 0; b < inside.length; b++) inside[b] = all[b] > 0 ? (counts[b] * inside[b]) / all[b] : 0;
  return inside;
}

/** Half the width of a grid point's neighbourhood, as a share of the axis, and in grid points. */
const NEAR = 0.05;
const NEIGHBOURS = 2;

/** 1 where none of the sampled rows of a side has its own value near the grid point. */
export function thinSide(curve: Curve, ice: Ice, mask: ArrayLike<number>, side: 0 | 1): Uint8Array {
  const own = Float64Array.from(ice.own).filter((_, i) => mask[i] === side);
  const values = own.filter((v) => !Number.isNaN(v)).sort();
  const anyMissing = values.length < own.length;
  const thin = new Uint8Array(ice.k);
  const points = Array.from(curve.x).filter((_, k) => k !== curve.missing);
  const levels = curve.kind === "category";
  const reach = levels ? 0 : NEAR * (points[points.length - 1] - points[0] || 0);
  points.forEach((x, i) => {
    const low = levels ? x : Math.min(x - reach, points[Math.max(0, i - NEIGHBOURS)]);
    const high = levels ? x : Math.max(x + reach, points[Math.min(points.length - 1, i + NEIGHBOURS)]);
    thin[curve.missing >= 0 && i >= curve.missing ? i + 1 : i] = values.some((v) => v >= low && v <= high) ? 0 : 1;
  });
  // The missing level of a category may be a level of its own in `own`.
  if (curve.missing >= 0) thin[curve.missing] = anyMissing || (levels && values.includes(curve.missing)) ? 0 : 1;
  return thin;
}

/** Both parts of a preview in the shape of the kernel's own answer. `total` is the number of all rows. */
export function previewSplit(
  curve: Curve,
  ice: Ice,
  mask: ArrayLike<number>,
  sample: Sample | null,
  total: number,
): { selection: Part; rest: Part } {
  const means = splitMeans(ice, mask, sample, curve.average);
  const complete = ice.m === total;
  const n = complete ? means.rows : Math.round(means.share * total);
  const inside = splitCounts(curve, ice, mask, sample);
  const counts = barCounts(curve);
  const outside = inside.map((value, b) => counts[b] - value);
  return {
    selection: { average: means.selection, n, counts: inside, thin: thinSide(curve, ice, mask, 1) },
    rest: { average: means.rest, n: total - n, counts: outside, thin: thinSide(curve, ice, mask, 0) },
  };
}
