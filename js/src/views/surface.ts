// What one view of the surface remembers, what its cells say, and what pointer and keys do on it: hover or arrow keys read a cell, a drag
// or Space selects a rectangle, a click selects a cell.

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { partsOf } from "../brush";
import { type Over, paintHeat } from "../draw/heatmap";
import { type Heat, makeHeat } from "../draw/heatscene";
import { Sticky } from "../draw/scene";
import { count, fmt } from "../geometry/format";
import { withoutFeature } from "../geometry/query";
import {
  between,
  cellAt,
  cellText,
  hasSurface,
  inOrder,
  type Lane,
  type Mode,
  ofCells,
  rectangle,
  type Surface,
  stretches,
} from "../geometry/surface";
import type { Both, Condition, Op } from "../model";
import type { Ui } from "./ui";

export type Cell = [number, number];

export const NAMES: Record<Mode, string> = {
  pd: "PD",
  selection: "selection",
  difference: "selection − rest",
  interaction: "interaction only",
};

/** What one view of the surface remembers. */
export class State {
  readonly surface: ReadonlySignal<Surface | null>;
  readonly wanted = signal<Mode>("pd");
  readonly mode: ReadonlySignal<Mode>;
  readonly heat: ReadonlySignal<Heat | null>;
  readonly width = signal(0);
  /** The pair whose axes are swapped. */
  readonly swapped = signal("");
  readonly cell = signal<Cell | null>(null);
  /** Where keys began a rectangle. */
  readonly anchor = signal<Cell | null>(null);

  constructor(readonly ui: Ui) {
    const { store } = ui;
    this.surface = computed(() => {
      const picture = store.pictures.heatmap.value;
      return hasSurface(picture) ? picture : null;
    });
    this.mode = computed(() => {
      const surface = this.surface.value;
      const wanted = this.wanted.value;
      if (!surface || (wanted === "interaction" ? !surface.main_a : !surface.selection)) return "pd";
      return wanted === "difference" && !surface.rest ? "selection" : wanted;
    });
    const sticky = new Sticky();
    this.heat = computed(() => {
      const picture = this.surface.value;
      if (!picture) return null;
      const mode = this.mode.value;
      const key = [picture.first, picture.second, picture.output, mode].join("\0");
      return makeHeat({
        picture,
        mode,
        swapped: this.swapped.value === pairOf(picture),
        width: this.width.value,
        text: ui.colours.value.text,
        measure: ui.measure.value,
        keep: (range) => sticky.update(key, picture.status.state === "running", range),
      });
    });
  }

  /** The cell to read, if it is still there. */
  get at(): Cell | null {
    const [cell, heat] = [this.cell.value, this.heat.value];
    return cell && heat && cell[0] < heat.x.low.length && cell[1] < heat.y.low.length ? cell : null;
  }
}

export const pairOf = ({ first, second }: Surface) => `${first}\0${second}`;

function subjectOf(ui: Ui, { output }: Surface): string {
  const scale = ui.store.info.value?.scale ?? "";
  return scale === "" || scale === output ? output : `${scale} of ${/^[-\d.]+$/.test(output) ? "class " : ""}${output}`;
}

export interface Read {
  x: string;
  y: string;
  rows: [string, string, string][];
  near: string;
}

/** A cell in words and numbers. */
export function read(heat: Heat, [i, j]: Cell): Read {
  const { picture, swapped, x, y } = heat;
  const nb = picture.b.x.length;
  const cell = swapped ? j * nb + i : i * nb + j;
  const [first, second] = swapped ? [j, i] : [i, j];
  const rows: Read["rows"] = [["all", "all rows", fmt(picture.average[cell])]];
  if (picture.selection) rows.push(["sel", "selection", fmt(picture.selection[cell])]);
  if (picture.rest && picture.selection) {
    rows.push(["rest", "rest", fmt(picture.rest[cell])]);
    rows.push(["diff", "difference", signed(picture.selection[cell] - picture.rest[cell])]);
  }
  const { main_a, main_b, mean } = picture;
  if (main_a && main_b && mean !== null) {
    const sum = main_a[first] + main_b[second] - mean;
    const value = picture.average[cell] - sum;
    // Rounding is no interaction.
    const none = Math.abs(value) < 1e-9 * Math.max(Math.abs(picture.average[cell]), Math.abs(mean));
    rows.push(["int", "interaction", none ? "0" : signed(value)]);
  }
  const n = heat.counts[i * y.low.length + j];
  const near =
    n === 1
      ? "1 row near"
      : n > 0
        ? `${count(n)} rows near`
        : heat.empty[i * y.low.length + j]
          ? "no rows near: a guess of the model"
          : "no row in this cell";
  return { x: `${x.axis.feature} = ${cellText(x, i)}`, y: `${y.axis.feature} = ${cellText(y, j)}`, rows, near };
}

