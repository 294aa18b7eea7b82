// All pairs as a matrix: pointed at by mouse or keys, a click shows the pair, or brings the feature on the diagonal into focus.

import { type Cell, cellAt, type Grid, gridOf, inCell, paintMatrix, ramps } from "../draw/matrix";
import { percent } from "../geometry/format";
import { fullScale } from "../geometry/pairs";
import { CanvasView } from "./canvas";
import type { Pairing, Two } from "./pairing";
import type { Ui } from "./ui";

export function Matrix({ ui, state }: { ui: Ui; state: Pairing }) {
  let grid: Grid | null = null;
  const names = () => state.order.peek().map((i) => state.pairs.peek()!.features[i]);
  const size = (width: number) => gridOf(names(), width, ui.colours.peek().unit, ui.measure.peek());
  const twoOf = (cell: Cell): Two => [state.order.peek()[cell[0]], state.order.peek()[cell[1]]];
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
  const listen = (node: HTMLElement, signal: AbortSignal) => {
    const place = (event: MouseEvent): Two | null => {
      const box = node.getBoundingClientRect();
      const cell = grid && cellAt(grid, event.clientX - box.left, event.clientY - box.top);
      if (!cell) return null;
      const two = twoOf(cell);
      return two[0] === two[1] || state.pair(two) >= 0 ? two : null;
    };
    node.addEventListener("pointermove", (event) => state.point(place(event)), { signal });
    for (const gone of ["pointerleave", "blur"]) node.addEventListener(gone, () => state.point(null), { signal });
    node.addEventListener(
      "click",
      (event) => {
        const two = place(event);
        if (two) state.open(two);
      },
      { signal },
    );
    node.addEventListener(
      "keydown",
      (event) => {
        if (event.ctrlKey || event.metaKey || !grid) return;
        const focus = Math.max(0, state.order.peek().indexOf(state.focus.peek()));
        const at = cellOf(state.at.peek());
        const to = at && moved(at, event.key, grid.n);
        if (to) state.point(twoOf(to));
        else if (/^Arrow/.test(event.key)) state.point(twoOf([focus, focus]));
        else if ((event.key === "Enter" || event.key === " ") && at) state.open(twoOf(at));
        else if (event.key === "Escape" && at) state.point(null);
        else return;
        if (!/^(Enter| )$/.test(event.key)) ui.spoken.value = state.read.peek();
        event.preventDefault();
        event.stopPropagation();
      },
      { signal },
    );
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
      listen={listen}
    />
  );
}

/** Where a key leads from a cell; null for other keys. */
function moved([row, column]: Cell, key: string, n: number): Cell | null {
  switch (key) {
    case "ArrowLeft":
      return [row, Math.max(0, column - 1)];
    case "ArrowRight":
      return [row, Math.min(row, column + 1)];
    case "ArrowUp":
      return row === 0 ? [row, column] : [row - 1, Math.min(row - 1, column)];
    case "ArrowDown":
      return [Math.min(n - 1, row + 1), column];
    case "Home":
      return [row, 0];
    case "End":
      return [row, row];
    default:
      return null;
  }
}
