// The distribution of the focused feature: drag a range, click a level, move the brush with keys, type its ends.

import { barsOf, paintHistogramBase, paintHistogramOverlay } from "../draw/histogram";
import { brushPx, type Scene } from "../draw/scene";
import { count, fmtOn, percent } from "../geometry/format";
import { brushHandle, type Handle, nearest } from "../geometry/hit";
import { barCounts } from "../geometry/subset";
import type { Op } from "../model";
import { Ends, WrongEnd } from "./ends";
import { useValue } from "./hooks";
import { type Plot, PlotView } from "./plot";
import { ANY, alike, current, type Levels, levelsOf, type Range, rangeBetween, rangeOfBar } from "./range";
import type { Ui } from "./ui";

export function Distribution({ ui }: { ui: Ui }) {
  const { store } = ui;
  const category = useValue(() => ui.scene.value?.bands !== null);
  const feature = useValue(() => ui.scene.value?.curve.feature ?? "");
  const plot: Plot = {
    id: "histogram",
    className: "pdpw-hist",
    role: "brush",
    label: category
      ? `Levels of ${feature}. Arrow keys move, Space or Enter selects a level.`
      : `Distribution of ${feature}. Arrow keys move the brush, Shift-arrows resize it, Escape clears.`,
    height: (scene) => scene.histHeight,
    area: (scene) => [scene.histTop, scene.histBottom],
    base: (ctx, scene) => paintHistogramBase(ctx, scene, ui.colours.peek(), ui.measure.peek()),
    over(ctx, scene) {
      const range = scene.bands ? null : current(ui, "range", scene.curve.feature);
      paintHistogramOverlay(ctx, scene, ui.colours.peek(), {
        shown: store.shown.peek(),
        brush: range ? brushPx(scene, range) : null,
        focused: ui.histFocused.peek(),
        bar: ui.bar.peek(),
        levels: current(ui, "levels", scene.curve.feature)?.levels ?? null,
      });
    },
    // The rest of it is the brush.
    said: () => (store.brush.draft.value ? [] : (store.selection.value.marks ?? [])),
    follow() {
      ui.bar.value;
      ui.histFocused.value;
      store.shown.value;
      store.brush.draft.value;
      store.selection.value;
    },
    listen: (node, signal) => listen(ui, node, signal),
  };

  return (
    <div class="pdpw-dist">
      <PlotView ui={ui} plot={plot} />
      <div class="pdpw-ends">
        {!category && <Ends ui={ui} />}
        <Hint ui={ui} />
      </div>
      {!category && <WrongEnd ui={ui} />}
    </div>
  );
}

/** What is under the pointer; else what one can do. */
function Hint({ ui }: { ui: Ui }) {
  const help = useValue(() =>
    ui.scene.value?.bands
      ? "click a bar or drag over several; click again to take back; Shift adds, Alt removes"
      : "drag or click a bar, click again to take back; Shift adds, Alt removes",
  );
  const text = useValue(() => {
    const scene = ui.scene.value;
    const bar = ui.bar.value;
    if (!scene) return "";
    if (bar >= 0) return barText(scene, bar);
    return "";
  });
  return (
    <span
      class="pdpw-hint pdpw-muted"
      data-testid="hint"
      title={`${help}; in the curves: drag over the lines you want`}
    >
      {text || help}
    </span>
  );
}

interface Drag {
  id: number;
  /** What is dragged over; the drag ends when something else comes into focus. */
  feature: string;
  from: number;
  op: Op;
  handle: Handle;
  moved: boolean;
  low: number;
  high: number;
  /** The level it began on, or -1 on a number axis. */
  level: number;
}

