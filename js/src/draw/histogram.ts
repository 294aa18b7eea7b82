// Paints the distribution below the curves: bars, deciles, the shared x axis, and on the overlay the selected part
// and the brush.

import { count } from "../geometry/format";
import { barCounts } from "../geometry/subset";
import type { Shown } from "../store";
import type { Palette } from "../theme";
import { clip } from "./layers";
import { MISSING_HALF, type Scene } from "./scene";

type Ctx = CanvasRenderingContext2D;

export interface Bar {
  x: number;
  width: number;
}

/** Left edge and width of every bar in px; the missing level last. */
export function barsOf(scene: Scene): Bar[] {
  const { curve, bands, x } = scene;
  const hist = curve.hist;
  if (!hist) return [];
  const bars: Bar[] = [];
  const last = barCounts(curve).length;
  for (let b = 0; b < last; b++) {
    if (bands) bars.push({ x: bands.center(b) - bands.width / 2, width: bands.width });
    else if (hist.edges && b < hist.edges.length - 1) {
      const x0 = x(hist.edges[b]);
      const x1 = x(hist.edges[b + 1]);
      const gap = x1 - x0 > 4 ? 1 : 0;
      bars.push({ x: x0 + gap / 2, width: Math.max(1, x1 - x0 - gap) });
    } else if (!Number.isNaN(scene.missingAt))
      bars.push({ x: scene.missingAt - MISSING_HALF, width: 2 * MISSING_HALF });
  }
  return bars;
}

function fillBars(ctx: Ctx, scene: Scene, counts: ArrayLike<number>, most: number): void {
  const { histTop, histBottom } = scene;
  const height = histBottom - histTop;
  barsOf(scene).forEach((bar, b) => {
    const n = counts[b] ?? 0;
    if (!(n > 0)) return;
    const h = Math.max(1, (height * n) / most);
    ctx.fillRect(bar.x, histBottom - h, bar.width, h);
  });
}

const mostOf = (counts: ArrayLike<number>): number => {
  let most = 1;
  for (let i = 0; i < counts.length; i++) if (counts[i] > most) most = counts[i];
  return most;
};

export function paintHistogramBase(ctx: Ctx, scene: Scene, colours: Palette, measure: (text: string) => number): void {
  const { curve, left, right, histTop, histBottom, bands, xTicks } = scene;
  const { text } = colours;
  const small = `${text * 0.92}px ${colours.font}`;
  ctx.font = small;
  const counts = barCounts(curve);
  if (counts.length > 0) {
    const most = mostOf(counts);
    ctx.fillStyle = colours.bar;
    fillBars(ctx, scene, counts, most);
    ctx.fillStyle = colours.muted;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillText(count(most), left - 6, histTop + text * 0.4);
    ctx.fillText("n", left - 6, histBottom - text * 0.4);
  }
  ctx.strokeStyle = colours.faint;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(left, histBottom + 0.5);
  ctx.lineTo(right, histBottom + 0.5);
  ctx.stroke();

  ctx.textBaseline = "top";
  ctx.textAlign = "center";
  ctx.fillStyle = colours.muted;
  const labelY = histBottom + text * 0.65;
  if (bands) {
    const every = Math.max(1, Math.ceil((text * 1.15) / bands.step));
    for (let k = 0; k < curve.labels.length; k++) {
      if (scene.tilted && k % every !== 0) continue;
      const label = clip(curve.labels[k], scene.labelRoom, measure);
      const cx = bands.center(k);
      if (scene.tilted) {
        ctx.save();
        ctx.translate(cx + text * 0.35, labelY);
        ctx.rotate(-Math.PI / 4);
        ctx.textAlign = "right";
        ctx.fillText(label, 0, 0);
        ctx.restore();
      } else ctx.fillText(label, cx, labelY);
    }
  } else {
    ctx.strokeStyle = colours.faint;
    let free = Number.NEGATIVE_INFINITY;
    if (!Number.isNaN(scene.missingAt)) {
      ctx.fillText("missing", scene.missingAt, labelY);
      free = scene.missingAt + measure("missing") / 2 + 6;
    }
    xTicks.values.forEach((value, i) => {
      const px = scene.x(value);
      const half = measure(xTicks.labels[i]) / 2;
      // Labels stay inside the picture and never touch.
      const cx = Math.min(px, scene.width - half - 1);
      if (cx - half < free) return;
      ctx.fillText(xTicks.labels[i], cx, labelY);
      free = cx + half + 6;
      ctx.beginPath();
      ctx.moveTo(Math.round(px) + 0.5, histBottom + 1);
      ctx.lineTo(Math.round(px) + 0.5, histBottom + 4);
      ctx.stroke();
    });
    if (curve.deciles) {
      ctx.strokeStyle = colours.ink;
      ctx.globalAlpha = 0.75;
      for (let i = 0; i < curve.deciles.length; i++) {
        const px = Math.round(scene.x(curve.deciles[i])) + 0.5;
        ctx.beginPath();
        ctx.moveTo(px, histBottom - 3);
        ctx.lineTo(px, histBottom + 3);
        ctx.stroke();
      }
      ctx.globalAlpha = 1;
    }
  }
  ctx.fillStyle = colours.ink;
  ctx.font = `600 ${text * 0.92}px ${colours.font}`;
  const suffix =
    xTicks.offset === "" ? "" : curve.kind === "datetime" ? `  (${xTicks.offset})` : `  (+ ${xTicks.offset})`;
  const name = clip(curve.feature, right - left - measure(suffix), measure);
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  ctx.fillText(name + suffix, (left + right) / 2, scene.histHeight - 2);
}

