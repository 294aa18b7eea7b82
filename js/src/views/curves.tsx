// The focused feature's curves: two canvas layers, the pointer and the keys over them.

import { paintCurvesBase, paintCurvesOverlay, type Rect } from "../draw/curves";
import { firstOf, invertX, type Scene } from "../draw/scene";
import { fmt } from "../geometry/format";
import { nearest, nearestLine } from "../geometry/hit";
import type { Op } from "../model";
import { type Plot, PlotView } from "./plot";
import { xText } from "./readout";
import { NO_HOVER, type Ui } from "./ui";

const REACH = 12;

export function Curves({ ui }: { ui: Ui }) {
  const { store } = ui;
  const plot: Plot = {
    id: "curves",
    className: "pdpw-curves",
    role: "chart",
    label: "Curves. Arrow keys read values; Space starts a rectangle that selects the lines crossing it.",
    height: (scene) => scene.height,
    area: (scene) => [scene.y.range[0], scene.y.range[1]],
    base(ctx, scene, node) {
      paintCurvesBase(ctx, scene, ui.colours.peek());
      node.dataset.domainY0 = String(scene.y.domain[0]);
      node.dataset.domainY1 = String(scene.y.domain[1]);
      node.dataset.rows = String(scene.curve.rows);
    },
    over(ctx, scene, node) {
      const hover = ui.hover.peek();
      const shown = ui.shown.peek();
      const draft = store.brush.draft.peek();
      paintCurvesOverlay(ctx, scene, ui.colours.peek(), {
        shown,
        measure: ui.measure.peek(),
        mask: store.mask.peek(),
        at: hover.at,
        row: hover.row,
        rect: ui.rect.peek(),
        conditions: draft?.condition.type === "ice" ? [] : store.selection.peek().conditions,
      });
      node.dataset.overlays = scene.overlays.map(({ key }) => key).join(",");
      node.dataset.shown = shown ? (draft ? "draft" : shown.exact ? "exact" : "sample") : "";
    },
    said: ({ curve }) => ui.said(curve.feature),
    follow() {
      ui.hover.value;
      ui.rect.value;
      ui.shown.value;
      store.mask.value;
      store.selection.value;
    },
    listen: (node, signal) => listen(ui, node, signal),
  };
  return <PlotView ui={ui} plot={plot} />;
}

