// A plot: two canvas layers in one element, a cached base and an overlay, each painted at most once a frame.

import { useLayoutEffect, useRef } from "preact/hooks";
import { framed, prepare, wipe } from "../draw/layers";
import type { Scene } from "../draw/scene";
import type { Condition } from "../model";
import { messageOf } from "../store";
import { scoped } from "./hooks";
import { Spans } from "./spans";
import type { Ui } from "./ui";

type Painter = (ctx: CanvasRenderingContext2D, scene: Scene, node: HTMLElement) => void;

/** What tells one plot from another. */
export interface Plot {
  id: string;
  className: string;
  role: string;
  label: string;
  height(scene: Scene): number;
  /** The plot area's place in the element, for tests that turn data into pixels. */
  area(scene: Scene): [number, number];
  base: Painter;
  over: Painter;
  /** What is selected, where that is marked as a stretch of the axis. */
  said(scene: Scene): Condition[];
  /** Reads the signals that repaint the overlay, beside scene and colours. */
  follow(): void;
  listen(node: HTMLElement, signal: AbortSignal): void;
}

/** The plot area and its domain as plain numbers on the element. */
function publishArea(node: HTMLElement, scene: Scene, [y0, y1]: [number, number]): void {
  const data = node.dataset;
  data.x0 = String(scene.x.range[0]);
  data.x1 = String(scene.x.range[1]);
  data.y0 = String(y0);
  data.y1 = String(y1);
  data.domainX0 = String(scene.xDomain[0]);
  data.domainX1 = String(scene.xDomain[1]);
  data.centers = scene.bands ? Array.from(scene.px, (v) => v.toFixed(1)).join(",") : "";
  data.missingAt = !Number.isNaN(scene.missingAt) ? String(scene.missingAt) : "";
  data.drawn = `${scene.curve.feature}|${scene.curve.output}`;
}

/** `plot` is read once; its functions must read what changes from signals. */
export function PlotView({ ui, plot }: { ui: Ui; plot: Plot }) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);

  useLayoutEffect(
    () =>
      scoped(ui, (signal, watch) => {
        const node = box.current!;
        const layer = (canvas: HTMLCanvasElement, paint: Painter, gone?: () => void) =>
          framed(() => {
            const scene = ui.scene.peek();
            if (!scene) {
              gone?.();
              return;
            }
            try {
              const ctx = prepare(canvas, scene.width, plot.height(scene));
              if (ctx) paint(ctx, scene, node);
            } catch (error) {
              ui.store.say("page", `Drawing failed: ${messageOf(error)}`);
            }
          }, signal);
        const paintBase = layer(
          base.current!,
          (ctx, scene) => {
            plot.base(ctx, scene, node);
            publishArea(node, scene, plot.area(scene));
          },
          () => {
            wipe(base.current, over.current);
            delete node.dataset.drawn;
          },
        );
        const paintOver = layer(over.current!, plot.over);
        watch(() => {
          const scene = ui.scene.value;
          ui.colours.value;
          if (scene) node.style.height = `${plot.height(scene)}px`;
          paintBase();
        });
        watch(() => {
          ui.scene.value;
          ui.colours.value;
          plot.follow();
          paintOver();
        });
        plot.listen(node, signal);
      }),
    [ui],
  );

  return (
    // biome-ignore lint/a11y/useSemanticElements: a picture that takes keys
    <div
      ref={box}
      class={`pdpw-plot ${plot.className}`}
      role="group"
      aria-roledescription={plot.role}
      aria-label={plot.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys work here
      tabIndex={0}
      data-testid={plot.id}
    >
      <canvas ref={base} aria-hidden="true" />
      <canvas ref={over} aria-hidden="true" data-testid={`${plot.id}-overlay`} />
      <Spans ui={ui} area={plot.area} said={plot.said} />
    </div>
  );
}
