import { describe, expect, it } from "vitest";
import {
  apply,
  combine,
  EMPTY_STATE,
  evaluate,
  invert,
  type Known,
  keep,
  others,
  restored,
  type State,
  stateText,
} from "../src/geometry/conditions";
import { lineCrosses, segmentCrosses } from "../src/geometry/crossing";
import { brushHandle, dodge, nearest, nearestLine } from "../src/geometry/hit";
import { conjuncts, mentions, quote, textOf, withoutFeature } from "../src/geometry/query";
import { readClause } from "../src/geometry/reading";
import { picks, resample } from "../src/geometry/resample";
import { bands, extent, linear, padded, readable, readableDate } from "../src/geometry/scale";
import { binOf, previewSplit, splitCounts, splitMeans, thinSide } from "../src/geometry/subset";
import type { Condition, Curve, Ice, Selection } from "../src/model";

const curve = (over: Partial<Curve> = {}): Curve => ({
  feature: "a",
  output: "y",
  kind: "number",
  integer: false,
  x: [0, 1, 2],
  labels: ["0", "1", "2"],
  missing: -1,
  average: [1, 2, 3],
  stderr: null,
  rows: 4,
  total: 4,
  thin: null,
  hist: { edges: [0, 1, 2], counts: [3, 1] },
  deciles: null,
  missing_count: 0,
  infinite_count: 0,
  note: "",
  error: null,
  heterogeneity: null,
  importance: null,
  ...over,
});

const ice = (over: Partial<Ice> = {}): Ice => ({
  feature: "a",
  output: "y",
  offset: 0,
  m: 4,
  k: 3,
  values: [0, 1, 2, 1, 2, 3, 2, 3, 4, 1, 2, 3],
  own: [0, 0.5, 1.5, 0.25],
  fitted: [0, 1, 3, 1],
  ...over,
});

describe("crossing", () => {
  it("catches a segment that jumps over a small rectangle", () => {
    expect(segmentCrosses(0, 0, 10, 10, 4.9, 5.1, 4.9, 5.1)).toBe(true);
    expect(segmentCrosses(0, 0, 10, 10, 4.9, 5.1, 6, 7)).toBe(false);
  });
  it("counts touching edges and points inside", () => {
    expect(segmentCrosses(0, 1, 1, 1, 1, 2, 1, 2)).toBe(true);
    expect(segmentCrosses(1.5, 1.5, 1.5, 1.5, 1, 2, 1, 2)).toBe(true);
    expect(segmentCrosses(0, 0, 0, 5, 1, 2, 1, 2)).toBe(false);
  });
  it("agrees with dense sampling of random lines", () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    for (let i = 0; i < 2000; i++) {
      const [ax, ay, bx, by] = [random(), random(), random(), random()];
      const [x0, y0] = [random() * 0.8, random() * 0.8];
      const [x1, y1] = [x0 + random() * 0.2, y0 + random() * 0.2];
      let dense = false;
      for (let t = 0; t <= 2000 && !dense; t++) {
        const x = ax + ((bx - ax) * t) / 2000;
        const y = ay + ((by - ay) * t) / 2000;
        dense = x >= x0 && x <= x1 && y >= y0 && y <= y1;
      }
      if (dense) expect(segmentCrosses(ax, ay, bx, by, x0, x1, y0, y1)).toBe(true);
    }
  });
  it("is broken by NaN in x and in y, and takes rectangles drawn in any direction", () => {
    expect(lineCrosses([0, 1, 2], [0, Number.NaN, 2], 0, 3, 0, [0.4, 1.6], [0.4, 1.6])).toBe(false);
    expect(lineCrosses([0, Number.NaN, 2], [0, 1, 2], 0, 3, 0, [0.4, 1.6], [0.4, 1.6])).toBe(false);
    expect(lineCrosses([0, 2], [0, 2], 0, 2, 0, [1.1, 0.9], [1.1, 0.9])).toBe(true);
    expect(lineCrosses([1], [5], 0, 1, 0, [0, 2], [4, 6])).toBe(true);
  });
  it("shifts by an offset", () => {
    expect(lineCrosses([0, 1], [9, 9, 0, 0], 2, 2, 100, [0, 1], [99, 101])).toBe(true);
  });
});

