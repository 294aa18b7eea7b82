import { describe, expect, it } from "vitest";
import { hostScheme } from "../src/theme";

function page(body: Record<string, string> = {}, html: Record<string, string> = {}, classes = ""): Document {
  const node = (dataset: Record<string, string>, names: string) => ({
    dataset,
    className: names,
    classList: { contains: (name: string) => names.split(" ").includes(name) },
  });
  return { body: node(body, classes), documentElement: node(html, "") } as unknown as Document;
}

describe("the host's scheme", () => {
  it("follows the most specific word", () => {
    expect(hostScheme(page({ vscodeThemeKind: "vscode-dark", jpThemeLight: "true" }), false)).toBe("dark");
    expect(hostScheme(page({ vscodeThemeKind: "vscode-high-contrast-light" }), true)).toBe("light");
    expect(hostScheme(page({ vscodeThemeKind: "vscode-high-contrast" }), false)).toBe("dark");
    expect(hostScheme(page({ jpThemeLight: "false" }, { theme: "light" }), false)).toBe("dark");
    expect(hostScheme(page({ jpThemeLight: "true" }), true)).toBe("light");
    expect(hostScheme(page({}, { theme: "dark" }), false)).toBe("dark");
    expect(hostScheme(page({}, {}, "dark"), false)).toBe("dark");
    expect(hostScheme(page(), true)).toBe("dark");
    expect(hostScheme(page(), false)).toBe("light");
  });
});
