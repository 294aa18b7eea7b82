// The canvases of a part of the page as one picture, with what stands above them, on the page's own background.

import type { Ui } from "../views/ui";
import { clip, detail } from "./layers";

const FINE = 2;
const EDGE = 12;

/** Returns a PNG of twice as many pixels as the page has; the canvases are painted anew for it. */
export async function compose(ui: Ui, box: Element, note: string): Promise<Blob> {
  const doc = box.ownerDocument;
  detail.value = FINE;
  try {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const placed = [...box.querySelectorAll("canvas")]
      .map((canvas) => ({ canvas, at: canvas.getBoundingClientRect() }))
      .filter(({ at }) => at.width > 0 && at.height > 0);
    if (placed.length === 0) throw new Error("There is no picture yet.");
    const left = Math.min(...placed.map(({ at }) => at.left));
    const top = Math.min(...placed.map(({ at }) => at.top));
    const { bg, ink, muted, font, text } = ui.colours.peek();
    const head = Math.round(EDGE + text * 3);
    const width = Math.max(...placed.map(({ at }) => at.right)) - left + 2 * EDGE;
    const height = Math.max(...placed.map(({ at }) => at.bottom)) - top + head + EDGE;
    const out = doc.createElement("canvas");
    Object.assign(out, { width: Math.round(width * FINE), height: Math.round(height * FINE) });
    const ctx = out.getContext("2d")!;
    ctx.scale(FINE, FINE);
    ctx.fillStyle = bg;
    ctx.fillRect(0, 0, width, height);
    const write = (words: string, y: number, style: string, weight: string) => {
      ctx.fillStyle = style;
      ctx.font = `${weight} ${text}px ${font}`;
      ctx.fillText(
        clip(words, width - 2 * EDGE, (t) => ctx.measureText(t).width),
        EDGE,
        y,
      );
    };
    write(box.querySelector("h3")?.textContent ?? "", EDGE + text, ink, "600");
    write(note, EDGE + text * 2.4, muted, "400");
    for (const { canvas, at } of placed)
      ctx.drawImage(canvas, at.left - left + EDGE, at.top - top + head, at.width, at.height);
    return await new Promise<Blob>((resolve, reject) =>
      out.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The browser could not make a PNG.")))),
    );
  } finally {
    detail.value = 0;
  }
}
