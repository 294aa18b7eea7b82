import { signal } from "@preact/signals-core";
import { describe, expect, it } from "vitest";
import { csv, fileName, tableOf } from "../src/geometry/tables";
import type { Store } from "../src/store";

const store = (parts: object) =>
  ({
    curve: signal(null),
    shown: signal(null),
    ...parts,
    pictures: {
      importance: signal(null),
      interactions: signal(null),
      heatmap: signal(null),
      ...(parts as { pictures?: object }).pictures,
    },
  }) as unknown as Store;

describe("CSV", () => {
  it("quotes what needs quotes, leaves out what is not known, and makes no formulas", () => {
    const text = csv([
      ['a "b"', ["x,y", "=1+1", "-", "two\nlines", null]],
      ["n", Float64Array.of(0.1, Number.NaN, -2, 1e-9, 3)],
    ]);
    expect(text).toBe('"a ""b""",n\n"x,y",0.1\n\'=1+1,\n\'-,-2\n"two\nlines",1e-9\n,3\n');
  });
  it("writes as many digits as single precision has", () => {
    expect(csv([["v", Float32Array.of(0.1, 1 / 3, 2)]])).toBe("v\n0.1\n0.3333333\n2\n");
  });
});

describe("file names", () => {
  it.each([
    [["bmi", "partial-dependence"], "bmi-partial-dependence"],
    [["../../etc/passwd", "x"], "etc-passwd-x"],
    [['a b/c\\d:e*?"<>|\n', "x"], "a-b-c-d-e-x"],
    [["größe 体重", undefined, "x"], "größe-体重-x"],
    [["x".repeat(300), "y"], `${"x".repeat(40)}-y`],
    [["?", "y"], "y"],
  ])("%j is called %s", (parts, name) => {
    expect(fileName(...(parts as string[]))).toBe(name);
  });
});

describe("tables of the page", () => {
  it("has the curve with both sides, levels by their names", () => {
    const curve = { feature: "c", kind: "category", x: [0, 1], labels: ["lo", "hi"], average: [1, 2] };
    const side = (average: number[]) => ({ average });
    expect(tableOf(store({ curve: signal(curve) }), "curves")).toEqual([
      ["c", ["lo", "hi"]],
      ["average", [1, 2]],
    ]);
    const shown = signal({ selection: side([3, 4]), rest: side([5, 6]) });
    expect(tableOf(store({ curve: signal({ ...curve, kind: "number" }), shown }), "curves")).toEqual([
      ["c", [0, 1]],
      ["average", [1, 2]],
      ["selection", [3, 4]],
      ["rest", [5, 6]],
    ]);
  });
  it("writes a surface cell by cell, the first feature's first", () => {
    const axis = (feature: string, x: number[]) => ({ feature, kind: "number", x, labels: [] });
    const heatmap = signal({ average: [1, 2, 3, 4, 5, 6], a: axis("u", [10, 20]), b: axis("v", [1, 2, 3]) });
    expect(csv(tableOf(store({ pictures: { heatmap } }), "heatmap")!)).toBe(
      "u,v,average\n10,1,1\n10,2,2\n10,3,3\n20,1,4\n20,2,5\n20,3,6\n",
    );
  });
  it("names both features of a pair", () => {
    const numbers = { strength: [2, 1], strength_stderr: [0, 0], h2: [0.5, 0.1], h2_stderr: [0, 0] };
    const interactions = signal({ features: ["a", "b", "c"], pairs: [0, 1, 2, 0], ...numbers });
    expect(csv(tableOf(store({ pictures: { interactions } }), "interactions")!)).toBe(
      "feature_1,feature_2,strength,strength_stderr,h2,h2_stderr\na,b,2,0,0.5,0\nc,a,1,0,0.1,0\n",
    );
  });
  it("has none of what the page does not hold", () => {
    for (const what of ["curves", "importance", "interactions", "heatmap", "rules"])
      expect(tableOf(store({}), what)).toBeNull();
  });
});
