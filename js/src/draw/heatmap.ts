// Paints a heatmap: cells, hatching, contour lines, both distributions, both axes, the legend of colours, and on top the selection, the
// brush and the cell under the pointer.

import type { Ticks } from "../geometry/format";
import { linear } from "../geometry/scale";
import { cellText, type Lane } from "../geometry/surface";
import type { Palette } from "../theme";
import { ramp } from "./colour";
import type { Heat } from "./heatscene";
import { clip } from "./layers";

type Ctx = CanvasRenderingContext2D;
type Measure = (text: string) => number;

export interface Over {
  /** The selection in px: every rectangle of these stretches. */
  selected: { x: [number, number][] | null; y: [number, number][] | null };
  /** Two corners of the rectangle that keys draw, as cells. */
  box: [number, number, number, number] | null;
  /** The cell under the pointer or the keys. */
  cell: [number, number] | null;
  caption: string;
}

const round = Math.round;

export function paintHeat(ctx: Ctx, heat: Heat, colours: Palette, dark: boolean, measure: Measure, over: Over): void {
  const scale = ramp(heat.domain, heat.diverging, dark);
  const { x, y, values, empty, left, right, top, bottom } = heat;
  const ny = y.low.length;
  const cell = (i: number, j: number): [number, number, number, number] => {
    const [a, b] = [round(x.low[i]), round(y.low[j])];
    return [a, b, round(x.high[i]) - a, round(y.high[j]) - b];
  };
  const hatched = new Path2D();
  let any = false;
  for (let i = 0; i < x.low.length; i++) {
    for (let j = 0; j < ny; j++) {
      const value = values[i * ny + j];
      if (Number.isNaN(value)) continue;
      ctx.fillStyle = scale.of(value);
      ctx.fillRect(...cell(i, j));
      if (empty[i * ny + j]) {
        hatched.rect(...cell(i, j));
        any = true;
      }
    }
  }
  ctx.lineWidth = 1;
  for (const { level, segments } of heat.lines) {
    ctx.strokeStyle = scale.light(level) < 0.22 ? "rgba(255,255,255,0.7)" : "rgba(0,0,0,0.55)";
    ctx.lineWidth = heat.diverging && level === 0 ? 1.6 : 1;
    ctx.beginPath();
    for (let s = 0; s < segments.length; s += 4) {
      ctx.moveTo(segments[s], segments[s + 1]);
      ctx.lineTo(segments[s + 2], segments[s + 3]);
    }
    ctx.stroke();
  }
  if (any) hatch(ctx, hatched, heat, colours);
  paintBars(ctx, heat, colours);
  paintAxes(ctx, heat, colours, measure);
  paintLegend(ctx, heat, colours, scale, measure, over);
  paintSelected(ctx, heat, colours, over);
  if (over.cell) {
    const [i, j] = over.cell;
    const [a, b, w, h] = cell(i, j);
    for (const [style, width] of [
      [colours.bg, 3.5],
      [colours.ink, 1.5],
    ] as const) {
      ctx.strokeStyle = style;
      ctx.lineWidth = width;
      ctx.strokeRect(a, b, w, h);
    }
    // Where it stands in the two distributions.
    ctx.fillStyle = colours.ink;
    ctx.fillRect(a, top - 3, Math.max(w, 1), 2);
    ctx.fillRect(right + 1, b, 2, Math.max(h, 1));
  }
  ctx.strokeStyle = colours.faint;
  ctx.lineWidth = 1;
  ctx.strokeRect(left - 0.5, top - 0.5, right - left + 1, bottom - top + 1);
}

/** Paler and hatched, so that the value is still read. */
function hatch(ctx: Ctx, cells: Path2D, { left, right, top, bottom }: Heat, colours: Palette): void {
  ctx.save();
  ctx.clip(cells);
  ctx.fillStyle = colours.bg;
  ctx.globalAlpha = 0.5;
  ctx.fillRect(left, top, right - left, bottom - top);
  ctx.globalAlpha = 0.55;
  ctx.strokeStyle = colours.muted;
  ctx.lineWidth = 0.8;
  ctx.beginPath();
  const tall = bottom - top;
  for (let at = left - tall; at < right; at += 6) {
    ctx.moveTo(at, bottom);
    ctx.lineTo(at + tall, top);
  }
  ctx.stroke();
  ctx.restore();
}

