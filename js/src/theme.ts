// Light or dark, decided once per host and watched: VS Code > JupyterLab > marimo > the page's own mark > the system.
// The colours themselves are custom properties in styles.css; canvas code reads them through `palette`.

export type Scheme = "light" | "dark";

/** What the host says, most specific first. */
export function hostScheme(doc: Document, prefersDark: boolean): Scheme {
  const { body, documentElement: html } = doc;
  const kind =
    body?.dataset.vscodeThemeKind ?? html.dataset.vscodeThemeKind ?? body?.className.match(/\bvscode-[\w-]+/)?.[0];
  if (kind) return /dark/.test(kind) || (/high-contrast/.test(kind) && !/light/.test(kind)) ? "dark" : "light";
  const jupyter = body?.dataset.jpThemeLight ?? html.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "false" ? "dark" : "light";
  for (const node of [body, html]) {
    if (!node) continue;
    const named = node.dataset.theme ?? node.dataset.colorMode ?? node.dataset.bsTheme;
    if (named && /dark|light/.test(named)) return /dark/.test(named) ? "dark" : "light";
    if (node.classList.contains("dark") || node.classList.contains("dark-theme")) return "dark";
    if (node.classList.contains("light") || node.classList.contains("light-theme")) return "light";
  }
  return prefersDark ? "dark" : "light";
}

/** Calls back with the host's scheme now and at every change, until the signal aborts. */
export function watchScheme(doc: Document, signal: AbortSignal, changed: (scheme: Scheme) => void): void {
  const media = doc.defaultView?.matchMedia("(prefers-color-scheme: dark)");
  const tell = () => changed(hostScheme(doc, media?.matches ?? false));
  const observer = new MutationObserver(tell);
  for (const node of [doc.documentElement, doc.body]) {
    if (!node) continue;
    observer.observe(node, {
      attributes: true,
      attributeFilter: [
        "class",
        "data-theme",
        "data-jp-theme-light",
        "data-vscode-theme-kind",
        "data-color-mode",
        "data-bs-theme",
      ],
    });
  }
  media?.addEventListener("change", tell, { signal });
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  tell();
}

export interface Palette {
  bg: string;
  ink: string;
  muted: string;
  faint: string;
  hair: string;
  bar: string;
  selection: string;
  selectionSoft: string;
  rest: string;
  font: string;
  /** Text size in px, and how much wider than normal lines are drawn. */
  text: number;
  unit: number;
  dark: boolean;
}

/** The tokens of styles.css as canvas needs them. */
export function palette(root: HTMLElement): Palette {
  const style = getComputedStyle(root);
  const read = (name: string) => style.getPropertyValue(`--pdpw-${name}`).trim();
  const large = root.dataset.size === "large";
  return {
    bg: read("bg"),
    ink: read("ink"),
    muted: read("muted"),
    faint: read("faint"),
    hair: read("hair"),
    bar: read("bar"),
    selection: read("selection"),
    selectionSoft: read("selection-soft"),
    rest: read("rest"),
    font: style.fontFamily || "sans-serif",
    text: Number.parseFloat(style.fontSize) || 12,
    unit: large ? 1.4 : 1,
    dark: root.dataset.theme === "dark",
  };
}
