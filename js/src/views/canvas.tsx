// A canvas of a panel: as wide as its place, painted at most once a frame, at the screen's own resolution.

import { signal as state } from "@preact/signals-core";
import { useLayoutEffect, useRef } from "preact/hooks";
import { framed, prepare } from "../draw/layers";
import { messageOf } from "../store";
import { scoped } from "./hooks";
import type { Ui } from "./ui";

interface CanvasProps {
  ui: Ui;
  id: string;
  role: string;
  label: string;
  class?: string;
  /** Reads the signals that repaint, beside colours and width. */
  follow(): void;
  /** Height in px for a width in px; 0 paints nothing. */
  height(width: number): number;
  paint(ctx: CanvasRenderingContext2D, width: number, height: number, node: HTMLElement): void;
  listen?(node: HTMLElement, signal: AbortSignal): void;
}

/** The functions are read once: they must read what changes from signals. */
export function CanvasView({ ui, id, role, label, class: name, follow, height, paint, listen }: CanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(
    () =>
      scoped(ui, (signal, watch) => {
        const node = box.current!;
        const width = state(0);
        const draw = framed(() => {
          const wide = width.peek();
          const tall = wide > 0 ? Math.round(height(wide)) : 0;
          node.style.height = `${tall}px`;
          if (tall <= 0) return;
          try {
            const ctx = prepare(canvas.current!, wide, tall);
            if (ctx) paint(ctx, wide, tall, node);
          } catch (error) {
            ui.store.say("page", `Drawing failed: ${messageOf(error)}`);
          }
        }, signal);
        watch(() => {
          ui.colours.value;
          width.value;
          follow();
          draw();
        });
        const observer = new ResizeObserver(() => {
          width.value = Math.floor(node.clientWidth);
        });
        observer.observe(node);
        signal.addEventListener("abort", () => observer.disconnect());
        listen?.(node, signal);
      }),
    [ui],
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a picture that takes keys
    <div
      ref={box}
      class={`pdpw-plot ${name ?? ""}`}
      role="group"
      aria-roledescription={role}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys work here
      tabIndex={0}
      data-testid={id}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}
