import { describe, expect, it } from "vitest";
import { cellAt, gridOf, mix } from "../src/draw/matrix";
import { markAt, type Scene } from "../src/draw/network";
import { distanceToEdge, layout, placeLabels, stretch } from "../src/geometry/network";
import { complete, fullScale, other, type Pairs, pairsOf, square, strongest } from "../src/geometry/pairs";
import { seriate } from "../src/geometry/seriate";

/** Four features; strength of every pair by "a-b". */
function picture(strength: Record<string, number>, over: Partial<Pairs> = {}): Pairs {
  const keys = Object.keys(strength);
  const values = Object.values(strength);
  return {
    output: "y",
    features: ["a", "b", "c", "d"],
    left_out: 0,
    pairs: keys.flatMap((key) => key.split("-").map(Number)),
    h2: values.map((v) => v / 10),
    h2_stderr: values.map(() => 0),
    strength: values,
    strength_stderr: values.map(() => 0),
    dependent: values.map(() => 0),
    pairs_done: values.filter((v) => !Number.isNaN(v)).length,
    overall_h2: [0, 0, 0, 0],
    overall_strength: [7, 6, 5, 4],
    main_strength: [4, 3, 2, 1],
    total_h2: 0.1,
    total_h2_stderr: 0.01,
    rows: 10,
    rows_total: 20,
    method: "",
    scale: "prediction",
    more: null,
    refining: null,
    ...over,
  };
}

const ALL = { "1-2": 5, "0-1": 2, "0-2": 0, "2-3": 3, "0-3": 0.5, "1-3": 2 };

describe("pairs", () => {
  it("stand where their two features meet, both ways round", () => {
    const at = square(picture({ "1-2": 5, "0-3": 1 }));
    expect([at[1 * 4 + 2], at[2 * 4 + 1], at[3], at[12], at[0], at[1]]).toEqual([0, 0, 1, 1, -1, -1]);
  });
  it("of a feature are sorted once all are known, and stay as they are until then", () => {
    const p = picture(ALL);
    expect(pairsOf(p, 1).map((k) => other(p, k, 1))).toEqual([2, 0, 3]);
    const growing = picture({ ...ALL, "1-3": Number.NaN });
    expect(complete(growing)).toBe(false);
    expect(pairsOf(growing, 2)).toEqual([0, 2, 3]);
  });
  it("that do not interact are no edges", () => {
    const p = picture({ ...ALL, "0-1": Number.NaN });
    expect(strongest(p).map((k) => p.strength[k])).toEqual([5, 3, 2, 0.5]);
  });
  it("have one full colour while they come in, and another once all are known", () => {
    const half = picture({ ...ALL, "1-3": Number.NaN });
    expect(fullScale(half, "strength")).toBe(7);
    expect(fullScale(half, "h2")).toBe(1);
    expect(fullScale(picture(ALL), "strength")).toBe(5);
    expect(fullScale(picture(ALL), "h2")).toBe(0.5);
    expect(fullScale(picture({ "0-1": 12 }), "h2")).toBe(1); // above 1 is flagged, not scaled
    expect(fullScale(picture({ "0-1": 0 }), "strength")).toBe(1);
  });
});

describe("seriation", () => {
  it("keeps the order when nothing is similar, and takes unknown for that", () => {
    expect(seriate(5, () => 0)).toEqual([0, 1, 2, 3, 4]);
    expect(seriate(3, () => Number.NaN)).toEqual([0, 1, 2]);
    expect(seriate(0, () => 1)).toEqual([]);
    expect(seriate(1, () => 1)).toEqual([0]);
  });
  it("puts each block together, whatever the order they come in", () => {
    const blocks = [0, 1, 2, 0, 1, 2, 0, 1, 2];
    const order = seriate(9, (i, j) => (blocks[i] === blocks[j] ? 1 : 0.1));
    expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const runs = order.filter((i, k) => k === 0 || blocks[i] !== blocks[order[k - 1]]);
    expect(runs.length).toBe(3);
  });
  it("turns chains so that similar ends meet", () => {
    // 3 - 1 - 0 - 2: each is similar to its neighbours only
    const links = new Set(["13", "01", "02"]);
    const order = seriate(4, (i, j) => (links.has([i, j].sort().join("")) ? 1 : 0));
    expect(["3102", "2013"]).toContain(order.join(""));
  });
});

