// The distribution of the focused feature: drag a range, click a level, move the brush with keys, type its ends.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { barsOf, paintHistogramBase, paintHistogramOverlay } from "../draw/histogram";
import { framed, prepare, wipe } from "../draw/layers";
import type { Scene } from "../draw/scene";
import { count, fmtX, parseX, percent } from "../geometry/format";
import { brushHandle, type Handle } from "../geometry/hit";
import { readable, readableDate } from "../geometry/scale";
import { barCounts } from "../geometry/subset";
import type { Condition, Op } from "../model";
import { messageOf } from "../store";
import { publishArea } from "./curves";
import { scoped, useValue } from "./hooks";
import type { Ui } from "./ui";

type Range = Extract<Condition, { type: "range" }>;
type Levels = Extract<Condition, { type: "levels" }>;

/** The condition on the focused feature that is on screen: the draft, else the selection's. */
function current<T extends "range" | "levels">(
  ui: Ui,
  type: T,
  feature: string,
): Extract<Condition, { type: T }> | null {
  const draft = ui.store.brush.draft.value?.condition;
  const list =
    draft && draft.feature === feature && draft.type !== "ice" ? [draft] : ui.store.selection.value.conditions;
  return (list.find((c) => c.type === type && c.feature === feature) as Extract<Condition, { type: T }>) ?? null;
}

const brushPx = (scene: Scene, range: Range): [number, number] => [
  range.low === null ? scene.x.range[0] : Math.max(scene.x.range[0], scene.x(range.low)),
  range.high === null ? scene.x.range[1] : Math.min(scene.x.range[1], scene.x(range.high)),
];

/** A pixel as an end of a range: readable, whole for whole numbers, open at the ends of the axis. */
export function endOf(scene: Scene, pixel: number): number | null {
  const [x0, x1] = scene.x.range;
  if (pixel <= x0 || pixel >= x1) return null;
  const [d0, d1] = scene.xDomain;
  const step = (d1 - d0) / (x1 - x0);
  const value = scene.x.invert(pixel);
  if (scene.curve.kind === "datetime" || scene.curve.kind === "timedelta") return readableDate(value, step);
  return scene.curve.integer ? Math.round(value) : readable(value, step);
}

export function rangeBetween(scene: Scene, a: number, b: number): Range {
  const [low, high] = a <= b ? [a, b] : [b, a];
  const [x0, x1] = scene.x.range;
  return {
    type: "range",
    feature: scene.curve.feature,
    low: low <= x0 ? null : endOf(scene, Math.min(low, x1 - 0.01)),
    high: high >= x1 ? null : endOf(scene, Math.max(high, x0 + 0.01)),
  };
}

/** The levels after a click on one: toggled where the levels are already a plain condition. */
export function toggled(before: Levels | null, level: number, op: Op, feature: string): Levels {
  if (op !== "replace" || !before) return { type: "levels", feature, levels: [level] };
  const has = before.levels.includes(level);
  const levels = has ? before.levels.filter((l) => l !== level) : [...before.levels, level].sort((a, b) => a - b);
  return { type: "levels", feature, levels };
}