function listen(ui: Ui, node: HTMLElement, signal: AbortSignal): void {
  const { store } = ui;
  let drag: Drag | null = null;

  const placeX = (event: PointerEvent) => event.clientX - node.getBoundingClientRect().left;
  const barAt = (scene: Scene, x: number): number =>
    scene.bands ? scene.bands.at(x) : barsOf(scene).findIndex((bar) => x >= bar.x - 1 && x <= bar.x + bar.width + 1);
  const onMissing = (scene: Scene, x: number) => !Number.isNaN(scene.missingAt) && x < scene.x.range[0] - 8;

  /** A click on a bar selects it alone; on the only selected one it takes the condition back. */
  const pick = (scene: Scene, next: Levels | Range | null, op: Op) => {
    if (!next) return;
    const { feature } = next;
    const now = store.selection.peek().conditions.filter((c) => c.feature === feature && c.type !== "ice");
    if (op !== "replace" || now.length !== 1 || !alike(scene, now[0], next)) store.brush.select(op, next);
    // Where the text cannot be taken apart: all levels, or any value.
    else if (!store.forget(feature))
      store.brush.select(op, scene.bands ? levelsOf(feature, 0, scene.px.length - 1) : { ...ANY, feature });
  };

  node.addEventListener(
    "pointerdown",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene || event.button !== 0) return;
      const x = placeX(event);
      const op = ui.op(event);
      const { feature } = scene.curve;
      if (scene.bands || onMissing(scene, x)) {
        const level = scene.bands ? scene.bands.at(x) : scene.curve.missing;
        if (level < 0) return;
        drag = { id: event.pointerId, feature, from: x, op, handle: "none", moved: false, low: x, high: x, level };
        node.setPointerCapture(event.pointerId);
        return;
      }
      if (x < scene.left - 12 || x > scene.right + 12) return;
      const range = op === "replace" ? current(ui, "range", scene.curve.feature) : null;
      const [low, high] = range ? brushPx(scene, range) : [x, x];
      const handle = range ? brushHandle(x, low, high) : "none";
      drag = { id: event.pointerId, feature, from: x, op, handle, moved: false, low, high, level: -1 };
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
      if (drag && drag.feature !== scene.curve.feature) {
        drag = null;
        store.brush.drop();
      }
      if (!drag || drag.id !== event.pointerId) {
        hover(scene, x);
        return;
      }
      if (drag.level >= 0) {
        // Over the bars: from the one it began on to the one under the pointer.
        const level = scene.bands ? nearest(scene.px, x) : drag.level;
        ui.bar.value = scene.bands ? level : ui.bar.peek();
        if (level === drag.level && !drag.moved) return;
        drag.moved = true;
        store.brush.move(drag.op, levelsOf(scene.curve.feature, drag.level, level));
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
    const { moved, from, op, level } = drag;
    drag = null;
    const scene = ui.scene.peek();
    if (moved && keep) store.brush.release();
    else if (moved) store.brush.drop();
    else if (keep && scene)
      pick(scene, level >= 0 ? levelsOf(scene.curve.feature, level) : rangeOfBar(scene, barAt(scene, from)), op);
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
        } else if ((event.key === "Enter" || event.key === " ") && now >= 0)
          pick(scene, levelsOf(scene.curve.feature, now), ui.op(event));
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
  const plain = (x1 - x0) / 50;
  const step = scene.curve.integer ? Math.max(1, Math.round(plain / pixel)) * pixel : plain;
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
  const write = (v: number | null) => (v === null ? "the end" : fmtOn(scene.curve, v, d1 - d0));
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
  const write = (v: number) => fmtOn(curve, v, xDomain[1] - xDomain[0]);
  const between = (low: number, high: number) =>
    !curve.integer
      ? `${write(low)} to ${write(high)}`
      : Math.ceil(high) - 1 <= Math.ceil(low)
        ? write(Math.ceil(low))
        : `${write(Math.ceil(low))} to ${write(Math.ceil(high) - 1)}`;
  const name =
    bands !== null
      ? curve.labels[bar]
      : hist.edges && bar < hist.edges.length - 1
        ? between(hist.edges[bar], hist.edges[bar + 1])
        : "missing";
  return `${name}: ${count(n)} rows (${percent(n, all)})`;
}
