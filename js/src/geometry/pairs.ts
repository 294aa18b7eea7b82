// Pairs of features: where each stands in a square, who interacts with whom, and what a full colour stands for.

import type { InteractionsPicture } from "../model";

export type Measure = "strength" | "h2";
export type Pairs = Omit<InteractionsPicture, "status">;

/** Whether all pairs are computed. */
export const complete = (p: Pairs): boolean => p.pairs_done === p.pairs.length / 2;

/** Index of the pair of features i and j at i * F + j; -1 where there is none. */
export function square({ features, pairs }: Pairs): Int32Array {
  const n = features.length;
  const at = new Int32Array(n * n).fill(-1);
  for (let k = 0; k < pairs.length / 2; k++) {
    const [a, b] = [pairs[2 * k], pairs[2 * k + 1]];
    at[a * n + b] = k;
    at[b * n + a] = k;
  }
  return at;
}

function most(values: ArrayLike<number>): number {
  let high = 0;
  for (let k = 0; k < values.length; k++) if (values[k] > high) high = values[k];
  return high;
}

/** The value with the full colour. Until all pairs are known it is one that no pair passes by much, so that it changes once. */
export function fullScale(p: Pairs, measure: Measure): number {
  if (measure === "h2") return (complete(p) && Math.min(1, most(p.h2))) || 1;
  return most(complete(p) ? p.strength : p.overall_strength) || 1;
}

/** The feature that a pair has beside i. */
export const other = ({ pairs }: Pairs, pair: number, i: number): number =>
  pairs[2 * pair] === i ? pairs[2 * pair + 1] : pairs[2 * pair];

const byStrength =
  ({ strength }: Pairs) =>
  (a: number, b: number) =>
    strength[b] - strength[a] || a - b;

/** The pairs of a feature: the strongest first; as they are computed as long as not all are known. */
export function pairsOf(p: Pairs, i: number): number[] {
  const found: number[] = [];
  for (let k = 0; k < p.pairs.length / 2; k++) if (p.pairs[2 * k] === i || p.pairs[2 * k + 1] === i) found.push(k);
  return complete(p) ? found.sort(byStrength(p)) : found;
}

/** All pairs that interact, the strongest first. */
export function strongest(p: Pairs): number[] {
  const found: number[] = [];
  for (let k = 0; k < p.pairs.length / 2; k++) if (p.strength[k] > 0) found.push(k);
  return found.sort(byStrength(p));
}