export function Distribution({ ui }: { ui: Ui }) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const { store } = ui;
  const category = useValue(() => ui.scene.value?.bands !== null);
  const feature = useValue(() => ui.scene.value?.curve.feature ?? "");

  useLayoutEffect(
    () =>
      scoped(ui, (signal, watch) => {
        const node = box.current!;
        const guarded = (paint: () => void) => () => {
          try {
            paint();
          } catch (error) {
            store.say("page", `Drawing failed: ${messageOf(error)}`);
          }
        };
        const paintBase = framed(
          guarded(() => {
            const scene = ui.scene.peek();
            if (!scene) {
              wipe(base.current, over.current);
              delete node.dataset.drawn;
              return;
            }
            const ctx = prepare(base.current!, scene.width, scene.histHeight);
            if (ctx) paintHistogramBase(ctx, scene, ui.colours.peek(), ui.measure.peek());
            publishArea(node, scene, scene.histTop, scene.histBottom);
            node.dataset.drawn = `${scene.curve.feature}|${scene.curve.output}`;
          }),
          signal,
        );
        const paintOver = framed(
          guarded(() => {
            const scene = ui.scene.peek();
            if (!scene) return;
            const ctx = prepare(over.current!, scene.width, scene.histHeight);
            const { feature } = scene.curve;
            const range = scene.bands ? null : current(ui, "range", feature);
            if (ctx)
              paintHistogramOverlay(ctx, scene, ui.colours.peek(), {
                shown: store.shown.peek(),
                brush: range ? brushPx(scene, range) : null,
                focused: ui.histFocused.peek(),
                bar: ui.bar.peek(),
                levels: current(ui, "levels", feature)?.levels ?? null,
              });
          }),
          signal,
        );
        watch(() => {
          const scene = ui.scene.value;
          ui.colours.value;
          if (scene) node.style.height = `${scene.histHeight}px`;
          paintBase();
        });
        watch(() => {
          ui.scene.value;
          ui.colours.value;
          ui.bar.value;
          ui.histFocused.value;
          store.shown.value;
          store.brush.draft.value;
          store.selection.value;
          paintOver();
        });
        listen(ui, node, signal);
      }),
    [ui],
  );

  return (
    <div class="pdpw-dist">
      {/* biome-ignore lint/a11y/useSemanticElements: a picture that takes keys */}
      <div
        ref={box}
        class="pdpw-plot pdpw-hist"
        role="group"
        aria-roledescription="brush"
        aria-label={
          category
            ? `Levels of ${feature}. Arrow keys move, Space or Enter selects a level.`
            : `Distribution of ${feature}. Arrow keys move the brush, Shift-arrows resize it, Escape clears.`
        }
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys work here
        tabIndex={0}
        data-testid="histogram"
        data-lm-suppress-shortcuts="true"
      >
        <canvas ref={base} aria-hidden="true" />
        <canvas ref={over} aria-hidden="true" data-testid="histogram-overlay" />
      </div>
      <div class="pdpw-ends">
        {!category && <Ends ui={ui} />}
        <Hint ui={ui} />
      </div>
    </div>
  );
}

/** The ends of the brush as plain inputs. */
function Ends({ ui }: { ui: Ui }) {
  const { store } = ui;
  const scene = useValue(() => ui.scene.value);
  const range = useValue(() => {
    const curve = ui.scene.value?.curve;
    return curve ? current(ui, "range", curve.feature) : null;
  });
  if (!scene) return null;
  const { curve, xDomain } = scene;
  const span = xDomain[1] - xDomain[0];
  const write = (v: number | null) => (v === null ? "" : fmtX(v, curve.kind, span, curve.integer));
  const commit = (end: "low" | "high", text: string) => {
    const value = parseX(text, curve.kind);
    if (value !== null && Number.isNaN(value)) {
      store.say("selection", `“${text}” is not ${curve.kind === "datetime" ? "a date like 2024-03-31" : "a number"}.`);
      return false;
    }
    const next: Range = { type: "range", feature: curve.feature, low: range?.low ?? null, high: range?.high ?? null };
    if (next[end] === value || write(next[end]) === text) return true;
    next[end] = value;
    if (next.low !== null && next.high !== null && next.low > next.high) [next.low, next.high] = [next.high, next.low];
    store.brush.select("replace", next);
    return true;
  };
  return (
    <>
      <span class="pdpw-muted">from</span>
      <End
        value={write(range?.low ?? null)}
        label={`${curve.feature} from`}
        testid="from"
        hint={write(xDomain[0])}
        commit={(t) => commit("low", t)}
      />
      <span class="pdpw-muted">to</span>
      <End
        value={write(range?.high ?? null)}
        label={`${curve.feature} to`}
        testid="to"
        hint={write(xDomain[1])}
        commit={(t) => commit("high", t)}
      />
    </>
  );
}

/** What is under the pointer; else what one can do. */
function Hint({ ui }: { ui: Ui }) {
  const text = useValue(() => {
    const scene = ui.scene.value;
    const bar = ui.bar.value;
    if (!scene) return "";
    if (bar >= 0) return barText(scene, bar);
    return scene.bands
      ? "click a bar to select its rows; drag in the curves: the lines you cross"
      : "drag to select rows; in the curves: the lines you cross";
  });
  return (
    <span class="pdpw-hint pdpw-muted" data-testid="hint">
      {text}
    </span>
  );
}