const signed = (v: number) => (v > 0 ? `+${fmt(v)}` : fmt(v));

/** Where the selection, or what is being dragged, stands on both axes. */
function selectedOf({ ui }: State, { x, y }: Heat): Over["selected"] {
  const on = (lane: Lane) => {
    const found = ui.said(lane.axis.feature);
    return found.length > 0 ? found.flatMap((condition) => stretches(lane, condition)) : null;
  };
  return { x: on(x), y: on(y) };
}

export function paint(state: State, ctx: CanvasRenderingContext2D, node: HTMLElement): void {
  const heat = state.heat.peek();
  if (!heat) return;
  const { ui } = state;
  const cell = state.at;
  const anchor = state.anchor.peek();
  const subject = subjectOf(ui, heat.picture);
  paintHeat(ctx, heat, ui.colours.peek(), ui.scheme.peek() === "dark", ui.measure.peek(), {
    selected: selectedOf(state, heat),
    box: anchor && cell ? [...anchor, ...cell] : null,
    cell,
    caption: heat.mode === "pd" ? subject : `${NAMES[heat.mode].replace(" only", "")}: ${subject}`,
  });
  const { data } = { data: node.dataset };
  data.drawn = [heat.x.axis.feature, heat.y.axis.feature, heat.picture.output, heat.mode].join("|");
  for (const side of ["x", "y"] as const) {
    const { low, high } = heat[side];
    data[`${side}Cells`] = Array.from(low, (v, k) => `${v.toFixed(1)}:${high[k].toFixed(1)}`).join(",");
  }
  data.area = [heat.left, heat.top, heat.right, heat.bottom].join(",");
}

const conditionOf = ({ x, y }: Heat, [i0, j0]: Cell, [i1, j1]: Cell) =>
  rectangle(ofCells(x, i0, i1), ofCells(y, j0, j1));

