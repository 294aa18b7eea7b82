// Terms of a rule set as rows of a table: what is kept, in which order, under which heads, and as text to take away.

import type { Condition, Related, RowReply, RulesPicture } from "../model";
import { fmt } from "./format";

export type Picture = RulesPicture;

export type Column =
  | "rank"
  | "term"
  | "coefficient"
  | "support"
  | "importance"
  | "selection"
  | "inside"
  | "outside"
  | "conditions"
  | "stability"
  | "row";

export interface SortKey {
  by: Column;
  down: boolean;
}

export interface Filters {
  text: string;
  include: string[];
  exclude: string[];
  kind: "" | "rule" | "linear";
  sign: "" | "up" | "down";
  /** Least share of the rows, 0 to 1. */
  support: number;
  /** Least importance, 0 to 100. */
  importance: number;
  /** Most conditions; 0 for any number. */
  length: number;
  /** Least share of refits that have it, too. */
  stability: number;
  fires: "" | "selection" | "row";
}

export const NO_FILTERS: Filters = {
  text: "",
  include: [],
  exclude: [],
  kind: "",
  sign: "",
  support: 0,
  importance: 0,
  length: 0,
  stability: 0,
  fires: "",
};

/** What a picture's terms are, worked out once. */
export interface Terms {
  k: number;
  /** Positions among the conditions. */
  parts: number[][];
  /** Positions among the features, each once. */
  features: number[][];
  labels: string[];
  texts: string[];
  lower: string[];
  /** Number of conditions; 0 for linear terms. */
  size: number[];
  limits: string[];
}

export function termsOf(p: Picture): Terms {
  const k = p.ends.length;
  const own = Array.from(p.parts);
  const parts = Array.from(p.ends, (end, i) => own.slice(i ? p.ends[i - 1] : 0, end));
  const joined = (words: string[]) => parts.map((list) => list.map((c) => words[c]).join(" & "));
  const labels = joined(p.conditions.words);
  let linear = 0;
  return {
    k,
    parts,
    features: parts.map((list) => [...new Set(list.map((c) => p.conditions.feature[c]))]),
    labels,
    texts: joined(p.conditions.texts),
    lower: labels.map((label) => label.toLowerCase()),
    size: parts.map((list, i) => (p.type[i] === 0 ? list.length : 0)),
    limits: parts.map((_, i) => (p.type[i] === 0 ? "" : p.limits[linear++])),
  };
}

/** Where a rule holds, feature by feature, as far as that can be drawn. */
export function drawnOf(p: Picture, terms: Terms, term: number): Condition[] {
  const { low, high, levels } = p.conditions;
  return (terms.parts[term] ?? []).flatMap((part): Condition[] => {
    const feature = p.features[p.conditions.feature[part]];
    const [from, to] = [low, high].map((ends) => (ends && !Number.isNaN(ends[part]) ? ends[part] : null));
    const own = levels?.[part];
    return [
      ...(from === null && to === null ? [] : [{ type: "range" as const, feature, low: from, high: to }]),
      ...(own ? [{ type: "levels" as const, feature, levels: own }] : []),
    ];
  });
}

/** One row of the data, term by term. */
export interface RowTerms {
  /** 2: holds (numbers always do), 1: one condition fails, 0: more do. */
  state: Uint8Array;
  contribution: Float64Array;
  misses: Map<number, [string, number | null]>;
  /** The row's value of each feature, in words. */
  own: string[];
}

export function rowTerms(p: Picture, reply: RowReply): RowTerms {
  const k = p.ends.length;
  const state = Uint8Array.from({ length: k }, (_, i) => (p.type[i] === 1 ? 2 : 0));
  const contribution = new Float64Array(k);
  const misses = new Map<number, [string, number | null]>();
  for (const [i, words, sd] of reply.misses) {
    state[i] = 1;
    misses.set(i, [words, sd]);
  }
  for (const i of reply.holds) state[i] = 2;
  for (const [i, value] of reply.contributions) contribution[i] = value;
  return { state, contribution, misses, own: reply.own ?? [] };
}

/** Positions of the terms that all filters let through, the most important first. */
export function keep(p: Picture, terms: Terms, filters: Filters, row: RowTerms | null): number[] {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  const place = new Map(p.features.map((name, at) => [name, at]));
  const include = filters.include.map((name) => place.get(name) ?? -1);
  const exclude = filters.exclude.map((name) => place.get(name) ?? -1);
  const found: number[] = [];
  for (let i = 0; i < terms.k; i++) {
    const own = terms.features[i];
    if (words.some((word) => !terms.lower[i].includes(word))) continue;
    if (include.some((at) => !own.includes(at)) || exclude.some((at) => own.includes(at))) continue;
    if (filters.kind && (p.type[i] === 0) !== (filters.kind === "rule")) continue;
    if (filters.sign && p.coefficient[i] > 0 !== (filters.sign === "up")) continue;
    // A number holds for every row.
    if (p.support[i] < filters.support || !(p.importance[i] >= filters.importance || filters.importance === 0))
      continue;
    if (filters.length > 0 && terms.size[i] > filters.length) continue;
    if (p.stability?.done && p.stability.back[i] < filters.stability) continue;
    if (filters.fires === "selection" && p.selection && p.selection.support[i] === 0) continue;
    if (filters.fires === "row" && row && row.state[i] !== 2) continue;
    found.push(i);
  }
  return found;
}

