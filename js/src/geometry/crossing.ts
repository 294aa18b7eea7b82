// Which lines cross a rectangle. Segments count, not only grid points: a steep line that jumps over a small
// rectangle between two grid points is caught. The kernel uses the same geometry over all rows.

/** Whether the segment (ax, ay)-(bx, by) touches the closed rectangle (Liang-Barsky clipping). */
export function segmentCrosses(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  x0: number,
  x1: number,
  y0: number,
  y1: number,
): boolean {
  const dx = bx - ax;
  const dy = by - ay;
  let enter = 0;
  let leave = 1;
  for (const [p, q] of [
    [-dx, ax - x0],
    [dx, x1 - ax],
    [-dy, ay - y0],
    [dy, y1 - ay],
  ]) {
    if (p === 0) {
      if (q < 0) return false;
    } else {
      const t = q / p;
      if (p < 0) {
        if (t > leave) return false;
        if (t > enter) enter = t;
      } else {
        if (t < enter) return false;
        if (t < leave) leave = t;
      }
    }
  }
  return enter <= leave;
}

/** Whether the polyline with values ys[start .. start + n) at xs crosses; points that are NaN in x or y break it. */
export function lineCrosses(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  start: number,
  n: number,
  shift: number,
  x: readonly [number, number],
  y: readonly [number, number],
): boolean {
  const [x0, x1] = x[0] <= x[1] ? x : [x[1], x[0]];
  const [y0, y1] = y[0] <= y[1] ? y : [y[1], y[0]];
  let px = Number.NaN;
  let py = Number.NaN;
  for (let k = 0; k < n; k++) {
    const cx = xs[k];
    const cy = ys[start + k] + shift;
    if (Number.isNaN(cx) || Number.isNaN(cy)) {
      px = Number.NaN;
      continue;
    }
    if (Number.isNaN(px)) {
      if (cx >= x0 && cx <= x1 && cy >= y0 && cy <= y1) return true;
    } else if (segmentCrosses(px, py, cx, cy, x0, x1, y0, y1)) return true;
    px = cx;
    py = cy;
  }
  return false;
}
