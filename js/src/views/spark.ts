// The path of one sparkline in a 72 x 26 box: a line, or one short mark per level.

import { SPARK } from "../model";

const WIDTH = 72;
const HEIGHT = 26;
const EDGE = 2;

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
