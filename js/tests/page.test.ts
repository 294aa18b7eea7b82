import { describe, expect, it } from "vitest";
import { whatInteracts, whatMatters, whichRules, whoDisagrees } from "../src/geometry/answers";
import { aboutOf, amounts, longest, whyNot } from "../src/geometry/measures";
import { conjuncts } from "../src/geometry/query";
import { chipsOf, inWords } from "../src/geometry/words";
import type { ImportancePicture, Overview, OverviewFeature, Pictures, RulesPicture, Status } from "../src/model";

const done: Status = { state: "done", message: null, cost: 0, stale: false };
const feature = (name: string, importance: number | null, heterogeneity: number | null = null): OverviewFeature => ({
  name,
  rows: 10,
  total: 10,
  importance,
  importance_selected: importance === null ? null : importance * 2,
  heterogeneity,
  error: null,
});
const overview = (features: OverviewFeature[]): Overview => ({
  output: "y",
  features,
  points: [],
  all: null,
  selection: null,
  rest: null,
  n_selection: 3,
  n_rest: 7,
});
const columns = (base: number) => ({
  computed: [1, 1],
  pd_importance: [base, base + 1],
  pd_importance_weighted: [base + 2, base + 3],
  pdi: [base + 4, base + 5],
  pdi_stderr: [0.5, 0.25],
  heterogeneity: [base + 6, base + 7],
  permutation: [Number.NaN, Number.NaN],
  permutation_stderr: [Number.NaN, Number.NaN],
});
const picture = (given: Partial<ImportancePicture> = {}): Pictures["importance"] => ({
  status: done,
  output: "y",
  features: ["a", "b"],
  score: null,
  note: "no outcome was given",
  all: columns(10),
  selection: columns(100),
  n: 10,
  n_selection: 3,
  ...given,
});

describe("measures", () => {
  const known = { overview: overview([feature("a", 1, 2), feature("b", 3, null)]), picture: picture(), rules: null };
  it("takes the curves' own numbers from the curves, the others from the importance panel", () => {
    expect(amounts("importance", { ...known, selected: true }).get("a")).toMatchObject({ value: 1, selected: 2 });
    expect(amounts("heterogeneity", { ...known, selected: true }).get("a")).toMatchObject({ value: 2, selected: 106 });
    expect(amounts("weighted", { ...known, selected: true }).get("b")).toMatchObject({ value: 13, selected: 103 });
    expect(amounts("total", { ...known, selected: true }).get("a")).toEqual({
      value: 14,
      stderr: 0.5,
      selected: 104,
      selectedStderr: 0.5,
    });
    expect(amounts("permutation", { ...known, selected: true }).get("a")!.value).toBeNaN();
  });
  it("knows nothing of the selection when there is none, or when the numbers are of an earlier one", () => {
    expect(amounts("importance", { ...known, selected: false }).get("a")!.selected).toBeNaN();
    const stale = picture({ status: { ...done, stale: true } });
    const found = amounts("total", { ...known, picture: stale, selected: true }).get("a")!;
    expect(found.value).toBe(14);
    expect(found.selected).toBeNaN();
  });
  it("has no numbers of another output", () => {
    expect(amounts("total", { ...known, picture: picture({ output: "z" }), selected: false }).size).toBe(0);
  });
  it("adds up what the rules say of the columns of one feature; a feature in no rule has 0", () => {
    const rules = {
      status: done,
      output: "y",
      features: ["a_1", "a_2", "?"],
      focus: ["a", "a", ""],
      weight: [2, 3, 9],
    };
    const found = amounts("rulefit", { ...known, rules, selected: false });
    expect([found.get("a")!.value, found.get("b")!.value]).toEqual([5, 0]);
  });
  it("ends the bars' axis at the longest bar or whisker", () => {
    const values = [
      { value: 4, stderr: 0.5, selected: Number.NaN, selectedStderr: Number.NaN },
      { value: 1, stderr: Number.NaN, selected: 4.25, selectedStderr: 0.5 },
    ];
    expect(longest(values)).toBe(4.75);
    expect(longest([{ value: -1, stderr: 0.5, selected: Number.NaN, selectedStderr: 0 }])).toBe(0);
  });
  it("says by which loss a shuffled feature is measured, where that is known", () => {
    expect(aboutOf("permutation", "mean squared error")).toMatch(/standard error\. The loss is mean squared error$/);
    expect(aboutOf("permutation", null)).not.toMatch(/loss is/);
    expect(aboutOf("total", "mean squared error")).not.toMatch(/loss is/);
  });
  it("says why a measure cannot be had", () => {
    expect(whyNot("permutation", picture(), null, ["importance"], true)).toBe("no outcome was given");
    expect(whyNot("permutation", null, null, ["importance"], true)).toBe("");
    expect(whyNot("total", picture(), null, ["importance"], true)).toBe("");
    expect(whyNot("total", null, null, [], true)).toMatch(/panel of importance/);
    expect(whyNot("total", null, null, ["importance"], false)).toMatch(/run the cell/);
    expect(whyNot("rulefit", null, null, [], true)).toMatch(/panel of rules/);
    expect(whyNot("name", null, null, [], false)).toBe("");
  });
});

