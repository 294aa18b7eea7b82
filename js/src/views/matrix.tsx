// All pairs as a matrix: pointed at by mouse or keys, a click shows the pair, or brings the feature on the diagonal into focus.

import { type Cell, cellAt, type Grid, gridOf, inCell, paintMatrix, ramps } from "../draw/matrix";
import { percent } from "../geometry/format";
import { fullScale } from "../geometry/pairs";
import { CanvasView } from "./canvas";
import type { Pairing, Two } from "./pairing";
import type { Ui } from "./ui";

const STEPS: Record<string, Cell> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export function Matrix({ ui, state }: { ui: Ui; state: Pairing }) {
  let grid: Grid | null = null;
  const names = () => state.order.peek().map((i) => state.pairs.peek()!.features[i]);
  const size = (width: number) => gridOf(names(), width, ui.colours.peek().unit, ui.measure.peek());
  const twoOf = (cell: Cell): Two => {
    const [i, j] = cell.map((at) => state.order.peek()[at]);
    return [Math.min(i, j), Math.max(i, j)]; // the more important first
  };
  const cellOf = (two: Two | null): Cell | null => {
    if (!two) return null;
    const [a, b] = two.map((i) => state.order.peek().indexOf(i));
    return a < 0 || b < 0 ? null : [Math.max(a, b), Math.min(a, b)];
  };
  const paint = (ctx: CanvasRenderingContext2D, width: number, _: number, node: HTMLElement) => {
    const p = state.pairs.peek();
    if (!p) return;
    const measure = state.measure.peek();
    const values = measure === "h2" ? p.h2 : p.strength;
    const scale = fullScale(p, measure);
    const own = Math.max(...Array.from(p.main_strength), 0) || 1;
    const order = state.order.peek();
    const pair = state.shown.peek();
    grid = size(width);
    const picture = {
      grid,
      names: names(),
      value(row: number, column: number) {
        const [i, j] = [order[row], order[column]];
        if (i === j) return { share: p.main_strength[i] / own, text: inCell(p.main_strength[i]), flagged: false };
        const k = state.pair([i, j]);
        if (k < 0) return null;
        const text = measure === "h2" && values[k] > 0 ? percent(values[k], 1) : inCell(values[k]);
        return { share: values[k] / scale, text, flagged: p.dependent[k] === 1 };
      },
      at: cellOf(state.at.peek()),
      focus: order.indexOf(state.focus.peek()),
      pair: pair < 0 ? null : cellOf([p.pairs[2 * pair], p.pairs[2 * pair + 1]]),
    };
    paintMatrix(ctx, picture, width, ui.colours.peek(), ramps(ui.root), ui.measure.peek());
    node.dataset.size = String(grid.size);
    node.dataset.features = JSON.stringify(picture.names);
    node.dataset.at = picture.at?.join(",") ?? "";
  };
  const place = (x: number, y: number): Two | null => {
    const cell = grid && cellAt(grid, x, y);
    const two = cell && twoOf(cell);
    return two && (two[0] === two[1] || state.pair(two) >= 0) ? two : null;
  };
  const step = (key: string): Two | null => {
    const by = STEPS[key];
    const at = cellOf(state.at.peek());
    if (!by || !grid) return null;
    if (!at) return twoOf(cellOf([state.focus.peek(), state.focus.peek()]) ?? [0, 0]);
    const row = Math.max(0, Math.min(grid.n - 1, at[0] + by[0]));
    return twoOf([row, Math.max(0, Math.min(row, at[1] + by[1]))]);
  };
  return (
    // biome-ignore lint/a11y/useValidAriaRole: a description of the picture, no ARIA role
    <CanvasView
      ui={ui}
      id="matrix"
      role="matrix"
      class="pdpw-matrix"
      label="Interactions of all pairs. Arrow keys move over the cells, Enter shows a pair, or a feature on the diagonal."
      follow={() => {
        state.pairs.value;
        state.measure.value;
        state.order.value;
        state.at.value;
        state.focus.value;
        state.shown.value;
      }}
      height={(width) => (state.pairs.peek() ? size(width).size * names().length + 2 : 0)}
      paint={paint}
      listen={(node, signal) => state.listen(node, signal, place, step)}
    />
  );
}
