// Where the nodes of a network stand: by forces, from a circle, without chance; and where their labels have room.

export interface Edge {
  a: number;
  b: number;
  /** 0 to 1: how strongly its ends attract each other. */
  weight: number;
}

export interface Node {
  x: number;
  y: number;
  r: number;
}

export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

const ROUNDS = 240;

/** Positions of nodes in a plane (Fruchterman & Reingold 1991), starting on a circle at these angles. */
export function layout(angles: number[], edges: Edge[]): [number, number][] {
  const n = angles.length;
  const at = angles.map((angle): [number, number] => [Math.cos(angle), Math.sin(angle)]);
  const far = 1.6 / Math.sqrt(Math.max(n, 1)); // where two nodes would like to be
  for (let round = 0; round < ROUNDS; round++) {
    // Mildly towards the middle, or parts that are not linked would drift away.
    const force = at.map(([x, y]): [number, number] => [-0.4 * x, -0.4 * y]);
    const pull = (i: number, j: number, by: (d: number) => number) => {
      const [dx, dy] = [at[j][0] - at[i][0], at[j][1] - at[i][1]];
      const d = Math.hypot(dx, dy) || 1e-6;
      const f = by(d) / d;
      force[i][0] += f * dx;
      force[i][1] += f * dy;
      force[j][0] -= f * dx;
      force[j][1] -= f * dy;
    };
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) pull(i, j, (d) => (-far * far) / d);
    for (const { a, b, weight } of edges) pull(a, b, (d) => ((0.3 + 0.7 * weight) * d * d) / far);
    const longest = 0.2 * (1 - round / ROUNDS);
    for (let i = 0; i < n; i++) {
      const size = Math.hypot(...force[i]) || 1e-12;
      const step = Math.min(size * 0.1, longest) / size;
      at[i][0] += step * force[i][0];
      at[i][1] += step * force[i][1];
    }
  }
  return at;
}

/** Stretches positions to fill a box, and moves circles apart that would touch. */
export function stretch(at: [number, number][], radii: number[], box: Box, gap: number): Node[] {
  const scaled = (axis: 0 | 1, low: number, high: number) => {
    const values = at.map((p) => p[axis]);
    const [min, max] = [Math.min(...values), Math.max(...values)];
    return values.map((v) => (max - min > 1e-9 ? low + ((v - min) / (max - min)) * (high - low) : (low + high) / 2));
  };
  const x = scaled(0, box.x0, box.x1);
  const y = scaled(1, box.y0, box.y1);
  for (let round = 0; round < 60; round++) {
    let still = true;
    for (let i = 0; i < at.length; i++)
      for (let j = i + 1; j < at.length; j++) {
        const [dx, dy] = [x[j] - x[i], y[j] - y[i]];
        const d = Math.hypot(dx, dy);
        const missing = radii[i] + radii[j] + gap - d;
        if (missing <= 0.1) continue;
        still = false;
        const [ux, uy] = d > 1e-6 ? [dx / d, dy / d] : [1, 0];
        for (const [k, sign] of [
          [i, -0.5],
          [j, 0.5],
        ]) {
          x[k] = Math.max(box.x0, Math.min(box.x1, x[k] + sign * missing * ux));
          y[k] = Math.max(box.y0, Math.min(box.y1, y[k] + sign * missing * uy));
        }
      }
    if (still) break;
  }
  return radii.map((r, i) => ({ x: x[i], y: y[i], r }));
}

/** Top left corners of labels that touch no other label, no other node and no border; null for one without room. First come first served. */
export function placeLabels(nodes: Node[], widths: number[], height: number, outer: Box): ([number, number] | null)[] {
  const taken: Box[] = [];
  const meets = (a: Box, b: Box) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
  return nodes.map(({ x, y, r }, i) => {
    const w = widths[i];
    const places = [
      [x - w / 2, y + r + 1],
      [x - w / 2, y - r - 1 - height],
      [x + r + 3, y - height / 2],
      [x - r - 3 - w, y - height / 2],
    ];
    for (const [left, top] of places) {
      const x0 = left < outer.x0 && left + w > x ? outer.x0 : left + w > outer.x1 && left < x ? outer.x1 - w : left;
      const box = { x0, y0: top, x1: x0 + w, y1: top + height };
      if (box.x0 < outer.x0 || box.y0 < outer.y0 || box.x1 > outer.x1 || box.y1 > outer.y1) continue;
      if (taken.some((b) => meets(box, b))) continue;
      if (nodes.some((o, k) => k !== i && meets(box, { x0: o.x - o.r, y0: o.y - o.r, x1: o.x + o.r, y1: o.y + o.r })))
        continue;
      taken.push(box);
      return [x0, top];
    }
    return null;
  });
}

/** Distance of a point from a line between two nodes. */
export function distanceToEdge(x: number, y: number, a: Node, b: Node): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const t = Math.max(0, Math.min(1, ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - a.x - t * dx, y - a.y - t * dy);
}
