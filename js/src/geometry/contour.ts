// Contour lines of a surface over an irregular grid, by marching squares. Axis units in, axis units out.

/**
 * Segments where the surface has the value `level`: x0, y0, x1, y1, one after the other. `values` has one number per node, the nodes
 * of one x together; a square with an unknown corner has no line.
 */
export function contour(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  values: ArrayLike<number>,
  level: number,
): number[] {
  const out: number[] = [];
  const ny = ys.length;
  for (let i = 0; i + 1 < xs.length; i++) {
    for (let j = 0; j + 1 < ny; j++) {
      // Corners in turn, so that side s joins corner s and the next one.
      const x = [xs[i], xs[i + 1], xs[i + 1], xs[i]];
      const y = [ys[j], ys[j], ys[j + 1], ys[j + 1]];
      const z = [values[i * ny + j], values[(i + 1) * ny + j], values[(i + 1) * ny + j + 1], values[i * ny + j + 1]];
      if (z.some(Number.isNaN)) continue;
      const high = z.map((v) => v >= level);
      const cut: number[][] = [];
      for (let side = 0; side < 4; side++) {
        const next = (side + 1) % 4;
        if (high[side] === high[next]) continue;
        const t = (level - z[side]) / (z[next] - z[side]);
        cut.push([x[side] + t * (x[next] - x[side]), y[side] + t * (y[next] - y[side])]);
      }
      if (cut.length === 2) out.push(...cut[0], ...cut[1]);
      else if (cut.length === 4) {
        // A saddle: its middle says which corners are joined. Sides 0 and 3 meet in corner 0, sides 0 and 1 in corner 1.
        const joined = (z[0] + z[1] + z[2] + z[3]) / 4 >= level === high[0];
        const order = joined ? [0, 1, 2, 3] : [3, 0, 1, 2];
        for (const k of order) out.push(...cut[k]);
      }
    }
  }
  return out;
}
