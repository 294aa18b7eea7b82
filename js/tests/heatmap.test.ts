import { describe, expect, it } from "vitest";
import { ramp } from "../src/draw/colour";
import { makeHeat } from "../src/draw/heatscene";
import { contour } from "../src/geometry/contour";
import {
  between,
  cellAt,
  cellEdges,
  cellText,
  emptyCells,
  inOrder,
  laneOf,
  matrixOf,
  ofCells,
  rectangle,
  type Surface,
  stretches,
  transposed,
} from "../src/geometry/surface";
import type { SurfaceAxis } from "../src/model";

const numbers = (x: number[], over: Partial<SurfaceAxis> = {}): SurfaceAxis => ({
  feature: "a",
  kind: "number",
  integer: false,
  x,
  labels: x.map(String),
  at: x.map((v) => (Number.isNaN(v) ? 7 : -1)),
  missing: x.findIndex(Number.isNaN),
  left_out: 0,
  hist: { edges: [-100, 100], counts: [4], selected: null },
  ...over,
});

const levels = (labels: string[], over: Partial<SurfaceAxis> = {}): SurfaceAxis => ({
  feature: "c",
  kind: "category",
  integer: false,
  x: labels.map((_, i) => i),
  labels,
  at: labels.map((_, i) => i),
  missing: labels.indexOf("missing"),
  left_out: 0,
  hist: { edges: null, counts: labels.map(() => 1), selected: null },
  ...over,
});

const surface = (over: Partial<Surface> = {}): Surface => ({
  status: { state: "done", message: null, cost: 0, stale: false },
  first: "a",
  second: "c",
  output: "y",
  a: numbers([0, 1, 4]),
  b: levels(["p", "q"]),
  average: [1, 2, 3, 5, 6, 9],
  main_a: [1.5, 4, 7.5],
  main_b: [10 / 3, 16 / 3],
  mean: 13 / 3,
  counts: [1, 0, 0, 0, 2, 0],
  selection: [1, 1, 1, 1, 1, 1],
  rest: [0, 1, 2, 3, 4, 5],
  selection_id: 1,
  n_selection: 3,
  n_rest: 3,
  rows: 6,
  total: 6,
  more: null,
  h2: null,
  strength: null,
  exact: true,
  ...over,
});

describe("contour", () => {
  const xs = [0, 1, 4, 10];
  const ys = [-2, 0, 5];

  it("of a plane is the straight line, whatever the spacing", () => {
    const values = xs.flatMap((x) => ys.map((y) => 2 * x + 3 * y));
    const found = contour(xs, ys, values, 5);
    expect(found.length).toBeGreaterThan(8);
    for (let i = 0; i < found.length; i += 2) expect(2 * found[i] + 3 * found[i + 1]).toBeCloseTo(5, 10);
  });

  it("of a hill is closed: every end is the beginning of another segment", () => {
    const grid = Array.from({ length: 9 }, (_, i) => (i - 4) * (1 + i / 10));
    const values = grid.flatMap((x) => grid.map((y) => -(x * x) - y * y));
    const found = contour(grid, grid, values, -6);
    const ends = new Map<string, number>();
    for (let i = 0; i < found.length; i += 2) {
      const key = `${found[i].toFixed(9)},${found[i + 1].toFixed(9)}`;
      ends.set(key, (ends.get(key) ?? 0) + 1);
    }
    expect([...ends.values()].every((n) => n === 2)).toBe(true);
    expect(ends.size).toBeGreaterThan(10);
  });

  it("of a saddle keeps apart what its middle keeps apart", () => {
    // High in the corners (0,0) and (1,1); the middle is high, so these two are joined and the cuts go round the others.
    const high = contour([0, 1], [0, 1], [1, 0, 0, 1], 0.25);
    const low = contour([0, 1], [0, 1], [1, 0, 0, 1], 0.75);
    const pairs = (found: number[]) => [found.slice(0, 4), found.slice(4)];
    for (const [x0, y0, x1, y1] of pairs(high)) expect(Math.abs(x0 + x1 - y0 - y1)).toBeCloseTo(1.5, 10);
    for (const [x0, y0, x1, y1] of pairs(low)) expect(Math.abs(x0 + x1 - y0 - y1)).toBeCloseTo(0, 10);
  });

  it("leaves out squares with an unknown corner, and levels nobody reaches", () => {
    expect(contour([0, 1], [0, 1], [0, 1, Number.NaN, 1], 0.5)).toEqual([]);
    expect(contour([0, 1], [0, 1], [0, 1, 0, 1], 2)).toEqual([]);
    expect(contour([0], [0, 1], [0, 1], 0.5)).toEqual([]);
  });
});