describe("scales", () => {
  it("maps there and back", () => {
    const x = linear([-5, 15], [40, 640]);
    expect(x(5)).toBe(340);
    expect(x.invert(x(1.25))).toBeCloseTo(1.25, 12);
  });
  it("puts a domain without width in the middle", () => {
    expect(linear([3, 3], [0, 10])(3)).toBe(5);
  });
  it("finds extents without NaN", () => {
    expect(extent([Number.NaN, 2, 1], null, [5])).toEqual([1, 5]);
    expect(extent([Number.NaN])).toBeNull();
  });
  it("gives single values a width that float64 can tell apart", () => {
    for (const value of [0, 3, -2e9, 1e15, 1e-12]) {
      const [low, high] = padded([value, value]);
      expect(high).toBeGreaterThan(low);
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThanOrEqual(value);
    }
  });
  it("keeps a gap before the missing level and inverts it", () => {
    const plain = bands(4, [0, 400]);
    expect([0, 1, 2, 3].map(plain.center)).toEqual([50, 150, 250, 350]);
    const apart = bands(4, [0, 450], 3);
    expect(apart.center(3) - apart.center(2)).toBe(150);
    for (const level of [0, 1.5, 2, 2.5, 3]) {
      const low = Math.floor(level);
      const px = level === low ? apart.center(low) : (apart.center(low) + apart.center(low + 1)) / 2;
      expect(apart.invert(px)).toBeCloseTo(level, 10);
    }
    expect(apart.at(apart.center(3))).toBe(3);
    expect(apart.at((apart.center(2) + apart.center(3)) / 2)).toBe(-1);
  });
  it("rounds what was read off the screen", () => {
    expect(readable(14.8812, 0.05)).toBe(14.9);
    expect(readable(1234567, 1000)).toBe(1235000);
    expect(readable(1e9 + 0.0981, 0.002)).toBeCloseTo(1e9 + 0.098, 6);
    expect(readableDate(Date.UTC(2022, 4, 5, 13), 2 * 86400e3)).toBe(Date.UTC(2022, 4, 6));
  });
});

describe("hit tests", () => {
  it("finds the nearest position past NaN", () => {
    expect(nearest([0, Number.NaN, 10], 8)).toBe(2);
    expect(nearest([], 8)).toBe(-1);
  });
  it("finds the nearest line within reach", () => {
    const ys = [0, 0, 0, 50, 50, 50];
    const y = (row: number, k: number) => ys[row * 3 + k];
    expect(nearestLine([0, 1], [0, 10, 20], y, 12, 45, 12)).toBe(1);
    expect(nearestLine([0, 1], [0, 10, 20], y, 12, 25, 12)).toBe(-1);
    expect(nearestLine([0, 1], [5], y, 5, 3, 12)).toBe(0);
  });
  it("tells a brush's edges from its body", () => {
    expect(brushHandle(101, 100, 200)).toBe("low");
    expect(brushHandle(197, 100, 200)).toBe("high");
    expect(brushHandle(150, 100, 200)).toBe("body");
    expect(brushHandle(250, 100, 200)).toBe("none");
    expect(brushHandle(103, 100, 104)).toBe("high");
  });
  it("moves labels apart inside the plot, in order", () => {
    const placed = dodge([10, 12, 95], 20, 0, 90);
    expect(placed).toEqual([10, 30, 90]);
    expect(dodge([88, 89, 90], 20, 0, 90)).toEqual([50, 70, 90]);
  });
});

