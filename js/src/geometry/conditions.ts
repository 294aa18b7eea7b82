// The selection as the page can work it out itself: conditions on the sampled rows, and how they combine.

import type { Condition, Curve, Ice, Op } from "../model";
import { lineCrosses } from "./crossing";
import { count, fmtX } from "./format";

export interface Known {
  curve: Curve;
  ice: Ice;
}

/** Looks up a feature's curve and ICE sample; undefined where the page does not have them. */
export type Lookup = (feature: string, output: string | null) => Known | undefined;

/** 1 per sampled row that fulfils the condition; null if the page cannot tell. */
export function evaluate(condition: Condition, lookup: Lookup): Uint8Array | null {
  const known = lookup(condition.feature, condition.type === "ice" ? condition.output : null);
  if (!known) return null;
  const { ice, curve } = known;
  const mask = new Uint8Array(ice.m);
  if (condition.type === "range") {
    const low = condition.low ?? Number.NEGATIVE_INFINITY;
    const high = condition.high ?? Number.POSITIVE_INFINITY;
    for (let i = 0; i < ice.m; i++) mask[i] = ice.own[i] >= low && ice.own[i] <= high ? 1 : 0;
  } else if (condition.type === "levels") {
    const wanted = new Set(condition.levels);
    for (let i = 0; i < ice.m; i++) {
      const own = ice.own[i];
      const level = Number.isNaN(own) ? curve.missing : own;
      mask[i] = level >= 0 && wanted.has(level) ? 1 : 0;
    }
  } else {
    const xs = axisPositions(curve);
    for (let i = 0; i < ice.m; i++) {
      const start = i * ice.k;
      const shift = condition.centered ? -ice.values[start] : ice.offset;
      mask[i] = lineCrosses(xs, ice.values, start, ice.k, shift, condition.x, condition.y) ? 1 : 0;
    }
  }
  return mask;
}

/** x of each grid point on the axis; NaN for the missing level of a number axis, which stands apart. */
export function axisPositions(curve: Curve): ArrayLike<number> {
  if (curve.missing < 0 || curve.kind === "category") return curve.x;
  const xs = Float64Array.from(curve.x);
  xs[curve.missing] = Number.NaN;
  return xs;
}

/** Plain conjuncts, on top of what cannot be taken apart any more. */
export interface State {
  conditions: Condition[];
  base: Uint8Array | null;
  baseText: string;
}

export const EMPTY_STATE: State = { conditions: [], base: null, baseText: "" };

const sameSlot = (a: Condition, b: Condition) => a.feature === b.feature && (a.type === "ice") === (b.type === "ice");

/** The conjuncts that stay when `condition` replaces its own kind on its feature. */
export const others = (conditions: Condition[], condition: Condition): Condition[] =>
  conditions.filter((c) => !sameSlot(c, condition));

/** What a selection is called in text, as short as a person would say it. */
export function describe(condition: Condition, lookup: Lookup): string {
  const { feature } = condition;
  const curve = lookup(feature, null)?.curve;
  if (condition.type === "levels") {
    const names = condition.levels.map((i) => curve?.labels[i] ?? `level ${i}`);
    const shown =
      names.length > 4 ? `${names.slice(0, 3).join(", ")}, … (${count(names.length)} levels)` : names.join(" or ");
    return `${feature} = ${shown}`;
  }
  if (condition.type === "ice") return `${feature} curves crossing a rectangle`;
  const span = curve ? Math.abs(curve.x[curve.x.length - 1] - curve.x[0]) || 1 : 1;
  const write = (v: number) => (curve ? fmtX(v, curve.kind, span, curve.integer) : String(v));
  const { low, high } = condition;
  if (low === null && high === null) return `${feature} not missing`;
  if (low === null) return `${feature} ≤ ${write(high!)}`;
  if (high === null) return `${feature} ≥ ${write(low)}`;
  return `${feature} ${write(low)} to ${write(high)}`;
}

export function stateMask(state: State, lookup: Lookup, m: number): Uint8Array | null {
  const mask = state.base ? Uint8Array.from(state.base) : new Uint8Array(m).fill(1);
  for (const condition of state.conditions) {
    const one = evaluate(condition, lookup);
    if (!one) return null;
    for (let i = 0; i < m; i++) mask[i] &= one[i];
  }
  return mask;
}

export function stateText(state: State, lookup: Lookup): string {
  const parts = state.conditions.map((c) => describe(c, lookup));
  if (state.baseText) parts.unshift(state.baseText);
  return parts.join(" and ");
}

export const isEmpty = (state: State): boolean => state.base === null && state.conditions.length === 0;

/** The state after one act of brushing. null if the page cannot work it out. */
export function apply(state: State, op: Op, condition: Condition, lookup: Lookup, m: number): State | null {
  const one = evaluate(condition, lookup);
  if (!one) return null;
  if (op === "replace" || isEmpty(state)) {
    if (op !== "remove") return { ...state, conditions: [...others(state.conditions, condition), condition] };
  }
  const current = stateMask(state, lookup, m);
  if (!current) return null;
  const before = stateText(state, lookup);
  const added = describe(condition, lookup);
  const base = current.map((v, i) => (op === "add" ? v | one[i] : v & (1 - one[i])));
  const baseText =
    op === "add" ? `(${before} or ${added})` : before === "" ? `not (${added})` : `(${before} and not ${added})`;
  return { conditions: [], base, baseText };
}

export function invert(state: State, lookup: Lookup, m: number): State | null {
  if (isEmpty(state)) return state;
  const mask = stateMask(state, lookup, m);
  if (!mask) return null;
  const text = stateText(state, lookup);
  const plain = /^not \((.*)\)$/.exec(text);
  return { conditions: [], base: mask.map((v) => 1 - v), baseText: plain ? plain[1] : `not (${text})` };
}