describe("answers", () => {
  it("says what matters", () => {
    const some = overview([feature("a", 1), feature("b", 3), feature("c", null), feature("d", 2), feature("e", 0.5)]);
    expect(whatMatters(some, "y", true)).toBe(
      "b moves the average y most, by 3.0 (standard deviation along its curve); then d (2.0) and a (1.0).",
    );
    expect(whatMatters(some, "y", false)).toMatch(/^So far: b /);
    expect(whatMatters(overview([feature("a", 0)]), "y", true)).toBe("No feature moves the average y.");
    expect(whatMatters(null, "y", true)).toMatch(/not known|No curve/);
  });
  it("says what interacts, how much, and when it is hardly anything", () => {
    const p = {
      output: "y",
      features: ["a", "b", "c"],
      pairs: [0, 1, 2, 0, 1, 2],
      strength: [1, 4, 9],
      h2: [0.1, 0.25, 0.5],
    };
    expect(whatInteracts("a", p, "y")).toBe(
      "a interacts most with c: 25 % of their joint effect is neither one’s alone.",
    );
    expect(whatInteracts("b", p, "y")).toMatch(/^b interacts most with c/);
    expect(whatInteracts("a", { ...p, strength: [1, Number.NaN, 9] }, "y")).toMatch(/^So far: a interacts most with b/);
    expect(whatInteracts("a", { ...p, h2: [0.001, 0.002, 0.5] }, "y")).toBe(
      "a hardly interacts: at most with c, <1 % of their joint effect.",
    );
    expect(whatInteracts("z", p, "y")).toMatch(/not among the 3/);
    expect(whatInteracts("a", p, "other")).toMatch(/not known/);
  });
  it("says where rows disagree and what accounts for it", () => {
    const some = overview([feature("a", 1, 1), feature("b", 3, 5)]);
    const split = { within: "", by: "s", condition: "s <= 3", gain: 0.614, gain_check: null, sides: [] };
    const here = { splits: [split], reason: "", heterogeneity: 5, rows: 9, rows_total: 9 };
    const regions = { feature: "b", output: "y", here };
    expect(whoDisagrees("b", some, regions, true)).toBe(
      // 25 of 25 + 9: heterogeneity and importance, both squared
      "Rows disagree most on b: their curves differ by 5.0 (standard deviation; 74 % of the curves’ variance); s ≤ 3 accounts for 61 % of it.",
    );
    expect(whoDisagrees("a", some, { ...regions, feature: "a" }, true)).not.toMatch(/accounts/);
    expect(whoDisagrees("a", overview([feature("a", 1, 0)]), null, true)).toMatch(/agree on every feature/);
  });
  it("says that rows mostly agree even there, as the hints do", () => {
    const some = overview([feature("a", 1, 1), feature("b", 3, 5)]);
    const few = overview([feature("a", 30, 1), feature("b", 40, 5)]);
    const even =
      "Rows disagree most on b, but even there they mostly agree: their curves differ by 5.0 (standard deviation; 2 % of the curves’ variance).";
    expect(whoDisagrees("a", few, null, true)).toBe(even);
    const moves = (value: number) =>
      new Map([["b", { value, stderr: Number.NaN, selected: Number.NaN, selectedStderr: Number.NaN }]]);
    expect(whoDisagrees("a", few, null, true, moves(1))).not.toMatch(/agree:/); // over the rows it is 25 of 26
    expect(whoDisagrees("a", few, null, true, moves(Number.NaN))).toBe(even);
    // The hint of the feature in focus has the last word; that of another one has none.
    expect(whoDisagrees("b", some, null, true, null, false)).toMatch(/mostly agree/);
    expect(whoDisagrees("a", some, null, true, null, false)).not.toMatch(/mostly agree/);
    expect(whoDisagrees("b", few, null, true, null, true)).not.toMatch(/mostly agree/);
  });
  it("says how well rules describe the model, and the first one", () => {
    const rules: Partial<RulesPicture> = {
      output: "y",
      kind: "surrogate",
      fidelity: 0.933,
      ends: [2, 3],
      parts: [0, 1, 2],
      conditions: { feature: [0, 1, 2], words: ["a > 1", "b ≤ 2", "c"], texts: [] },
      coefficient: [-2, 1],
      type: [0, 1],
    };
    expect(whichRules(rules, "y")).toBe(
      "2 terms describe the model (R² 0.93); the strongest single rule: lower where a > 1 and b ≤ 2.",
    );
    const weights = {
      features: ["a", "c_1", "c_2", "b", "d"],
      focus: ["a", "c", "c", "b", "d"],
      weight: [4, 3, 2, 1, 0],
    };
    expect(whichRules({ ...rules, ...weights }, "y")).toMatch(/; by feature: c, a and b carry most weight\.$/);
    expect(whichRules({ ...rules, ends: [1], parts: [2], coefficient: [1], type: [1] }, "y")).toMatch(
      /One term describes .*; the strongest single term: rises with c\.$/,
    );
    expect(whichRules({ ...rules, ends: [], parts: [] }, "y")).toMatch(/No rule/);
    expect(whichRules(rules, "z")).toMatch(/not known/);
  });
});