function listen(ui: Ui, node: HTMLElement, signal: AbortSignal): void {
  const { store } = ui;
  let drag: { id: number; over: string; x: number; y: number; op: Op; moved: boolean } | null = null;
  let keyed = false; // the rectangle is being made with keys

  const place = (event: PointerEvent) => {
    const area = node.getBoundingClientRect();
    return { x: event.clientX - area.left, y: event.clientY - area.top };
  };
  const hoverAt = (x: number, y: number, scene: Scene) => {
    const inside = x >= scene.left - 8 && x <= scene.right + 8 && y >= 0 && y <= scene.height;
    if (!inside) {
      ui.hover.value = NO_HOVER;
      return;
    }
    const { lines, bands, curve } = scene;
    let row = -1;
    if (lines) {
      const xs = bands || curve.missing < 0 ? scene.px : scene.px.filter((_, k) => k !== curve.missing);
      const shift = !bands && curve.missing >= 0 ? (k: number) => (k >= curve.missing ? k + 1 : k) : (k: number) => k;
      const yOf = (r: number, k: number) =>
        scene.y(lines.values[r * lines.k + shift(k)] - (scene.centered ? lines.values[r * lines.k] : -lines.offset));
      row = nearestLine(scene.rows, xs, yOf, x, y, REACH);
    }
    ui.hover.value = { at: nearest(scene.px, x), row, x, y };
  };
  const condition = (scene: Scene, rect: Rect) => ({
    type: "ice" as const,
    feature: scene.curve.feature,
    output: scene.curve.output,
    x: rect.x,
    y: rect.y,
    centered: scene.centered,
  });
  const seen = ({ curve, centered, steps }: Scene) =>
    `${curve.feature}\0${curve.output}\0${centered}\0${steps !== null}`;
  const sorted = (a: number, b: number): [number, number] => (a <= b ? [a, b] : [b, a]);

  node.addEventListener(
    "pointerdown",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene || event.button !== 0) return;
      const { x, y } = place(event);
      if (x < scene.left - 10 || x > scene.right + 10) return;
      drag = { id: event.pointerId, over: seen(scene), x, y, op: ui.op(event), moved: false };
      keyed = false;
      node.setPointerCapture(event.pointerId);
    },
    { signal },
  );
  node.addEventListener(
    "pointermove",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene) return;
      const { x, y } = place(event);
      if (drag && drag.over !== seen(scene)) {
        // Another feature or output came into focus: the rectangle would mean other lines.
        drag = null;
        ui.rect.value = null;
        store.brush.drop();
      }
      if (!drag || drag.id !== event.pointerId) {
        if (!keyed) hoverAt(x, y, scene);
        return;
      }
      if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
      if (scene.steps) {
        store.say("curve", "Slopes cannot be selected: switch slope off, then drag over the lines.");
        return;
      }
      if (!store.lines.peek()) {
        store.say("curve", "The single lines are not there yet: wait a moment, then drag again.");
        return;
      }
      drag.moved = true;
      ui.hover.value = NO_HOVER;
      const clampY = (v: number) => Math.max(scene.top, Math.min(scene.bottom, v));
      ui.rect.value = {
        x: sorted(invertX(scene, drag.x), invertX(scene, x)),
        y: sorted(scene.y.invert(clampY(drag.y)), scene.y.invert(clampY(y))),
      };
      store.brush.move(drag.op, condition(scene, ui.rect.value));
    },
    { signal },
  );
  const finish = (event: PointerEvent, keep: boolean) => {
    if (!drag || drag.id !== event.pointerId) return;
    const { moved } = drag;
    drag = null;
    ui.rect.value = null;
    if (moved && keep) store.brush.release();
    else if (moved) store.brush.drop();
  };
  node.addEventListener("pointerup", (event) => finish(event, true), { signal });
  node.addEventListener("pointercancel", (event) => finish(event, false), { signal });
  node.addEventListener("lostpointercapture", (event) => finish(event, true), { signal });
  node.addEventListener(
    "pointerleave",
    () => {
      if (!drag) ui.hover.value = NO_HOVER;
    },
    { signal },
  );
  node.addEventListener(
    "blur",
    () => {
      if (keyed) {
        keyed = false;
        ui.rect.value = null;
        store.brush.drop();
      }
      ui.hover.value = NO_HOVER;
    },
    { signal },
  );

  node.addEventListener(
    "keydown",
    (event) => {
      const scene = ui.scene.peek();
      if (!scene || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape" && (drag?.moved || keyed)) {
        if (drag) node.releasePointerCapture(drag.id);
        drag = null;
        keyed = false;
        ui.rect.value = null;
        store.brush.drop();
      } else if (keyed && ui.rect.peek() && stepRect(ui, scene, event)) {
        store.brush.draft.value = { op: ui.store.brush.mode.peek(), condition: condition(scene, ui.rect.peek()!) };
        ui.spoken.value = `${Math.round(store.shown.peek()?.selection.n ?? 0)} rows cross`;
      } else if (keyed && (event.key === "Enter" || event.key === " ")) {
        keyed = false;
        const rect = ui.rect.peek();
        ui.rect.value = null;
        if (rect) store.brush.select(store.brush.mode.peek(), condition(scene, rect));
      } else if (event.key === " " && store.lines.peek() && !scene.steps) {
        keyed = true;
        ui.rect.value = firstRect(ui, scene);
        store.brush.draft.value = { op: store.brush.mode.peek(), condition: condition(scene, ui.rect.value) };
        ui.spoken.value = "Rectangle: arrows move it, Shift-arrows resize it, Enter selects, Escape drops it";
      } else if (
        event.key === "ArrowLeft" ||
        event.key === "ArrowRight" ||
        event.key === "Home" ||
        event.key === "End"
      ) {
        const order = Array.from(scene.px, (_, k) => k).sort((a, b) => scene.px[a] - scene.px[b]);
        const now = order.indexOf(ui.hover.peek().at);
        const next =
          event.key === "Home"
            ? 0
            : event.key === "End"
              ? order.length - 1
              : now + (event.key === "ArrowLeft" ? -1 : 1);
        const at = order[Math.max(0, Math.min(order.length - 1, next))];
        const y = scene.y(scene.curve.average[at] - firstOf(scene.curve.average, scene.centered));
        ui.hover.value = { at, row: -1, x: scene.px[at], y: !Number.isNaN(y) ? y : scene.top };
        ui.spoken.value = spokenAt(ui, scene, at);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { signal },
  );
}

function spokenAt(ui: Ui, scene: Scene, at: number): string {
  const { curve, centered } = scene;
  const value = (values: ArrayLike<number>) => fmt(values[at] - firstOf(values, centered));
  const shown = scene.faint ? null : ui.shown.peek();
  const parts = [`${curve.feature} ${xText(scene, at)}`, `${scene.title} ${value(curve.average)}`];
  for (const { name, onGrid } of scene.overlays)
    if (!Number.isNaN(onGrid[at])) parts.push(`${name} ${fmt(onGrid[at])}`);
  if (shown) parts.push(`selection ${value(shown.selection.average)}`, `rest ${value(shown.rest.average)}`);
  return parts.join(", ");
}

/** A rectangle around the curve at the cursor, or in the middle. */
function firstRect(ui: Ui, scene: Scene): Rect {
  const { at } = ui.hover.peek();
  const middle = at >= 0 ? scene.px[at] : (scene.x.range[0] + scene.x.range[1]) / 2;
  const half = (scene.right - scene.left) * 0.05;
  const k = nearest(scene.px, middle);
  const y = scene.curve.average[k] - firstOf(scene.curve.average, scene.centered);
  const tall = (scene.y.domain[1] - scene.y.domain[0]) * 0.08;
  return { x: [invertX(scene, middle - half), invertX(scene, middle + half)], y: [y - tall, y + tall] };
}

function stepRect(ui: Ui, scene: Scene, event: KeyboardEvent): boolean {
  const rect = ui.rect.peek()!;
  const dx = (scene.bands ? 1 : scene.xDomain[1] - scene.xDomain[0]) / (scene.bands ? 4 : 50);
  const dy = (scene.y.domain[1] - scene.y.domain[0]) / 50;
  const [sx, sy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
  if (sx === 0 && sy === 0) return false;
  const [low, high] = rect.x;
  const [bottom, top] = rect.y;
  ui.rect.value = event.shiftKey
    ? { x: [low, Math.max(low, high + sx * dx)], y: [bottom, Math.max(bottom, top + sy * dy)] }
    : { x: [low + sx * dx, high + sx * dx], y: [bottom + sy * dy, top + sy * dy] };
  return true;
}
