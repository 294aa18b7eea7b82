import { describe, expect, it } from "vitest";
import { decode, encode, readCurve, readIce, readOverview, readProgress, readSelection, readSplit } from "../src/wire";

describe("arrays", () => {
  it("honour byteOffset and byteLength of a view", () => {
    const buffer = new ArrayBuffer(64);
    new Float32Array(buffer, 16, 3).set([1, 2, 3]);
    const raw = { view: new DataView(buffer, 16, 12), dtype: "float32", shape: [3] };
    expect(Array.from(decode(raw)!)).toEqual([1, 2, 3]);
  });
  it("copy where the offset is not aligned", () => {
    const buffer = new ArrayBuffer(32);
    const values = new Uint8Array(new Float64Array([1.5, -2]).buffer);
    new Uint8Array(buffer, 3, 16).set(values);
    const raw = { view: new DataView(buffer, 3, 16), dtype: "float64", shape: [2] };
    expect(Array.from(decode(raw)!)).toEqual([1.5, -2]);
  });
  it("read ArrayBuffers, typed arrays and base64", () => {
    const array = new Int32Array([7, -8]);
    expect(Array.from(decode({ view: array.buffer, dtype: "int32", shape: [2] })!)).toEqual([7, -8]);
    expect(Array.from(decode({ view: new Uint8Array(array.buffer), dtype: "int32", shape: [2] })!)).toEqual([7, -8]);
    const b64 = Buffer.from(array.buffer).toString("base64");
    expect(Array.from(decode({ b64, dtype: "int32", shape: [2] })!)).toEqual([7, -8]);
  });
  it("come back from encode with NaN", () => {
    expect(Array.from(decode(encode([1, Number.NaN], "float32"))!)).toEqual([1, Number.NaN]);
    expect(decode(encode([], "float64"))).toHaveLength(0);
  });
  it("say what is wrong", () => {
    expect(() => decode({ view: new ArrayBuffer(4), dtype: "float64", shape: [1] })).toThrow("needs 8 bytes, got 4");
    expect(() => decode({ view: new ArrayBuffer(4), dtype: "complex64", shape: [1] })).toThrow("unknown dtype");
    expect(decode(null)).toBeNull();
    expect(decode({})).toBeNull();
  });
});

describe("traits", () => {
  it("give null while empty", () => {
    for (const raw of [null, undefined, {}]) {
      expect(readCurve(raw)).toBeNull();
      expect(readIce(raw)).toBeNull();
      expect(readSplit(raw)).toBeNull();
      expect(readOverview(raw)).toBeNull();
    }
    expect(readSelection({}).text).toBe("");
    expect(readProgress(null).state).toBe("idle");
  });
  it("read a curve", () => {
    const curve = readCurve({
      feature: "temp",
      output: "y",
      kind: "number",
      x: encode([1, 2], "float64"),
      average: encode([3, 4], "float64"),
      stderr: null,
      hist: { edges: encode([0, 1], "float64"), counts: encode([5], "int32") },
      thin: null,
      deciles: null,
    })!;
    expect(curve.average[1]).toBe(4);
    expect(curve.hist!.counts[0]).toBe(5);
    expect(curve.missing).toBe(-1);
  });
  it("read lines with their shape", () => {
    const ice = readIce({
      feature: "a",
      output: "y",
      offset: 10,
      values: encode([1, 2, 3, 4, 5, 6], "float32", [2, 3]),
      own: encode([1, 2], "float64"),
      fitted: encode([0, 0], "float32"),
    })!;
    expect([ice.m, ice.k, ice.offset]).toEqual([2, 3, 10]);
  });
});
