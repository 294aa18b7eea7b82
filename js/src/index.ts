// The anywidget entry. `initialize` is transport only (no DOM); `render` makes one view; `mount` runs a recorded
// page without a kernel. Every listener, observer and timer ends with the AbortSignal of its view or model.
//
// Hooks for browser tests (stable; all inside the root `.pdpw`):
//   root            .pdpw[data-theme=light|dark][data-size][data-layout=wide|medium|narrow][data-host=kernel|saved|recorded]
//   features        [data-testid=features] (list box), [data-testid=feature][data-name=NAME][aria-selected],
//                   [data-testid=search], [data-testid=sort]
//   curves          [data-testid=curves], histogram [data-testid=histogram]; both carry, in px of their own box,
//                   data-x0/-x1/-y0/-y1 (plot area) with data-domain-x0/-x1 (axis units; dates in ms), data-centers
//                   (px of every level of a category axis, comma separated), data-missing-at (px of the missing lane)
//                   and data-drawn="FEATURE|OUTPUT"; curves also data-domain-y0/-y1, data-rows and
//                   data-shown=""|draft|sample|exact (what the selection's curve stands on)
//   selection       [data-testid=selection-text] (an input: read .value), selection-n (data-n), clear, invert, undo,
//                   redo, apply, mode-replace|add|remove, from, to (ends of the range)
//   panels          [data-testid=panel-NAME][data-state][data-stale], compute-NAME
//   interactions    additive, view-matrix|network, measure-strength|h2, seriate, more, pair-rows; partners (a list) with
//                   partner (data-name, data-strength), partners-all; matrix with data-size (px of a cell), data-features (JSON, in the
//                   order drawn), data-at="ROW,COLUMN"; network with data-nodes (JSON: {name, x, y, r, label} in px of its own box),
//                   data-edges (number drawn), data-at; edges-least (slider), edges-text, pair-read (the read-out)
//   head            effect-pd, effect-ale, ice, centered, slope, models, classes, observed (buttons with aria-pressed), by, color-by
//                   (selects), lines-legend; curves carry data-overlays="KEY,..." (ale, ale-selection, ale-rest, group-N, class-N, model-N)
//   hints           hints (list; li[data-kind][data-severity]), effects-note, regions, region[data-condition] with region-select and
//                   region-split, regions-curves, regions-legend, regions-more, rows-agree, elsewhere, elsewhere-feature
//   heatmap         heatmap with, in px of its own box, data-area (left, top, right, bottom), data-x-cells and data-y-cells
//                   ("LOW:HIGH,..."), data-drawn="X|Y|OUTPUT|MODE"; heatmap-pd|selection|difference|interaction, heatmap-swap,
//                   heatmap-partner (a select), heatmap-share, heatmap-notes, heatmap-more, heatmap-readout
//   spans           .pdpw-span[data-of=selection|look] in curves, histogram and beside the heatmap's canvas, .pdpw-s-mark[data-of] in
//                   sparklines: where the selection holds, and the rule that is looked at
//   rules           rules-table (a grid; data-lines, data-narrow) with rule (data-term, data-text, data-linear, data-state of a row; cells
//                   [data-by=COLUMN]), related (data-relation, data-text), rules-note, rules-group (data-label); rules-sort-COLUMN,
//                   rules-says, rules-model|outcome, rules-more, rules-terms, rules-step (slider), rules-markdown, rules-csv,
//                   rules-text, rules-feature, rules-chip (data-name, data-how), rules-name, rules-kind|sign|support|importance|
//                   length|stability|fires|grouping (selects), rules-stable, rules-count (data-n), rules-clear, rules-row, rules-row-ask|seen|leave,
//                   rules-sum, rules-error
//   importance      in each feature .pdpw-imp (title: the numbers), .pdpw-amount-all and -sel (bars, whiskers); sort-reason
//   questions       ask-matters|interacts|disagree|rules, answer (data-question), answer-show, answer-dismiss
//   chips           chips (a list; not there while the text is edited) with chip (data-text) and chip-remove; bookmarks-open,
//                   bookmark-name, bookmark-keep, bookmark (data-name) with bookmark-note, bookmark-select|and|or|not|rename|rename-to|delete
//   layout          divider-features|side|height (separators), fold-PANEL, full-PANEL|curves, screen (full screen)
//   toolbar         model (a select, where there are several), output (select, or combobox above 10 outputs; data-value on the latter), rows, stop, resume,
//                   cancel, status (busy, stopped), nokernel, failed
//   files           download-curves|importance|interactions|heatmap|rules (buttons) with download-X-png|svg|csv and -says; share (a button)
//                   with share-python, share-page, share-says and share-text (a text to copy by hand)
//   messages        toolbar-error, selection-error, ends-error, curve-error, curve-message (a note), page-error, wait,
//                   spoken, readout, hint; measure (the header's importance or disagreement)

import { render as draw, h } from "preact";
import type { HostModel } from "./model";
import { StaticModel } from "./record";
import type { PageRecord } from "./seen";
import { messageOf, Store } from "./store";
import effects from "./styles/effects.css";
import heatmap from "./styles/heatmap.css";
import interactions from "./styles/interactions.css";
import menu from "./styles/menu.css";
import page from "./styles/page.css";
import panels from "./styles/panels.css";
import rules from "./styles/rules.css";
import css from "./styles.css";
import { watchScheme } from "./theme";
import { App } from "./views/app";
import { Ui } from "./views/ui";

const FOLD = 760;
const WIDE = 1180; // room for a third column
const DEAD = "jupyter-widgets-disconnected"; // what ipywidgets puts on a view whose comm is gone or never was

