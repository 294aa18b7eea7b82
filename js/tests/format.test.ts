import { describe, expect, it } from "vitest";
import {
  compact,
  dateTicks,
  durationTicks,
  fmt,
  fmtDate,
  fmtDuration,
  fmtOn,
  fmtX,
  numberTicks,
  parseX,
  percent,
  wholeOf,
} from "../src/geometry/format";
import { moments, ticks } from "../src/geometry/ticks";
import type { Curve } from "../src/model";

const M = "\u2212";

describe("numbers", () => {
  it("are short in lists, whatever their size", () => {
    expect([2278123, 69264, 999_950, 4577, 0.123, -1.8e9, 1e17].map((v) => compact(v))).toEqual([
      "2.28M",
      "69.3k",
      "1.00M",
      "4,577",
      "0.123",
      `${M}1.80B`,
      "1e17",
    ]);
    expect([compact(870.4, 2), compact(0, 2), compact(Number.NaN)]).toEqual(["870", "0", "–"]);
  });
  it("have three significant digits", () => {
    expect([0.41234, 12.345, 1234.5, 0, -Math.PI, 999.9].map((v) => fmt(v))).toEqual([
      "0.412",
      "12.3",
      "1,235",
      "0",
      `${M}3.14`,
      "1,000",
    ]);
    expect([fmt(0.00054, 2), fmt(0.0054, 2), fmt(0.00054)]).toEqual([`5.4e${M}4`, "0.0054", "0.000540"]);
    expect([1.234e-12, 5e9, 1.5e300].map((v) => fmt(v))).toEqual([`1.23e${M}12`, "5e9", "1.5e300"]);
    expect([Number.NaN, null, undefined, Number.POSITIVE_INFINITY].map((v) => fmt(v))).toEqual(["–", "–", "–", "∞"]);
  });
  it("are years without commas, and other whole numbers with them", () => {
    const curve = (x: number[], edges: number[], integer = true) =>
      ({ x, integer, missing: -1, kind: "number", hist: { edges, counts: [] } }) as unknown as Curve;
    const years = curve([2011, 2012], [2010.5, 2011.5, 2012.5]);
    expect(wholeOf(years)).toBe("plain");
    expect(fmtOn(years, 2011, 2)).toBe("2011");
    expect(numberTicks([2010.5, 2012.5], 5, wholeOf(years)).labels).toEqual(["2011", "2012"]);
    const grams = curve([2700, 6300], [2699.5, 6300.5]);
    expect(wholeOf(grams)).toBe(true);
    expect(fmtOn(grams, 4890, 3600)).toBe("4,890");
    expect(wholeOf(curve([2011, 2012], [2011, 2012], false))).toBe(false);
  });
  it("make shares", () => {
    expect([percent(1, 4), percent(1, 1000), percent(999, 1000), percent(0, 5), percent(0, 0)]).toEqual([
      "25 %",
      "<1 %",
      ">99 %",
      "0 %",
      "–",
    ]);
  });
});

describe("ticks", () => {
  const domains: [number, number][] = [
    [0, 1],
    [-200, 350],
    [1e9 - 1, 1e9 + 1],
    [0, 1e-12],
    [1e-12, 1.0001e-12],
    [123456.78, 123456.79],
    [-1e15, 1e15],
    [5e-324, 1e-300],
    [1e12, 1e12 + 0.01],
    [0.1, 0.1000001],
  ];
  it.each(domains)("are distinct from %d to %d", (low, high) => {
    const { labels, values } = numberTicks([low, high], 6);
    expect(values.length).toBeGreaterThan(0);
    expect(new Set(labels).size).toBe(labels.length);
  });
  it("take a round base far from zero", () => {
    const { labels, offset } = numberTicks([1e9 - 1, 1e9 + 1], 5);
    expect(offset).toBe("1,000,000,000");
    expect(labels).toEqual([`${M}1.0`, `${M}0.5`, "+0.0", "+0.5", "+1.0"]);
  });
  it("are whole for whole numbers", () => {
    expect(numberTicks([0, 2], 8, true).labels).toEqual(["0", "1", "2"]);
  });
  it("name dates by what changes", () => {
    expect(dateTicks([Date.UTC(2020, 0, 1), Date.UTC(2024, 0, 1)], 5).labels).toContain("2022");
    expect(dateTicks([Date.UTC(2021, 0, 1), Date.UTC(2022, 0, 1)], 5).labels).toContain("Apr 2021");
    const day = dateTicks([Date.UTC(2021, 5, 1), Date.UTC(2021, 5, 1, 12)], 4);
    expect(day.labels).toContain("06:00");
    expect(day.offset).toBe("2021-06-01");
    const seconds = dateTicks([Date.UTC(2021, 5, 1), Date.UTC(2021, 5, 1, 0, 0, 4)], 4);
    expect(seconds.labels).toContain("00:00:02");
  });
  it("name durations", () => {
    expect(durationTicks([0, 4 * 86400e3], 4).labels).toContain("2.00 d");
  });
});