/** Which way a column is first sorted: the largest number first, names and ranks from the beginning. */
export const downFirst = (by: Column): boolean => by !== "rank" && by !== "term";

/** The keys after a click on a header: the same again turns it round; with Shift it comes after those there are. */
export function clicked(keys: SortKey[], by: Column, also: boolean): SortKey[] {
  const at = keys.findIndex((key) => key.by === by);
  const next = { by, down: at < 0 ? downFirst(by) : !keys[at].down };
  if (also) return at < 0 ? [...keys, next] : keys.map((key, i) => (i === at ? next : key));
  return [at >= 0 && keys[0].by !== by ? { by, down: downFirst(by) } : next];
}

/** Sorts positions by one key after another; equals stay as they are, unknown numbers come last either way. */
export function sorted(order: number[], keys: SortKey[], p: Picture, terms: Terms, row: RowTerms | null): number[] {
  const columns = keys.map(({ by, down }) => ({ values: valuesOf(by, p, terms, row), down }));
  return [...order].sort((a, b) => {
    for (const { values, down } of columns) {
      const [x, y] = [values[a], values[b]];
      if (typeof x === "string" || typeof y === "string") {
        const found = String(x).localeCompare(String(y), undefined, { numeric: true });
        if (found) return down ? -found : found;
      } else if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
      else if (x !== y && !Number.isNaN(x)) return x < y !== down ? -1 : 1;
    }
    return a - b;
  });
}

function valuesOf(by: Column, p: Picture, terms: Terms, row: RowTerms | null): ArrayLike<number> | string[] {
  switch (by) {
    case "rank":
      return terms.labels.map((_, i) => i);
    case "term":
      return terms.lower;
    case "conditions":
      return terms.size;
    case "selection":
      return p.selection?.importance ?? p.importance;
    case "stability":
      return p.stability?.back ?? p.importance;
    case "row":
      return row ? importanceIn(row, p) : p.importance;
    default:
      return p[by];
  }
}

/** What holds comes before what just misses, each by how much it adds or would add. */
function importanceIn(row: RowTerms, p: Picture): number[] {
  const most = Math.max(...Array.from(p.coefficient, Math.abs), ...row.contribution.map(Math.abs), 1e-300);
  return Array.from(row.state, (state, i) => {
    const size = Math.abs(state === 2 ? row.contribution[i] : p.coefficient[i]) / most;
    return state === 0 ? 0 : state + 0.99 * size;
  });
}

export type Grouping = "" | "feature" | "cluster";

export interface Group {
  key: string;
  label: string;
  terms: number[];
}

/** Sorted positions in groups; the groups in the order of their first terms. */
export function groups(order: number[], by: Grouping, p: Picture, terms: Terms): Group[] {
  if (by === "" || (by === "cluster" && !p.cluster)) return [{ key: "", label: "", terms: order }];
  const found = new Map<string, number[]>();
  const sizes = new Map<number, number>();
  for (const cluster of Array.from(p.cluster ?? [])) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1);
  const alone = "none";
  const keyOf = (i: number) => {
    if (by === "feature") return String(p.main[i]);
    const cluster = p.cluster![i];
    return cluster < 0 || sizes.get(cluster) === 1 ? alone : String(cluster);
  };
  for (const i of order) {
    const key = keyOf(i);
    const list = found.get(key);
    if (list) list.push(i);
    else found.set(key, [i]);
  }
  const named = (key: string, list: number[]) =>
    by === "feature"
      ? (p.features[Number(key)] ?? "–")
      : key === alone
        ? "on their own"
        : terms.labels[Math.min(...list)];
  const made = [...found].map(([key, list]) => ({ key: `${by}:${key}`, label: named(key, list), terms: list }));
  return by === "cluster"
    ? [...made.filter((g) => !g.key.endsWith(alone)), ...made.filter((g) => g.key.endsWith(alone))]
    : made;
}

const READ = 140; // letters that a line of the table has room for

