// The selection as the page can work it out itself: conditions on the sampled rows, and how they combine.

import type { Condition, Curve, Ice, Op, Selection } from "../model";
import { lineCrosses } from "./crossing";
import { conjuncts, mentions, strictEnds, textOf } from "./query";

export interface Known {
  curve: Curve;
  ice: Ice;
}

/** Looks up a feature's curve and ICE sample; undefined where the page does not have them. */
export type Lookup = (feature: string, output: string | null) => Known | undefined;

/** What else is to be known about the features to write conditions: their names, and whose levels are True and False. */
export interface Names {
  all: string[];
  bool(feature: string): boolean;
}

/** 1 per sampled row that fulfils the condition; null if the page cannot tell. */
export function evaluate(
  condition: Condition,
  lookup: Lookup,
  strict = { low: false, high: false },
): Uint8Array | null {
  const known = lookup(condition.feature, condition.type === "ice" ? condition.output : null);
  if (!known) return null;
  const { ice, curve } = known;
  const mask = new Uint8Array(ice.m);
  if (condition.type === "range") {
    const low = condition.low ?? Number.NEGATIVE_INFINITY;
    const high = condition.high ?? Number.POSITIVE_INFINITY;
    for (let i = 0; i < ice.m; i++) {
      const own = ice.own[i];
      const inside = own >= low && own <= high && !(strict.low && own === low) && !(strict.high && own === high);
      mask[i] = inside ? 1 : 0;
    }
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

/** One of the conditions that must all hold. */
export interface Clause {
  /** What it is about; a new condition about the same takes its place. null: it stays. */
  about: { features: string[]; ice: boolean } | null;
  /** The condition if it can be drawn. */
  condition: Condition | null;
  text: string;
  /** An "or" needs brackets beside others. */
  either: boolean;
  /** The sampled rows it holds for, where `condition` does not tell. */
  mask: ArrayLike<number> | null;
}

/** A selection as the page keeps it without a kernel. */
export interface State {
  clauses: Clause[];
  /** The sampled rows selected; null: nothing is selected. */
  whole: ArrayLike<number> | null;
  /** The state of which this is the inverse. */
  inverse?: State;
}

export const EMPTY_STATE: State = { clauses: [], whole: null };

export const isEmpty = (state: State): boolean => state.whole === null;

const sameSlot = (a: Condition, b: Condition) => a.feature === b.feature && (a.type === "ice") === (b.type === "ice");

/** The conjuncts that stay when `condition` replaces its own kind on its feature. */
export const others = (conditions: Condition[], condition: Condition): Condition[] =>
  conditions.filter((c) => !sameSlot(c, condition));

const slotOf = ({ about }: Clause): string | null =>
  about && JSON.stringify([about.ice, [...new Set(about.features)].sort()]);

function clauseOf(condition: Condition, lookup: Lookup, names: Names, negate = false): Clause {
  const { feature } = condition;
  const curve = lookup(feature, null)?.curve;
  return {
    about: { features: [feature], ice: condition.type === "ice" },
    condition: negate ? null : condition,
    text: textOf(condition, curve, names.bool(feature), negate),
    either: false,
    mask: null,
  };
}

/** A clause's text beside other clauses. */
export const inner = ({ text, either }: Clause): string => (either ? `(${text})` : text);

export const stateText = ({ clauses }: State): string =>
  clauses.length === 1 ? clauses[0].text : clauses.map(inner).join(" & ");

const both = (a: ArrayLike<number> | null, b: ArrayLike<number>): Uint8Array =>
  Uint8Array.from(b, (v, i) => (a ? v & a[i] : v));

/** The state that some of the clauses make; null if the page cannot tell their rows. */
export function keep(clauses: Clause[], lookup: Lookup): State | null {
  let whole: ArrayLike<number> | null = null;
  for (const clause of clauses) {
    const one: ArrayLike<number> | null = clause.mask ?? (clause.condition && evaluate(clause.condition, lookup));
    if (!one) return null;
    whole = both(whole, one);
  }
  return { clauses, whole };
}

function aboutAll(clauses: Clause[]): Clause["about"] {
  const features: string[] = [];
  for (const { about } of clauses) {
    if (!about || about.ice !== clauses[0].about?.ice) return null;
    features.push(...about.features);
  }
  return { features, ice: clauses[0]?.about?.ice ?? false };
}

/** The state after one act of brushing. null if the page cannot work it out. */
export function apply(state: State, op: Op, condition: Condition, lookup: Lookup, names: Names): State | null {
  const one = evaluate(condition, lookup);
  if (!one) return null;
  const { clauses, whole } = state;
  const clause = clauseOf(condition, lookup, names);
  if (op === "replace" || (op === "add" && !whole)) {
    const stay = clauses.filter((c) => c.about === null || slotOf(c) !== slotOf(clause));
    const rest = stay.length === clauses.length ? state : keep(stay, lookup);
    return rest && { clauses: [...stay, clause], whole: both(rest.whole, one) };
  }
  if (condition.type === "levels") {
    // One more or one less of the levels is the same condition with other levels.
    const old = clauses.find((c) => c.condition?.type === "levels" && c.condition.feature === condition.feature);
    const before = old?.condition?.type === "levels" ? old.condition.levels : [];
    const levels =
      op === "add"
        ? [...new Set([...before, ...condition.levels])].sort((a, b) => a - b)
        : before.filter((level) => !condition.levels.includes(level));
    if (old && levels.length > 0 && (op === "remove" || clauses.length === 1))
      return apply(state, "replace", { ...condition, levels }, lookup, names);
  }
  if (op === "remove") {
    const out = { ...clauseOf(condition, lookup, names, true), mask: one.map((v) => 1 - v) };
    return { clauses: [...clauses, out], whole: both(whole, out.mask) };
  }
  const mask = one.map((v, i) => v | whole![i]);
  const about = aboutAll([...clauses, clause]);
  const text = `${stateText(state)} | ${clause.text}`;
  return { clauses: [{ about, condition: null, text, either: true, mask }], whole: mask };
}

/** The state after rows that a text stands for are added to it, or taken from it. */
export function combine(state: State, op: "add" | "remove", other: State): State {
  const [now, given] = [state.whole, other.whole];
  if (!given) return state;
  if (op === "remove") {
    const mask = Uint8Array.from(given, (v) => 1 - v);
    const out: Clause = { about: null, condition: null, text: `~(${stateText(other)})`, either: false, mask };
    return { clauses: [...state.clauses, out], whole: both(now, mask) };
  }
  if (!now) return other;
  const mask = Uint8Array.from(given, (v, i) => v | now[i]);
  const text = `${stateText(state)} | ${stateText(other)}`;
  const about = aboutAll([...state.clauses, ...other.clauses]);
  return { clauses: [{ about, condition: null, text, either: true, mask }], whole: mask };
}

export function invert(state: State): State {
  const { clauses, whole } = state;
  if (!whole) return state;
  if (state.inverse) return state.inverse;
  const mask = Uint8Array.from(whole, (v) => 1 - v);
  const text = `~(${stateText(state)})`;
  const clause: Clause = { about: aboutAll(clauses), condition: null, text, either: false, mask };
  return { clauses: [clause], whole: mask, inverse: state };
}

/** A selection that came with the page, taken apart, so that its parts can be replaced one by one. */
export function restored(selection: Selection, lookup: Lookup, names: Names): State {
  const { text, conditions, sample } = selection;
  if (text === "" || !sample) return EMPTY_STATE;
  const parts = conjuncts(text);
  const subjects = parts.map((part) => names.all.filter((name) => mentions(part, name)));
  const clauses = parts.map((part, i): Clause => {
    const ice = part.startsWith("@");
    const rectangle = conditions.find((c) => c.type === "ice" && c.name === part);
    const [only] = subjects[i];
    const single = subjects[i].length === 1 && subjects.filter((s) => s.length === 1 && s[0] === only).length === 1;
    const own = single ? conditions.find((c) => c.feature === only && c.type !== "ice") : undefined;
    const condition = (ice ? rectangle : own) ?? null;
    const features = rectangle ? [rectangle.feature] : subjects[i];
    // Rows that were picked otherwise stay whatever is brushed.
    const about = features.length > 0 && !(ice && !rectangle) && !/^[~(].*@/.test(part) ? { features, ice } : null;
    let mask: ArrayLike<number> | null = parts.length === 1 ? sample : null;
    // The wire's ends of whole numbers belong to the range.
    const strict =
      condition && !lookup(condition.feature, null)?.curve.integer ? strictEnds(part, condition.feature) : undefined;
    const found = mask || !condition ? null : evaluate(condition, lookup, strict);
    if (found) mask = found.map((v, row) => v | sample[row]);
    return { about, condition, text: part, either: false, mask };
  });
  return { clauses, whole: sample };
}