describe("round numbers", () => {
  it("are exact decimals", () => {
    expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks(-0.3, 0.3, 6)).toEqual([-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]);
    expect(ticks(0, 350, 6)).toEqual([0, 50, 100, 150, 200, 250, 300, 350]);
    expect(ticks(3, 3, 5)).toEqual([3]);
    expect(ticks(Number.NaN, 1, 5)).toEqual([]);
  });
  it("are about as many as wanted, at any size", () => {
    for (const size of [1e-290, 1e-12, 0.3, 7, 1e9, 1e290])
      for (const wanted of [2, 5, 10]) {
        const n = ticks(0.1 * size, 1.3 * size, wanted).length;
        expect(n).toBeGreaterThanOrEqual(wanted / 2);
        expect(n).toBeLessThanOrEqual(wanted * 2);
      }
  });
  it("are round moments from milliseconds to centuries", () => {
    const start = Date.UTC(2021, 2, 5, 3, 4, 5, 600);
    for (const span of [5, 300, 4e3, 90e3, 5e6, 1e8, 2e9, 4e10, 3e11, 4e12]) {
      const found = moments(start, start + span, 5);
      expect(found.length).toBeGreaterThanOrEqual(2);
      expect(found.length).toBeLessThanOrEqual(12);
      expect(found.every((t) => t >= start && t <= start + span)).toBe(true);
    }
    const months = moments(Date.UTC(2021, 10, 20), Date.UTC(2022, 6, 1), 8).map((t) =>
      new Date(t).toISOString().slice(0, 10),
    );
    expect(months).toContain("2022-01-01");
    expect(months).toContain("2022-05-01");
    const weeks = moments(Date.UTC(2021, 0, 1), Date.UTC(2021, 1, 1), 5);
    expect(weeks.every((t) => new Date(t).getUTCDay() === 1)).toBe(true);
  });
});

describe("values on an axis", () => {
  it("are as fine as the axis", () => {
    expect(fmtX(14.9, "number", 38)).toBe("14.9");
    expect(fmtX(1e9 + 0.5, "number", 2)).toBe("1,000,000,000.5");
    expect(fmtX(7, "number", 24, true)).toBe("7");
    expect(fmtDate(Date.UTC(2022, 1, 6), 700 * 86400e3)).toBe("2022-02-06");
    expect(fmtDate(Date.UTC(2022, 1, 6, 7, 8), 86400e3)).toBe("2022-02-06 07:08");
    expect(fmtDate(Date.UTC(2022, 1, 6, 7, 8, 9, 10), 500)).toBe("2022-02-06 07:08:09.010");
    expect(fmtDuration(90061e3)).toBe("1 d 1 h");
    expect(fmtDuration(-1500)).toBe(`${M}1 s`);
  });
  it("come back from text", () => {
    expect(parseX("1,234.5", "number")).toBe(1234.5);
    expect(parseX(`${M}3`, "number")).toBe(-3);
    expect(parseX("", "number")).toBeNull();
    expect(parseX("abc", "number")).toBeNaN();
    expect(parseX("2022-02-06", "datetime")).toBe(Date.UTC(2022, 1, 6));
    expect(parseX("2022-02-06 07:08", "datetime")).toBe(Date.UTC(2022, 1, 6, 7, 8));
    expect(parseX("2 h", "timedelta")).toBe(7200e3);
  });
  it("round-trip through their own text", () => {
    for (const [value, span] of [
      [14.9, 38],
      [-0.25, 1],
      [1234567, 2e6],
      [1e9 + 0.25, 2],
      [3.2e-13, 1e-12],
    ] as const)
      expect(parseX(fmtX(value, "number", span), "number")).toBeCloseTo(value, 6);
  });
});