function End(props: { value: string; label: string; testid: string; hint: string; commit(text: string): boolean }) {
  const [typed, setTyped] = useState<string | null>(null);
  useLayoutEffect(() => setTyped(null), [props.value]);
  const done = () => {
    if (typed !== null && props.commit(typed)) setTyped(null);
  };
  return (
    <input
      type="text"
      class="pdpw-end"
      data-testid={props.testid}
      aria-label={props.label}
      autocomplete="off"
      spellcheck={false}
      placeholder={props.hint}
      size={Math.max(4, Math.min(18, Math.max(props.hint.length, props.value.length)))}
      value={typed ?? props.value}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === "Enter") done();
        else if (event.key === "Escape") setTyped(null);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}

interface Drag {
  id: number;
  from: number;
  op: Op;
  handle: Handle;
  moved: boolean;
  low: number;
  high: number;
}

function listen(ui: Ui, node: HTMLElement, signal: AbortSignal): void {
  const { store } = ui;
  let drag: Drag | null = null;

  const placeX = (event: PointerEvent) => event.clientX - node.getBoundingClientRect().left;
  const barAt = (scene: Scene, x: number): number =>
    scene.bands ? scene.bands.at(x) : barsOf(scene).findIndex((bar) => x >= bar.x - 1 && x <= bar.x + bar.width + 1);
  const onMissing = (scene: Scene, x: number) => !Number.isNaN(scene.missingAt) && x < scene.x.range[0] - 8;

  const pick = (scene: Scene, level: number, op: Op) => {
    const { feature } = scene.curve;
    const before = store.selection.peek().conditions.find((c) => c.type === "levels" && c.feature === feature) as
      | Levels
      | undefined;
    const next = toggled(before ?? null, level, op, feature);
    if (next.levels.length > 0) store.brush.select(op, next);
    else if (store.selection.peek().conditions.length === 1) void store.ask("clear", {});
    // The last level is off: all levels say the same as no condition on this feature.
    else store.brush.select(op, { ...next, levels: Array.from(scene.px, (_, k) => k) });
  };

  node.addEventListener(
    "pointerdown",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene || event.button !== 0) return;
      const x = placeX(event);
      const op = ui.op(event);
      if (scene.bands || onMissing(scene, x)) {
        const level = scene.bands ? scene.bands.at(x) : scene.curve.missing;
        if (level >= 0) pick(scene, level, op);
        return;
      }
      if (x < scene.left - 12 || x > scene.right + 12) return;
      const range = op === "replace" ? current(ui, "range", scene.curve.feature) : null;
      const [low, high] = range ? brushPx(scene, range) : [x, x];
      const handle = range ? brushHandle(x, low, high) : "none";
      drag = { id: event.pointerId, from: x, op, handle, moved: false, low, high };
      node.setPointerCapture(event.pointerId);
    },
    { signal },
  );
  node.addEventListener(
    "pointermove",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene) return;
      const x = placeX(event);
      if (!drag || drag.id !== event.pointerId) {
        hover(scene, x);
        return;
      }
      if (!drag.moved && Math.abs(x - drag.from) < 3) return;
      drag.moved = true;
      ui.bar.value = -1;
      const by = x - drag.from;
      const [x0, x1] = scene.x.range;
      let range: Range;
      if (drag.handle === "none") range = rangeBetween(scene, drag.from, x);
      else if (drag.handle === "low") range = rangeBetween(scene, drag.low + by, drag.high);
      else if (drag.handle === "high") range = rangeBetween(scene, drag.low, drag.high + by);
      else {
        // A moved brush keeps its width at the ends of the axis.
        const shift = Math.max(x0 - drag.low, Math.min(x1 - drag.high, by));
        range = rangeBetween(scene, drag.low + shift, drag.high + shift);
      }
      store.brush.move(drag.op, range);
    },
    { signal },
  );
  const finish = (event: PointerEvent, keep: boolean) => {
    if (!drag || drag.id !== event.pointerId) return;
    const { moved, from, op, handle } = drag;
    drag = null;
    const scene = ui.scene.peek();
    if (moved && keep) store.brush.release();
    else if (moved) store.brush.drop();
    else if (keep && scene && handle === "none") {
      // A click picks the bar under it.
      const bar = barsOf(scene)[barAt(scene, from)];
      if (bar) store.brush.select(op, rangeBetween(scene, bar.x - 0.5, bar.x + bar.width + 0.5));
    }
  };
  node.addEventListener("pointerup", (event) => finish(event, true), { signal });
  node.addEventListener("pointercancel", (event) => finish(event, false), { signal });
  node.addEventListener("lostpointercapture", (event) => finish(event, true), { signal });

  const hover = (scene: Scene, x: number) => {
    const bar = barAt(scene, x);
    ui.bar.value = bar;
    const range = scene.bands ? null : current(ui, "range", scene.curve.feature);
    const handle = range ? brushHandle(x, ...brushPx(scene, range)) : "none";
    node.style.cursor =
      handle === "low" || handle === "high"
        ? "ew-resize"
        : handle === "body"
          ? "grab"
          : scene.bands || onMissing(scene, x)
            ? "pointer"
            : "crosshair";
  };
  node.addEventListener(
    "pointerleave",
    () => {
      if (!drag) ui.bar.value = -1;
    },
    { signal },
  );
  node.addEventListener(
    "focus",
    () => {
      ui.histFocused.value = node.matches(":focus-visible");
    },
    { signal },
  );
  node.addEventListener(
    "blur",
    () => {
      ui.histFocused.value = false;
      ui.bar.value = -1;
      store.brush.flush();
    },
    { signal },
  );

  node.addEventListener(
    "keydown",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape" && drag?.moved) {
        node.releasePointerCapture(drag.id);
        drag = null;
        store.brush.drop();
      } else if (scene.bands) {
        const n = scene.curve.x.length;
        const now = ui.bar.peek();
        if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
          const next = now < 0 ? 0 : Math.max(0, Math.min(n - 1, now + (event.key === "ArrowRight" ? 1 : -1)));
          ui.histFocused.value = true;
          ui.bar.value = next;
          ui.spoken.value = barText(scene, next);
        } else if ((event.key === "Enter" || event.key === " ") && now >= 0) pick(scene, now, ui.op(event));
        else return;
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        nudge(ui, scene, event.key === "ArrowRight" ? 1 : -1, event.shiftKey);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { signal },
  );
}

