// A canvas sized in CSS pixels and drawn at the screen's own resolution.

import { signal } from "@preact/signals-core";

/** Pixels per pixel of the page while a picture is made of the canvases; 0: as many as the screen has. */
export const detail = signal(0);

export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = detail.peek() || canvas.ownerDocument.defaultView?.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext("2d");
  if (!ctx) return null;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.lineJoin = "round";
  ctx.lineCap = "butt";
  return ctx;
}

/** Empties canvases whose subject is gone. */
export function wipe(...canvases: (HTMLCanvasElement | null)[]): void {
  for (const canvas of canvases) canvas?.getContext("2d")?.clearRect(0, 0, canvas.width * 4, canvas.height * 4);
}

/** Runs `draw` at most once per frame; stops for good when the signal aborts. */
export function framed(draw: () => void, signal: AbortSignal): () => void {
  let handle = 0;
  signal.addEventListener("abort", () => cancelAnimationFrame(handle), { once: true });
  return () => {
    if (handle !== 0 || signal.aborted) return;
    handle = requestAnimationFrame(() => {
      handle = 0;
      if (!signal.aborted) draw();
    });
  };
}

/** A text width in px for one font; widths are remembered. */
export function measurer(font: string): (text: string) => number {
  const ctx = document.createElement("canvas").getContext("2d");
  const seen = new Map<string, number>();
  return (text) => {
    let width = seen.get(text);
    if (width === undefined) {
      if (ctx) ctx.font = font;
      width = ctx ? ctx.measureText(text).width : text.length * 7;
      if (seen.size > 2000) seen.clear();
      seen.set(text, width);
    }
    return width;
  };
}

/** Cuts a text to a width, with an ellipsis. */
export function clip(text: string, room: number, measure: (text: string) => number): string {
  if (measure(text) <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${text.slice(0, middle)}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low).trimEnd()}…`;
}

let spare: HTMLCanvasElement | null = null;

/** Draws on a layer of its own and lays that over the picture at `most` opacity, however much is piled up in it. */
export function layered(
  ctx: CanvasRenderingContext2D,
  most: number,
  draw: (layer: CanvasRenderingContext2D) => void,
): void {
  const { width, height, ownerDocument } = ctx.canvas;
  spare ??= ownerDocument.createElement("canvas");
  if (spare.width !== width || spare.height !== height) Object.assign(spare, { width, height });
  const layer = spare.getContext("2d");
  if (!layer) return;
  layer.setTransform(1, 0, 0, 1, 0, 0);
  layer.clearRect(0, 0, width, height);
  layer.setTransform(ctx.getTransform());
  layer.lineJoin = "round";
  draw(layer);
  ctx.save();
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.globalAlpha = most;
  ctx.drawImage(spare, 0, 0);
  ctx.restore();
}
