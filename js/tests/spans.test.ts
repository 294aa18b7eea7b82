import { describe, expect, it } from "vitest";
import { type Scene, spansOf } from "../src/draw/scene";
import { bands, linear } from "../src/geometry/scale";
import type { Condition } from "../src/model";
import { sparkMarks } from "../src/views/spark";

const range = (low: number | null, high: number | null): Condition => ({ type: "range", feature: "a", low, high });
const levels = (...list: number[]): Condition => ({ type: "levels", feature: "a", levels: list });

describe("where conditions stand in a plot", () => {
  const number = {
    curve: { feature: "a", integer: false },
    x: linear([0, 10], [100, 200]),
    bands: null,
    missingAt: 50,
  } as unknown as Scene;
  it("an interval, closed where it ends", () => {
    expect(spansOf(number, [range(2, 5)])).toEqual([{ from: 120, to: 150, begins: true, ends: true }]);
    expect(spansOf(number, [range(2, null)])).toEqual([{ from: 120, to: 200, begins: true, ends: false }]);
    expect(spansOf(number, [range(null, 99)])).toEqual([{ from: 100, to: 200, begins: false, ends: true }]);
  });
  it("missing values in their lane", () => {
    expect(spansOf(number, [levels(7)])).toEqual([{ from: 39, to: 61, begins: true, ends: true }]);
    expect(spansOf({ ...number, missingAt: Number.NaN }, [levels(7)])).toEqual([]);
  });
  it("levels one by one, and nothing of another feature", () => {
    const axis = bands(4, [0, 400], -1);
    const found = spansOf({ ...number, bands: axis } as Scene, [levels(1, 3)]);
    expect(found.map(({ from, to }) => (from + to) / 2)).toEqual([axis.center(1), axis.center(3)]);
    expect(spansOf(number, [{ ...range(2, 5), feature: "b" }])).toEqual([]);
  });
});

describe("strokes under a sparkline", () => {
  it("are as long as the interval, never shorter than can be seen, and inside", () => {
    expect(sparkMarks([range(5, null)], [0, 10], 24)).toBe("M36.0 25h34.0");
    expect(sparkMarks([range(null, 0)], [0, 10], 24)).toBe("M2.0 25h4.8");
    expect(sparkMarks([range(10, 10)], [0, 10], 24)).toBe("M65.2 25h4.8");
    expect(sparkMarks([range(20, 30)], [0, 10], 24)).toBe("M65.2 25h4.8");
  });
  it("stand under levels, and not under numbers' missing values", () => {
    expect(sparkMarks([levels(0, 3, 9)], [Number.NaN, Number.NaN], 4)).toBe("M2.0 25h17.0M53.0 25h17.0");
    expect(sparkMarks([levels(9)], [0, 10], 24)).toBe("");
    expect(sparkMarks([range(1, 2)], [Number.NaN, Number.NaN], 4)).toBe("");
  });
});