/** One step of the brush by keys. Without a brush the first step makes one in the middle. */
function nudge(ui: Ui, scene: Scene, direction: number, resize: boolean): void {
  const { store } = ui;
  const [x0, x1] = scene.x.range;
  const [d0, d1] = scene.xDomain;
  const range = current(ui, "range", scene.curve.feature);
  const pixel = (x1 - x0) / (d1 - d0);
  const step = Math.max((x1 - x0) / 50, scene.curve.integer ? pixel : 0);
  let [low, high] = range ? brushPx(scene, range) : [x0 + (x1 - x0) * 0.4, x0 + (x1 - x0) * 0.6];
  if (range && resize) high = Math.max(low + Math.min(step, 1), Math.min(x1, high + direction * step));
  else if (range) {
    const shift = Math.max(x0 - low, Math.min(x1 - high, direction * step));
    low += shift;
    high += shift;
  }
  store.brush.move(store.brush.mode.peek(), rangeBetween(scene, low, high));
  store.brush.releaseSoon();
  const made = current(ui, "range", scene.curve.feature);
  const write = (v: number | null) =>
    v === null ? "the end" : fmtX(v, scene.curve.kind, d1 - d0, scene.curve.integer);
  if (made)
    ui.spoken.value = `${scene.curve.feature} from ${write(made.low)} to ${write(made.high)}, ${count(store.shown.peek()?.selection.n ?? 0)} rows`;
}

function barText(scene: Scene, bar: number): string {
  const { curve, bands, xDomain } = scene;
  const hist = curve.hist;
  if (!hist) return "";
  const counts = barCounts(curve);
  const n = counts[bar] ?? 0;
  let all = 0;
  for (let i = 0; i < counts.length; i++) all += counts[i];
  const write = (v: number) => fmtX(v, curve.kind, xDomain[1] - xDomain[0], false);
  const name =
    bands !== null
      ? curve.labels[bar]
      : hist.edges && bar < hist.edges.length - 1
        ? `${write(hist.edges[bar])} to ${write(hist.edges[bar + 1])}`
        : "missing";
  return `${name}: ${count(n)} rows (${percent(n, all)})`;
}
