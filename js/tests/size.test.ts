import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const bundle = fileURLToPath(new URL("../../pdp_widgets/static/widget.js", import.meta.url));
// What travels is packed (widget/carry.py) and then letters: that is what every instance carries in the saved notebook.
const MOST = 130 * 1024;
const carried = (code: Uint8Array) => Math.ceil(gzipSync(code, { level: 9 }).length / 3) * 4;

describe.runIf(existsSync(bundle))("the bundle", () => {
  it(`is at most ${MOST / 1024} KB as every instance carries it`, () => {
    expect(carried(readFileSync(bundle))).toBeLessThanOrEqual(MOST);
  });
  it("defines no AMD module, loads nothing, and writes no HTML from data", () => {
    const text = readFileSync(bundle, "utf8");
    expect(text).not.toMatch(/define\.amd/);
    expect(text).not.toMatch(/\bimport\s*[("']/);
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  });
});