interface InitializeProps {
  model: HostModel;
  signal?: AbortSignal;
}

interface RenderProps extends InitializeProps {
  el: HTMLElement;
}

const SUPPRESS = "data-lm-suppress-shortcuts";

/** Draws a store into `el`: the whole page, or some `parts` of it. Returns the teardown. */
function show(store: Store, el: HTMLElement, outer?: AbortSignal, parts: string[] | null = null): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const doc = el.ownerDocument;
  const root = doc.createElement("div");
  root.className = "pdpw";
  // Lab must not take arrows, Escape and letters as notebook commands while the focus is in here.
  root.toggleAttribute(SUPPRESS, true);
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Partial dependence");
  const style = doc.createElement("style");
  style.textContent = css + effects + panels + interactions + heatmap + rules + page + menu;
  const body = doc.createElement("div");
  body.className = "pdpw-body";
  root.append(style, body);
  el.append(root);

  const end = () => {
    if (signal.aborted) return;
    draw(null, body);
    controller.abort();
    root.remove();
  };
  outer?.addEventListener("abort", end, { once: true, signal });

  try {
    let dead = el.classList.contains(DEAD);
    if (dead) store.setLive(false);
    const life = new MutationObserver(() => {
      if (el.classList.contains(DEAD) === dead) return;
      dead = !dead;
      store.setLive(!dead);
    });
    life.observe(el, { attributes: true, attributeFilter: ["class"] });
    const fold = () => {
      const width = root.clientWidth;
      root.dataset.layout = width === 0 || width >= WIDE ? "wide" : width < FOLD ? "narrow" : "medium";
    };
    const layout = new ResizeObserver(fold);
    layout.observe(root);
    signal.addEventListener("abort", () => {
      life.disconnect();
      layout.disconnect();
    });
    fold();
    const ui = new Ui(store, root, signal, parts);
    let host: "light" | "dark" = "light";
    const theme = () => {
      const wanted = store.public.theme.value;
      ui.scheme.value = wanted === "auto" ? host : wanted;
    };
    watchScheme(doc, signal, (scheme) => {
      host = scheme;
      theme();
    });
    ui.watch(theme);
    ui.watch(() => {
      root.dataset.host = store.host.value;
    });
    keys(ui, signal);
    draw(h(App, { ui }), body);
    if (store.host.peek() === "kernel") void store.ask("hello", {});
    ui.watch(() => {
      const panels = store.public.panels.value;
      if (store.host.value === "kernel") void store.ask("open", { panels });
    });
  } catch (error) {
    const note = doc.createElement("p");
    note.className = "pdpw-strip pdpw-error";
    note.textContent = `The picture could not be drawn: ${messageOf(error)}`;
    root.append(note);
  }
  return end;
}

const inText = (node: EventTarget | null) =>
  node instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName);

/** Keys that work wherever the focus is in the widget. */
function keys(ui: Ui, signal: AbortSignal): void {
  const { store, root } = ui;
  // Saving is the notebook's business: heard before the host hears it, the mark that keeps it off is taken away.
  root.ownerDocument.defaultView?.addEventListener(
    "keydown",
    (event) => {
      const save = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
      root.toggleAttribute(SUPPRESS, !save);
    },
    { signal, capture: true },
  );
  root.addEventListener(
    "keydown",
    (event) => {
      const control = event.ctrlKey || event.metaKey;
      if (inText(event.target)) {
        // JupyterLab takes a slider for no field, and its arrows for those of the notebook.
        if (!control) event.stopPropagation();
        return;
      }
      const key = event.key.toLowerCase();
      const selection = store.selection.peek();
      if (control && key === "z" && !event.shiftKey) {
        if (selection.can_undo) void store.ask("undo", {});
      } else if (control && (key === "y" || (key === "z" && event.shiftKey))) {
        if (selection.can_redo) void store.ask("redo", {});
      } else if (key === "escape") {
        if (store.brush.draft.peek()) store.brush.drop();
        else if (ui.full.peek() !== "") ui.full.value = "";
        else if (selection.text !== "") void store.ask("clear", {});
      } else if (key === "/" && !control) {
        root.querySelector<HTMLInputElement>("[data-testid=search]")?.focus();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { signal },
  );
}

/** One call per widget: what `initialize` makes, `render` uses. */
export default () => {
  let store: Store | null = null;
  let models = 0;
  return {
    initialize({ model, signal }: InitializeProps) {
      // Hosts that hand one definition to several models get a store per view instead.
      models++;
      const mine = models === 1 ? new Store(model) : null;
      store = mine;
      const end = () => mine?.dispose();
      signal?.addEventListener("abort", end, { once: true });
      return end;
    },
    render({ model, el, signal }: RenderProps) {
      const own = store === null ? new Store(model) : null;
      const end = show(store ?? own!, el, signal);
      return () => {
        end();
        own?.dispose();
      };
    },
  };
};

/** Draws some parts of a widget's page, in another cell: panels, "features", "curves". Returns the teardown. */
export function view(model: HostModel, el: HTMLElement, parts: string[], signal?: AbortSignal): () => void {
  const store = new Store(model);
  const end = show(store, el, signal, parts);
  return () => {
    end();
    store.dispose();
  };
}

/** Draws a recorded page: what was on screen, with selections answered on the page. Returns the teardown. */
export function mount(el: HTMLElement, record: PageRecord): () => void {
  const store = new Store(new StaticModel(record.traits), record);
  const end = show(store, el);
  return () => {
    end();
    store.dispose();
  };
}