describe("means from the sample", () => {
  it("are weighted means on both sides", () => {
    const means = splitMeans(ice(), [1, 0, 1, 0], { rows: [], labels: [], weight: [1, 1, 3, 1] });
    expect(Array.from(means.selection)).toEqual([1.5, 2.5, 3.5]);
    expect(Array.from(means.rest)).toEqual([1, 2, 3]);
    expect(means.share).toBeCloseTo(4 / 6);
  });
  it("select everything and get exactly the curve of all rows", () => {
    const means = splitMeans(ice(), [1, 1, 1, 1], null, [7, 8, 9]);
    expect(Array.from(means.selection)).toEqual([7, 8, 9]);
    expect(Array.from(means.rest).every(Number.isNaN)).toBe(true);
  });
  it("leave out what is not computed yet", () => {
    const values = [0, 1, 2, Number.NaN, Number.NaN, Number.NaN, 2, 3, 4, 1, 2, 3];
    const means = splitMeans(ice({ values }), [1, 1, 0, 0], null);
    expect(Array.from(means.selection)).toEqual([0, 1, 2]);
  });
  it("count rows per bar", () => {
    const c = curve();
    expect([0, 0.99, 1, 2, 2.1].map((v) => binOf(c, v))).toEqual([0, 0, 1, 1, -1]);
    expect(Array.from(splitCounts(c, ice(), [1, 0, 0, 0], null))).toEqual([1, 0]);
    const preview = previewSplit(c, ice(), [1, 0, 1, 0], null, 4);
    expect(preview.selection.n).toBe(2);
    expect(preview.rest.n).toBe(2);
    expect(previewSplit(c, ice(), [1, 0, 0, 0], null, 400).selection.n).toBe(100);
  });
  it("tell where a side has no row near", () => {
    const c = curve({ x: [0, 1, 2, 10, 20, 30, Number.NaN], missing: 6 });
    const lines = ice({ k: 7, own: [0, 1, 28, Number.NaN] });
    expect(Array.from(thinSide(c, lines, [1, 1, 0, 0], 1))).toEqual([0, 0, 0, 0, 1, 1, 1]);
    expect(Array.from(thinSide(c, lines, [1, 1, 0, 0], 0))).toEqual([1, 1, 1, 0, 0, 0, 0]);
    const levels = curve({ kind: "category", missing: 2 });
    expect(Array.from(thinSide(levels, ice({ own: [0, 1, 2, 0] }), [1, 0, 1, 0], 1))).toEqual([0, 1, 0]);
  });
  it("put missing values into the last bar", () => {
    const c = curve({ missing: 3, x: [0, 1, 2, Number.NaN], hist: { edges: [0, 1, 2], counts: [1, 1, 2] } });
    expect(binOf(c, Number.NaN)).toBe(2);
  });
});