/** Bars of a distribution: where they begin and end along the axis, and how many rows. */
function barsOf({ axis, low, high, scale }: Lane, counts: ArrayLike<number>): [number, number, number][] {
  const out: [number, number, number][] = [];
  const { edges } = axis.hist;
  if (!edges || !scale) {
    for (let k = 0; k < low.length; k++) {
      const inset = Math.min(2, (high[k] - low[k]) * 0.1);
      out.push([low[k] + inset, high[k] - inset, counts[k] ?? 0]);
    }
    return out;
  }
  const [p, q] = [...scale.range].sort((a, b) => a - b);
  for (let b = 0; b + 1 < edges.length; b++) {
    const ends = [scale(edges[b]), scale(edges[b + 1])].sort((a, c) => a - c);
    const [from, to] = [Math.max(p, ends[0]), Math.min(q, ends[1])];
    if (to - from > 0.5) out.push([from, to - (to - from > 4 ? 1 : 0), counts[b]]);
  }
  if (axis.missing >= 0) out.push([low[axis.missing] + 1, high[axis.missing] - 1, counts[counts.length - 1]]);
  return out;
}

function paintBars(ctx: Ctx, { x, y, top, right, bars }: Heat, colours: Palette): void {
  for (const [lane, upright] of [
    [x, true],
    [y, false],
  ] as const) {
    const { hist } = lane.axis;
    const all = barsOf(lane, hist.counts);
    const most = Math.max(1, ...all.map(([, , n]) => n));
    for (const [counts, style] of [
      [hist.counts, colours.bar],
      [hist.selected, colours.selection],
    ] as const) {
      if (!counts) continue;
      ctx.fillStyle = style;
      for (const [from, to, n] of barsOf(lane, counts)) {
        const size = n > 0 ? Math.max(1, (n / most) * (bars - 2)) : 0;
        if (upright) ctx.fillRect(from, top - 4 - size, to - from, size);
        else ctx.fillRect(right + 4, from, size, to - from);
      }
    }
  }
}

function paintAxes(ctx: Ctx, heat: Heat, colours: Palette, measure: Measure): void {
  const { x, y, xTicks, yTicks, left, right, top, bottom } = heat;
  const { text } = colours;
  ctx.font = `${text * 0.92}px ${colours.font}`;
  ctx.fillStyle = colours.muted;
  ctx.strokeStyle = colours.faint;
  ctx.lineWidth = 1;
  const middle = (lane: Lane, k: number) => (lane.low[k] + lane.high[k]) / 2;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const below = bottom + text * 0.45;
  if (!x.scale) {
    const step = (right - left) / Math.max(1, x.low.length);
    const every = heat.tilted ? Math.max(1, Math.ceil((text * 1.15) / step)) : 1;
    for (let k = 0; k < x.low.length; k += every) {
      const label = clip(x.axis.labels[k] ?? "", heat.labelRoom, measure);
      if (!heat.tilted) ctx.fillText(label, middle(x, k), below);
      else {
        ctx.save();
        ctx.translate(middle(x, k) + text * 0.35, below);
        ctx.rotate(-Math.PI / 4);
        ctx.textAlign = "right";
        ctx.fillText(label, 0, 0);
        ctx.restore();
      }
    }
  } else {
    let free = 0;
    if (x.axis.missing >= 0) {
      ctx.fillText("missing", middle(x, x.axis.missing), below);
      free = middle(x, x.axis.missing) + measure("missing") / 2 + 6;
    }
    xTicks.values.forEach((value, i) => {
      const at = x.scale!(value);
      const half = measure(xTicks.labels[i]) / 2;
      if (at - half < free || at < left || at > right) return;
      ctx.fillText(xTicks.labels[i], Math.min(at, heat.width - half - 1), below);
      free = at + half + 6;
      tick(ctx, round(at) + 0.5, bottom + 1, true);
    });
  }
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const room = left - text * 2.2;
  const label = (value: string, at: number) => ctx.fillText(clip(value, room, measure), left - 6, at);
  if (!y.scale) {
    let free = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < y.low.length; k++) {
      if (middle(y, k) < free) continue;
      label(cellText(y, k), middle(y, k));
      free = middle(y, k) + text * 1.05;
    }
  } else {
    const low = y.axis.missing;
    if (low >= 0) label("missing", middle(y, low));
    yTicks.values.forEach((value, i) => {
      const at = y.scale!(value);
      if (at < top || at > bottom || (low >= 0 && at > y.low[low] - text * 0.6)) return;
      label(yTicks.labels[i], Math.max(at, text * 0.5));
      tick(ctx, left - 4, round(at) + 0.5, false);
    });
  }
  ctx.fillStyle = colours.ink;
  ctx.font = `600 ${text * 0.92}px ${colours.font}`;
  const named = ({ axis }: Lane, { offset }: Ticks, most: number) => {
    const suffix = offset === "" ? "" : axis.kind === "datetime" ? `  (${offset})` : `  (+ ${offset})`;
    return clip(axis.feature, (most - measure(suffix)) / 1.08, measure) + suffix;
  };
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  ctx.fillText(named(x, xTicks, right - left), (left + right) / 2, heat.legendTop - text * 0.6);
  ctx.save();
  ctx.translate(text * 1.15, (top + bottom) / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(named(y, yTicks, bottom - top), 0, 0);
  ctx.restore();
}