describe("the network", () => {
  const edges = [
    { a: 0, b: 1, weight: 1 },
    { a: 1, b: 2, weight: 1 },
    { a: 3, b: 4, weight: 1 },
  ];
  const angles = [0, 1, 2, 3, 4, 5].map((k) => (k * Math.PI) / 3);
  const distance = (at: [number, number][], i: number, j: number) =>
    Math.hypot(at[i][0] - at[j][0], at[i][1] - at[j][1]);

  it("is the same every time, finite, and has linked nodes nearer than others", () => {
    const at = layout(angles, edges);
    expect(layout(angles, edges)).toEqual(at);
    expect(at.flat().every(Number.isFinite)).toBe(true);
    const linked = edges.map(({ a, b }) => distance(at, a, b));
    const apart = [distance(at, 0, 3), distance(at, 1, 4), distance(at, 2, 4), distance(at, 0, 4)];
    expect(Math.max(...linked)).toBeLessThan(Math.min(...apart));
    expect(layout([0], [])[0].every(Number.isFinite)).toBe(true);
    expect(layout([], [])).toEqual([]);
  });
  it("fills its box without circles that touch", () => {
    const box = { x0: 10, y0: 20, x1: 210, y1: 140 };
    const radii = [12, 12, 12, 5, 5, 5];
    const crowded = radii.map((_, k): [number, number] => [k < 5 ? k / 1000 : 1, k % 2]);
    for (const places of [layout(angles, edges), crowded]) {
      const nodes = stretch(places, radii, box, 4);
      for (const { x, y } of nodes) {
        expect(x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1).toBe(true);
      }
      for (let i = 0; i < 6; i++)
        for (let j = 0; j < i; j++) {
          const [a, b] = [nodes[i], nodes[j]];
          expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(a.r + b.r);
        }
    }
    expect(stretch([[3, 3]], [5], box, 4)[0]).toEqual({ x: 110, y: 80, r: 5 });
  });
  it("has labels that meet neither each other nor a node nor the border; the first come first", () => {
    const nodes = Array.from({ length: 30 }, (_, k) => ({
      x: 20 + (k % 6) * 30,
      y: 15 + Math.floor(k / 6) * 22,
      r: 5,
    }));
    const widths = nodes.map(() => 40);
    const labels = placeLabels(nodes, widths, 11, { x0: 0, y0: 0, x1: 200, y1: 130 });
    const placed = labels.flatMap((p, k) => (p ? [{ k, x0: p[0], y0: p[1], x1: p[0] + 40, y1: p[1] + 11 }] : []));
    expect(placed.length).toBeGreaterThan(2);
    expect(labels[0]).not.toBeNull();
    const meets = (a: (typeof placed)[0], b: { x0: number; y0: number; x1: number; y1: number }) =>
      a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
    for (const a of placed) {
      expect(a.x0 >= 0 && a.y0 >= 0 && a.x1 <= 200 && a.y1 <= 130).toBe(true);
      for (const b of placed) expect(a !== b && meets(a, b)).toBe(false);
      nodes.forEach(({ x, y, r }, k) => {
        if (k !== a.k) expect(meets(a, { x0: x - r, y0: y - r, x1: x + r, y1: y + r })).toBe(false);
      });
    }
  });
  it("finds a circle before the lines that end there", () => {
    const nodes = [
      { x: 0, y: 0, r: 5 },
      { x: 100, y: 0, r: 5 },
    ];
    const scene = { features: [3, 8], nodes, links: [{ a: 0, b: 1, share: 1 }] } as unknown as Scene;
    expect(markAt(scene, 4, 3)).toEqual([3, 3]);
    expect(markAt(scene, 50, 4)).toEqual([3, 8]);
    expect(markAt(scene, 50, 40)).toBeNull();
    expect(distanceToEdge(110, 0, nodes[0], nodes[1])).toBe(10);
    expect(distanceToEdge(50, 7, nodes[0], nodes[1])).toBe(7);
  });
});

describe("the matrix", () => {
  const measure = (text: string) => 7 * text.length;

  it("leaves room for every name, and names lead to the diagonal", () => {
    const grid = gridOf(["a", "bb", "a long name"], 200, 1, measure);
    grid.ends.forEach((end, row) => {
      expect(end).toBeLessThanOrEqual(200);
      expect((row + 1) * grid.size).toBeLessThan(end);
    });
    const half = grid.size / 2;
    expect(cellAt(grid, half, 2 * grid.size + half)).toEqual([2, 0]);
    expect(cellAt(grid, grid.size + half, grid.size + half)).toEqual([1, 1]);
    expect(cellAt(grid, grid.ends[1] - 1, grid.size + half)).toEqual([1, 1]);
    expect(cellAt(grid, grid.ends[1] + 5, grid.size + half)).toBeNull();
    expect(cellAt(grid, half, 3 * grid.size + 1)).toBeNull();
    expect(cellAt(grid, -1, 1)).toBeNull();
  });
  it("fits forty long names into a narrow place", () => {
    const names = Array.from({ length: 40 }, (_, k) => `a very long name of a feature ${k}`);
    const { size, ends } = gridOf(names, 300, 1, measure);
    expect(size).toBeGreaterThan(3);
    expect(Math.max(...ends)).toBeLessThanOrEqual(300);
  });
  it("mixes colours in proportion", () => {
    expect(mix(["#000000", "#ff8000"], 0.5)).toBe("rgb(128,64,0)");
    expect(mix(["#000000", "#ff8000"], 7)).toBe("rgb(255,128,0)");
    expect(mix(["#102030", "#ff8000"], 0)).toBe("rgb(16,32,48)");
  });
});
