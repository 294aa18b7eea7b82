// Paints the curves: a base layer that changes with the data, an overlay that changes with the brush and the pointer.

import { count } from "../geometry/format";
import { dodge } from "../geometry/hit";
import type { Condition } from "../model";
import type { Shown } from "../store";
import type { Palette } from "../theme";
import { layered } from "./layers";
import { firstOf, type Scene, toX } from "./scene";

type Ctx = CanvasRenderingContext2D;

const DASH = [4, 4];
/** The background's colour around a mean, which keeps it apart from the pale lines below. */
const HALO = 3;
/** Half a mark in the lane of the missing level of a number axis. */
const LANE_HALF = 5;
/** However many lines lie over each other, they stay paler than a mean. */
const MOST_INK = 0.36;
const MOST_CHOSEN = 0.44;

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

/** A mean curve: solid where there is data, dashed where it is thin or its own side is; levels as marks. */
function meanPath(
  ctx: Ctx,
  scene: Scene,
  { average: values, thin: few }: { average: ArrayLike<number>; thin?: ArrayLike<number> | null },
  colour: string,
  width: number,
  shift: number,
  casing: string,
): void {
  const { px, y, curve, centered, bands } = scene;
  const first = firstOf(values, centered);
  const n = Math.min(px.length, values.length);
  const at = (k: number) => y(values[k] - first);
  const known = (k: number) => !Number.isNaN(values[k]) && (bands !== null || k !== curve.missing);
  const thin = (k: number) => curve.thin?.[k] === 1 || few?.[k] === 1;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineCap = "round";
  if (bands) {
    const half = halfMark(bands.width);
    for (let k = 0; k < n; k++) if (known(k)) levelMark(ctx, px[k] + shift, at(k), half, width, thin(k), casing);
  } else {
    let k = 0;
    while (k < n - 1) {
      if (!known(k) || !known(k + 1)) {
        k++;
        continue;
      }
      const dashed = thin(k) || thin(k + 1);
      ctx.beginPath();
      ctx.moveTo(px[k], at(k));
      while (k < n - 1 && known(k) && known(k + 1) && (thin(k) || thin(k + 1)) === dashed) {
        ctx.lineTo(px[k + 1], at(k + 1));
        k++;
      }
      // A fine edge in the background's colour keeps the line apart from the pale ones below.
      // Between dashes one sees what lies below, be it the same curve of other rows.
      ctx.setLineDash(dashed ? DASH : []);
      ctx.lineCap = "butt";
      ctx.strokeStyle = casing;
      ctx.lineWidth = width + HALO;
      ctx.stroke();
      ctx.lineCap = dashed ? "butt" : "round";
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.stroke();
      ctx.setLineDash([]);
    }
    // Points that no line reaches.
    for (k = 0; k < n; k++)
      if (known(k) && !(k > 0 && known(k - 1)) && !(k < n - 1 && known(k + 1))) dot(ctx, px[k], at(k), width * 1.5);
    if (curve.missing >= 0 && !Number.isNaN(values[curve.missing]))
      levelMark(ctx, px[curve.missing] + shift, at(curve.missing), LANE_HALF, width, thin(curve.missing), casing);
  }
  ctx.restore();
}

/** Three marks side by side are as wide as the bar below; where that is too narrow for three they lie over each other. */
const NARROW = 20;
const gapOf = (width: number) => Math.min(3, width * 0.06);
const halfMark = (width: number) => (width < NARROW ? width / 2 : (width - 2 * gapOf(width)) / 6);
/** How far the selection and the rest stand beside all rows. */
function sideOf({ bands }: Scene): number {
  if (!bands) return 2 * LANE_HALF + 2;
  return bands.width < NARROW ? 0 : 2 * halfMark(bands.width) + gapOf(bands.width);
}

function levelMark(ctx: Ctx, x: number, y: number, half: number, width: number, hollow: boolean, casing: string): void {
  const colour = ctx.strokeStyle;
  ctx.beginPath();
  ctx.moveTo(x - half, y);
  ctx.lineTo(x + half, y);
  ctx.lineCap = "butt";
  ctx.strokeStyle = casing;
  ctx.lineWidth = width + HALO;
  ctx.stroke();
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(hollow ? [3, 3] : []);
  ctx.stroke();
  ctx.setLineDash([]);
}

function dot(ctx: Ctx, x: number, y: number, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, Math.PI * 2);
  ctx.fill();
}