describe("selections on the page", () => {
  const known: Record<string, Known> = { a: { curve: curve(), ice: ice() } };
  known.c = {
    curve: curve({ feature: "c", kind: "category", labels: ["red", "blue", "missing"], missing: 2, x: [0, 1, 2] }),
    ice: ice({ feature: "c", own: [0, 1, 1, Number.NaN] }),
  };
  const lookup = (feature: string) => known[feature];
  const range: Condition = { type: "range", feature: "a", low: 0.2, high: 1 };
  const blue: Condition = { type: "levels", feature: "c", levels: [1] };

  it("evaluate each kind of condition", () => {
    expect(Array.from(evaluate(range, lookup)!)).toEqual([0, 1, 0, 1]);
    expect(Array.from(evaluate({ ...range, low: null } as Condition, lookup)!)).toEqual([1, 1, 0, 1]);
    expect(Array.from(evaluate({ type: "levels", feature: "c", levels: [2] }, lookup)!)).toEqual([0, 0, 0, 1]);
    const box: Condition = { type: "ice", feature: "a", output: "y", x: [0.9, 1.1], y: [2.9, 3.1], centered: false };
    expect(Array.from(evaluate(box, lookup)!)).toEqual([0, 0, 1, 0]);
    expect(Array.from(evaluate({ ...box, y: [0.9, 1.1], centered: true } as Condition, lookup)!)).toEqual([1, 1, 1, 1]);
    expect(evaluate({ type: "range", feature: "unknown", low: 0, high: 1 }, lookup)).toBeNull();
  });
  const names = { all: ["a", "c"], bool: () => false };
  const act = (state: State, op: "replace" | "add" | "remove", condition: Condition) =>
    apply(state, op, condition, lookup, names)!;
  const rows = (state: State) => Array.from(state.whole!);

  it("brushing a second feature means and; the same feature is replaced", () => {
    let state = act(EMPTY_STATE, "replace", range);
    state = act(state, "replace", blue);
    expect(rows(state)).toEqual([0, 1, 0, 0]);
    state = act(state, "replace", { ...range, low: 1, high: 2 } as Condition);
    expect(state.clauses).toHaveLength(2);
    expect(rows(state)).toEqual([0, 0, 1, 0]);
    expect(others([range, blue], range)).toEqual([blue]);
    expect(stateText(state)).toBe("c == 'blue' & 1 <= a <= 2");
  });
  it("add and remove rows", () => {
    let state = act(EMPTY_STATE, "add", range);
    state = act(state, "add", blue);
    expect(rows(state)).toEqual([0, 1, 1, 1]);
    expect(stateText(state)).toBe("0.2 <= a <= 1 | c == 'blue'");
    state = act(state, "remove", { type: "levels", feature: "c", levels: [2] });
    expect(rows(state)).toEqual([0, 1, 1, 0]);
    expect(stateText(state)).toBe("(0.2 <= a <= 1 | c == 'blue') & c.notna()");
    const none = act(EMPTY_STATE, "remove", blue);
    expect(rows(none)).toEqual([1, 0, 0, 1]);
    expect(stateText(none)).toBe("c != 'blue'");
  });
  it("adding and removing levels of one condition keeps one condition", () => {
    let state = act(act(EMPTY_STATE, "replace", blue), "add", { type: "levels", feature: "c", levels: [0] });
    expect(stateText(state)).toBe("c in ['red', 'blue']");
    state = act(act(state, "replace", range), "remove", blue);
    expect(state.clauses.map((c) => c.text).sort()).toEqual(["0.2 <= a <= 1", "c == 'red'"]);
    // Beside another condition "or" must not narrow: the other side keeps its own rows.
    expect(stateText(act(state, "add", blue))).toBe("0.2 <= a <= 1 & c == 'red' | c == 'blue'");
  });
  it("what was made by adding on one feature is replaced by a brush on it", () => {
    const state = act(act(EMPTY_STATE, "replace", range), "add", { ...range, low: 1.2, high: null } as Condition);
    expect(stateText(state)).toBe("0.2 <= a <= 1 | a >= 1.2");
    expect(stateText(act(state, "replace", blue))).toBe("(0.2 <= a <= 1 | a >= 1.2) & c == 'blue'");
    expect(stateText(act(state, "replace", range))).toBe("0.2 <= a <= 1");
  });
  it("invert twice is the same selection", () => {
    const state = act(act(EMPTY_STATE, "replace", range), "replace", blue);
    expect(stateText(invert(state))).toBe("~(0.2 <= a <= 1 & c == 'blue')");
    expect(rows(invert(state))).toEqual([1, 0, 1, 1]);
    expect(invert(invert(state))).toBe(state);
  });
  it("that came with the page are taken apart and replaced one by one", () => {
    const saved = (text: string, conditions: Condition[], sample: number[]): Selection => ({
      id: 3,
      text,
      n: 2,
      total: 4,
      conditions,
      sample,
      can_undo: true,
      can_redo: false,
    });
    const above: Condition = { type: "range", feature: "a", low: 0.25, high: null };
    // The wire says from 0.25; the text says that 0.25 itself is out.
    const one = restored(saved("a > 0.25", [above], [0, 1, 1, 0]), lookup, names);
    expect(rows(one)).toEqual([0, 1, 1, 0]);
    expect(stateText(act(one, "replace", range))).toBe("0.2 <= a <= 1");
    expect(rows(act(one, "replace", range))).toEqual([0, 1, 0, 1]);
    const two = restored(saved("a > 0.25 & c == 'blue'", [above, blue], [0, 1, 1, 0]), lookup, names);
    expect(rows(act(two, "replace", { type: "levels", feature: "c", levels: [0, 1, 2] }))).toEqual([0, 1, 1, 0]);
    expect(stateText(act(two, "replace", range))).toBe("c == 'blue' & 0.2 <= a <= 1");
    // Of a feature whose values are not here the other conditions cannot be told without it.
    const apart = restored(saved("a > 0.25 & z < 3", [above], [0, 1, 0, 0]), lookup, {
      ...names,
      all: ["a", "c", "z"],
    });
    expect(apply(apart, "replace", range, lookup, names)).toBeNull();
    expect(rows(act(apart, "replace", blue))).toEqual([0, 1, 0, 0]);
    // Rectangles go by their name.
    const box = { type: "ice", feature: "a", output: "y", x: [0, 1], y: [0, 1], centered: false } as const;
    const drawn = { ...box, name: "@curves1" } as unknown as Condition;
    const curves = restored(saved("@curves1 & c == 'blue'", [drawn, blue], [0, 1, 0, 0]), lookup, names);
    expect(stateText(act(curves, "replace", range))).toBe("@curves1 & c == 'blue' & 0.2 <= a <= 1");
    expect(stateText(act(curves, "replace", drawn))).toBe("c == 'blue' & curves of a crossing a rectangle");
    // Rows picked in Python stay under whatever is brushed.
    const mask = restored(saved("@`rows of a`", [], [0, 1, 0, 0]), lookup, names);
    expect(stateText(act(mask, "replace", range))).toBe("@`rows of a` & 0.2 <= a <= 1");
  });
});

