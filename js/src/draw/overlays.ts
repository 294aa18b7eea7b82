// Paints what stands beside the partial dependence: accumulated effects, groups, other outputs and models, observed means.

import { count } from "../geometry/format";
import { dodge } from "../geometry/hit";
import type { Overlay } from "../geometry/overlays";
import type { Palette } from "../theme";
import { HUES, hueOf } from "./hues";
import { clip } from "./layers";
import { dot, halfMark, LANE_HALF, sideOf, strokePath } from "./paths";
import { MOST_ROOMY, type Placed, type Scene, toX } from "./scene";

type Ctx = CanvasRenderingContext2D;

const DASH = [7, 3];
/** Least px of a group's mark on a level, and between two. */
const LEAST_MARK = 3;
const GAP = 1;
const POINT = 3.2;

export function colourOf({ hue }: Overlay, colours: Palette): string {
  return typeof hue === "number" ? hueOf(hue, colours.dark) : colours[hue];
}

/** Where the marks of a curve stand beside their level, and half their width. */
export function slotOf(scene: Scene, overlay: Overlay): { shift: number; half: number } {
  const room = scene.bands ? scene.bands.width : 4 * LANE_HALF;
  if (overlay.kind === "ale") {
    const side = sideOf(scene);
    const shift = overlay.hue === "selection" ? -side : overlay.hue === "rest" ? side : 0;
    return { shift, half: scene.bands ? halfMark(room) : LANE_HALF };
  }
  const others = scene.overlays.filter(({ kind }) => kind === overlay.kind);
  const slot = room / others.length;
  const half = Math.max(LEAST_MARK, slot - GAP) / 2;
  return { shift: (others.indexOf(overlay as Placed) - (others.length - 1) / 2) * slot, half };
}

export function paintOverlays(ctx: Ctx, scene: Scene, colours: Palette): void {
  for (const overlay of scene.overlays) {
    const { x, values, px, hue, kind, thin: few } = overlay;
    const own = x !== scene.curve.x;
    let missing = -1;
    if (!scene.bands) for (let k = 0; k < x.length; k++) if (Number.isNaN(x[k])) missing = k;
    strokePath(
      ctx,
      scene,
      {
        px,
        values,
        missing,
        thin: (k) => few?.[k] === 1 || (!own && scene.curve.thin?.[k] === 1),
        ...slotOf(scene, overlay),
        dash: typeof hue === "number" && hue >= HUES ? DASH : undefined,
      },
      colourOf(overlay, colours),
      (kind === "model" ? 1.6 : kind === "ale" && hue !== "rest" ? 2.5 : 2) * colours.unit,
      colours.bg,
    );
  }
}

/** Observed means as rings with their standard error, and a tick where the model's own mean for the same rows is. */
export function paintObserved(ctx: Ctx, scene: Scene, colours: Palette): void {
  const { observed, bands, y, missingAt } = scene;
  if (!observed) return;
  const u = colours.unit;
  ctx.save();
  ctx.strokeStyle = colours.ink;
  ctx.fillStyle = colours.bg;
  for (let k = 0; k < observed.x.length; k++) {
    const at = observed.x[k];
    const px = bands
      ? bands.center(at) + bands.width / 2 - 2 * POINT * u
      : Number.isNaN(at)
        ? missingAt
        : toX(scene, at);
    if (Number.isNaN(px)) continue;
    const mean = y(observed.outcome[k]);
    const error = observed.stderr[k];
    ctx.lineWidth = 1.2 * u;
    if (error > 0) {
      ctx.beginPath();
      ctx.moveTo(px, y(observed.outcome[k] - error));
      ctx.lineTo(px, y(observed.outcome[k] + error));
      ctx.stroke();
    }
    ctx.lineWidth = u;
    ctx.beginPath();
    ctx.moveTo(px - 5 * u, y(observed.predicted[k]));
    ctx.lineTo(px + 5 * u, y(observed.predicted[k]));
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(px, mean, POINT * u, 0, Math.PI * 2);
    ctx.fill();
    ctx.lineWidth = 1.4 * u;
    ctx.stroke();
  }
  ctx.restore();
}

