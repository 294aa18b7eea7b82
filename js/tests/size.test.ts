import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const bundle = fileURLToPath(new URL("../../pdp_widgets/static/widget.js", import.meta.url));
// A saved notebook is to stay below 400 KB per widget; the pictures of all panels take up to 200 of them.
const MOST = 165 * 1024;

describe.runIf(existsSync(bundle))("the bundle", () => {
  it(`is at most ${MOST / 1024} KB, as every instance carries it in the saved notebook`, () => {
    expect(readFileSync(bundle).length).toBeLessThanOrEqual(MOST);
  });
  it("defines no AMD module, loads nothing, and writes no HTML from data", () => {
    const text = readFileSync(bundle, "utf8");
    expect(text).not.toMatch(/define\.amd/);
    expect(text).not.toMatch(/\bimport\s*[("']/);
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  });
});