describe("conditions read from text", () => {
  const known: Record<string, Known> = {
    a: { curve: curve(), ice: ice({ own: [0, 1, 2, Number.NaN] }) },
    "c d": {
      curve: curve({ feature: "c d", kind: "category", labels: ["red", "it's", "missing"], missing: 2, x: [0, 1, 2] }),
      ice: ice({ feature: "c d", own: [0, 1, 1, Number.NaN] }),
    },
    when: {
      curve: curve({ feature: "when", kind: "datetime" }),
      ice: ice({ feature: "when", own: ["01", "02", "03", "04"].map((day) => Date.UTC(2024, 0, Number(day), 12)) }),
    },
  };
  const names = { all: ["a", "c d", "when", "gone"], bool: () => false };
  const lookup = (feature: string) => known[feature];
  const rows = (text: string) => {
    const clause = readClause(text, lookup, names);
    return clause && Array.from(clause.mask!);
  };

  it.each([
    ["a > 1", [0, 0, 1, 0]],
    ["a <= 1", [1, 1, 0, 0]],
    ["0 < a <= 2", [0, 1, 1, 0]],
    ["-1e-05 <= a < 1.0", [1, 0, 0, 0]],
    ["a == 1", [0, 1, 0, 0]],
    ["a != 1", [1, 0, 1, 1]],
    ["a in [0, 2]", [1, 0, 1, 0]],
    ["a.isna()", [0, 0, 0, 1]],
    ["(a < 1 | a.isna())", [1, 0, 0, 1]],
    ["`c d` == 'red'", [1, 0, 0, 0]],
    ['`c d` in ["it\'s", None]', [0, 1, 1, 1]],
    ["`c d` not in ['red']", [0, 1, 1, 1]],
    ["`c d`.notna()", [1, 1, 1, 0]],
    ["~(a > 0 & `c d` == 'red') & a >= 1", [0, 1, 1, 0]],
    ["when >= '2024-01-02 12:00:00'", [0, 1, 1, 1]],
    ["when < '2024-01-03'", [1, 1, 0, 0]],
  ])("%s", (text, expected) => expect(rows(text)).toEqual(expected));

  it.each(["gone > 1", "nobody > 1", "`c d` == 'blue'", "a > 'x'", "@curves1", "a > 1 | gone > 2", "a >", "a + 1 > 2"])(
    "not here: %s",
    (text) => expect(rows(text)).toBeNull(),
  );

  it("tell what can be drawn, and what another condition replaces", () => {
    expect(readClause("0 < a <= 2", lookup, names)).toMatchObject({
      about: { features: ["a"], ice: false },
      condition: { type: "range", feature: "a", low: 0, high: 2 },
    });
    expect(readClause("(a < 1 | a.isna())", lookup, names)).toMatchObject({
      text: "a < 1 | a.isna()",
      either: true,
      condition: null,
    });
  });
  it("are added to a selection and taken from it", () => {
    const state = (text: string) => keep([readClause(text, lookup, names)!], lookup)!;
    const more = combine(state("a > 1"), "add", state("`c d` == 'red'"));
    expect([stateText(more), Array.from(more.whole!)]).toEqual(["a > 1 | `c d` == 'red'", [1, 0, 1, 0]]);
    const less = combine(more, "remove", state("a > 1"));
    expect([stateText(less), Array.from(less.whole!)]).toEqual(["(a > 1 | `c d` == 'red') & ~(a > 1)", [1, 0, 0, 0]]);
    expect(combine(EMPTY_STATE, "add", more)).toBe(more);
  });
});

