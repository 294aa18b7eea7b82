// Where everything stands in the focused feature's two plots: scales, margins, ticks. Arrays and numbers in,
// numbers out; the painters below and the pointer code share it, so that both agree on every pixel.

import { axisPositions } from "../geometry/conditions";
import { count, numberTicks, type Ticks, ticksOf, wholeOf } from "../geometry/format";
import { nameOf, type Observed, type Overlay } from "../geometry/overlays";
import { picks } from "../geometry/resample";
import { type Bands, bands, extent, type Linear, linear, padded, union } from "../geometry/scale";
import type { Steps } from "../geometry/slope";
import type { Condition, Curve, Ice } from "../model";
import type { Shown } from "../store";

/** A curve beside the partial dependence, with px of its points. */
export type Placed = Overlay & { px: Float64Array };

/** What is to be seen beside the focused curve and its lines. */
export interface Beside {
  overlays: Overlay[];
  observed: Observed | null;
  /** A colour per sampled row; null for ink. */
  tints: string[] | null;
  /** Slopes are drawn; null for values. */
  steps: Steps | null;
  /** What the curve of all rows is called. */
  title: string;
}

export const ALONE: Beside = { overlays: [], observed: null, tints: null, steps: null, title: "all rows" };

export interface Scene {
  curve: Curve;
  /** ICE lines to draw, or null when they are switched off or not there. */
  lines: Ice | null;
  /** At most 200 of the sampled rows. */
  rows: Int32Array;
  centered: boolean;
  width: number;
  height: number;
  histHeight: number;
  /** Plot area in px; the same left and right for both plots. */
  left: number;
  right: number;
  top: number;
  bottom: number;
  histTop: number;
  histBottom: number;
  /** Axis units to px: numbers and dates. */
  x: Linear;
  xDomain: [number, number];
  /** Levels to px: categories only. */
  bands: Bands | null;
  /** px of every grid point, the missing level in its own place. */
  px: Float64Array;
  /** px of the lane for the missing level of a number axis, or NaN. */
  missingAt: number;
  xTicks: Ticks;
  y: Linear;
  yTicks: Ticks;
  /** Level labels lie at an angle. */
  tilted: boolean;
  /** px one level label may take. */
  labelRoom: number;
  overlays: Placed[];
  observed: Observed | null;
  tints: string[] | null;
  steps: Steps | null;
  title: string;
  /** Something else is the subject: the partial dependence stands behind it. */
  faint: boolean;
}

/** Slopes of trees are spikes: the axis leaves out the most extreme share of the lines' values. */
const SPIKES = 0.02;
/** px that a group's name may take, in units of the text size. */
const LONGEST_LABEL = 11;
/** More labels than this have one line of text each, if that is wide enough for their rows, too. */
export const MOST_ROOMY = 3;

export const MOST_LINES = 200;

/** The first value that everything is measured from when centred. */
export const firstOf = (values: ArrayLike<number>, centered: boolean): number => (centered ? values[0] : 0);

/** Range of what is to be seen, before padding. */
export function yExtent(
  curve: Curve,
  lines: Ice | null,
  rows: Int32Array,
  shown: Shown | null,
  centered: boolean,
  beside: Beside = ALONE,
): [number, number] | null {
  const first = firstOf(curve.average, centered);
  const shift = (values: ArrayLike<number>, by: number) => Float64Array.from(values, (v) => v - by);
  let range = extent(shift(curve.average, first));
  if (!centered && curve.stderr && curve.rows < curve.total) {
    const { average, stderr } = curve;
    range = union(range, extent(Float64Array.from(average, (v, i) => v - (stderr[i] || 0))));
    range = union(range, extent(Float64Array.from(average, (v, i) => v + (stderr[i] || 0))));
  }
  for (const { values } of beside.overlays) range = union(range, extent(values));
  if (beside.observed) range = union(range, extent(beside.observed.outcome, beside.observed.predicted));
  if (shown && !beside.overlays.some(({ kind }) => kind === "ale"))
    for (const side of [shown.selection.average, shown.rest.average])
      range = union(range, extent(shift(side, firstOf(side, centered))));
  if (lines && beside.steps) {
    const all: number[] = [];
    for (const row of rows) for (let k = 0; k < lines.k; k++) all.push(lines.values[row * lines.k + k]);
    const values = Float64Array.from(all.filter(Number.isFinite)).sort();
    const at = (share: number) => values[Math.round(share * (values.length - 1))];
    if (values.length > 0) range = union(range, [at(SPIKES), at(1 - SPIKES)]);
  } else if (lines) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const row of rows) {
      const start = row * lines.k;
      const by = centered ? lines.values[start] : -lines.offset;
      for (let k = 0; k < lines.k; k++) {
        const v = lines.values[start + k] - by;
        if (v < low) low = v;
        if (v > high) high = v;
      }
    }
    if (low <= high) range = union(range, [low, high]);
  }
  return range;
}