describe("what is shown", () => {
  it("is the effect, the selection's, the difference, or what the main effects leave", () => {
    const picture = surface();
    expect([...matrixOf(picture, "pd")!]).toEqual([1, 2, 3, 5, 6, 9]);
    expect([...matrixOf(picture, "difference")!]).toEqual([1, 0, -1, -2, -3, -4]);
    const interaction = [...matrixOf(picture, "interaction")!];
    expect(interaction[0]).toBeCloseTo(1 - 1.5 - 10 / 3 + 13 / 3, 12);
    expect(interaction[5]).toBeCloseTo(9 - 7.5 - 16 / 3 + 13 / 3, 12);
    expect(matrixOf(surface({ main_a: null }), "interaction")).toBeNull();
    expect(matrixOf(surface({ rest: null }), "difference")).toBeNull();
  });

  it("can be turned", () => {
    expect([...transposed([1, 2, 3, 4, 5, 6], 3, 2)]).toEqual([1, 3, 5, 2, 4, 6]);
  });

  it("hatches cells without rows in and beside them, but only along numbers", () => {
    const { a, b } = surface();
    expect([...emptyCells(a, b, [1, 0, 0, 0, 0, 0])]).toEqual([0, 1, 0, 1, 1, 1]);
    const missing = numbers([0, 1, 2, Number.NaN]);
    expect([...emptyCells(missing, levels(["p"]), [0, 0, 0, 5])]).toEqual([1, 1, 1, 0]);
  });
});

describe("lanes", () => {
  it("keep numbers to scale, each cell to halfway to the next point", () => {
    expect([...cellEdges([0, 1, 4])]).toEqual([-0.5, 0.5, 2.5, 5.5]);
    expect([...cellEdges([3])]).toEqual([2.85, 3.15]);
    expect([...cellEdges([0, 1, 4], [-0.2, 2, 4.5])]).toEqual([-0.2, 0.5, 2.5, 4.5]);
    expect([...cellEdges([0, 1, 4], [-9, 9])]).toEqual([-0.5, 0.5, 2.5, 5.5]);
    const lane = laneOf(numbers([0, 1, 4]), [100, 160], 20);
    expect([...lane.low]).toEqual([100, 110, 130]);
    expect([...lane.high]).toEqual([110, 130, 160]);
    const up = laneOf(numbers([0, 1, 4]), [160, 100], 20);
    expect([...up.low]).toEqual([150, 130, 100]);
    expect(inOrder(up)).toEqual([0, 1, 2]);
    expect(cellAt(up, 101)).toBe(2);
    expect(cellAt(lane, 90)).toBe(0);
  });

  it("keep the missing level apart", () => {
    const lane = laneOf(numbers([0, 1, Number.NaN]), [0, 200], 20);
    expect([lane.low[2], lane.high[2]]).toEqual([0, 20]);
    expect(lane.low[0]).toBe(24);
    expect(inOrder(lane)).toEqual([2, 0, 1]);
    expect(cellText(lane, 2)).toBe("missing");
    const words = laneOf(levels(["p", "q", "missing"]), [0, 94], 20);
    expect([...words.low]).toEqual([0, 30, 64]);
  });
});

describe("conditions", () => {
  const lane = laneOf(numbers([0, 1, 4]), [0, 600], 20);

  it("between two pixels are ranges, open at the ends of the axis", () => {
    expect(between(lane, 100, 300)).toEqual({ type: "range", feature: "a", low: 0.5, high: 2.5 });
    expect(between(lane, 300, 100)).toEqual({ type: "range", feature: "a", low: 0.5, high: 2.5 });
    expect(between(lane, 0, 300)).toEqual({ type: "range", feature: "a", low: null, high: 2.5 });
    expect(between(lane, 300, 600)).toEqual({ type: "range", feature: "a", low: 2.5, high: null });
    expect(between(lane, 0, 600)).toBeNull();
    const up = laneOf(numbers([0, 1, 4]), [600, 0], 20);
    expect(between(up, 300, 500)).toEqual({ type: "range", feature: "a", low: 0.5, high: 2.5 });
  });

  it("of whole numbers take all that is touched", () => {
    const whole = laneOf(numbers([1, 2, 3, 4], { integer: true }), [0, 400], 20);
    expect(between(whole, 150, 250)).toEqual({ type: "range", feature: "a", low: 2, high: 3 });
    expect(ofCells(whole, 1)).toEqual({ type: "range", feature: "a", low: 2, high: 2 });
    expect(ofCells(whole, 0, 2)).toEqual({ type: "range", feature: "a", low: null, high: 3 });
  });

  it("of levels are counted in the feature's own grid", () => {
    const some = laneOf(levels(["p", "q", "r"], { at: [3, 5, 8], left_out: 6 }), [0, 90], 20);
    expect(between(some, 10, 40)).toEqual({ type: "levels", feature: "c", levels: [3, 5] });
    expect(between(some, 0, 90)).toEqual({ type: "levels", feature: "c", levels: [3, 5, 8] });
    expect(ofCells(some, 2)).toEqual({ type: "levels", feature: "c", levels: [8] });
    expect(between(laneOf(levels(["p", "q"]), [0, 90], 20), 0, 90)).toBeNull();
  });

  it("of missing numbers stand for themselves; beside numbers the range counts", () => {
    const gone = laneOf(numbers([0, 1, Number.NaN]), [0, 224], 20);
    expect(between(gone, 2, 12)).toEqual({ type: "levels", feature: "a", levels: [7] });
    expect(ofCells(gone, 2)).toEqual({ type: "levels", feature: "a", levels: [7] });
    expect(between(gone, 0, 124)).toEqual({ type: "range", feature: "a", low: null, high: 0.5 });
    expect(between(gone, 0, 224)).toBeNull();
    expect(between(gone, 24, 224)).toEqual({ type: "range", feature: "a", low: null, high: null });
  });

  it("are a rectangle of two sides, or one side where the other is everything", () => {
    const a = between(lane, 100, 300)!;
    const c = { type: "levels" as const, feature: "c", levels: [1] };
    expect(rectangle(a, c)).toEqual({ type: "all", conditions: [a, c] });
    expect(rectangle(null, c)).toBe(c);
    expect(rectangle(null, null)).toBeNull();
  });

  it("stand where they were drawn", () => {
    expect(stretches(lane, between(lane, 100, 300)!)).toEqual([[100, 300]]);
    expect(stretches(lane, { type: "range", feature: "a", low: null, high: 99 })).toEqual([[0, 600]]);
    const words = laneOf(levels(["p", "q", "r", "s"]), [0, 80], 20);
    expect(stretches(words, { type: "levels", feature: "c", levels: [0, 1, 3] })).toEqual([
      [0, 40],
      [60, 80],
    ]);
    const whole = laneOf(numbers([1, 2, 3, 4], { integer: true }), [0, 400], 20);
    expect(stretches(whole, { type: "range", feature: "a", low: 2, high: 3 })).toEqual([[100, 300]]);
  });
});

