import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { chipsOf, inWords } from "../src/geometry/words";

const file = fileURLToPath(new URL("../../tests/chips.json", import.meta.url));
const cases: { text: string; words: string }[] = JSON.parse(readFileSync(file, "utf8"));

describe("the words of chips", () => {
  // tests/test_subgroup.py reads these words back.
  it.each(cases)("$words", ({ text, words }) => {
    expect(inWords(text)).toBe(words);
  });
  it("keep names apart that are written from right to left", () => {
    expect(inWords("\u05d2\u05d9\u05dc > 30")).toBe("\u2068\u05d2\u05d9\u05dc\u2069 > 30");
    expect(inWords("`\u0646\u0648\u0639 \u0627` in ['\u0623', 'b']")).toBe(
      "\u2068\u0646\u0648\u0639 \u0627\u2069 = \u2068\u0623\u2069, b",
    );
    expect(chipsOf("age > 3 & \u05d2\u05d9\u05dc <= 4").map((chip) => chip.words)).toEqual([
      "age > 3",
      "\u2068\u05d2\u05d9\u05dc\u2069 ≤ 4",
    ]);
  });
});
