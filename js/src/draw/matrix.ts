// The interaction matrix: a triangle with each feature's own effect on the diagonal and its name right of it.

import { fmt } from "../geometry/format";
import type { Palette } from "../theme";
import { clip } from "./layers";

/** Two ramps, from nothing to the full colour: of pairs, and of features alone. */
export interface Ramps {
  pair: [string, string];
  own: [string, string];
}

/** The tokens of interactions.css. */
export function ramps(root: HTMLElement): Ramps {
  const style = getComputedStyle(root);
  const read = (name: string) => style.getPropertyValue(`--pdpw-${name}`).trim();
  return { pair: [read("pair-0"), read("pair-1")], own: [read("own-0"), read("own-1")] };
}

/** A colour between two of the form #rrggbb. */
export function mix([low, high]: [string, string], share: number): string {
  const t = Math.max(0, Math.min(1, share));
  const part = (text: string, k: number) => Number.parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  return `rgb(${[0, 1, 2].map((k) => Math.round(part(low, k) + t * (part(high, k) - part(low, k)))).join(",")})`;
}

/** Row and column of a cell: positions in the order drawn, column <= row; equal on the diagonal. */
export type Cell = [row: number, column: number];

export interface Grid {
  n: number;
  /** Side of a cell. */
  size: number;
  /** Where each name ends. */
  ends: number[];
}

/** As large as the width allows with every name, cut if need be, right of the diagonal. */
export function gridOf(names: string[], width: number, unit: number, measure: (text: string) => number): Grid {
  const widths = names.map((name) => Math.min(measure(name), width * 0.4) + 8);
  const n = names.length;
  const room = Math.min(34 * unit, ...widths.map((w, i) => (width - w) / (i + 1)));
  const size = room > 8 ? Math.floor(room) : Math.max(2, room);
  return { n, size, ends: widths.map((w, i) => Math.min(width, (i + 1) * size + w)) };
}

/** The cell at a place; a name stands for its cell on the diagonal. */
export function cellAt({ n, size, ends }: Grid, x: number, y: number): Cell | null {
  const row = Math.floor(y / size);
  const column = Math.floor(x / size);
  if (row < 0 || row >= n || column < 0) return null;
  if (column <= row) return [row, column];
  return x <= ends[row] ? [row, row] : null;
}

export interface MatrixPicture {
  grid: Grid;
  names: string[];
  /** 0 to 1, or NaN for not computed, and what is written in the cell if there is room. */
  value(row: number, column: number): { share: number; text: string; flagged: boolean } | null;
  /** Under the pointer or the keyboard. */
  at: Cell | null;
  focus: number;
  pair: Cell | null;
}

export function paintMatrix(
  ctx: CanvasRenderingContext2D,
  { grid, names, value, at, focus, pair }: MatrixPicture,
  width: number,
  colours: Palette,
  ramp: Ramps,
  measure: (text: string) => number,
): void {
  const { n, size } = grid;
  const gap = size >= 8 ? 1 : 0.5;
  const hatch = hatching(ctx, colours.faint);
  const small = Math.min(colours.text * 0.8, size * 0.36);
  ctx.textBaseline = "middle";
  for (let row = 0; row < n; row++)
    for (let column = 0; column <= row; column++) {
      const cell = value(row, column);
      if (!cell) continue; // not a pair
      const [x, y, side] = [column * size, row * size, size - gap];
      if (Number.isNaN(cell.share)) {
        ctx.fillStyle = hatch ?? colours.hair;
        ctx.fillRect(x, y, side, side);
        continue;
      }
      ctx.fillStyle = mix(row === column ? ramp.own : ramp.pair, cell.share);
      ctx.fillRect(x, y, side, side);
      const ink = cell.share > 0.5 ? colours.bg : colours.ink;
      if (size >= 26) {
        ctx.fillStyle = ink;
        ctx.font = `${small}px ${colours.font}`;
        ctx.textAlign = "center";
        ctx.fillText(cell.text, x + side / 2, y + side / 2, side - 2);
      }
      if (cell.flagged) {
        const mark = Math.max(2, size * 0.28);
        ctx.fillStyle = ink;
        ctx.beginPath();
        ctx.moveTo(x + side - mark, y);
        ctx.lineTo(x + side, y);
        ctx.lineTo(x + side, y + mark);
        ctx.fill();
      }
    }
  const outline = ([row, column]: Cell, line: number) => {
    ctx.lineWidth = line;
    ctx.strokeStyle = colours.ink;
    ctx.strokeRect(column * size - gap / 2, row * size - gap / 2, size, size);
  };
  if (pair) outline(pair, 2 * colours.unit);
  if (at) outline(at, 1.5 * colours.unit);
  paintNames(ctx, grid, names, at, focus, width, colours, measure);
}

/** All names where there is room; else those under the pointer and in focus, and every so many. */
function paintNames(
  ctx: CanvasRenderingContext2D,
  { n, size, ends }: Grid,
  names: string[],
  at: Cell | null,
  focus: number,
  width: number,
  colours: Palette,
  measure: (text: string) => number,
): void {
  const least = colours.text;
  const drawn: number[] = [];
  const first = [...(at ?? []), focus].filter((row) => row >= 0);
  ctx.textAlign = "left";
  for (const row of [...first, ...Array.from({ length: n }, (_, i) => i)]) {
    if (drawn.some((other) => Math.abs(other - row) * size < least)) continue;
    drawn.push(row);
    const strong = row === focus || at?.includes(row);
    ctx.font = `${strong ? "600 " : ""}${colours.text * 0.92}px ${colours.font}`;
    ctx.fillStyle = strong || size >= least ? colours.ink : colours.muted;
    const x = (row + 1) * size + 3;
    const y = Math.max(least * 0.5, Math.min(n * size - least * 0.5, (row + 0.5) * size)); // small cells: within the canvas
    ctx.fillText(clip(names[row], Math.min(ends[row] + 2, width) - x, measure), x, y);
  }
}

function hatching(ctx: CanvasRenderingContext2D, colour: string): CanvasPattern | null {
  const tile = ctx.canvas.ownerDocument.createElement("canvas");
  tile.width = 4;
  tile.height = 4;
  const inner = tile.getContext("2d");
  if (!inner) return null;
  inner.strokeStyle = colour;
  inner.lineWidth = 0.8;
  inner.beginPath();
  for (const shift of [-4, 0, 4]) {
    inner.moveTo(shift, 4);
    inner.lineTo(shift + 4, 0);
  }
  inner.stroke();
  return ctx.createPattern(tile, "repeat");
}

/** What a cell's number looks like within it. */
export const inCell = (value: number): string => fmt(value, 2).replace(/^0\./, ".");