describe("the query language", () => {
  const c = curve({ feature: "c", kind: "category", labels: ["it's", "blue", "missing"], missing: 2, x: [0, 1, 2] });
  const write = (condition: Condition, over: Partial<Curve> = {}) => textOf(condition, curve(over));

  it("quotes names that are no identifiers", () => {
    expect(["temp", "größe", "body mass", "a.b", "class", "a`b", "1st", "inf"].map(quote)).toEqual([
      "temp",
      "größe",
      "`body mass`",
      "`a.b`",
      "`class`",
      "`a``b`",
      "`1st`",
      "`inf`",
    ]);
  });
  it("writes ranges, dates and durations", () => {
    const range = { type: "range", feature: "bmi", low: 22.18, high: 24.38 } as const;
    expect(write(range)).toBe("22.18 <= bmi <= 24.38");
    expect(write({ ...range, high: null })).toBe("bmi >= 22.18");
    expect(write({ ...range, low: null, feature: "the bmi" })).toBe("`the bmi` <= 24.38");
    expect(write({ ...range, low: null, high: null })).toBe("bmi.notna()");
    expect(write({ ...range, low: 3, high: 3 })).toBe("bmi == 3");
    const day = Date.UTC(2024, 4, 31);
    expect(write({ ...range, low: day, high: day + 3600e3 * 10 }, { kind: "datetime" })).toBe(
      "'2024-05-31' <= bmi <= '2024-05-31 10:00:00'",
    );
    expect(write({ ...range, low: -3600e3, high: 90061e3 + 500 }, { kind: "timedelta" })).toBe(
      "'-1 days +23:00:00' <= bmi <= '1 days 01:01:01.5'",
    );
  });
  it("writes levels", () => {
    const levels = (...list: number[]): Condition => ({ type: "levels", feature: "c", levels: list });
    expect(textOf(levels(1), c)).toBe("c == 'blue'");
    expect(textOf(levels(0, 1), c)).toBe(`c in ["it's", 'blue']`);
    expect(textOf(levels(2), c)).toBe("c.isna()");
    expect(textOf(levels(1, 2), c, false, true)).toBe("c not in ['blue', None]");
    expect(textOf(levels(1), { ...c, labels: ["False", "True"] }, true)).toBe("c == True");
    // A label does not tell 1 from "1": numbers, unless the kernel says what the levels are.
    expect(textOf(levels(1), { ...c, labels: ["1", "2"] })).toBe("c == 2");
    expect(textOf(levels(1), { ...c, labels: ["1", "2"], literals: ["'1'", "'2'"] })).toBe("c == '2'");
  });
  it("is taken apart where all parts must hold", () => {
    expect(conjuncts("a > 1 & (b < 2 | c == ' & ') & `x & y` in [1, 2]")).toEqual([
      "a > 1",
      "(b < 2 | c == ' & ')",
      "`x & y` in [1, 2]",
    ]);
    expect(conjuncts("a > 1 & b < 2 | c == 1")).toHaveLength(1);
    expect(mentions("season == 'temp'", "temp")).toBe(false);
    expect(mentions("@`body mass` & temperature > 1", "body mass")).toBe(false);
    expect(mentions("1 <= `body mass` < 2", "body mass")).toBe(true);
    expect(withoutFeature("temp > 2 & season == 'A'", "season")).toBe("temp > 2");
    expect(withoutFeature("season == 'A'", "season")).toBe("");
    expect(withoutFeature("temp > 2 | season == 'A'", "season")).toBeNull();
    expect(withoutFeature("temp > 2 & ~(season == 'A')", "season")).toBeNull();
  });
});

describe("resampling", () => {
  it("interpolates at equally spaced places and skips the missing level", () => {
    const out = resample([0, 1, 3, Number.NaN], [0, 10, 30, 99], 4);
    expect(Array.from(out)).toEqual([0, 10, 20, 30]);
    expect(Array.from(resample([2], [5], 3))).toEqual([5, 5, 5]);
    expect(Array.from(resample([], [], 2)).every(Number.isNaN)).toBe(true);
  });
  it("picks evenly", () => {
    expect(Array.from(picks(5, 10))).toEqual([0, 1, 2, 3, 4]);
    expect(picks(500, 200)).toHaveLength(200);
    expect(new Set(picks(500, 200)).size).toBe(200);
  });
});
