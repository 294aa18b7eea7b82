import { describe, expect, it } from "vitest";
import {
  asCsv,
  asMarkdown,
  clicked,
  type Filters,
  groups,
  itemsOf,
  keep,
  NO_FILTERS,
  type Picture,
  rowTerms,
  sorted,
  termsOf,
} from "../src/geometry/rules";

const picture = {
  id: 1,
  features: ["temp", "sky|x", "wind"],
  conditions: {
    feature: [0, 1, 2, 2, 1],
    words: ["12 < temp ≤ 30", "sky|x in {sun, rain}", "wind > 3", "wind", "sky|x = sun"],
    texts: ["12 < temp <= 30", "`sky|x` in ['sun', 'rain']", "wind > 3", "wind", "`sky|x` == 'sun'"],
  },
  // temp & sky; wind (a number); wind > 3; sky = sun (a level); temp & wind
  parts: [0, 1, 3, 2, 4, 0, 2],
  ends: [2, 3, 4, 5, 7],
  type: [0, 1, 0, 2, 0],
  main: [0, 2, 2, 1, 0],
  coefficient: [5, -0.5, -2, 1, 2],
  support: [0.25, Number.NaN, 0.5, 0.1, 0.2],
  n: [25, -1, 50, -1, 20],
  importance: [100, 60, 50, 20, 20],
  inside: [9, Number.NaN, 1, 2, 3],
  outside: [1, Number.NaN, 2, 1, 1],
  limits: ["1 to 9", ""],
  intercept: -1.5,
  cluster: [0, -1, 1, 2, 0],
  selection: { importance: [10, 100, 0, 5, 1], support: [0.5, Number.NaN, 0, 0, 1], n: 10 },
} as unknown as Picture;
const terms = termsOf(picture);
const kept = (filters: Partial<Filters>, row = null) => keep(picture, terms, { ...NO_FILTERS, ...filters }, row);

describe("terms", () => {
  it("are put together from the conditions they share", () => {
    expect(terms.labels[0]).toBe("12 < temp ≤ 30 & sky|x in {sun, rain}");
    expect(terms.texts[4]).toBe("12 < temp <= 30 & wind > 3");
    expect(terms.size).toEqual([2, 0, 1, 0, 2]);
    expect(terms.limits).toEqual(["", "1 to 9", "", "", ""]);
    expect(terms.features[4]).toEqual([0, 2]);
  });
});

describe("filters", () => {
  it("keep what has every word and every wanted feature, and no unwanted one", () => {
    expect(kept({ text: "TEMP wind" })).toEqual([4]);
    expect(kept({ include: ["temp"] })).toEqual([0, 4]);
    expect(kept({ include: ["temp"], exclude: ["wind"] })).toEqual([0]);
    expect(kept({ include: ["gone"] })).toEqual([]);
  });
  it("keep by kind, sign, support, importance and length", () => {
    expect(kept({ kind: "linear" })).toEqual([1, 3]);
    expect(kept({ kind: "rule", sign: "down" })).toEqual([2]);
    expect(kept({ support: 0.2 })).toEqual([0, 1, 2, 4]); // a number holds for every row
    expect(kept({ importance: 50 })).toEqual([0, 1, 2]);
    expect(kept({ length: 1 })).toEqual([1, 2, 3]);
  });
  it("keep what holds in the selection or for a row", () => {
    expect(kept({ fires: "selection" })).toEqual([0, 1, 4]);
    const row = rowTerms(picture, { holds: [3], contributions: [[3, 1]], misses: [[0, "almost", 0.1]] } as never);
    expect(keep(picture, terms, { ...NO_FILTERS, fires: "row" }, row)).toEqual([1, 3]);
    expect(Array.from(row.state)).toEqual([1, 2, 0, 2, 0]);
  });
});