/** What an opened rule says of itself: its text in full, as many lines as it takes, and what no column may have room for. */
export function aboutTerm(p: Picture, terms: Terms, term: number): string[] {
  const lines = [""];
  for (const part of terms.parts[term]) {
    const words = p.conditions.words[part];
    const last = lines[lines.length - 1];
    if (last === "") lines[lines.length - 1] = words;
    else if (last.length + words.length < READ) lines[lines.length - 1] = `${last} & ${words}`;
    else lines.push(`& ${words}`);
  }
  const what = p.link === "identity" ? "mean of the outcome" : `share of ${p.output}`;
  const [inside, outside] = [p.inside[term], p.outside[term]];
  const means = Number.isNaN(inside) ? [] : [`${what} ${fmt(inside)} where it holds`];
  if (means.length && !Number.isNaN(outside)) means.push(`${fmt(outside)} elsewhere`);
  const { size } = terms;
  const length = size[term] ? [`${size[term]} condition${size[term] > 1 ? "s" : ""}`] : [];
  const rest = [...length, ...means].join(", ");
  const last = lines[lines.length - 1];
  if (rest && last.length + rest.length < READ) return [...lines.slice(0, -1), `${last} · ${rest}`];
  return rest ? [...lines, rest] : lines;
}

/** A line of the table. */
export type Item =
  | { kind: "head"; key: string; group: Group; open: boolean }
  | { kind: "term"; key: string; term: number }
  | { kind: "related"; key: string; term: number; related: Related }
  | { kind: "note"; key: string; text: string };

/** All lines, one below the other; below one term those that it has to be read with. */
export function itemsOf(
  list: Group[],
  closed: ReadonlySet<string>,
  open: { term: number; about: string[]; related: Related[] | null; more: number } | null,
): Item[] {
  const items: Item[] = [];
  for (const group of list) {
    const shown = group.key === "" || !closed.has(group.key);
    if (group.key) items.push({ kind: "head", key: group.key, group, open: shown });
    if (!shown) continue;
    for (const term of group.terms) {
      items.push({ kind: "term", key: `t${term}`, term });
      if (open?.term !== term) continue;
      for (const [i, text] of open.about.entries()) items.push({ kind: "note", key: `t${term}-about${i}`, text });
      if (!open.related) continue;
      for (const related of open.related)
        items.push({ kind: "related", key: `t${term}-${related.term}`, term: related.term, related });
      const text = open.related.length === 0 ? "no rule holds for nearly the same, or for none of the same rows" : "";
      if (text || open.more) items.push({ kind: "note", key: "note", text: text || `and ${open.more} more` });
    }
  }
  return items;
}

/** How a related rule stands to the one above it, for reading before its text. */
export function relationWords(related: Related): string {
  const share = (value: number | null) => (value === null ? "" : `${Math.round(100 * value)} %`);
  switch (related.relation) {
    case "equal":
      return "the same rows as";
    case "contains":
      return `contains (${share(related.share)} of its rows)`;
    case "within":
      return `lies within (${share(related.share_of_other)} of those rows)`;
    case "complement":
      return "exactly the other rows:";
    default:
      return (related.correlation ?? 0) < 0 ? "seldom together with" : "mostly together with";
  }
}

const HEADS = ["rank", "term", "coefficient", "support", "n", "importance", "mean_inside", "mean_outside"];
const headsOf = (p: Picture) => (p.stability?.done ? [...HEADS, "stability"] : HEADS);

function cells(p: Picture, terms: Terms, i: number): string[] {
  const plain = (value: number) => (Number.isNaN(value) ? "" : String(Number(value.toPrecision(6))));
  const limits = terms.limits[i] ? ` [${terms.limits[i]}]` : "";
  const numbers = [p.support[i], p.n[i] < 0 ? Number.NaN : p.n[i], p.importance[i], p.inside[i], p.outside[i]];
  if (p.stability?.done) numbers.push(p.stability.back[i]);
  return [String(i + 1), terms.labels[i] + limits, plain(p.coefficient[i]), ...numbers.map(plain)];
}

const start = (p: Picture) => headsOf(p).map((_, c) => ["", "intercept", String(p.intercept)][c] ?? "");

/** The table as a person pastes it into a spreadsheet. */
export function asCsv(p: Picture, terms: Terms, order: number[]): string {
  const cell = (text: string) => {
    // A spreadsheet would take these for formulas.
    const safe = /^[=+@\t\r]/.test(text) || /^-(?![\d.])/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${[headsOf(p), start(p), ...order.map((i) => cells(p, terms, i))].map((line) => line.map(cell).join(",")).join("\n")}\n`;
}

/** The table as Markdown. */
export function asMarkdown(p: Picture, terms: Terms, order: number[]): string {
  const cell = (text: string) => text.replace(/[\\`*_{}[\]<>|~]/g, "\\$&").replace(/\s+/g, " ");
  const line = (list: string[]) => `| ${list.map(cell).join(" | ")} |`;
  const short = (i: number) =>
    cells(p, terms, i).map((text, c) => (c > 1 && text !== "" ? fmt(Number(text)).replace("\u2212", "-") : text));
  const rule = `|${headsOf(p)
    .map((_, c) => (c === 1 ? " --- |" : " ---: |"))
    .join("")}`;
  return `${[line(headsOf(p)), rule, line(start(p)), ...order.map((i) => line(short(i)))].join("\n")}\n`;
}
