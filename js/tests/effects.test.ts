import { describe, expect, it } from "vitest";
import { cividis, cividisOn, HUES, hueOf } from "../src/draw/hues";
import { makeScene, yExtent } from "../src/draw/scene";
import { nameOf, overlaysOf, valuesAt, type Wanted } from "../src/geometry/overlays";
import { slopeCurve, slopeLines, slopePart, slopes, stepsOf } from "../src/geometry/slope";
import { groupTints, tintsOf } from "../src/geometry/tints";
import type { Curve, EffectsPicture, Ice } from "../src/model";

const curveOf = (over: Partial<Curve> = {}): Curve => ({
  feature: "x",
  output: "y",
  kind: "number",
  integer: false,
  x: [0, 1, 3, 6],
  labels: ["0", "1", "3", "6"],
  missing: -1,
  average: [0, 1, 9, 36], // the square of x
  stderr: [1, 1, 1, 1],
  rows: 10,
  total: 10,
  thin: [0, 0, 0, 1],
  hist: null,
  deciles: null,
  missing_count: 0,
  infinite_count: 0,
  note: "",
  error: null,
  heterogeneity: null,
  importance: null,
  ...over,
});

const WANTED: Wanted = {
  effect: "pd",
  by: "",
  classes: false,
  models: false,
  centered: false,
  steps: null,
  selection: 0,
};

describe("slopes", () => {
  it("of a parabola are those of its chords, at the midpoints", () => {
    const curve = curveOf();
    const steps = stepsOf(curve)!;
    const drawn = slopeCurve(curve, steps);
    expect(Array.from(drawn.x)).toEqual([0.5, 2, 4.5]);
    expect(Array.from(drawn.average)).toEqual([1, 4, 9]); // 2 x at the midpoint
    expect(Array.from(drawn.thin!)).toEqual([0, 0, 1]);
    expect(drawn.stderr).toBeNull();
    expect(steps.per).toBe("unit of x");
  });
  it("leave the missing level in its lane, without a slope", () => {
    const curve = curveOf({ x: [0, 2, Number.NaN], average: [1, 5, 7], missing: 2, thin: [0, 0, 1] });
    const drawn = slopeCurve(curve, stepsOf(curve)!);
    expect(Array.from(drawn.average)).toEqual([2, Number.NaN]);
    expect(drawn.missing).toBe(1);
    expect(Array.from(drawn.thin!)).toEqual([0, 1]);
  });
  it("of dates are per day", () => {
    const day = 86400e3;
    const curve = curveOf({ kind: "datetime", x: [0, 2 * day, 4 * day], average: [0, 4, 2], thin: null });
    const steps = stepsOf(curve)!;
    expect(steps.per).toBe("day");
    expect(Array.from(slopes(curve.average, steps))).toEqual([2, -1]);
  });
  it("of lines and of sides are the same differences; predictions stay readable", () => {
    const curve = curveOf({ x: [0, 1, 3], average: [0, 0, 0], thin: null });
    const steps = stepsOf(curve)!;
    const ice: Ice = {
      feature: "x",
      output: "y",
      offset: 100,
      m: 2,
      k: 3,
      values: [0, 1, 5, 2, 2, 0],
      own: [0, 3],
      fitted: [0, 0.5],
    };
    const lines = slopeLines(ice, steps);
    expect([lines.m, lines.k, lines.offset]).toEqual([2, 2, 0]);
    expect(Array.from(lines.values)).toEqual([1, 2, 0, -1]);
    expect(Array.from(lines.fitted)).toEqual([100, 100.5]);
    const part = slopePart({ average: [3, 5, 5], n: 4, counts: [], thin: [1, 0, 0] }, steps);
    expect(Array.from(part.average)).toEqual([2, 0]);
    expect(Array.from(part.thin!)).toEqual([1, 0]);
  });
  it("do not exist on levels or on one point", () => {
    expect(stepsOf(curveOf({ kind: "category" }))).toBeNull();
    expect(stepsOf(curveOf({ x: [1], average: [1] }))).toBeNull();
    expect(stepsOf(curveOf({ x: [1, Number.NaN], average: [1, 2], missing: 1 }))).toBeNull();
  });
});