/** y axes must not jump: while rows come in, or a brush moves, the range only grows. */
export class Sticky {
  #key = "";
  #range: [number, number] | null = null;

  update(key: string, grow: boolean, range: [number, number] | null): [number, number] | null {
    const next = grow && key === this.#key ? union(this.#range, range) : range;
    this.#key = key;
    const before = this.#range;
    if (!before || !next || before[0] !== next[0] || before[1] !== next[1]) this.#range = next;
    return this.#range;
  }
}

export interface SceneInput {
  curve: Curve;
  lines: Ice | null;
  centered: boolean;
  width: number;
  height: number;
  range: [number, number] | null;
  rows: Int32Array;
  text: number;
  measure(text: string): number;
  beside?: Beside;
}

export function rowsToDraw(lines: Ice | null): Int32Array {
  return lines ? picks(lines.m, MOST_LINES) : new Int32Array(0);
}

export function makeScene(input: SceneInput): Scene {
  const { curve, lines, centered, width, height, text, measure, rows, beside = ALONE } = input;
  const isBands = curve.kind === "category";
  const n = curve.x.length;
  const top = Math.round(text * 0.9);
  const bottom = height - 4;

  const yDomain = padded(input.range, 0.04);
  const yTicks = numberTicks(yDomain, Math.max(3, Math.min(7, Math.floor(height / (text * 4)))));
  const yWidth = Math.max(...yTicks.labels.map(measure), measure("0.00"));
  const left = Math.ceil(yWidth + text);
  const widest = (texts: string[]) => Math.max(0, ...texts.map(measure));
  const inLine = beside.overlays.length >= MOST_ROOMY; // with their rows behind them
  const names = beside.overlays.map((o) => `${nameOf(o)}${inLine && o.n !== null ? `  n ${count(o.n)}` : ""}`);
  const labels = Math.max(
    widest(["selection", "all rows", "n 10,000"]),
    Math.min(widest([...names, beside.title]), text * LONGEST_LABEL) + (names.length > 0 ? text * 1.2 : 0),
  );
  const right = Math.max(left + 40, width - Math.ceil(labels + text * 1.2));

  const separate = !isBands && curve.missing >= 0;
  const lane = separate ? Math.round(text * 4.4) : 0;
  const start = left + (separate ? lane : 0);
  const missingAt = separate ? left + lane / 2 - 2 : Number.NaN;

  const positions = axisPositions(curve);
  const data = union(extent(positions), extent(curve.hist?.edges));
  const xDomain: [number, number] = isBands ? [-0.5, n - 0.5] : data && data[1] > data[0] ? data : padded(data, 0);
  // A few px of air, so that a line's ends are not cut by the axis.
  const x = linear(xDomain, [start + 4, right - 2]);
  const levels = isBands ? bands(n, [left, right], curve.missing) : null;
  const px = Float64Array.from({ length: n }, (_, i) =>
    levels ? levels.center(i) : i === curve.missing ? missingAt : x(curve.x[i]),
  );

  let tilted = false;
  let labelRoom = 0;
  let axisRoom = text * 1.7;
  let xTicks: Ticks = { values: [], labels: [], offset: "" };
  if (levels) {
    const longest = Math.max(0, ...curve.labels.map(measure));
    labelRoom = levels.step - text * 0.5;
    tilted = longest > labelRoom && labelRoom < text * 5;
    if (tilted) {
      labelRoom = Math.min(longest, text * 8);
      axisRoom = labelRoom * 0.71 + text * 1.5;
    }
  } else {
    const whole = wholeOf(curve);
    const sample = ticksOf(curve.kind, xDomain, 6, whole);
    const wide = Math.max(...sample.labels.map(measure), text * 2) + text * 1.8;
    xTicks = ticksOf(curve.kind, xDomain, Math.max(2, Math.min(10, Math.floor((right - start) / wide))), whole);
  }
  const bars = Math.round(text * 5);
  const histTop = 6;
  const histBottom = histTop + bars;
  const histHeight = Math.ceil(histBottom + axisRoom + text * 1.7);

  return {
    curve,
    lines,
    rows,
    centered,
    width,
    height,
    histHeight,
    left,
    right,
    top,
    bottom,
    histTop,
    histBottom,
    x,
    xDomain,
    bands: levels,
    px,
    missingAt,
    xTicks,
    y: linear(yDomain, [bottom, top]),
    yTicks,
    tilted,
    labelRoom,
    overlays: beside.overlays.map((overlay) => ({
      ...overlay,
      px: Float64Array.from(overlay.x, (v) => (levels ? levels.center(v) : Number.isNaN(v) ? missingAt : x(v))),
    })),
    observed: beside.observed,
    tints: beside.tints,
    steps: beside.steps,
    title: beside.title,
    faint: beside.overlays.some(({ kind }) => kind === "ale"),
  };
}

