// Mean curves on a canvas: lines on axes of numbers and dates, marks on levels and at the missing level.

import { firstOf, type Scene } from "./scene";

type Ctx = CanvasRenderingContext2D;

const DASH = [4, 4];
/** The background's colour around a mean, which keeps it apart from the pale lines below. */
const HALO = 3;
/** Half a mark in the lane of the missing level of a number axis. */
export const LANE_HALF = 5;

/** What is drawn, in px and final values. */
export interface Path {
  px: ArrayLike<number>;
  values: ArrayLike<number>;
  /** The point that stands apart from a line, or -1. */
  missing: number;
  thin(k: number): boolean;
  /** Half a mark. */
  half: number;
  /** Marks stand so far beside their place. */
  shift: number;
  dash?: number[];
}

/** A mean curve: solid where there is data, dashed where it is thin or its own side is; levels as marks. */
export function meanPath(
  ctx: Ctx,
  scene: Scene,
  { average, thin: few }: { average: ArrayLike<number>; thin?: ArrayLike<number> | null },
  colour: string,
  width: number,
  shift: number,
  casing: string,
): void {
  const { px, curve, centered, bands } = scene;
  const first = firstOf(average, centered);
  strokePath(
    ctx,
    scene,
    {
      px,
      values: centered ? Float64Array.from(average, (v) => v - first) : average,
      missing: curve.missing,
      thin: (k) => curve.thin?.[k] === 1 || few?.[k] === 1,
      half: bands ? halfMark(bands.width) : LANE_HALF,
      shift,
    },
    colour,
    width,
    casing,
  );
}

export function strokePath(ctx: Ctx, scene: Scene, path: Path, colour: string, width: number, casing: string): void {
  const { y, bands } = scene;
  const { px, values, missing, thin, half, shift, dash } = path;
  const n = Math.min(px.length, values.length);
  const at = (k: number) => y(values[k]);
  const known = (k: number) => !Number.isNaN(values[k]) && (bands !== null || k !== missing);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineCap = "round";
  if (bands) {
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
      ctx.setLineDash(dashed ? DASH : (dash ?? []));
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
    if (missing >= 0 && !Number.isNaN(values[missing]))
      levelMark(ctx, px[missing] + shift, at(missing), half, width, thin(missing), casing);
  }
  ctx.restore();
}

/** Three marks side by side are as wide as the bar below; where that is too narrow for three they lie over each other. */
const NARROW = 20;
const gapOf = (width: number) => Math.min(3, width * 0.06);
export const halfMark = (width: number) => (width < NARROW ? width / 2 : (width - 2 * gapOf(width)) / 6);
/** How far the selection and the rest stand beside all rows. */
export function sideOf({ bands }: Scene): number {
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

export function dot(ctx: Ctx, x: number, y: number, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, Math.PI * 2);
  ctx.fill();
}