function tick(ctx: Ctx, x: number, y: number, down: boolean): void {
  ctx.beginPath();
  ctx.moveTo(x, y);
  if (down) ctx.lineTo(x, y + 3);
  else ctx.lineTo(x + 3, y);
  ctx.stroke();
}

function paintLegend(
  ctx: Ctx,
  heat: Heat,
  colours: Palette,
  scale: ReturnType<typeof ramp>,
  measure: Measure,
  over: Over,
): void {
  const { left, right, legendTop, domain, ticks, values, y } = heat;
  const { text } = colours;
  const at = linear(domain, [left, right]);
  const tall = Math.round(text * 0.6);
  for (let px = left; px < right; px += 2) {
    ctx.fillStyle = scale.of(at.invert(px + 1));
    ctx.fillRect(px, legendTop, Math.min(2, right - px), tall);
  }
  ctx.font = `${text * 0.92}px ${colours.font}`;
  ctx.fillStyle = colours.muted;
  ctx.strokeStyle = colours.faint;
  ctx.textBaseline = "top";
  ctx.textAlign = "center";
  let free = 0;
  ticks.values.forEach((value, i) => {
    const px = at(value);
    const half = measure(ticks.labels[i]) / 2;
    if (px - half < free) return;
    ctx.fillText(ticks.labels[i], Math.max(half, Math.min(px, heat.width - half - 1)), legendTop + tall + 4);
    free = px + half + 8;
    tick(ctx, round(px) + 0.5, legendTop + tall, true);
  });
  const suffix = ticks.offset === "" ? "" : ` (+ ${ticks.offset})`;
  ctx.fillText(
    clip(over.caption + suffix, heat.width - 8, measure),
    (left + right) / 2,
    legendTop + tall + 4 + text * 1.25,
  );
  if (!over.cell) return;
  const value = values[over.cell[0] * y.low.length + over.cell[1]];
  if (Number.isNaN(value)) return;
  const px = Math.max(left, Math.min(right, at(value)));
  ctx.fillStyle = colours.ink;
  ctx.beginPath();
  ctx.moveTo(px, legendTop + 1);
  ctx.lineTo(px - 4, legendTop - 5);
  ctx.lineTo(px + 4, legendTop - 5);
  ctx.fill();
}

function paintSelected(ctx: Ctx, heat: Heat, colours: Palette, over: Over): void {
  const { left, right, top, bottom, x, y } = heat;
  const outline = (x0: number, y0: number, x1: number, y1: number, dash: number[]) => {
    ctx.setLineDash([]);
    ctx.strokeStyle = colours.bg;
    ctx.lineWidth = 4;
    ctx.strokeRect(x0, y0, x1 - x0, y1 - y0);
    ctx.setLineDash(dash);
    ctx.strokeStyle = colours.selection;
    ctx.lineWidth = 2;
    ctx.strokeRect(x0, y0, x1 - x0, y1 - y0);
    ctx.setLineDash([]);
  };
  const { selected, box } = over;
  if (selected.x || selected.y)
    for (const [x0, x1] of selected.x ?? [[left, right]])
      for (const [y0, y1] of selected.y ?? [[top, bottom]]) outline(x0 + 1, y0 + 1, x1 - 1, y1 - 1, []);
  if (box) {
    const [i0, j0, i1, j1] = box;
    const ends = (lane: Lane, a: number, b: number): [number, number] => [
      Math.min(lane.low[a], lane.low[b]),
      Math.max(lane.high[a], lane.high[b]),
    ];
    const [x0, x1] = ends(x, i0, i1);
    const [y0, y1] = ends(y, j0, j1);
    outline(x0 + 1, y0 + 1, x1 - 1, y1 - 1, [4, 3]);
  }
}
