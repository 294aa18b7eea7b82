// Paints the curves: a base layer that changes with the data, an overlay that changes with the brush and the pointer.

import type { Condition } from "../model";
import type { Shown } from "../store";
import type { Palette } from "../theme";
import { layered } from "./layers";
import { colourOf, endOf, type Label, markOverlays, paintLabels, paintObserved, paintOverlays } from "./overlays";
import { dot, halfMark, LANE_HALF, meanPath, sideOf } from "./paths";
import { firstOf, type Scene, toX } from "./scene";

type Ctx = CanvasRenderingContext2D;

/** However many lines lie over each other, they stay paler than a mean. */
const MOST_INK = 0.36;
const MOST_CHOSEN = 0.44;
/** Colours that are to be told apart need more. */
const MOST_TINTED = 0.6;

/** One row's line, broken at NaN and at the missing level of a number axis. */
function rowPath(ctx: Ctx, scene: Scene, row: number): void {
  const { lines, px, y, centered, curve, bands } = scene;
  if (!lines) return;
  const start = row * lines.k;
  const by = centered ? lines.values[start] : -lines.offset;
  let pen = false;
  ctx.beginPath();
  for (let k = 0; k < lines.k; k++) {
    const value = lines.values[start + k] - by;
    if (Number.isNaN(value) || (!bands && k === curve.missing)) {
      pen = false;
      continue;
    }
    const py = y(value);
    if (pen) ctx.lineTo(px[k], py);
    else ctx.moveTo(px[k], py);
    pen = true;
  }
  ctx.stroke();
  // One grid point draws no line, and the missing level stands apart: short marks, spread a little.
  const alone = lines.k === 1 ? 0 : bands ? -1 : curve.missing;
  if (alone >= 0) {
    const value = lines.values[start + alone] - by;
    if (!Number.isNaN(value)) {
      const spread = (((row * 0.618034) % 1) - 0.5) * 20;
      ctx.beginPath();
      ctx.moveTo(px[alone] + spread - 3, y(value));
      ctx.lineTo(px[alone] + spread + 3, y(value));
      ctx.stroke();
    }
  }
}

/** How pale a line among `n` lines is. */
const paleness = (n: number, most: number, strength: number) => Math.min(most, strength / Math.sqrt(Math.max(1, n)));

/** Single rows' lines on a layer of their own, at most so opaque; in one colour, or in one per sampled row. */
function rowLines(
  ctx: Ctx,
  scene: Scene,
  rows: ArrayLike<number>,
  colour: string | string[],
  width: number,
  most: number,
): void {
  const several = typeof colour !== "string";
  layered(ctx, most, (layer) => {
    if (!several) layer.strokeStyle = colour;
    layer.lineWidth = width;
    layer.globalAlpha = paleness(rows.length, 1, (several ? 5 : 2) / most);
    for (let i = 0; i < rows.length; i++) {
      if (several) layer.strokeStyle = colour[rows[i]];
      rowPath(layer, scene, rows[i]);
    }
  });
}

/** The standard error as a band; as whiskers for levels and for the missing level. */
function errorBand(ctx: Ctx, scene: Scene, colours: Palette): void {
  const { curve, px, y, centered, bands } = scene;
  const { average, stderr } = curve;
  if (!stderr || centered || curve.rows >= curve.total) return;
  const n = px.length;
  const lone = (k: number) => bands !== null || k === curve.missing;
  ctx.save();
  ctx.fillStyle = colours.ink;
  ctx.strokeStyle = colours.ink;
  ctx.globalAlpha = 0.14;
  let k = 0;
  while (k < n) {
    if (lone(k) || !(stderr[k] > 0)) {
      k++;
      continue;
    }
    const begin = k;
    while (k < n && !lone(k) && stderr[k] > 0) k++;
    ctx.beginPath();
    for (let i = begin; i < k; i++) ctx.lineTo(px[i], y(average[i] + stderr[i]));
    for (let i = k - 1; i >= begin; i--) ctx.lineTo(px[i], y(average[i] - stderr[i]));
    ctx.fill();
  }
  ctx.globalAlpha = 0.2;
  ctx.lineWidth = 2 * (bands ? halfMark(bands.width) : LANE_HALF);
  for (let i = 0; i < n; i++) {
    if (!lone(i) || !(stderr[i] > 0)) continue;
    ctx.beginPath();
    ctx.moveTo(px[i], y(average[i] - stderr[i]));
    ctx.lineTo(px[i], y(average[i] + stderr[i]));
    ctx.stroke();
  }
  ctx.restore();
}