describe("sorting", () => {
  const all = [0, 1, 2, 3, 4];
  const by = (...keys: Parameters<typeof sorted>[1]) => sorted(all, keys, picture, terms, null);
  it("is stable, one key after another, with what is not known at the end", () => {
    expect(by({ by: "importance", down: false })).toEqual([3, 4, 2, 1, 0]);
    expect(by({ by: "importance", down: true })).toEqual([0, 1, 2, 3, 4]);
    expect(by({ by: "importance", down: false }, { by: "coefficient", down: true })).toEqual([4, 3, 2, 1, 0]);
    expect(by({ by: "support", down: true })).toEqual([2, 0, 4, 3, 1]);
    expect(by({ by: "support", down: false })).toEqual([3, 4, 0, 2, 1]);
    expect(by({ by: "selection", down: true })).toEqual([1, 0, 3, 4, 2]);
    expect(by({ by: "term", down: false })[0]).toBe(0);
  });
  it("puts what holds for a row before what just misses", () => {
    const reply = {
      holds: [3],
      misses: [
        [2, "", null],
        [0, "", null],
      ],
      contributions: [
        [1, -4],
        [3, 1],
      ],
    };
    const row = rowTerms(picture, reply as never);
    expect(sorted(all, [{ by: "row", down: true }], picture, terms, row)).toEqual([1, 3, 0, 2, 4]);
  });
  it("turns round at the second click; with Shift a key comes after the others", () => {
    const first = clicked([{ by: "rank", down: false }], "support", false);
    expect(first).toEqual([{ by: "support", down: true }]);
    expect(clicked(first, "support", false)).toEqual([{ by: "support", down: false }]);
    const both = clicked(first, "term", true);
    expect(both).toEqual([first[0], { by: "term", down: false }]);
    expect(clicked(both, "term", true)[1].down).toBe(true);
    expect(clicked(both, "term", false)).toEqual([{ by: "term", down: false }]);
  });
});

describe("groups", () => {
  it("stand in the order of their first terms", () => {
    const found = groups([2, 0, 1, 4, 3], "feature", picture, terms);
    expect(found.map((g) => [g.label, g.terms])).toEqual([
      ["wind", [2, 1]],
      ["temp", [0, 4]],
      ["sky|x", [3]],
    ]);
    const clusters = groups([2, 0, 1, 4, 3], "cluster", picture, terms);
    expect(clusters.map((g) => g.terms)).toEqual([
      [0, 4],
      [2, 1, 3],
    ]);
    expect(clusters[1].label).toBe("on their own");
  });
  it("can be closed, and related rules stand below theirs", () => {
    const list = groups([0, 1, 2, 3, 4], "feature", picture, terms);
    const related = { term: 4, relation: "contains" } as never;
    const items = itemsOf(list, new Set([list[1].key]), { term: 0, about: ["a"], related: [related], more: 2 });
    expect(items.map((item) => item.kind)).toEqual([
      "head",
      "term",
      "note",
      "related",
      "note",
      "term",
      "head",
      "head",
      "term",
    ]);
  });
});

describe("text to take away", () => {
  it("is a table that a spreadsheet reads", () => {
    const lines = asCsv(picture, terms, [0, 1]).split("\n");
    expect(lines[0]).toBe("rank,term,coefficient,support,n,importance,mean_inside,mean_outside");
    expect(lines[1]).toBe(",intercept,-1.5,,,,,");
    expect(lines[2]).toBe('1,"12 < temp ≤ 30 & sky|x in {sun, rain}",5,0.25,25,100,9,1');
    expect(lines[3]).toBe("2,wind [1 to 9],-0.5,,,60,,");
  });
  it("or one that Markdown shows as it is", () => {
    const lines = asMarkdown(picture, terms, [0]).split("\n");
    expect(lines[3]).toBe(
      "| 1 | 12 \\< temp ≤ 30 & sky\\|x in \\{sun, rain\\} | 5.00 | 0.250 | 25.0 | 100 | 9.00 | 1.00 |",
    );
  });
});