describe("the scene", () => {
  const make = (over: Partial<Surface>, mode: "pd" | "interaction" | "difference" = "pd", swapped = false) =>
    makeHeat({
      picture: surface(over),
      mode,
      swapped,
      width: 400,
      text: 12,
      measure: (text) => text.length * 6,
      keep: (range) => range,
    });

  it("swaps axes, values and counts together", () => {
    const plain = make({})!;
    const turned = make({}, "pd", true)!;
    expect([plain.x.axis.feature, turned.x.axis.feature]).toEqual(["a", "c"]);
    expect([...turned.values]).toEqual([1, 3, 6, 2, 5, 9]);
    expect(Array.from(turned.counts)).toEqual([1, 0, 2, 0, 0, 0]);
  });

  it("has a scale around 0 for differences, and none for noise", () => {
    expect(make({}, "difference")!.domain).toEqual([-4, 4]);
    const additive = { average: [1, 2, 3, 4, 5, 6], main_a: [1.5, 3.5, 5.5], main_b: [3, 4], mean: 3.5 };
    const [low, high] = make({ ...additive }, "interaction")!.domain;
    expect(high).toBeGreaterThan(1e-3);
    expect(low).toBe(-high);
  });

  it("has contour lines for numbers only, and three to five ticks in its legend", () => {
    expect(make({})!.lines).toEqual([]);
    const both = make({ b: numbers([0, 2], { feature: "b" }) })!;
    expect(both.lines.some(({ segments }) => segments.length > 0)).toBe(true);
    expect(both.ticks.values.length).toBeGreaterThanOrEqual(3);
    expect(both.ticks.values.length).toBeLessThanOrEqual(5);
  });

  it("is nothing where numbers are not known or there is no room", () => {
    expect(make({ main_b: null }, "interaction")).toBeNull();
    expect(
      makeHeat({
        picture: surface(),
        mode: "pd",
        swapped: false,
        width: 50,
        text: 12,
        measure: () => 1,
        keep: (r) => r,
      }),
    ).toBeNull();
  });
});

describe("colours", () => {
  const rgb = (text: string) => text.match(/\d+/g)!.map(Number);

  it("run from dark blue to yellow for values", () => {
    const scale = ramp([10, 20], false, false);
    expect(rgb(scale.of(10))).toEqual([0, 34, 78]);
    expect(rgb(scale.of(99))).toEqual([254, 232, 56]);
    expect(scale.light(10)).toBeLessThan(scale.light(15));
    expect(scale.light(15)).toBeLessThan(scale.light(20));
  });

  it("have a middle without a hue at 0, near the page's ground, and ends that differ in hue", () => {
    for (const dark of [false, true]) {
      const scale = ramp([-2, 2], true, dark);
      const middle = rgb(scale.of(0));
      expect(Math.max(...middle) - Math.min(...middle)).toBeLessThan(12);
      expect(middle[0] > 128).toBe(!dark);
      const [low, high] = [rgb(scale.of(-2)), rgb(scale.of(2))];
      expect(low[2]).toBeGreaterThan(low[1]);
      expect(high[0]).toBeGreaterThan(high[2]);
    }
  });

  it("do not overflow", () => {
    expect(rgb(ramp([-1e308, 1e308], false, false).of(1e308))).toEqual([254, 232, 56]);
    expect(rgb(ramp([3, 3], false, false).of(3))).toHaveLength(3);
  });
});
