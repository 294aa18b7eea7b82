// Conditions read back from text where the page has the values: ranges, levels, missing values, and their combinations.
// Anything else is Python's.

import type { Condition } from "../model";
import type { Clause, Known, Lookup, Names } from "./conditions";
import { conjuncts, literal, mentions, quote, tokens } from "./query";

const TOKEN =
  /`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d[\w.]*(?:(?<=[eE])[+-]\d+)?|[<>=!]=?|\p{XID_Continue}+|\S/gu;
const FLIP: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==" };

/** The parts of a text between " | " outside brackets. */
function alternatives(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const token of tokens(text)) {
    if (token === "(" || token === "[") depth++;
    else if (token === ")" || token === "]") depth--;
    if (depth === 0 && token === " | ") parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts;
}

/** What is between the brackets around the whole of a text; null if there are none. */
function inside(text: string): string | null {
  if (!text.startsWith("(") || !text.endsWith(")")) return null;
  let depth = 0;
  const parts = tokens(text);
  for (const [i, token] of parts.entries()) {
    if (token === "(") depth++;
    else if (token === ")" && --depth === 0) return i === parts.length - 1 ? parts.slice(1, -1).join("") : null;
  }
  return null;
}

type Read = { mask: Uint8Array; condition: Condition | null };

/** A value on the axis of a feature; NaN if it cannot be told. */
function place(text: string, { curve }: Known): number {
  if (curve.kind === "number") return /^-?\d/.test(text) ? Number(text) : Number.NaN;
  const day = /^'(\d{4}-\d\d-\d\d)(?: ([\d:.]+))?'$/.exec(text);
  return curve.kind === "datetime" && day ? Date.parse(`${day[1]}T${day[2] ?? "00:00:00"}Z`) : Number.NaN;
}

function readRange(feature: string, known: Known, ends: [sign: string, value: string][]): Read | null {
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [above, below] = [false, false]; // without the end itself
  for (const [sign, text] of ends) {
    const value = place(text, known);
    if (Number.isNaN(value) || !(sign in FLIP)) return null;
    if (sign !== "<" && sign !== "<=") [low, above] = [value, sign === ">"];
    if (sign !== ">" && sign !== ">=") [high, below] = [value, sign === "<"];
  }
  const { own } = known.ice;
  const mask = Uint8Array.from(own, (v) => Number((above ? v > low : v >= low) && (below ? v < high : v <= high)));
  const end = (value: number) => (Number.isFinite(value) ? value : null);
  return { mask, condition: { type: "range", feature, low: end(low), high: end(high) } };
}

function readLevels(feature: string, known: Known, listed: string[], out: boolean, bool: boolean): Read | null {
  const { curve, ice } = known;
  const missing = listed.includes("None");
  const wanted = new Set<number>();
  const category = curve.kind === "category";
  const literals = category ? curve.labels.map((_, i) => (i === curve.missing ? "" : literal(curve, i, bool))) : [];
  for (const text of listed) {
    if (text === "None") continue;
    const at = category ? literals.indexOf(text) : place(text, known);
    if (Number.isNaN(at) || (category && at < 0)) return null;
    wanted.add(at);
  }
  const own = (v: number) => (Number.isNaN(v) || (category && v === curve.missing) ? missing : wanted.has(v));
  const levels = [...wanted, ...(missing && curve.missing >= 0 ? [curve.missing] : [])];
  return {
    mask: Uint8Array.from(ice.own, (v) => Number(own(v) !== out)),
    condition: category && !out ? { type: "levels", feature, levels } : null,
  };
}

/** A text about one feature. */
function readOne(text: string, lookup: Lookup, names: Names): Read | null {
  const parts: string[] = text.match(TOKEN) ?? [];
  const at = parts.findIndex((part) => /^[`\p{XID_Start}_]/u.test(part));
  const feature = names.all.find((name) => quote(name) === parts[at]);
  const known = feature === undefined ? undefined : lookup(feature, null);
  if (feature === undefined || !known) return null;
  const bool = names.bool(feature);
  const [first, ...rest] = parts.slice(at + 1);
  if (at === 2 && rest.length === 1)
    return readRange(feature, known, [
      [FLIP[parts[1]] ?? "", parts[0]],
      [first, rest[0]],
    ]);
  if (at !== 0) return null;
  if (first === "." && rest.join("") === "isna()") return readLevels(feature, known, ["None"], false, bool);
  if (first === "." && rest.join("") === "notna()") return readLevels(feature, known, ["None"], true, bool);
  const out = first === "not" && rest[0] === "in";
  const list = out ? rest.slice(1) : rest;
  if ((out || first === "in") && list[0] === "[" && list[list.length - 1] === "]") {
    const listed = list.slice(1, -1).filter((_, i) => i % 2 === 0);
    return readLevels(feature, known, listed, out, bool);
  }
  if (rest.length !== 1) return null;
  if (first === "!=") return readLevels(feature, known, rest, true, bool);
  if (first === "==" && known.curve.kind === "category") return readLevels(feature, known, rest, false, bool);
  return readRange(feature, known, [[first, rest[0]]]);
}

function read(text: string, lookup: Lookup, names: Names): Read | null {
  const within = inside(text);
  if (within !== null) return read(within, lookup, names);
  const either = alternatives(text);
  const parts = either.length > 1 ? either : conjuncts(text);
  if (parts.length > 1) {
    const masks = parts.map((part) => read(part, lookup, names)?.mask);
    if (masks.some((mask) => mask === undefined)) return null;
    const mask = (masks as Uint8Array[]).reduce((a, b) => a.map((v, i) => (either.length > 1 ? v | b[i] : v & b[i])));
    return { mask, condition: null };
  }
  if (!text.startsWith("~")) return readOne(text, lookup, names);
  const other = read(text.slice(1), lookup, names);
  return other && { mask: other.mask.map((v) => 1 - v), condition: null };
}

/** A condition in text as a clause of a selection; null if the page cannot tell which rows it holds for. */
export function readClause(text: string, lookup: Lookup, names: Names): Clause | null {
  const found = read(text, lookup, names);
  if (!found) return null;
  const within = inside(text);
  const plain = within ?? text;
  const features = names.all.filter((name) => mentions(text, name));
  const about = features.length > 0 ? { features, ice: false } : null;
  return { about, condition: found.condition, text: plain, either: alternatives(plain).length > 1, mask: found.mask };
}
