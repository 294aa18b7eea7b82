// Where conditions stand: the selection's, and those of the rule that is looked at. Elements above the canvases, so that looking along a
// list of rules paints none of them anew.

import { type Scene, type Span, spansOf } from "../draw/scene";
import { stretches } from "../geometry/surface";
import type { Condition } from "../model";
import { useValue } from "./hooks";
import type { State } from "./surface";
import type { Ui } from "./ui";

interface SpansProps {
  ui: Ui;
  area(scene: Scene): [number, number];
  /** What is selected and not drawn by the plot itself. */
  said(scene: Scene): Condition[];
}

/** Over one of the focused feature's plots. */
export function Spans({ ui, area, said }: SpansProps) {
  const found = useValue(() => {
    const scene = ui.scene.value;
    if (!scene) return null;
    const [a, b] = area(scene);
    return {
      box: { top: `${Math.min(a, b)}px`, height: `${Math.abs(b - a)}px` },
      selected: spansOf(scene, said(scene)),
      looked: spansOf(scene, ui.looked.value),
    };
  });
  if (!found) return null;
  const one = (of: string) => (span: Span, i: number) => {
    const { from, to, begins, ends } = span;
    const style = {
      ...found.box,
      left: `${from}px`,
      width: `${Math.max(1, to - from)}px`,
      borderWidth: `0 ${ends ? 1 : 0}px 0 ${begins ? 1 : 0}px`,
    };
    return <i key={i} class="pdpw-span" data-of={of} style={style} />;
  };
  return (
    <>
      {found.selected.map(one("selection"))}
      {found.looked.map(one("look"))}
    </>
  );
}

/** Over a heatmap: the rectangle, or all of the other axis where a rule says nothing of it. */
export function Looked({ state }: { state: State }) {
  const boxes = useValue(() => {
    const [heat, looked] = [state.heat.value, state.ui.looked.value];
    if (!heat || looked.length === 0) return [];
    const { x, y, left, right, top, bottom } = heat;
    const [xs, ys] = [x, y].map((lane) =>
      looked.flatMap((c) => (c.feature === lane.axis.feature ? stretches(lane, c) : [])),
    );
    if (xs.length + ys.length === 0) return [];
    const whole = (spans: [number, number][], all: [number, number]) => (spans.length ? spans : [all]);
    return whole(xs, [left, right]).flatMap(([x0, x1]) => whole(ys, [top, bottom]).map(([y0, y1]) => [x0, y0, x1, y1]));
  });
  return (
    <>
      {boxes.map(([x0, y0, x1, y1], i) => (
        <i
          key={i}
          class="pdpw-span pdpw-span-box"
          data-of="look"
          style={{ left: `${x0}px`, top: `${y0}px`, width: `${x1 - x0}px`, height: `${y1 - y0}px` }}
        />
      ))}
    </>
  );
}
