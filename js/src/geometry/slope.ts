// Slopes between neighbouring grid points (d-ICE): the curve, the lines and both sides as they stand on the midpoints.

import type { Curve, Ice, Part } from "../model";

/** Step k lies between grid points k and k + 1; a missing level, which has no slope, stays as the last entry. */
export interface Steps {
  /** Midpoints. */
  x: Float64Array;
  /** Width of a step in slope units; NaN for the missing level. */
  width: Float64Array;
  /** What a slope is per. */
  per: string;
}

const DAY = 86400e3;

/** Slopes of dates are per day, hour or second: whichever the axis shows several of. */
function unitOf(curve: Curve, span: number): [number, string] {
  if (curve.kind === "number") return [1, `unit of ${curve.feature}`];
  if (span >= 2 * DAY) return [DAY, "day"];
  return span >= 7200e3 ? [3600e3, "hour"] : [1000, "second"];
}

/** Null where there are no slopes: on levels, or on fewer than two points. */
export function stepsOf(curve: Curve): Steps | null {
  const n = curve.missing >= 0 ? curve.x.length - 1 : curve.x.length;
  if (curve.kind === "category" || n < 2 || (curve.missing >= 0 && curve.missing !== n)) return null;
  const [unit, per] = unitOf(curve, curve.x[n - 1] - curve.x[0]);
  const size = curve.missing >= 0 ? n : n - 1;
  const x = new Float64Array(size).fill(Number.NaN);
  const width = new Float64Array(size).fill(Number.NaN);
  for (let k = 0; k < n - 1; k++) {
    x[k] = curve.x[k] / 2 + curve.x[k + 1] / 2;
    width[k] = (curve.x[k + 1] - curve.x[k]) / unit;
  }
  return { x, width, per };
}

/** Slopes of one curve; NaN at the missing level. */
export function slopes(values: ArrayLike<number>, steps: Steps, start = 0): Float64Array {
  return Float64Array.from(steps.width, (width, k) =>
    Number.isNaN(width) ? Number.NaN : (values[start + k + 1] - values[start + k]) / width,
  );
}

export const thinner = (thin: ArrayLike<number> | null | undefined, steps: Steps) =>
  thin ? Uint8Array.from(steps.width, (width, k) => (Number.isNaN(width) ? thin[k + 1] : thin[k] | thin[k + 1])) : null;

export function slopeCurve(curve: Curve, steps: Steps): Curve {
  const missing = curve.missing >= 0 ? steps.x.length - 1 : -1;
  return {
    ...curve,
    x: steps.x,
    average: slopes(curve.average, steps),
    thin: thinner(curve.thin, steps),
    stderr: null,
    missing,
  };
}

export function slopeLines(ice: Ice, steps: Steps): Ice {
  const k = steps.x.length;
  const values = new Float32Array(ice.m * k);
  for (let i = 0; i < ice.m; i++) values.set(slopes(ice.values, steps, i * ice.k), i * k);
  // Predictions are still to be read: the offset moves into them.
  return { ...ice, k, values, offset: 0, fitted: Float64Array.from(ice.fitted, (v) => v + ice.offset) };
}

export const slopePart = (part: Part, steps: Steps): Part => ({
  ...part,
  average: slopes(part.average, steps),
  thin: thinner(part.thin, steps),
});