/** How pale a line among `n` lines is. */
const paleness = (n: number, most: number, strength: number) => Math.min(most, strength / Math.sqrt(Math.max(1, n)));

/** Single rows' lines on a layer of their own, at most so opaque. */
function rowLines(ctx: Ctx, scene: Scene, rows: ArrayLike<number>, colour: string, width: number, most: number): void {
  layered(ctx, most, (layer) => {
    layer.strokeStyle = colour;
    layer.lineWidth = width;
    layer.globalAlpha = paleness(rows.length, 1, 2 / most);
    for (let i = 0; i < rows.length; i++) rowPath(layer, scene, rows[i]);
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
  const { left, right, top, bottom, y, yTicks, curve, missingAt } = scene;
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
  if (scene.centered) {
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
  if (scene.lines) rowLines(ctx, scene, scene.rows, colours.ink, 0.9 * u, MOST_INK);
  errorBand(ctx, scene, colours);
  ctx.restore();
  meanPath(ctx, scene, { average: curve.average }, colours.ink, 2.5 * u, 0, colours.bg);
}

export interface Rect {
  x: [number, number];
  y: [number, number];
}

export interface CurvesOverlay {
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
  if (shown) {
    meanPath(ctx, scene, shown.rest, colours.rest, 2 * u, side, colours.bg);
    // All rows stay the boldest line, above the rest and below the selection.
    meanPath(ctx, scene, { average: curve.average }, colours.ink, 2.5 * u, 0, colours.bg);
    meanPath(ctx, scene, shown.selection, colours.selection, 2.5 * u, -side, colours.bg);
  }
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
    if (shown) mark(shown.rest.average, colours.rest, separate ? side : 0);
    mark(curve.average, colours.ink, 0);
    if (shown) mark(shown.selection.average, colours.selection, separate ? -side : 0);
  }

  for (const condition of over.conditions)
    if (
      condition.type === "ice" &&
      condition.feature === curve.feature &&
      condition.output === curve.output &&
      condition.centered === scene.centered
    )
      rectangle(ctx, scene, colours, condition, false);
  if (over.rect) rectangle(ctx, scene, colours, over.rect, true);
  directLabels(ctx, scene, colours, shown);
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

/** Names at the lines' ends instead of a legend. */
function directLabels(ctx: Ctx, scene: Scene, colours: Palette, shown: Shown | null): void {
  const { curve, y, right, top } = scene;
  let last = scene.left;
  const end = (values: ArrayLike<number>): number => {
    const order = Array.from(scene.px, (_, k) => k).sort((a, b) => scene.px[b] - scene.px[a]);
    const k = order.find((i) => !Number.isNaN(values[i]));
    if (k === undefined) return Number.NaN;
    last = Math.max(last, scene.px[k]);
    return y(values[k] - firstOf(values, scene.centered));
  };
  const about = shown && !shown.exact ? "≈ " : "";
  const labels = [{ name: "all rows", n: curve.rows, at: end(curve.average), colour: colours.ink, about: "" }];
  if (shown) {
    const { selection, rest } = shown;
    labels.push({ name: "selection", n: selection.n, at: end(selection.average), colour: colours.selection, about });
    labels.push({ name: "rest", n: rest.n, at: end(rest.average), colour: colours.rest, about });
  }
  const visible = labels.filter((l) => !Number.isNaN(l.at));
  const line = colours.text * 1.12;
  const places = dodge(
    visible.map((l) => l.at - line),
    line * 2 + 4,
    top - line * 0.5,
    scene.height - line * 2,
  );
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  // Right where the lines end, if that is before the end of the axis.
  const x = Math.min(right, last + (scene.bands ? scene.bands.width / 2 + 2 : 0)) + 8;
  ctx.lineWidth = 4;
  ctx.strokeStyle = colours.bg;
  visible.forEach((label, i) => {
    const py = places[i] + line * 0.5;
    ctx.fillStyle = label.colour;
    ctx.font = `600 ${colours.text * 0.92}px ${colours.font}`;
    ctx.strokeText(label.name, x, py);
    ctx.fillText(label.name, x, py);
    ctx.font = `${colours.text * 0.88}px ${colours.font}`;
    ctx.strokeText(`${label.about}n ${count(label.n)}`, x, py + line);
    ctx.fillText(`${label.about}n ${count(label.n)}`, x, py + line);
  });
}