describe("curves beside the partial dependence", () => {
  const ale = {
    all: { x: [0, 2, 6], values: [10, 14, 18], n: 10 },
    selection: { x: [0, 6], values: [0, 6], n: 4 },
    rest: { x: [1, 6], values: [1, 1], n: 6 },
  };
  const picture: Partial<EffectsPicture> = { ale, selection_id: 3 };

  it("are read between their own points, and not beyond them", () => {
    expect(Array.from(valuesAt([-1, 0, 1, 6, 7, Number.NaN], [0, 2, 6], [10, 14, 18], false))).toEqual([
      Number.NaN,
      10,
      12,
      18,
      Number.NaN,
      Number.NaN,
    ]);
    expect(Array.from(valuesAt([0, 1, 2], [0, 2], [5, 6], true))).toEqual([5, Number.NaN, 6]);
  });
  it("are those of other models where they are wanted, and nothing else has the hues", () => {
    const line = { name: "linear", hue: 1, n: 10, total: 10, x: null, values: [5, 6, 7, 8], thin: null };
    const own = { ...line, name: "boosted", hue: 2, n: 4, x: [0, 2, 6], values: [1, 3, 5] };
    const shown = { models: { selected: false, lines: [line, { ...line, values: null }, own] } };
    expect(overlaysOf(curveOf(), shown, WANTED)).toEqual([]);
    const wanted = { ...WANTED, models: true, centered: true };
    const [linear, boosted] = overlaysOf(curveOf(), shown, wanted);
    expect([linear.key, linear.hue, linear.note, linear.n]).toEqual(["model-1", 1, "", null]); // of all rows, as the curve
    expect(Array.from(linear.values)).toEqual([0, 1, 2, 3]);
    expect([boosted.name, boosted.n, Array.from(boosted.onGrid)]).toEqual(["boosted", 4, [0, 1, 2.5, 4]]);
    const groups = { by: "g", codes: [], selected: false, levels: [{ ...line, label: "a", condition: "" }] };
    expect(overlaysOf(curveOf(), { ...shown, groups }, { ...wanted, by: "g" }).map(({ kind }) => kind)).toEqual([
      "group",
    ]);
  });
  it("ALE comes with both sides only while they are those of the selection", () => {
    const wanted = { ...WANTED, effect: "ale" as const };
    expect(overlaysOf(curveOf(), picture, wanted).map(({ key }) => key)).toEqual(["ale"]);
    expect(overlaysOf(curveOf(), picture, { ...wanted, selection: 2 }).length).toBe(1);
    const all = overlaysOf(curveOf(), picture, { ...wanted, selection: 3 });
    expect(all.map(({ key, hue, n }) => [key, hue, n])).toEqual([
      ["ale-rest", "rest", 6],
      ["ale", "ink", 10],
      ["ale-selection", "selection", 4],
    ]);
    expect(Array.from(all[1].onGrid)).toEqual([10, 12, 15, 18]);
    expect(overlaysOf(curveOf(), picture, WANTED)).toEqual([]);
  });
  it("ALE starts at 0 where the curve does when centred, and has the slopes of its steps", () => {
    const curve = curveOf({ x: [1, 3, 6], average: [0, 0, 0], thin: null });
    const [centred] = overlaysOf(curve, picture, { ...WANTED, effect: "ale", centered: true });
    expect(Array.from(centred.values)).toEqual([-2, 2, 6]);
    expect(centred.onGrid[0]).toBe(0);
    const [slope] = overlaysOf(curve, picture, { ...WANTED, effect: "ale", steps: stepsOf(curve) });
    expect(Array.from(slope.x)).toEqual([1, 4]);
    expect(Array.from(slope.values)).toEqual([2, 1]);
    expect(Array.from(slope.onGrid)).toEqual([2, 1]); // at 2, the end of the first step, and at 4.5
  });
  it("groups have their own hues; those without rows or numbers are left out", () => {
    const thin = [1, 0, 0, 0];
    const level = (label: string, n: number, values: number[] | null) => ({
      label,
      condition: "",
      n,
      x: null,
      values,
      thin,
    });
    const groups = {
      by: "g",
      codes: [],
      selected: false,
      levels: [
        level("a", 3, [1, 2, 3, 4]),
        level("b", 0, [0, 0, 0, 0]),
        level("c", 5, null),
        level("d", 2, [2, 2, 2, 2]),
      ],
    };
    const drawn = overlaysOf(curveOf(), { groups }, { ...WANTED, by: "g", centered: true });
    expect(drawn.map(({ key, name, hue }) => [key, name, hue])).toEqual([
      ["group-0", "a", 0],
      ["group-3", "d", 3],
    ]);
    expect(Array.from(drawn[0].values)).toEqual([0, 1, 2, 3]);
    expect(overlaysOf(curveOf(), { groups }, { ...WANTED, by: "h" })).toEqual([]);
    expect(drawn.map(nameOf)).toEqual(["a", "d"]);
    const chosen = overlaysOf(curveOf(), { groups: { ...groups, selected: true } }, { ...WANTED, by: "g" });
    expect(chosen.map(nameOf)).toEqual(["a, selected", "d, selected"]);
  });
  it("groups are thin where few of their own rows are, whatever all rows do; slopes where either end is", () => {
    const level = { label: "a", condition: "", n: 3, x: null, values: [1, 2, 3, 4], thin: [0, 0, 0, 1] };
    const own = { ...level, x: [0, 6], values: [1, 2], thin: null };
    const groups = { by: "g", codes: [], selected: false, levels: [level, own] };
    const curve = curveOf({ thin: [1, 1, 1, 0] });
    const thins = (steps: Wanted["steps"]) =>
      overlaysOf(curve, { groups }, { ...WANTED, by: "g", steps }).map(({ thin }) => thin && Array.from(thin));
    expect(thins(null)).toEqual([[0, 0, 0, 1], null]);
    expect(thins(stepsOf(curve))).toEqual([[0, 0, 1], null]);
  });
  it("other classes go before groups, and the one in focus is the curve itself", () => {
    const outputs = { names: ["a", "y", "c"], averages: [1, 1, 1, 1, 9, 9, 9, 9, 2, 3, 4, 5] };
    const drawn = overlaysOf(curveOf(), { outputs }, { ...WANTED, by: "g", classes: true });
    expect(drawn.map(({ name, hue }) => [name, hue])).toEqual([
      ["a", 0],
      ["c", 1],
    ]);
    expect(Array.from(drawn[1].values)).toEqual([2, 3, 4, 5]);
  });
  it("widen the axis and the margin for their names", () => {
    const curve = curveOf();
    const overlays = overlaysOf(curve, picture, { ...WANTED, effect: "ale", selection: 3 });
    const beside = { overlays, observed: null, tints: null, steps: null, title: "PD" };
    expect(yExtent(curve, null, new Int32Array(0), null, false, beside)).toEqual([0, 36]);
    const far = { ...beside, overlays: [{ ...overlays[0], values: Float64Array.of(-5, 50) }] };
    expect(yExtent(curve, null, new Int32Array(0), null, false, far)).toEqual([-5, 50]);
    const input = {
      curve,
      lines: null,
      centered: false,
      width: 600,
      height: 300,
      range: [0, 40] as [number, number],
      rows: new Int32Array(0),
      text: 12,
      measure: (text: string) => 7 * text.length,
    };
    const plain = makeScene(input);
    const scene = makeScene({ ...input, beside: { ...beside, overlays: [{ ...overlays[1], name: "a long group" }] } });
    expect(scene.right).toBeLessThan(plain.right);
    expect(scene.faint).toBe(true);
    expect(scene.overlays[0].px[0]).toBeCloseTo(scene.px[0]);
  });
});

