// A line between two parts of the page that can be moved: by pointer, by arrow keys; a double click takes it back.

import { useRef, useState } from "preact/hooks";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

type Side = "features" | "side" | "height";

const LEAST: Record<Side, number> = { features: 190, side: 240, height: 200 };
const NAMES: Record<Side, string> = {
  features: "Width of the features",
  side: "Width of the interactions",
  height: "Height of the upper part",
};

/** `measured`: the element whose size the line sets; `most`: how large it may become, px. */
export function Divider({
  ui,
  side,
  measured,
  most,
}: {
  ui: Ui;
  side: Side;
  measured: (node: HTMLElement) => HTMLElement | null;
  most: () => number;
}) {
  const size = useValue(() => ui.sizes.value[side]);
  const [before, setBefore] = useState(0);
  const node = useRef<HTMLDivElement>(null);
  const upright = side !== "height";
  const sign = side === "side" ? -1 : 1; // this one grows to the left
  const set = (value: number) => {
    const limited = value === 0 ? 0 : Math.round(Math.max(LEAST[side], Math.min(most(), value)));
    ui.sizes.value = { ...ui.sizes.peek(), [side]: limited };
  };
  const now = () => {
    const box = (node.current && measured(node.current))?.getBoundingClientRect();
    return box ? (upright ? box.width : box.height) : 0;
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const target = event.currentTarget as HTMLElement;
    target.setPointerCapture(event.pointerId);
    const from = upright ? event.clientX : event.clientY;
    const before = now();
    const move = (next: PointerEvent) => set(before + sign * ((upright ? next.clientX : next.clientY) - from));
    const stop = () => {
      target.removeEventListener("pointermove", move);
      target.removeEventListener("lostpointercapture", stop);
    };
    target.addEventListener("pointermove", move);
    target.addEventListener("lostpointercapture", stop);
    event.preventDefault();
    target.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.shiftKey ? 64 : 16;
    const [less, more] = upright ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === less) set(now() - sign * step);
    else if (event.key === more) set(now() + sign * step);
    else if (event.key === "Home") set(LEAST[side]);
    else if (event.key === "End") set(most());
    else if (event.key === "Enter") set(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule that can be moved
    <div
      ref={node}
      class={`pdpw-divider pdpw-divider-${side}`}
      role="separator"
      tabIndex={0}
      aria-orientation={upright ? "vertical" : "horizontal"}
      aria-label={NAMES[side]}
      aria-valuenow={Math.max(LEAST[side], Math.round(size || before))}
      aria-valuemin={LEAST[side]}
      aria-valuemax={Math.max(LEAST[side], Math.round(most()))}
      aria-valuetext={size ? `${size} pixels` : "as large as it needs"}
      data-testid={`divider-${side}`}
      title="Drag, or use the arrow keys; a double click takes it back"
      onFocus={() => setBefore(now())}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDblClick={() => set(0)}
    />
  );
}
