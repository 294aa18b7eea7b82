// What is under the pointer, in pixels.

/** Index of the entry of `positions` nearest to `at`, skipping NaN; -1 if there is none. */
export function nearest(positions: ArrayLike<number>, at: number): number {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  for (let i = 0; i < positions.length; i++) {
    const d = Math.abs(positions[i] - at);
    if (d < distance) {
      distance = d;
      best = i;
    }
  }
  return best;
}

/** Squared distance from a point to a segment. */
export function segmentDistance(px: number, py: number, ax: number, ay: number, bx: number, by: number): number {
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / length));
  return (px - ax - t * dx) ** 2 + (py - ay - t * dy) ** 2;
}

/** The polyline nearest to the pointer within `reach` pixels, or -1. `y(row, k)` gives pixels. */
export function nearestLine(
  rows: ArrayLike<number>,
  xs: ArrayLike<number>,
  y: (row: number, k: number) => number,
  px: number,
  py: number,
  reach: number,
): number {
  let best = -1;
  let distance = reach * reach;
  let first = 0;
  let last = xs.length - 1;
  // Only the segments around the pointer can be within reach.
  while (first < last && !(xs[first + 1] >= px - reach)) first++;
  while (last > first && !(xs[last - 1] <= px + reach)) last--;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (first === last) {
      const d = (xs[first] - px) ** 2 + (y(row, first) - py) ** 2;
      if (d < distance) {
        distance = d;
        best = row;
      }
    }
    for (let k = first; k < last; k++) {
      const d = segmentDistance(px, py, xs[k], y(row, k), xs[k + 1], y(row, k + 1));
      if (d < distance) {
        distance = d;
        best = row;
      }
    }
  }
  return best;
}

export type Handle = "low" | "high" | "body" | "none";

/** Which part of a brush between two pixels lies under the pointer. */
export function brushHandle(x: number, low: number, high: number, grip = 6): Handle {
  const dl = Math.abs(x - low);
  const dh = Math.abs(x - high);
  if (Math.min(dl, dh) <= grip) return dl < dh || (dl === dh && x < low) ? "low" : "high";
  return x > low && x < high ? "body" : "none";
}

/** Moves labels apart so that none overlaps, keeping their order, inside [top, bottom]. */
export function dodge(wanted: number[], height: number, top: number, bottom: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
  const placed = new Array<number>(wanted.length);
  let floor = top;
  for (const i of order) {
    placed[i] = Math.max(wanted[i], floor);
    floor = placed[i] + height;
  }
  let ceiling = bottom;
  for (const i of [...order].reverse()) {
    placed[i] = Math.min(placed[i], ceiling);
    ceiling = placed[i] - height;
  }
  return placed;
}
