// How single rows' lines are coloured: by the values of a feature, or by the group they belong to.

import { cividisOn, HUES, hueOf } from "../draw/hues";
import type { EffectsPicture } from "../model";

export interface Legend {
  feature: string;
  /** Levels with their colours, the most frequent first; null for a scale. */
  levels: { name: string; colour: string }[] | null;
  /** Ends of the scale, in axis units. */
  low: number;
  high: number;
  kind: string;
  /** The colours along the scale. */
  scale: string[];
}

export interface Tints {
  /** A colour per sampled row. */
  rows: string[];
  /** Null where the curves' own labels say what the colours mean. */
  legend: Legend | null;
}

const TAIL = 0.02;

function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

function byLevel(
  { feature, kind, labels, values }: NonNullable<EffectsPicture["colour"]>,
  dark: boolean,
  other: string,
): Tints {
  const counts = new Map<number, number>();
  for (const v of Array.from(values)) if (!Number.isNaN(v)) counts.set(v, (counts.get(v) ?? 0) + 1);
  const frequent = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([level]) => level);
  // Colours follow the order of the levels, so that they stay when counts change a little.
  const shown = frequent.slice(0, HUES).sort((a, b) => a - b);
  const colours = new Map(shown.map((level, i) => [level, hueOf(i, dark)]));
  const levels = shown.map((level) => ({ name: labels![level] ?? String(level), colour: colours.get(level)! }));
  const rest = Array.from(values).some((v) => !colours.has(v));
  if (rest) levels.push({ name: frequent.length > HUES ? "other" : "missing", colour: other });
  return {
    rows: Array.from(values, (v) => colours.get(v) ?? other),
    legend: { feature, kind, levels, low: 0, high: 0, scale: [] },
  };
}

/** By a feature's own values; `other` is the colour of rows without one. */
export function tintsOf(colour: NonNullable<EffectsPicture["colour"]>, dark: boolean, other: string): Tints {
  if (colour.labels) return byLevel(colour, dark, other);
  const { feature, kind, values } = colour;
  const sorted = Float64Array.from(values)
    .filter((v) => Number.isFinite(v))
    .sort();
  // A few far values would make all others look alike.
  const low = sorted.length > 0 ? quantile(sorted, TAIL) : 0;
  const high = sorted.length > 0 ? quantile(sorted, 1 - TAIL) : 0;
  const share = (v: number) => (high > low ? (v - low) / (high - low) : 0.5);
  const at = (v: number) => cividisOn(Math.max(0, Math.min(1, share(v))), dark);
  return {
    rows: Array.from(values, (v) => (Number.isNaN(v) ? other : at(v))),
    legend: { feature, kind, levels: null, low, high, scale: [0, 0.25, 0.5, 0.75, 1].map((s) => cividisOn(s, dark)) },
  };
}

/** By group; the groups' own curves say which is which. */
export const groupTints = (codes: ArrayLike<number>, dark: boolean, other: string): Tints => ({
  rows: Array.from(codes, (code) => (code === 255 ? other : hueOf(code, dark))),
  legend: null,
});
