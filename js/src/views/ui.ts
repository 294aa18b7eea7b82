// What one view of a store knows that the store does not: its size, its colours, what is under the pointer.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals-core";
import type { Rect } from "../draw/curves";
import { measurer } from "../draw/layers";
import { makeScene, rowsToDraw, type Scene, Sticky, yExtent } from "../draw/scene";
import type { Op } from "../model";
import { keyOf } from "../seen";
import type { Store } from "../store";
import { type Palette, palette, type Scheme } from "../theme";

export interface Hover {
  /** Grid index, or -1. */
  at: number;
  /** Sampled row near the pointer, or -1. */
  row: number;
  x: number;
  y: number;
}

export const NO_HOVER: Hover = { at: -1, row: -1, x: 0, y: 0 };

export class Ui {
  readonly id = `pdpw-${Math.random().toString(36).slice(2, 8)}`;
  readonly width = signal(0); // of the focus column
  readonly scheme = signal<Scheme>("light");
  readonly hover = signal<Hover>(NO_HOVER);
  readonly rect = signal<Rect | null>(null);
  /** Bar under the pointer or the keyboard. */
  readonly bar = signal(-1);
  readonly histFocused = signal(false);
  /** The end of the range whose text is no value, and why. */
  readonly wrongEnd = signal<{ end: "low" | "high"; text: string } | null>(null);
  /** For screen readers: what a key just did. */
  readonly spoken = signal("");
  readonly colours: ReadonlySignal<Palette>;
  readonly scene: ReadonlySignal<Scene | null>;
  readonly measure: ReadonlySignal<(text: string) => number>;

  constructor(
    readonly store: Store,
    readonly root: HTMLElement,
    readonly abort: AbortSignal,
  ) {
    const size = store.public.size;
    this.colours = computed(() => {
      root.dataset.theme = this.scheme.value;
      root.dataset.size = size.value;
      this.width.value; // fonts may have come with the first layout
      return palette(root);
    });
    this.measure = computed(() => {
      const { text, font } = this.colours.value;
      return measurer(`${text * 0.92}px ${font}`);
    });
    const sticky = new Sticky();
    const lines = computed(() => (store.public.show_ice.value ? store.lines.value : null));
    const rows = computed(() => rowsToDraw(lines.value));
    // Apart from the scene, and the same object while the numbers are: a brush that does not widen the axis leaves the
    // scene and the base layer alone.
    const range = computed(() => {
      const curve = store.curve.value;
      if (!curve || curve.x.length === 0) return null;
      const { centered, show_ice } = store.public;
      // While rows come in or a brush moves the axis may only grow; an act of the person's, or the end, sets it anew.
      const grow = curve.rows < curve.total || store.brush.draft.value !== null;
      const key = [keyOf(curve.feature, curve.output), centered.value, show_ice.value, curve.x.length].join("|");
      return sticky.update(key, grow, yExtent(curve, lines.value, rows.value, store.shown.value, centered.value));
    });
    this.scene = computed(() => {
      const curve = store.curve.value;
      const width = this.width.value;
      if (!curve || curve.x.length === 0 || width < 120) return null;
      const text = this.colours.value.text;
      return makeScene({
        curve,
        lines: lines.value,
        centered: store.public.centered.value,
        width,
        height: Math.round(Math.max(text * 15, Math.min(width * 0.52, text * 27))),
        range: range.value,
        rows: rows.value,
        text,
        measure: this.measure.value,
      });
    });
  }

  /** Runs now and whenever a signal it read changes, until the view goes. */
  watch(run: () => void): void {
    const stop = effect(run);
    this.abort.addEventListener("abort", stop, { once: true });
  }

  /** How a brush combines: Shift adds, Alt removes, else what the buttons say. */
  op(event: { shiftKey: boolean; altKey: boolean }): Op {
    if (event.altKey) return "remove";
    if (event.shiftKey) return "add";
    return this.store.brush.mode.peek();
  }
}
