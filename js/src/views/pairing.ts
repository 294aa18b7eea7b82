// What the parts of the interactions panel share: the picture in order, what is pointed at, how it reads, and what a click does.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { fmt, percent } from "../geometry/format";
import { type Measure, type Pairs, square } from "../geometry/pairs";
import { seriate } from "../geometry/seriate";
import type { Ui } from "./ui";

/** Two features, by position in the picture; twice the same stands for the feature alone. */
export type Two = [number, number];

export const same = (a: Two | null, b: Two | null): boolean => `${a}` === `${b}`;

/** One per view: how a person has set the panel is the page's own business. */
export class Pairing {
  readonly shape: Signal<"matrix" | "network"> = signal("matrix");
  readonly measure: Signal<Measure> = signal("strength");
  /** Whether what interacts stands together; else the most important feature first. */
  readonly blocks = signal(false);
  /** How many pairs the network shows. */
  readonly links = signal(12);
  readonly allPartners = signal(false);
  readonly at = signal<Two | null>(null);

  readonly pairs: ReadonlySignal<Pairs | null>;
  /** Index of each pair; see `square`. */
  readonly index: ReadonlySignal<Int32Array>;
  /** Features as they are similar in what they interact with. */
  readonly similar: ReadonlySignal<number[]>;
  /** Features in the matrix' order. */
  readonly order: ReadonlySignal<number[]>;
  readonly focus: ReadonlySignal<number>;
  /** The pair of the surface, or -1. */
  readonly shown: ReadonlySignal<number>;
  readonly read: ReadonlySignal<string>;

  constructor(readonly ui: Ui) {
    const { store } = ui;
    this.pairs = computed(() => {
      const picture = store.pictures.interactions.value;
      return picture?.features && picture.pairs ? (picture as Pairs) : null;
    });
    this.index = computed(() => (this.pairs.value ? square(this.pairs.value) : new Int32Array(0)));
    this.similar = computed(() => {
      const p = this.pairs.value;
      if (!p) return [];
      const n = p.features.length;
      const index = this.index.value;
      return seriate(n, (i, j) => (index[i * n + j] < 0 ? 0 : p.strength[index[i * n + j]]));
    });
    this.order = computed(() =>
      this.blocks.value ? this.similar.value : (this.pairs.value?.features.map((_, i) => i) ?? []),
    );
    this.focus = computed(() => this.pairs.value?.features.indexOf(store.public.feature.value) ?? -1);
    this.shown = computed(() => {
      const chosen = store.public.pair.value;
      const { first, second } = store.pictures.heatmap.value ?? {};
      // Nobody has chosen one for this focus: the surface has its own.
      const own = first && second && !chosen.includes(store.public.feature.value);
      const [i, j] = (own ? [first, second] : chosen).map((name) => this.pairs.value?.features.indexOf(name) ?? -1);
      return i >= 0 && j >= 0 ? this.pair([i, j]) : -1;
    });
    this.read = computed(() => {
      const p = this.pairs.value;
      const at = this.at.value;
      return p && at && Math.max(...at) < p.features.length ? describe(p, this.pair(at), at) : "";
    });
  }

  /** Index of the pair of two features, -1 for none. */
  pair([i, j]: Two): number {
    return i === j ? -1 : (this.index.value[i * (this.pairs.value?.features.length ?? 0) + j] ?? -1);
  }

  point(at: Two | null): void {
    if (!same(this.at.peek(), at)) this.at.value = at;
  }

  /** Shows the surface of a pair, or brings a feature into focus. A feature of the pair that is in focus stays so. */
  open([i, j]: Two): void {
    const { store, spoken } = this.ui;
    const features = this.pairs.peek()?.features;
    if (!features) return;
    const focused = store.public.feature.peek();
    const [a, b] = features[j] === focused ? [features[j], features[i]] : [features[i], features[j]];
    if (a !== b) store.set("pair", [a, b]);
    store.set("feature", a);
    spoken.value = a === b ? `${a} in focus` : `${a} and ${b} shown together`;
  }

  /** What mouse and keys do on a picture. `place` says what is at a point, `step` where a key leads. */
  listen(
    node: HTMLElement,
    signal: AbortSignal,
    place: (x: number, y: number) => Two | null,
    step: (key: string) => Two | null,
  ): void {
    const under = (event: MouseEvent) => {
      const box = node.getBoundingClientRect();
      return place(event.clientX - box.left, event.clientY - box.top);
    };
    const leave = () => this.point(null);
    node.addEventListener("pointermove", (event) => this.point(under(event)), { signal });
    node.addEventListener("pointerleave", leave, { signal });
    node.addEventListener("blur", leave, { signal });
    node.addEventListener(
      "click",
      (event) => {
        const two = under(event);
        if (two) this.open(two);
      },
      { signal },
    );
    node.addEventListener(
      "keydown",
      (event) => {
        if (event.ctrlKey || event.metaKey) return;
        const at = this.at.peek();
        const to = step(event.key);
        if (to) {
          this.point(to);
          this.ui.spoken.value = this.read.peek();
        } else if (at && /^(Enter| )$/.test(event.key)) this.open(at);
        else if (at && event.key === "Escape") leave();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
      { signal },
    );
  }
}

const known = new WeakMap<Ui, Pairing>();

export function pairing(ui: Ui): Pairing {
  let found = known.get(ui);
  if (!found) {
    found = new Pairing(ui);
    known.set(ui, found);
  }
  return found;
}

/** A pair, or a feature alone, in words. */
export function describe(p: Pairs, pair: number, [i, j]: Two): string {
  const [a, b] = [p.features[i], p.features[j]];
  if (i === j) return `${a}: own effect ${fmt(p.main_strength[i])}, together with others ${fmt(p.overall_strength[i])}`;
  if (pair < 0 || Number.isNaN(p.strength[pair])) return `${a} × ${b}: not computed`;
  if (p.strength[pair] === 0) return `${a} × ${b}: no interaction`;
  const [stderr, h2, h2Stderr] = [p.strength_stderr[pair], p.h2[pair], p.h2_stderr[pair]];
  const strength = `strength ${fmt(p.strength[pair])}${stderr >= 0 ? ` ± ${fmt(stderr, 2)}` : ""}`;
  const part = `${percent(h2, 1)}${h2Stderr >= 0.005 ? ` ± ${percent(h2Stderr, 1)}` : ""} of their joint effect`;
  return `${a} × ${b}: ${strength}, ${part}${p.dependent[pair] ? "; these features depend on each other, or do next to nothing together" : ""}`;
}