describe("colours of lines", () => {
  it("of levels follow their order; what is rare or missing is grey", () => {
    const labels = ["a", "b", "c", "d", "e", "f", "g"];
    const values = [...labels.flatMap((_, k) => (k === 2 ? [k] : [k, k])), Number.NaN];
    const { rows, legend } = tintsOf({ feature: "l", kind: "category", labels, values }, false, "grey");
    expect(legend!.levels!.map(({ name }) => name)).toEqual(["a", "b", "d", "e", "f", "g", "other"]);
    expect(rows[0]).toBe(hueOf(0, false));
    expect(rows[values.indexOf(2)]).toBe("grey");
    expect(rows[rows.length - 1]).toBe("grey");
  });
  it("of numbers run from end to end of the middle 96 %", () => {
    const values = Float64Array.from({ length: 101 }, (_, i) => (i === 100 ? 1e6 : i));
    const { rows, legend } = tintsOf({ feature: "n", kind: "number", labels: null, values }, true, "grey");
    expect([legend!.low, legend!.high]).toEqual([2, 98]);
    expect(rows[0]).toBe(cividisOn(0, true));
    expect(rows[50]).toBe(cividisOn(0.5, true));
    expect(rows[100]).toBe(cividisOn(1, true));
    const same = tintsOf({ feature: "n", kind: "number", labels: null, values: [3, 3, Number.NaN] }, true, "grey");
    expect(same.rows).toEqual([cividisOn(0.5, true), cividisOn(0.5, true), "grey"]);
  });
  it("of groups are those of their curves", () => {
    expect(groupTints([1, 255, 0], false, "grey").rows).toEqual([hueOf(1, false), "grey", hueOf(0, false)]);
  });
  it("never are black or the selection's blue, and come again after the last", () => {
    for (let k = 0; k < HUES; k++) expect(["#000000", "#0072b2"]).not.toContain(hueOf(k, true));
    expect(new Set(Array.from({ length: HUES }, (_, k) => hueOf(k, false))).size).toBe(HUES);
    expect(hueOf(HUES, true)).toBe(hueOf(0, true));
    // Vermilion, orange and yellow look alike to some: of a few groups, only one has one of them.
    const warm = ["#d55e00", "#e69f00", "#a89500"];
    expect([0, 1, 2, 3].filter((k) => warm.includes(hueOf(k, false))).length).toBe(1);
    expect([cividis(0), cividis(1), cividis(7)]).toEqual(["rgb(0,34,78)", "rgb(254,232,56)", "rgb(254,232,56)"]);
  });
});