/** Dots on the curves at a grid point. */
export function markOverlays(ctx: Ctx, scene: Scene, colours: Palette, at: number): void {
  const apart = scene.bands !== null || at === scene.curve.missing;
  for (const overlay of scene.overlays) {
    const value = overlay.onGrid[at];
    if (Number.isNaN(value) || value === undefined) continue;
    const px = scene.px[at] + (apart ? slotOf(scene, overlay).shift : 0);
    ctx.fillStyle = colours.bg;
    dot(ctx, px, scene.y(value), 4.5 * colours.unit);
    ctx.fillStyle = colourOf(overlay, colours);
    dot(ctx, px, scene.y(value), 3.2 * colours.unit);
  }
}

export interface Label {
  name: string;
  /** Stays behind the name where that is cut. */
  tail: string;
  /** Rows, and whether that is a guess; null for none. */
  n: number | null;
  about?: boolean;
  /** px of the line's end. */
  x: number;
  y: number;
  colour: string;
  /** Colours of groups are no colours for text: a stroke of theirs stands before it. */
  swatch: boolean;
}

export const SWATCH = 14;
const N_GAP = 5;
/** Bold text is so much wider. */
const BOLD = 1.08;

const rowsOf = ({ n, about }: Label) => (n === null ? "" : `${about ? "≈ " : ""}n ${count(n)}`);

/** The end of an overlay's line, as a label wants it. */
export function endOf(scene: Scene, overlay: Placed): { x: number; y: number } {
  let best = -1;
  for (let k = 0; k < overlay.px.length; k++)
    if (!Number.isNaN(overlay.values[k]) && !(overlay.px[k] <= overlay.px[best])) best = k;
  return best < 0
    ? { x: Number.NaN, y: Number.NaN }
    : { x: overlay.px[best] + (scene.bands ? slotOf(scene, overlay).shift : 0), y: scene.y(overlay.values[best]) };
}

/** Names at the lines' ends instead of a legend, none over another. */
export function paintLabels(
  ctx: Ctx,
  scene: Scene,
  colours: Palette,
  labels: Label[],
  measure: (text: string) => number,
): void {
  const visible = labels.filter((l) => !Number.isNaN(l.y));
  const line = colours.text * 1.12;
  // Right where the lines end, if that is before the end of the axis.
  const last = Math.max(scene.left, ...visible.map((l) => l.x));
  const x = Math.min(scene.right, last + (scene.bands ? scene.bands.width / 2 + 2 : 0)) + 8;
  const room = scene.width - x;
  const wide = (l: Label) =>
    (l.swatch ? SWATCH : 0) + measure(l.name + l.tail) * (l.swatch ? 1 : BOLD) + N_GAP + measure(rowsOf(l));
  const roomy =
    visible.length <= MOST_ROOMY ||
    (visible.some((l) => wide(l) > room) && visible.length * (2 * line + 4) < scene.height);
  const places = dodge(
    visible.map((l) => l.y - (roomy ? line : line / 2)),
    roomy ? line * 2 + 4 : line,
    scene.top - line * 0.5,
    scene.height - line * (roomy ? 2 : 1),
  );
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  visible.forEach((label, i) => {
    const py = places[i] + line * 0.5;
    const start = x + (label.swatch ? SWATCH : 0);
    if (label.swatch) {
      ctx.strokeStyle = label.colour;
      ctx.lineWidth = 2.5 * colours.unit;
      ctx.beginPath();
      ctx.moveTo(x, py);
      ctx.lineTo(x + SWATCH - 5, py);
      ctx.stroke();
    }
    ctx.lineWidth = 4;
    ctx.strokeStyle = colours.bg;
    ctx.fillStyle = label.swatch ? colours.ink : label.colour;
    const write = (text: string, left: number, at: number, font: string) => {
      ctx.font = font;
      ctx.strokeText(text, left, at);
      ctx.fillText(text, left, at);
      return left + ctx.measureText(text).width;
    };
    const rows = rowsOf(label);
    const weight = label.swatch ? "" : "600 ";
    const kept = measure(label.tail) + (roomy || !rows ? 0 : N_GAP + measure(rows));
    const name = clip(label.name, (room - (start - x) - kept) / (label.swatch ? 1 : BOLD), measure) + label.tail;
    const end = write(name, start, py, `${weight}${colours.text * 0.92}px ${colours.font}`);
    const small = `${colours.text * 0.88}px ${colours.font}`;
    if (roomy) write(rows, start, py + line, small);
    else write(rows, end + N_GAP, py, small);
  });
}
