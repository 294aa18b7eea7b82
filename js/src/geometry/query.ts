// Conditions as text in the language that `select` reads in Python, and such text taken apart again.

import type { AxisKind, Condition, Curve } from "../model";

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield inf nan"
  ).split(" "),
);

/** A feature's name as it stands in a condition: between backticks unless it is a plain identifier. */
export function quote(name: string): string {
  const plain =
    /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(name) &&
    !KEYWORDS.has(name) &&
    name.normalize("NFKC") === name &&
    !name.startsWith("_pdp");
  return plain ? name : `\`${name.replaceAll("`", "``")}\``;
}

const ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A string as Python writes it. */
function string(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[\\\n\r\t]/g, (c) => ESCAPES[c] ?? "\\\\").replaceAll(mark, `\\${mark}`);
  return mark + inner + mark;
}

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

/** A level as it stands in a condition. A label does not tell 1 from "1"; numbers are likelier than their text. */
export function literal(curve: Curve | undefined, level: number, bool: boolean): string {
  const label = curve?.labels[level] ?? `level ${level}`;
  return curve?.literals?.[level] ?? (bool || NUMBER.test(label) ? label : string(label));
}

/** An end of a range in words that Python reads. */
function bound(value: number, kind: AxisKind): string {
  if (kind === "datetime") {
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) return String(value);
    const [day, clock] = date.toISOString().slice(0, -1).split("T");
    return string(clock === "00:00:00.000" ? day : `${day} ${clock.replace(/\.?0+$/, "")}`);
  }
  if (kind === "timedelta") {
    const days = Math.floor(value / 86400e3);
    const clock = new Date(value - days * 86400e3)
      .toISOString()
      .slice(11, -1)
      .replace(/\.?0+$/, "");
    return string(`${days} days ${days < 0 ? "+" : ""}${clock}`);
  }
  return String(value);
}

/** What a condition is in text. `bool`: the feature's levels are True and False. */
export function textOf(condition: Condition, curve: Curve | undefined, bool = false, negate = false): string {
  const name = quote(condition.feature);
  const not = (text: string) => (negate ? `~(${text})` : text);
  // Which curves cross a rectangle cannot be said in the language: words.
  if (condition.type === "ice") return not(`curves of ${name} crossing a rectangle`);
  const kind = curve?.kind ?? "number";
  if (condition.type === "levels") {
    const missing = condition.levels.includes(curve?.missing ?? -1);
    const known = condition.levels.filter((level) => level !== curve?.missing);
    const found = known.map((level) =>
      kind === "category" ? literal(curve, level, bool) : bound(curve?.x[level] ?? level, kind),
    );
    if (found.length === 0 && missing) return `${name}.${negate ? "notna" : "isna"}()`;
    if (found.length === 1 && !missing) return `${name} ${negate ? "!=" : "=="} ${found[0]}`;
    if (missing) found.push("None");
    return `${name} ${negate ? "not in" : "in"} [${found.join(", ")}]`;
  }
  const { low, high } = condition;
  if (low === null && high === null) return `${name}.${negate ? "isna" : "notna"}()`;
  if (low === null) return not(`${name} <= ${bound(high!, kind)}`);
  if (high === null) return not(`${name} >= ${bound(low, kind)}`);
  if (low === high) return not(`${name} == ${bound(low, kind)}`);
  return not(`${bound(low, kind)} <= ${name} <= ${bound(high, kind)}`);
}

const TOKEN = /`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\p{XID_Continue}+| [&|] |[\s\S]/gu;
export const tokens = (text: string) => text.match(TOKEN) ?? [];

/** The parts of a text that must all hold. */
export function conjuncts(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const token of tokens(text)) {
    if (token === "(" || token === "[") depth++;
    else if (token === ")" || token === "]") depth--;
    if (depth === 0 && token === " | ") return [text];
    if (depth === 0 && token === " & ") parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts.filter((part) => part !== "");
}

/** Whether a text speaks of a feature (not of rows that were given its name). */
export function mentions(text: string, feature: string): boolean {
  const wanted = quote(feature);
  const found = tokens(text);
  return found.some((token, i) => token === wanted && found[i - 1] !== "@");
}

/** A text without its one plain condition on a feature; null if there is no such condition, or more than one. */
export function withoutFeature(text: string, feature: string): string | null {
  const parts = conjuncts(text);
  const rest = parts.filter((part) => /^[(~@]/.test(part) || part.includes(" | ") || !mentions(part, feature));
  return rest.length === parts.length - 1 ? rest.join(" & ") : null;
}

/** Which ends of a restored range are strict: its text tells, the wire does not. */
export function strictEnds(text: string, feature: string): { low: boolean; high: boolean } {
  const name = quote(feature);
  return {
    low: text.startsWith(`${name} > `) || text.includes(` < ${name}`),
    high: text.includes(`${name} < `),
  };
}