describe("conditions in words", () => {
  it.each([
    ["bmi > 30", "bmi > 30"],
    ["20 <= temp <= 30", "20 ≤ temp ≤ 30"],
    ["season == 'SUMMER'", "season = SUMMER"],
    ["season != 'it\\'s'", "season ≠ it's"],
    ["season in ['A & B', \"c\", None]", "season = A & B, c, missing"],
    ["season not in [1, 2]", "season ≠ 1, 2"],
    ["`my col` >= 2", "my col ≥ 2"],
    ["temp.isna()", "temp is missing"],
    ["`a.b`.notna()", "a.b is known"],
    ["a > 1 | b < 2", "a > 1 or b < 2"],
    ["~(a > 1 & b < 2)", "not (a > 1 and b < 2)"],
    ["@curves1", "curves through temp 3 to 5"],
    ["flag == True", "flag = True"],
  ])("%s", (text, words) => {
    expect(inWords(text, { "@curves1": "curves through temp 3 to 5" })).toBe(words);
  });
  it("makes a chip of each part; without it the others stay", () => {
    const text = "a > 1 & (b < 2 | c == 'x & y') & ~(d == 3)";
    const chips = chipsOf(text);
    expect(chips.map(({ words }) => words)).toEqual(["a > 1", "b < 2 or c = x & y", "not (d = 3)"]);
    expect(chips[1].rest).toBe("a > 1 & ~(d == 3)");
    expect(chips.map(({ text: part }) => part)).toEqual(conjuncts(text));
    expect(chipsOf("a > 1 | b > 2")).toEqual([{ text: "a > 1 | b > 2", words: "a > 1 or b > 2", rest: "" }]);
    expect(chipsOf("(a > 1) & (b > 2)").map(({ words }) => words)).toEqual(["a > 1", "b > 2"]);
    expect(chipsOf("(a > 1 | a.isna()) | (b > 2 | b.isna())")[0].words).toMatch(/^\(a > 1 .*missing\)$/);
    expect(chipsOf("")).toEqual([]);
  });
});