/** A range in px, inside the axis even where it is not; whole numbers with all of their bar. */
export function brushPx(scene: Scene, { low, high }: Extract<Condition, { type: "range" }>): [number, number] {
  const [x0, x1] = scene.x.range;
  const half = scene.curve.integer ? 0.5 : 0;
  const within = (px: number) => Math.max(x0, Math.min(x1, px));
  return [low === null ? x0 : within(scene.x(low - half)), high === null ? x1 : within(scene.x(high + half))];
}

/** A stretch of an axis in px, and whether it ends there or goes on beyond the axis. */
export interface Span {
  from: number;
  to: number;
  begins: boolean;
  ends: boolean;
}

/** Half the width of the bar of a missing level. */
export const MISSING_HALF = 11;

/** Where conditions on the focused feature stand. */
export function spansOf(scene: Scene, conditions: Condition[]): Span[] {
  const closed = (middle: number, half: number) => ({
    from: middle - half,
    to: middle + half,
    begins: true,
    ends: true,
  });
  const { bands, missingAt } = scene;
  return conditions.flatMap((condition): Span[] => {
    if (condition.feature !== scene.curve.feature || condition.type === "ice") return [];
    if (condition.type === "range") {
      if (bands) return [];
      const [from, to] = brushPx(scene, condition);
      return [{ from, to, begins: condition.low !== null, ends: condition.high !== null }];
    }
    if (bands) return condition.levels.map((level) => closed(bands.center(level), bands.width / 2));
    return Number.isNaN(missingAt) ? [] : [closed(missingAt, MISSING_HALF)];
  });
}

/** A pixel in axis units; levels as fractional indexes. */
export function invertX(scene: Scene, pixel: number): number {
  if (scene.bands) return scene.bands.invert(pixel);
  return Math.max(scene.xDomain[0], Math.min(scene.xDomain[1], scene.x.invert(pixel)));
}

/** Axis units to a pixel; fractional level indexes lie between the centres. */
export function toX(scene: Scene, value: number): number {
  const { bands: levels } = scene;
  if (!levels) return scene.x(value);
  const low = Math.floor(value);
  const a = levels.center(low);
  return a + (levels.center(low + 1) - a) * (value - low);
}