export function paintCurvesBase(ctx: Ctx, scene: Scene, colours: Palette): void {
  const { left, right, top, bottom, y, yTicks, missingAt } = scene;
  const u = colours.unit;
  ctx.font = `${colours.text * 0.92}px ${colours.font}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.lineWidth = 1;
  yTicks.values.forEach((value, i) => {
    const py = Math.round(y(value)) + 0.5;
    ctx.strokeStyle = colours.hair;
    ctx.beginPath();
    ctx.moveTo(left, py);
    ctx.lineTo(right, py);
    ctx.stroke();
    ctx.fillStyle = colours.muted;
    ctx.fillText(yTicks.labels[i], left - 6, py);
  });
  if (scene.centered || (scene.steps && y.domain[0] < 0 && y.domain[1] > 0)) {
    const py = Math.round(y(0)) + 0.5;
    ctx.strokeStyle = colours.faint;
    ctx.beginPath();
    ctx.moveTo(left, py);
    ctx.lineTo(right, py);
    ctx.stroke();
  }
  if (!Number.isNaN(missingAt)) {
    const px = Math.round(scene.x.range[0] - 8) + 0.5;
    ctx.strokeStyle = colours.faint;
    ctx.setLineDash([1, 3]);
    ctx.beginPath();
    ctx.moveTo(px, top);
    ctx.lineTo(px, bottom);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top - 4, right - left + 2, bottom - top + 8);
  ctx.clip();
  if (scene.lines)
    rowLines(ctx, scene, scene.rows, scene.tints ?? colours.ink, 0.9 * u, scene.tints ? MOST_TINTED : MOST_INK);
  errorBand(ctx, scene, colours);
  ctx.restore();
  allRows(ctx, scene, colours);
}

/** The partial dependence of all rows; as a thin line where something else is the subject. */
function allRows(ctx: Ctx, scene: Scene, colours: Palette): void {
  const all = { average: scene.curve.average };
  if (scene.faint) meanPath(ctx, scene, all, colours.muted, 1.2 * colours.unit, 0, colours.bg);
  else meanPath(ctx, scene, all, colours.ink, 2.5 * colours.unit, 0, colours.bg);
}

export interface Rect {
  x: [number, number];
  y: [number, number];
}

export interface CurvesOverlay {
  measure(text: string): number;
  shown: Shown | null;
  mask: ArrayLike<number> | null;
  /** Grid index under the pointer, or -1. */
  at: number;
  /** Sampled row whose line is near the pointer, or -1. */
  row: number;
  rect: Rect | null;
  conditions: Condition[];
}

export function paintCurvesOverlay(ctx: Ctx, scene: Scene, colours: Palette, over: CurvesOverlay): void {
  const { left, right, top, bottom, curve, bands, px, y } = scene;
  const { shown, mask } = over;
  const u = colours.unit;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top - 4, right - left + 2, bottom - top + 8);
  ctx.clip();
  if (mask && scene.lines && mask.length === scene.lines.m) {
    const chosen = scene.rows.filter((row) => mask[row] === 1);
    rowLines(ctx, scene, chosen, colours.selection, u, MOST_CHOSEN);
  }
  const side = sideOf(scene);
  if (shown && scene.faint) allRows(ctx, scene, colours);
  else if (shown) {
    meanPath(ctx, scene, shown.rest, colours.rest, 2 * u, side, colours.bg);
    // All rows stay the boldest line, above the rest and below the selection.
    allRows(ctx, scene, colours);
    meanPath(ctx, scene, shown.selection, colours.selection, 2.5 * u, -side, colours.bg);
  }
  paintOverlays(ctx, scene, colours);
  paintObserved(ctx, scene, colours);
  if (over.row >= 0) {
    ctx.strokeStyle = colours.bg;
    ctx.lineWidth = 3 * u;
    rowPath(ctx, scene, over.row);
    ctx.strokeStyle = colours.ink;
    ctx.lineWidth = 1.2 * u;
    rowPath(ctx, scene, over.row);
  }
  ctx.restore();

  if (over.at >= 0 && over.at < px.length) {
    const x = Math.round(px[over.at]) + 0.5;
    ctx.strokeStyle = colours.faint;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    const separate = bands || over.at === curve.missing;
    const mark = (values: ArrayLike<number>, colour: string, shift: number) => {
      const value = values[over.at] - firstOf(values, scene.centered);
      if (Number.isNaN(value)) return;
      ctx.fillStyle = colours.bg;
      dot(ctx, px[over.at] + shift, y(value), 4.5 * u);
      ctx.fillStyle = colour;
      dot(ctx, px[over.at] + shift, y(value), 3.2 * u);
    };
    const sides = scene.faint ? null : shown;
    if (sides) mark(sides.rest.average, colours.rest, separate ? side : 0);
    mark(curve.average, scene.faint ? colours.muted : colours.ink, 0);
    if (sides) mark(sides.selection.average, colours.selection, separate ? -side : 0);
    markOverlays(ctx, scene, colours, over.at);
  }

  for (const condition of over.conditions)
    if (
      !scene.steps &&
      condition.type === "ice" &&
      condition.feature === curve.feature &&
      condition.output === curve.output &&
      condition.centered === scene.centered
    )
      rectangle(ctx, scene, colours, condition, false);
  if (over.rect) rectangle(ctx, scene, colours, over.rect, true);
  paintLabels(ctx, scene, colours, labelsOf(scene, colours, shown), over.measure);
}

function rectangle(ctx: Ctx, scene: Scene, colours: Palette, rect: Rect, live: boolean): void {
  const [x0, x1] = rect.x.map((v) => toX(scene, v)).sort((a, b) => a - b);
  const [y0, y1] = rect.y.map((v) => scene.y(v)).sort((a, b) => a - b);
  ctx.save();
  ctx.fillStyle = colours.selection;
  ctx.globalAlpha = live ? 0.12 : 0.06;
  ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colours.selection;
  ctx.lineWidth = 1;
  ctx.setLineDash(live ? [] : [3, 3]);
  ctx.strokeRect(Math.round(x0) + 0.5, Math.round(y0) + 0.5, Math.round(x1 - x0), Math.round(y1 - y0));
  ctx.restore();
}

/** What stands at the lines' ends. */
function labelsOf(scene: Scene, colours: Palette, shown: Shown | null): Label[] {
  const { curve } = scene;
  const order = Array.from(scene.px, (_, k) => k).sort((a, b) => scene.px[b] - scene.px[a]);
  const end = (values: ArrayLike<number>) => {
    const k = order.find((i) => !Number.isNaN(values[i]));
    if (k === undefined) return { x: Number.NaN, y: Number.NaN };
    return { x: scene.px[k], y: scene.y(values[k] - firstOf(values, scene.centered)) };
  };
  const faint = scene.faint ? colours.muted : colours.ink;
  const labels: Label[] = [
    {
      name: scene.title,
      tail: "",
      n: scene.faint ? null : curve.rows,
      colour: faint,
      swatch: false,
      ...end(curve.average),
    },
  ];
  if (shown && !scene.faint) {
    const { selection, rest } = shown;
    const common = { tail: "", about: !shown.exact, swatch: false };
    labels.push({ name: "selection", n: selection.n, colour: colours.selection, ...common, ...end(selection.average) });
    labels.push({ name: "rest", n: rest.n, colour: colours.rest, ...common, ...end(rest.average) });
  }
  for (const overlay of scene.overlays) {
    const swatch = typeof overlay.hue === "number";
    labels.push({
      name: overlay.name,
      tail: overlay.note && `, ${overlay.note}`,
      n: overlay.n,
      colour: colourOf(overlay, colours),
      swatch,
      ...endOf(scene, overlay),
    });
  }
  return labels;
}
