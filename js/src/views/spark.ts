// The path of one sparkline in a 72 x 26 box: a line, or one short mark per level.

import { type Condition, SPARK } from "../model";

const WIDTH = 72;
const HEIGHT = 26;
const EDGE = 2;
const LEAST = 0.07;

/** Strokes under a sparkline where conditions on its feature hold; `ends` of its axis are NaN for levels. */
export function sparkMarks(conditions: Condition[], ends: [number, number], points: number): string {
  const wide = WIDTH - 2 * EDGE;
  const stroke = (from: number, to: number) =>
    `M${(EDGE + from * wide).toFixed(1)} ${HEIGHT - 1}h${((to - from) * wide).toFixed(1)}`;
  const [low, high] = ends;
  const at = (v: number) => (high > low ? Math.max(0, Math.min(1, (v - low) / (high - low))) : 0);
  return conditions
    .map((c) => {
      if (c.type === "levels" && Number.isNaN(low))
        return c.levels
          .filter((level) => level < points)
          .map((level) => stroke(level / points, (level + 1) / points))
          .join("");
      if (c.type !== "range" || Number.isNaN(low)) return "";
      const [from, to] = [c.low === null ? 0 : at(c.low), c.high === null ? 1 : at(c.high)];
      const least = Math.min(from, 1 - LEAST); // one value is to be seen, too
      return stroke(least, Math.max(to, least + LEAST));
    })
    .join("");
}

export function sparkPath(
  values: ArrayLike<number>,
  row: number,
  points: number,
  category: boolean,
  range: [number, number],
): string {
  const start = row * SPARK;
  const n = Math.max(1, Math.min(SPARK, points));
  const y = (v: number) => (HEIGHT - EDGE - ((v - range[0]) / (range[1] - range[0])) * (HEIGHT - 2 * EDGE)).toFixed(1);
  let path = "";
  let pen = false;
  for (let i = 0; i < n; i++) {
    const v = values[start + i];
    if (Number.isNaN(v) || v === undefined) {
      pen = false;
      continue;
    }
    if (category || n === 1) {
      const step = (WIDTH - 2 * EDGE) / n;
      const x = EDGE + step * i;
      path += `M${(x + step * 0.15).toFixed(1)} ${y(v)}h${(step * 0.7).toFixed(1)}`;
    } else {
      const x = (EDGE + ((WIDTH - 2 * EDGE) * i) / (n - 1)).toFixed(1);
      path += `${pen ? "L" : "M"}${x} ${y(v)}`;
      pen = true;
    }
  }
  return path;
}
