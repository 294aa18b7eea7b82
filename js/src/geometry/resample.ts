// Curves at equally spaced places, for sparklines.

/** Linear interpolation of (xs, ys) at `points` equally spaced places; points with NaN x are left out. */
export function resample(xs: ArrayLike<number>, ys: ArrayLike<number>, points: number): Float32Array {
  const out = new Float32Array(points).fill(Number.NaN);
  const keep: number[] = [];
  for (let i = 0; i < xs.length; i++) if (!Number.isNaN(xs[i])) keep.push(i);
  if (keep.length === 0) return out;
  const x0 = xs[keep[0]];
  const x1 = xs[keep[keep.length - 1]];
  let j = 0;
  for (let p = 0; p < points; p++) {
    const x = x0 + ((x1 - x0) * p) / Math.max(1, points - 1);
    while (j < keep.length - 2 && xs[keep[j + 1]] < x) j++;
    const a = keep[j];
    const b = keep[Math.min(j + 1, keep.length - 1)];
    const width = xs[b] - xs[a];
    const t = width > 0 ? Math.min(1, Math.max(0, (x - xs[a]) / width)) : 0;
    out[p] = t === 0 ? ys[a] : t === 1 ? ys[b] : ys[a] + (ys[b] - ys[a]) * t;
  }
  return out;
}

/** Evenly spaced picks of at most `most` of `n` rows. */
export function picks(n: number, most: number): Int32Array {
  const size = Math.min(n, most);
  return Int32Array.from({ length: size }, (_, i) => Math.floor((i * n) / size));
}
