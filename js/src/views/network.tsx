// All pairs that interact as a network: the strongest as lines, their features as circles; a slider says how many.

import { clip } from "../draw/layers";
import { ramps } from "../draw/matrix";
import { endsOf, type Link, markAt, paintNetwork, type Scene } from "../draw/network";
import { count, fmt } from "../geometry/format";
import { layout, placeLabels, stretch } from "../geometry/network";
import { complete, type Pairs, strongest } from "../geometry/pairs";
import { CanvasView } from "./canvas";
import { useValue } from "./hooks";
import { type Pairing, same, type Two } from "./pairing";
import type { Ui } from "./ui";

const MOST = 60;
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

export function Network({ ui, state }: { ui: Ui; state: Pairing }) {
  const p = useValue(() => state.pairs.value)!;
  const status = useValue(() => ui.store.pictures.interactions.value?.status.state);
  const wanted = useValue(() => state.links.value);
  const most = Math.min(MOST, strongest(p).length);
  if (!complete(p) && status === "running")
    return <p class="pdpw-muted">The network is drawn as soon as all pairs are known.</p>;
  if (most === 0) return <p class="pdpw-muted">No two features interact.</p>;
  const links = Math.min(wanted, most);
  const least = fmt(p.strength[strongest(p)[links - 1]]);
  const text = `${count(links)} strongest ${links === 1 ? "pair" : "pairs"}, ${least} or more`;
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAriaRole: a description of the picture, no ARIA role */}
      <CanvasView
        ui={ui}
        id="network"
        role="network"
        class="pdpw-matrix"
        label="Features that interact. Left and right arrow keys move over the pairs, up and down over the features, Enter shows them."
        follow={() => {
          state.pairs.value;
          state.links.value;
          state.at.value;
          state.focus.value;
          state.shown.value;
        }}
        height={(width) => Math.max(200, Math.min(width * 0.85, 320 * ui.colours.peek().unit))}
        {...handlers(ui, state)}
      />
      <label class="pdpw-least">
        <input
          type="range"
          min={1}
          max={most}
          step={1}
          value={links}
          aria-label="How many pairs are shown"
          aria-valuetext={text}
          data-testid="edges-least"
          onInput={(event) => {
            state.links.value = Number(event.currentTarget.value);
          }}
        />
        <span class="pdpw-muted" data-testid="edges-text">
          {text}
        </span>
      </label>
    </>
  );
}

function handlers(ui: Ui, state: Pairing) {
  let scene: Scene | null = null;
  let madeFor: unknown[] = [];

  /** The same scene as long as nothing but what is pointed at changes. */
  const sceneOf = (p: Pairs, width: number, height: number): Scene => {
    const now = [p, state.links.peek(), width, height, ui.colours.peek()];
    if (!scene || now.some((value, k) => value !== madeFor[k])) {
      scene = makeScene(p, state, width, height, ui);
      madeFor = now;
    }
    return scene;
  };
  return {
    paint(ctx: CanvasRenderingContext2D, width: number, height: number, node: HTMLElement) {
      const p = state.pairs.peek();
      if (!p) return;
      const drawn = sceneOf(p, width, height);
      const pair = state.shown.peek();
      paintNetwork(
        ctx,
        drawn,
        state.at.peek(),
        state.focus.peek(),
        pair < 0 ? null : [p.pairs[2 * pair], p.pairs[2 * pair + 1]],
        ui.colours.peek(),
        ramps(ui.root),
        ui.measure.peek(),
      );
      node.dataset.nodes = JSON.stringify(
        drawn.nodes.map(({ x, y, r }, k) => ({ name: drawn.names[k], x, y, r, label: drawn.labels[k] })),
      );
      node.dataset.edges = String(drawn.links.length);
      node.dataset.at = state.read.peek();
    },
    listen(node: HTMLElement, signal: AbortSignal) {
      const step = (key: string): Two | null => {
        const by = STEPS[key];
        if (!by || !scene) return null;
        const drawn = scene;
        const all: Two[] = /Left|Right/.test(key)
          ? drawn.links.map((link) => endsOf(drawn, link))
          : drawn.features.map((i) => [i, i]);
        const now = all.findIndex((two) => same(two, state.at.peek()));
        return all[now < 0 ? 0 : Math.max(0, Math.min(all.length - 1, now + by))];
      };
      state.listen(node, signal, (x, y) => scene && markAt(scene, x, y), step);
    },
  };
}

/** The strongest pairs and the features in them, each in its place. */
function makeScene(p: Pairs, state: Pairing, width: number, height: number, ui: Ui): Scene {
  const { unit, text } = ui.colours.peek();
  const measure = ui.measure.peek();
  const pairs = strongest(p).slice(0, state.links.peek());
  // The most important first: their names find room before others do.
  const features = [...new Set(pairs.flatMap((k) => [p.pairs[2 * k], p.pairs[2 * k + 1]]))].sort((a, b) => a - b);
  const at = (feature: number) => features.indexOf(feature);
  const top = p.strength[pairs[0]];
  const links: Link[] = pairs.map((pair) => ({
    a: at(p.pairs[2 * pair]),
    b: at(p.pairs[2 * pair + 1]),
    share: p.strength[pair] / top,
  }));
  // Around the circle in an order that hardly depends on how many pairs are shown.
  const around = state.similar.peek();
  const angles = features.map((feature) => (2 * Math.PI * around.indexOf(feature)) / around.length);
  const own = Math.max(...Array.from(p.main_strength)) || 1;
  const radii = features.map((feature) => unit * (4 + 9 * Math.sqrt(p.main_strength[feature] / own)));
  const places = layout(
    angles,
    links.map(({ a, b, share }) => ({ a, b, weight: share })),
  );
  const edge = 14 * unit;
  const inner = { x0: 2.4 * edge, y0: edge, x1: width - 2.4 * edge, y1: height - 2 * edge };
  const nodes = stretch(places, radii, inner, 6 * unit);
  const names = features.map((feature) => p.features[feature]);
  const widths = names.map((name) => measure(clip(name, 110 * unit, measure)));
  const box = { x0: 0, y0: 0, x1: width, y1: height };
  return { features, names, nodes, labels: placeLabels(nodes, widths, text * 1.15, box), links, box };
}
