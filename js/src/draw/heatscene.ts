// Where everything stands in a heatmap: plot area, cells, colours, ticks, contour lines. Arrays and numbers in, numbers out; painter and
// pointer code share it.

import { contour } from "../geometry/contour";
import { numberTicks, type Ticks, ticksOf, wholeOf } from "../geometry/format";
import { extent } from "../geometry/scale";
import { emptyCells, type Lane, laneOf, type Mode, matrixOf, type Surface, transposed } from "../geometry/surface";
import type { SurfaceAxis } from "../model";

export interface Heat {
  picture: Surface;
  mode: Mode;
  /** Whether the second feature runs along x. */
  swapped: boolean;
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Lane;
  y: Lane;
  /** x by y; NaN where not known. */
  values: Float64Array;
  counts: ArrayLike<number>;
  empty: Uint8Array;
  /** Colours from here to there. */
  domain: [number, number];
  diverging: boolean;
  ticks: Ticks;
  xTicks: Ticks;
  yTicks: Ticks;
  tilted: boolean;
  labelRoom: number;
  /** Segments in px per tick of the legend; none where an axis has levels. */
  lines: { level: number; segments: number[] }[];
  /** Thickness of the distributions. */
  bars: number;
  legendTop: number;
}

export interface HeatInput {
  picture: Surface;
  mode: Mode;
  swapped: boolean;
  width: number;
  text: number;
  measure(text: string): number;
  /** Keeps the scale of colours while a picture grows. */
  keep(range: [number, number] | null): [number, number] | null;
}

/** A difference too small to be seen beside the effect is drawn as none. */
const LEAST = 1e-3;

function colourDomain(picture: Surface, mode: Mode, values: Float64Array): [number, number] | null {
  const effect = extent(picture.average);
  if (mode === "pd") return effect;
  if (mode === "selection") return extent(picture.average, picture.selection, picture.rest);
  const range = extent(values);
  if (!range) return null;
  const least = effect ? (effect[1] - effect[0]) * LEAST : 0;
  const most = Math.max(Math.abs(range[0]), Math.abs(range[1]), least) || 1;
  return [-most, most];
}

const noTicks: Ticks = { values: [], labels: [], offset: "" };

function axisTicks(lane: Lane, wanted: number): Ticks {
  const { axis, domain, scale } = lane;
  return scale && axis.x.length > (axis.missing >= 0 ? 1 : 0)
    ? ticksOf(axis.kind, domain, wanted, wholeOf(axis))
    : noTicks;
}

/** Three to five. */
function legendTicks(domain: [number, number]): Ticks {
  const few = numberTicks(domain, 4);
  if (few.values.length > 2) return few;
  const more = numberTicks(domain, 6);
  return more.values.length > 5 ? few : more;
}

export function makeHeat({ picture, mode, swapped, width, text, measure, keep }: HeatInput): Heat | null {
  const [ka, kb] = [picture.a.x.length, picture.b.x.length];
  const raw = matrixOf(picture, mode);
  if (!raw || width < 120) return null;
  const [ax, ay] = swapped ? [picture.b, picture.a] : [picture.a, picture.b];
  const turn = (values: ArrayLike<number>) => (swapped ? transposed(values, ka, kb) : values);
  const values = Float64Array.from(turn(raw));
  const counts = turn(picture.counts);

  const bars = Math.round(text * 2.4);
  const top = bars + 4;
  const sample = laneOf(ay, [text * 20, 0], text * 2);
  const yLabels = ay.kind === "category" ? ay.labels : axisTicks(sample, 5).labels;
  const widest = Math.max(measure("0.0"), ...yLabels.map(measure), ay.missing >= 0 ? measure("missing") : 0);
  const left = Math.ceil(Math.min(widest, text * 9) + text * 2.2);
  const right = Math.max(left + 40, width - bars - 5);
  const levels = ay.kind === "category" ? ay.x.length * text * 1.5 : 0;
  const tall = Math.max(text * 10, Math.min((right - left) * 0.74, text * 25), Math.min(levels, text * 30));
  const bottom = Math.round(top + tall);
  const x = laneOf(ax, [left, right], text * 3.6);
  const y = laneOf(ay, ay.kind === "category" ? [top, bottom] : [bottom, top], text * 1.5);

  let tilted = false;
  let labelRoom = 0;
  let axisRoom = text * 1.6;
  if (ax.kind === "category") {
    const longest = Math.max(0, ...ax.labels.map(measure));
    labelRoom = (right - left) / ax.x.length - 4;
    tilted = longest > labelRoom && labelRoom < text * 5;
    if (tilted) {
      labelRoom = Math.min(longest, text * 7);
      axisRoom = labelRoom * 0.71 + text * 1.4;
    }
  }
  const xWide = Math.max(text * 2, ...axisTicks(x, 5).labels.map(measure)) + text * 1.6;
  const legendTop = Math.round(bottom + axisRoom + text * 1.9);
  const domain = keep(colourDomain(picture, mode, values)) ?? [0, 1];
  const ticks = legendTicks(domain);

  const heat: Heat = {
    picture,
    mode,
    swapped,
    width,
    height: Math.ceil(legendTop + text * 3.7),
    left,
    right,
    top,
    bottom,
    x,
    y,
    values,
    counts,
    empty: emptyCells(ax, ay, counts),
    domain,
    diverging: mode === "difference" || mode === "interaction",
    ticks,
    xTicks: axisTicks(x, Math.max(2, Math.min(8, Math.floor((right - left) / xWide)))),
    yTicks: axisTicks(y, Math.max(2, Math.min(7, Math.floor(tall / (text * 2.6))))),
    tilted,
    labelRoom,
    lines: [],
    bars,
    legendTop,
  };
  heat.lines = contours(heat);
  return heat;
}

function contours({ x, y, values, ticks, domain, diverging }: Heat): Heat["lines"] {
  if (!x.scale || !y.scale) return [];
  const ny = y.axis.x.length;
  const points = ({ axis }: Lane) => Array.from(axis.x, (_, k) => k).filter((k) => k !== axis.missing);
  const [is, js] = [points(x), points(y)];
  const inner = Float64Array.from(is.flatMap((i) => js.map((j) => values[i * ny + j])));
  const at = (axis: SurfaceAxis, ks: number[]) => ks.map((k) => axis.x[k]);
  // Rounding must not draw a line around nothing.
  const range = extent(inner);
  if (!range || range[1] - range[0] < (domain[1] - domain[0]) * (diverging ? 0.02 : 1e-9)) return [];
  return ticks.values.map((level) => {
    const found = contour(at(x.axis, is), at(y.axis, js), inner, level);
    return { level, segments: found.map((v, i) => (i % 2 === 0 ? x.scale!(v) : y.scale!(v))) };
  });
}
