// What one view of a store knows that the store does not: its size, its colours, what is under the pointer.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals-core";
import { partsOf } from "../brush";
import type { Rect } from "../draw/curves";
import { detail, measurer } from "../draw/layers";
import { type Beside, makeScene, rowsToDraw, type Scene, Sticky, yExtent } from "../draw/scene";
import type { Question } from "../geometry/answers";
import { overlaysOf } from "../geometry/overlays";
import { type Steps, slopeCurve, slopeLines, slopePart, stepsOf } from "../geometry/slope";
import { groupTints, type Tints, tintsOf } from "../geometry/tints";
import type { Condition, Curve, Ice, Op, PanelName, Pictures } from "../model";
import { keyOf } from "../seen";
import type { Shown, Store } from "../store";
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
  /** Where the rule holds that is under the pointer, or that keys are at. */
  readonly looked = signal<Condition[]>([]);
  /** Bar under the pointer or the keyboard. */
  readonly bar = signal(-1);
  readonly histFocused = signal(false);
  /** The end of the range whose text is no value, and why. */
  readonly wrongEnd = signal<{ end: "low" | "high"; text: string } | null>(null);
  /** For screen readers: what a key just did. */
  readonly spoken = signal("");
  /** All outputs' curves over each other. */
  readonly classes = signal(false);
  readonly observing = signal(false);
  /** The question that the page was arranged for. */
  readonly asked = signal<Question | null>(null);
  /** Panels of which only the head is shown. */
  readonly folded = signal<ReadonlySet<string>>(new Set());
  /** The one part that fills the page; "" for all of them. */
  readonly full = signal("");
  /** Sizes that a person has given to columns, px; 0 for none. */
  readonly sizes = signal({ features: 0, side: 0, height: 0 });
  /** Hints put away, of the feature in focus. */
  readonly dismissed = signal<{ feature: string; kinds: string[] }>({ feature: "", kinds: [] });
  readonly colours: ReadonlySignal<Palette>;
  /** What stands beside the curve on screen; null while that is of another one. */
  readonly effects: ReadonlySignal<Pictures["effects"] | null>;
  /** What the controls show as chosen: what is wanted, and without a kernel what there is. */
  readonly drawn: ReadonlySignal<{ ale: boolean; by: string; colour: string }>;
  /** Where slopes are drawn; null for values. */
  readonly steps: ReadonlySignal<Steps | null>;
  /** Both sides as they are drawn. */
  readonly shown: ReadonlySignal<Shown | null>;
  /** Whether the other models' curves are drawn: hues mean them, then, and nothing else. */
  readonly models: ReadonlySignal<boolean>;
  /** How single rows' lines are coloured; null for ink. */
  readonly tints: ReadonlySignal<Tints | null>;
  readonly scene: ReadonlySignal<Scene | null>;
  readonly measure: ReadonlySignal<(text: string) => number>;

  constructor(
    readonly store: Store,
    readonly root: HTMLElement,
    readonly abort: AbortSignal,
    /** The parts that this view shows: panels, "features", "curves"; null for the page as a whole. */
    readonly parts: readonly string[] | null = null,
  ) {
    const size = store.public.size;
    this.colours = computed(() => {
      root.dataset.theme = this.scheme.value;
      root.dataset.size = size.value;
      detail.value; // new colours, new paint
      this.width.value; // fonts may have come with the first layout
      return palette(root);
    });
    this.measure = computed(() => {
      const { text, font } = this.colours.value;
      return measurer(`${text * 0.92}px ${font}`);
    });
    const sticky = new Sticky();
    const { centered, show_ice, show_models, effect, by, color_by, derivative, panels } = store.public;
    this.effects = computed(() => {
      const picture = panels.value.includes("effects") ? store.pictures.effects.value : null;
      const curve = store.curve.value;
      if (!picture || picture.feature !== curve?.feature || picture.output !== curve?.output) return null;
      if (store.host.value === "kernel") return picture;
      // What it has of another effect or of another selection will not be replaced.
      const same = picture.effect === (effect.value === "ale" && picture.ale?.all ? "ale" : "pd");
      const now = picture.selection_id === store.selection.value.id;
      const { groups, models } = picture;
      return {
        ...picture,
        groups: same && (now || !groups?.selected) ? groups : null,
        models: same && (now || !models?.selected) ? models : null,
      };
    });
    this.drawn = computed(() => {
      const wanted = { ale: effect.value === "ale", by: by.value, colour: color_by.value };
      if (store.host.value === "kernel") return wanted;
      const { ale, groups, colour } = this.effects.value ?? {};
      return {
        ale: wanted.ale && ale?.all != null,
        by: groups?.by === wanted.by ? wanted.by : "",
        colour: colour?.feature === wanted.colour ? wanted.colour : "",
      };
    });
    this.steps = computed(() => {
      const curve = store.curve.value;
      return derivative.value && curve ? stepsOf(curve) : null;
    });
    const curve = computed((): Curve | null => {
      const steps = this.steps.value;
      return store.curve.value && steps ? slopeCurve(store.curve.value, steps) : store.curve.value;
    });
    const lines = computed((): Ice | null => {
      const found = show_ice.value ? store.lines.value : null;
      return found && this.steps.value ? slopeLines(found, this.steps.value) : found;
    });
    this.shown = computed(() => {
      const found = store.shown.value;
      const steps = this.steps.value;
      if (!found || !steps) return found;
      return { ...found, selection: slopePart(found.selection, steps), rest: slopePart(found.rest, steps) };
    });
    this.tints = computed(() => {
      const picture = this.effects.value;
      const m = store.lines.value?.m;
      const { dark, muted } = this.colours.value;
      const known = (values: ArrayLike<number> | undefined) => values?.length === m;
      const classes = this.classes.value && picture?.outputs != null;
      const groups = !classes && picture?.groups?.by === by.value ? picture.groups : null;
      const colour = picture?.colour?.feature === color_by.value ? picture.colour : null;
      // A hue is a class, a group or a level, never two of them at once.
      if (colour && known(colour.values) && !(colour.labels && (classes || groups)))
        return tintsOf(colour, dark, muted);
      return groups && known(groups.codes) ? groupTints(groups.codes, dark, muted) : null;
    });
    this.models = computed(() => {
      const levels = show_ice.value && this.tints.value?.legend?.levels != null;
      return store.several.value.length > 0 && show_models.value && by.value === "" && !this.classes.value && !levels;
    });
    // An answer is put away when something else comes into focus or is selected.
    let before = "";
    this.watch(() => {
      const now = JSON.stringify([store.public.feature.value || store.curve.value?.feature, store.selection.value.id]);
      if (before !== "" && before !== now) this.asked.value = null;
      before = now;
    });
    const beside = computed((): Beside => {
      const own = store.curve.value;
      const steps = this.steps.value;
      const picture = this.effects.value;
      const classes = this.classes.value && picture?.outputs != null;
      const wanted = {
        effect: effect.value,
        by: by.value,
        classes,
        models: this.models.value,
        centered: centered.value && !steps,
        steps,
        selection: store.selection.value.text === "" ? 0 : store.selection.value.id,
      };
      const overlays = own && picture ? overlaysOf(own, picture, wanted) : [];
      const model = store.info.value?.model ?? "";
      const ale = overlays.some(({ kind }) => kind === "ale");
      const models = overlays.some(({ kind }) => kind === "model");
      return {
        overlays,
        steps,
        // Changes from a first value, and slopes, are not observed.
        observed: this.observing.value && !steps && !centered.value ? (picture?.observed ?? null) : null,
        tints: this.tints.value?.rows ?? null,
        title: classes
          ? (own?.output ?? "")
          : ale
            ? "PD"
            : models
              ? wanted.selection
                ? `all rows (${model})`
                : model
              : "all rows",
      };
    });
    const rows = computed(() => rowsToDraw(lines.value));
    // Apart from the scene, and the same object while the numbers are: a brush that does not widen the axis leaves the
    // scene and the base layer alone.
    const range = computed(() => {
      const shape = curve.value;
      if (!shape || shape.x.length === 0) return null;
      const { overlays, observed, steps } = beside.value;
      // While rows come in or a brush moves the axis may only grow; an act of the person's, or the end, sets it anew.
      const grow = shape.rows < shape.total || store.brush.draft.value !== null;
      const what = [overlays.map(({ key }) => key), observed !== null, steps !== null, centered.value, show_ice.value];
      const key = [store.info.value?.model, keyOf(shape.feature, shape.output), ...what, shape.x.length].join("|");
      const relative = centered.value && !steps;
      return sticky.update(
        key,
        grow,
        yExtent(shape, lines.value, rows.value, this.shown.value, relative, beside.value),
      );
    });
    this.scene = computed(() => {
      const shape = curve.value;
      const width = this.width.value;
      const { height } = this.sizes.value;
      const alone = this.full.value === "curves";
      if (!shape || shape.x.length === 0 || width < 120) return null;
      const text = this.colours.value.text;
      const room = height > 0 && !alone ? height - text * 16 : Number.POSITIVE_INFINITY; // what is under the curve has its place, too
      return makeScene({
        curve: shape,
        lines: lines.value,
        centered: centered.value && this.steps.value === null,
        width,
        height: Math.round(Math.max(text * 15, Math.min(width * 0.6, text * (alone ? 40 : 27), room))),
        range: range.value,
        rows: rows.value,
        text,
        measure: this.measure.value,
        beside: beside.value,
      });
    });
  }

  /** What is said about a feature's values: by the brush that is in hand, else by the selection. */
  said(feature: string): Condition[] {
    const about = (c: Condition) => c.type !== "ice" && c.feature === feature;
    const draft = this.store.brush.draft.value;
    const drafted = draft ? partsOf(draft.condition).filter(about) : [];
    const { conditions, marks = [] } = this.store.selection.value;
    return drafted.length > 0 ? drafted : [...conditions, ...marks].filter(about);
  }

  /** Runs now and whenever a signal it read changes, until the view goes. */
  watch(run: () => void): void {
    const stop = effect(run);
    this.abort.addEventListener("abort", stop, { once: true });
  }

  /** Shows a panel: among the page's, unfolded, and where one can see it. */
  reveal(name: PanelName | "features" | "curves"): void {
    const { panels } = this.store.public;
    const panel = name !== "features" && name !== "curves";
    if (panel && !panels.peek().includes(name)) this.store.set("panels", [...panels.peek(), name]);
    if (this.full.peek() !== "" && this.full.peek() !== name) this.full.value = "";
    this.fold(name, false);
    requestAnimationFrame(() => {
      // What is no panel stands right under the answer: the page need not move for it.
      for (const id of panel ? [`panel-${name}`, "answer"] : ["answer"])
        this.root.querySelector(`[data-testid=${id}]`)?.scrollIntoView({ block: "nearest" });
    });
  }

  fold(name: string, folded: boolean): void {
    const next = new Set(this.folded.peek());
    if (folded) next.add(name);
    else next.delete(name);
    this.folded.value = next;
  }

  /** How a brush combines: Shift adds, Alt removes, else what the buttons say. */
  op(event: { shiftKey: boolean; altKey: boolean }): Op {
    if (event.altKey) return "remove";
    if (event.shiftKey) return "add";
    return this.store.brush.mode.peek();
  }
}