export function listen(state: State, node: HTMLElement, signal: AbortSignal): void {
  const { ui } = state;
  const { store } = ui;
  let drag: { id: number; x: number; y: number; op: Op; moved: boolean; key: string } | null = null;

  const place = (event: PointerEvent): [number, number] => {
    const box = node.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const inside = ({ left, right, top, bottom }: Heat, [x, y]: [number, number]) =>
    x >= left && x <= right && y >= top && y <= bottom;
  const within = (lane: Lane, px: number) => {
    const [a, b] = [...lane.range].sort((p, q) => p - q);
    return Math.max(a, Math.min(b, px));
  };
  const keyOf = (heat: Heat) => `${heat.x.axis.feature}\0${heat.y.axis.feature}`;
  const end = () => {
    drag = null;
    store.brush.drop();
  };

  const on = <K extends keyof HTMLElementEventMap>(name: K, run: (event: HTMLElementEventMap[K]) => void) =>
    node.addEventListener(name, run as EventListener, { signal });

  on("pointerdown", (event) => {
    const heat = state.heat.peek();
    const at = place(event);
    if (!heat || event.button !== 0 || !inside(heat, at)) return;
    state.anchor.value = null;
    drag = { id: event.pointerId, x: at[0], y: at[1], op: ui.op(event), moved: false, key: keyOf(heat) };
    node.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event) => {
    const heat = state.heat.peek();
    if (!heat) return;
    const at = place(event);
    if (drag && drag.key !== keyOf(heat)) end();
    if (!drag || drag.id !== event.pointerId) {
      const there = inside(heat, at);
      node.style.cursor = there ? "crosshair" : "default";
      const cell: Cell | null = there ? [cellAt(heat.x, at[0]), cellAt(heat.y, at[1])] : null;
      const now = state.cell.peek();
      if (cell?.[0] !== now?.[0] || cell?.[1] !== now?.[1]) state.cell.value = cell;
      return;
    }
    if (!drag.moved && Math.hypot(at[0] - drag.x, at[1] - drag.y) < 4) return;
    drag.moved = true;
    state.cell.value = null;
    const condition = rectangle(
      between(heat.x, drag.x, within(heat.x, at[0])),
      between(heat.y, drag.y, within(heat.y, at[1])),
    );
    if (condition) store.brush.move(drag.op, condition);
    else store.brush.drop();
  });
  const finish = (event: PointerEvent, keep: boolean) => {
    if (!drag || drag.id !== event.pointerId) return;
    const { moved, op, x, y } = drag;
    drag = null;
    const heat = state.heat.peek();
    if (moved && keep) store.brush.release();
    else if (moved) store.brush.drop();
    else if (keep && heat) pick(state, heat, [cellAt(heat.x, x), cellAt(heat.y, y)], op);
  };
  on("pointerup", (event) => finish(event, true));
  on("pointercancel", (event) => finish(event, false));
  on("lostpointercapture", (event) => finish(event, true));
  on("pointerleave", () => {
    if (!drag) state.cell.value = null;
  });
  on("blur", () => {
    state.cell.value = null;
    state.anchor.value = null;
  });
  on("keydown", (event) => {
    const heat = state.heat.peek();
    if (!heat || event.ctrlKey || event.metaKey) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const cell = state.at;
    if (event.key === "Escape" && drag?.moved) {
      node.releasePointerCapture(drag.id);
      end();
    } else if (event.key === "Escape" && state.anchor.peek()) state.anchor.value = null;
    else if (step) {
      state.cell.value = cell ? [along(heat.x, cell[0], step[0]), along(heat.y, cell[1], step[1])] : middle(heat);
      speak(state, heat);
    } else if (event.key === " " && cell) {
      state.anchor.value = cell;
      ui.spoken.value = "A rectangle begins here; arrow keys widen it, Enter selects it.";
    } else if (event.key === "Enter" && cell) {
      const anchor = state.anchor.peek();
      state.anchor.value = null;
      if (!anchor || (anchor[0] === cell[0] && anchor[1] === cell[1])) pick(state, heat, cell, ui.op(event));
      else take(state, conditionOf(heat, anchor, cell), ui.op(event));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** The next cell on screen: to the right, or down, for 1. */
function along(lane: Lane, k: number, step: number): number {
  if (step === 0) return k;
  const order = inOrder(lane);
  if (lane.range[0] > lane.range[1]) order.reverse();
  return order[Math.max(0, Math.min(order.length - 1, order.indexOf(k) + step))];
}

const middle = ({ x, y }: Heat): Cell => [
  cellAt(x, (x.range[0] + x.range[1]) / 2),
  cellAt(y, (y.range[0] + y.range[1]) / 2),
];

function speak(state: State, heat: Heat): void {
  const cell = state.at;
  if (!cell) return;
  const { x, y, rows, near } = read(heat, cell);
  state.ui.spoken.value = `${x}, ${y}: ${rows.map(([, name, text]) => `${name} ${text}`).join(", ")}, ${near}`;
}

function take({ ui }: State, condition: Condition | Both | null, op: Op): void {
  if (condition) ui.store.brush.select(op, condition);
  else if (op === "replace") void ui.store.ask("clear", {});
}

/** A click on a cell selects it; on the only selected one it takes that back. */
function pick(state: State, heat: Heat, cell: Cell, op: Op): void {
  const { store } = state.ui;
  const condition = conditionOf(heat, cell, cell);
  const now = selectedOf(state, heat);
  const near = (lane: Lane, at: [number, number][] | null, c: Condition | undefined) => {
    const wanted = c && stretches(lane, c);
    if (!wanted || !at) return !wanted === !at;
    return (
      at.length === wanted.length &&
      at.every(([a, b], k) => Math.abs(a - wanted[k][0]) < 2 && Math.abs(b - wanted[k][1]) < 2)
    );
  };
  const parts = condition ? partsOf(condition) : [];
  const of = (lane: Lane) => parts.find((c) => c.feature === lane.axis.feature);
  if (op === "replace" && parts.length > 0 && near(heat.x, now.x, of(heat.x)) && near(heat.y, now.y, of(heat.y))) {
    let text: string | null = store.selection.peek().text;
    for (const part of parts) text = text && withoutFeature(text, part.feature);
    if (text !== null) {
      void (text === "" ? store.ask("clear", {}) : store.ask("query", { text }));
      return;
    }
  }
  take(state, condition, op);
}
