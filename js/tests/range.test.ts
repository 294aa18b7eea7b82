import { describe, expect, it } from "vitest";
import { brushPx, type Scene } from "../src/draw/scene";
import { linear } from "../src/geometry/scale";
import { someOutside } from "../src/geometry/subset";
import type { Curve } from "../src/model";
import { rangeBetween, rangeOfBar } from "../src/views/range";

function scene(edges: number[], over: Partial<Curve> = {}): Scene {
  const xDomain: [number, number] = [edges[0], edges[edges.length - 1]];
  const counts = edges.slice(1).map(() => 10);
  const curve = {
    feature: "a",
    kind: "number",
    integer: false,
    x: [],
    missing: -1,
    hist: { edges, counts },
    total: 10 * counts.length,
    missing_count: 0,
    infinite_count: 0,
    ...over,
  };
  return { curve, xDomain, x: linear(xDomain, [50, 650]) } as unknown as Scene;
}

const ends = (range: { low: number | null; high: number | null } | null) => range && [range.low, range.high];

describe("ranges from pixels and bars", () => {
  it("of whole numbers are whole, and what is touched is in", () => {
    const years = scene([2010.5, 2011.5, 2012.5, 2013.5], { integer: true });
    expect([0, 1, 2].map((bar) => ends(rangeOfBar(years, bar)))).toEqual([
      [2011, 2011],
      [2012, 2012],
      [2013, 2013],
    ]);
    const { x } = years;
    expect(ends(rangeBetween(years, x(2011.5), x(2012.5)))).toEqual([2012, 2012]);
    expect(ends(rangeBetween(years, x(2011.7), x(2012.6)))).toEqual([2012, 2013]);
    expect(ends(rangeBetween(years, x(2011.4999), x(2011.5001)))).toEqual([2012, 2012]);
    // A brush drawn around a bar and read again is the same.
    const drawn = brushPx(years, { type: "range", feature: "a", low: 2012, high: 2012 });
    expect(ends(rangeBetween(years, ...drawn))).toEqual([2012, 2012]);
    const grams = scene([2699.5, 2799.5, 2899.5], { integer: true });
    expect(ends(rangeOfBar(grams, 1))).toEqual([2800, 2899]);
  });
  it("of the outer bars are open where nothing lies beyond them", () => {
    const edges = [0.0123, 1.5, 2.9877];
    expect(ends(rangeOfBar(scene(edges), 0))).toEqual([null, 1.5]);
    const cut = scene(edges, { total: 25 });
    expect(someOutside(cut.curve)).toBe(true);
    expect(ends(rangeOfBar(cut, 0))).toEqual([0.0123, 1.5]);
    expect(ends(rangeOfBar(cut, 1))).toEqual([1.5, 2.9877]);
    expect(rangeOfBar(cut, 2)).toBeNull();
    expect(someOutside(scene(edges, { total: 25, missing_count: 5 }).curve)).toBe(false);
  });
  it("dragged from an outer bar's edge are open there, so that rounding loses no row", () => {
    const one = scene([0.1, 0.6, 1.1]); // 0.6 px are 0.001
    expect(ends(rangeBetween(one, 50 + 3, 350))).toEqual([null, 0.6]);
    expect(ends(rangeBetween(one, 350, 650 - 3))).toEqual([0.6, null]);
    expect(ends(rangeBetween(one, 50 + 6, 650 - 6))).toEqual([0.11, 1.09]);
    // Other bars stay out, however narrow they are; so does what lies beyond the axis.
    const narrow = scene(Array.from({ length: 301 }, (_, i) => i));
    expect(ends(rangeOfBar(narrow, 1))).toEqual([1, 2]);
    const cut = scene([0.1, 0.6, 1.1], { total: 25 });
    expect(ends(rangeBetween(cut, 50 + 3, 350))).toEqual([0.105, 0.6]);
    // The bars begin inside of an axis that is longer.
    const inside = { ...one, x: linear([0, 1.2], [50, 650]) } as typeof one;
    expect(ends(rangeBetween(inside, 50 + 20, 350))).toEqual([null, 0.6]);
  });
  it("beyond the axis are drawn at its edge", () => {
    const one = scene([0, 10]);
    const range = { type: "range", feature: "a" } as const;
    expect(brushPx(one, { ...range, low: 20, high: null })).toEqual([650, 650]);
    expect(brushPx(one, { ...range, low: null, high: -3 })).toEqual([50, 50]);
  });
});
