// Bundles src/index.ts into one ES module, ../pdp_widgets/static/widget.js, with the style sheet inside as text.
// `--watch` rebuilds on every change; with ANYWIDGET_HMR=1 in the kernel's environment open notebooks follow.
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const outfile = resolve(here, "../pdp_widgets/static/widget.js");
const watch = process.argv.includes("--watch");
mkdirSync(dirname(outfile), { recursive: true });

/** Style sheets arrive minified, as a string: the widget puts them into its own root element. */
const cssText = {
  name: "css-text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async (args) => {
      const result = await esbuild.build({ entryPoints: [args.path], minify: true, write: false, bundle: true });
      return { contents: result.outputFiles[0].text, loader: "text", watchFiles: [args.path] };
    });
  },
};

/** @type {import("esbuild").BuildOptions} */
const options = {
  entryPoints: [resolve(here, "src/index.ts")],
  outfile,
  bundle: true,
  format: "esm",
  // Browsers of 2021: old enough for every host, new enough that private fields need no helpers.
  target: ["chrome90", "firefox90", "safari15"],
  minify: true,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  // VS Code's requirejs would otherwise capture UMD code.
  define: { "define.amd": "false", "process.env.NODE_ENV": '"production"' },
  plugins: [cssText],
  logLevel: "info",
};

if (watch) {
  const context = await esbuild.context(options);
  await context.watch();
} else {
  await esbuild.build(options);
  console.log(`widget.js: ${(statSync(outfile).size / 1024).toFixed(1)} KB`);
}