export interface HistogramOverlay {
  shown: Shown | null;
  /** Brush in px, or null. */
  brush: [number, number] | null;
  focused: boolean;
  /** Bar under the pointer or the keyboard, or -1. */
  bar: number;
  levels: ArrayLike<number> | null;
}

export function paintHistogramOverlay(ctx: Ctx, scene: Scene, colours: Palette, over: HistogramOverlay): void {
  const { histTop, histBottom, curve } = scene;
  if (over.shown && curve.hist) {
    ctx.fillStyle = colours.selection;
    fillBars(ctx, scene, over.shown.selection.counts, mostOf(barCounts(curve)));
  }
  const bar = over.bar >= 0 ? barsOf(scene)[over.bar] : undefined;
  if (bar) {
    ctx.strokeStyle = over.focused ? colours.selection : colours.muted;
    ctx.lineWidth = over.focused ? 2 : 1;
    ctx.strokeRect(Math.round(bar.x) - 1.5, histTop - 1.5, Math.round(bar.width) + 3, histBottom - histTop + 2);
  }
  if (over.levels && scene.bands) {
    ctx.fillStyle = colours.selection;
    for (let i = 0; i < over.levels.length; i++)
      ctx.fillRect(scene.bands.center(over.levels[i]) - scene.bands.width / 2, histBottom + 1, scene.bands.width, 3);
  } else if (over.levels && !Number.isNaN(scene.missingAt)) {
    ctx.fillStyle = colours.selection;
    ctx.fillRect(scene.missingAt - MISSING_HALF, histBottom + 1, 2 * MISSING_HALF, 3);
  }
  if (over.brush) {
    const [x0, x1] = over.brush;
    ctx.fillStyle = colours.selection;
    ctx.globalAlpha = 0.13;
    ctx.fillRect(x0, histTop - 4, x1 - x0, histBottom - histTop + 4);
    ctx.globalAlpha = 1;
    // Edges with a grip, so that one sees they can be moved.
    const middle = (histTop + histBottom) / 2;
    ctx.strokeStyle = colours.bg;
    ctx.lineWidth = 1.5;
    for (const x of [x0, x1]) {
      ctx.fillRect(Math.round(x) - 0.75, histTop - 4, 1.5, histBottom - histTop + 4);
      ctx.beginPath();
      ctx.roundRect(x - 3, middle - 9, 6, 18, 3);
      ctx.fill();
      ctx.stroke();
    }
  }
}
