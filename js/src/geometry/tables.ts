// The numbers that are on the page as tables, for pages without Python, and the names of files.

import type { Store } from "../store";

export type Columns = [string, ArrayLike<unknown>][];

const cell = (value: unknown): string => {
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const text = String(value ?? "");
  // A spreadsheet would take these for formulas.
  const safe = /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Columns of equal length as the text of a CSV file. */
export function csv(columns: Columns): string {
  const lines = [columns.map(([name]) => cell(name))];
  const plain = columns.map(([, values]) =>
    values instanceof Float32Array ? Array.from(values, (v) => Number(v.toPrecision(7))) : values,
  );
  for (let i = 0; i < (plain[0]?.length ?? 0); i++) lines.push(plain.map((values) => cell(values[i])));
  return `${lines.map((line) => line.join(",")).join("\n")}\n`;
}

/** What a file may be called on every system: parts of it joined by hyphens. */
export const fileName = (...parts: (string | undefined)[]): string =>
  parts
    .map((part) =>
      (part ?? "")
        .replace(/[^\p{L}\p{N}_-]+/gu, "-")
        .slice(0, 40)
        .replace(/^-+|-+$/g, ""),
    )
    .filter(Boolean)
    .join("-");

/** The table of a part of the page; null where the page does not hold it. */
export function tableOf({ curve, shown, pictures }: Store, what: string): Columns | null {
  const { importance, interactions, heatmap } = pictures;
  if (what === "curves") {
    const c = curve.value;
    const sides = shown.value;
    if (!c) return null;
    const table: Columns = [
      [c.feature, c.kind === "number" ? c.x : c.labels],
      ["average", c.average],
    ];
    if (sides) table.push(["selection", sides.selection.average], ["rest", sides.rest.average]);
    return table;
  }
  if (what === "importance") {
    const p = importance.value;
    return p?.all && p.features ? [["feature", p.features], ...Object.entries(p.all)] : null;
  }
  if (what === "interactions") {
    const p = interactions.value;
    if (!p?.pairs || !p.features) return null;
    const side = (s: number) => Array.from({ length: p.pairs!.length / 2 }, (_, k) => p.features![p.pairs![2 * k + s]]);
    const numbers = (["strength", "strength_stderr", "h2", "h2_stderr"] as const).map(
      (name): [string, ArrayLike<number>] => [name, p[name]!],
    );
    return [["feature_1", side(0)], ["feature_2", side(1)], ...numbers];
  }
  const p = what === "heatmap" ? heatmap.value : null;
  if (!p?.average || !p.a || !p.b) return null;
  const [a, b] = [p.a, p.b];
  const value = (axis: typeof a, i: number) => (axis.kind === "number" ? axis.x[i] : axis.labels[i]);
  const cells = Array.from(p.average, (_, k) => k);
  const table: Columns = [
    [a.feature, cells.map((k) => value(a, Math.floor(k / b.x.length)))],
    [b.feature, cells.map((k) => value(b, k % b.x.length))],
    ["average", p.average],
  ];
  for (const name of ["selection", "rest"] as const) if (p[name]) table.push([name, p[name]]);
  return table;
}
