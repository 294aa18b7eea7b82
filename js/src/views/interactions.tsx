// The interactions panel: how additive the model is, what the focused feature interacts with, and all pairs as a matrix or a network.

import { count, fmt, percent } from "../geometry/format";
import { complete, fullScale, type Measure, other, type Pairs, pairsOf } from "../geometry/pairs";
import { useValue } from "./hooks";
import { Matrix } from "./matrix";
import { Network } from "./network";
import { describe, type Pairing, pairing } from "./pairing";
import { Panel } from "./panel";
import type { Ui } from "./ui";

const ABOUT = "Which features act together: Friedman’s H of all pairs, over all rows whatever is selected";
const STRENGTH =
  "How far the joint effect of two features is from the sum of their own: standard deviation over the rows, in the prediction’s unit";
const SHARE =
  "Share of the joint effect’s variance that is interaction (H²); it says little where the joint effect is tiny";
const OWN =
  "Own effect: how much a feature’s average curve moves over the rows: its standard deviation, where frequent values count more. “Importance” in the list of features is over the grid of values instead, where every value counts alike, so that the two differ by design";
const FEW = 5;

export function Interactions({ ui }: { ui: Ui }) {
  const { store } = ui;
  const state = pairing(ui);
  const filled = useValue(() => (state.pairs.value?.features.length ?? 0) > 1);
  const alone = useValue(() => store.info.value?.features.length === 1);
  return (
    <Panel ui={ui} name="interactions" title="Interactions" about={ABOUT} filled={filled || alone}>
      {filled ? (
        <>
          <Says ui={ui} state={state} />
          <Partners ui={ui} state={state} />
          <Pictures ui={ui} state={state} />
        </>
      ) : (
        <p class="pdpw-muted">There is one feature: it has nothing to interact with.</p>
      )}
    </Panel>
  );
}

interface Props {
  ui: Ui;
  state: Pairing;
}

/** The model as a whole, in a sentence, and on how many rows it stands. */
function Says({ ui, state }: Props) {
  const { store } = ui;
  const p = useValue(() => state.pairs.value)!;
  const output = useValue(() => store.public.output.value);
  const live = useValue(() => store.host.value === "kernel");
  const running = useValue(() => store.pictures.interactions.value?.status.state === "running");
  const notes = [
    output !== "" && output !== p.output ? `of ${p.output}` : "",
    `${count(p.rows)} of ${count(p.rows_total)} rows`,
    complete(p) ? "" : `${count(p.pairs_done)} of ${count(p.pairs.length / 2)} pairs`,
    p.refining !== null ? `more rows: ${percent(p.refining, 1)}` : "",
    p.left_out > 0 ? `${count(p.left_out)} features that interact less are left out` : "",
  ].filter(Boolean);
  const { total_h2: h2, total_h2_stderr: stderr } = p;
  const statistic =
    h2 === null
      ? ""
      : `1 − total H² = ${fmt(1 - h2)}${stderr === null ? "" : ` ± ${fmt(stderr)}`}: share of the predictions’ variance that is a sum of the features’ own effects`;
  return (
    <p class="pdpw-says">
      {h2 !== null && (
        <span data-testid="additive" title={statistic}>
          {h2 > 1 ? (
            "How additive the model is cannot be told: the features depend on each other."
          ) : (
            <>
              The model is <strong>{percent(1 - h2, 1)} additive</strong>.
            </>
          )}{" "}
        </span>
      )}
      <span class="pdpw-muted" data-testid="pair-rows" title={p.method}>
        {notes.join(" · ")}
      </span>
      {live && p.more !== null && !running && (
        <button
          type="button"
          data-testid="more"
          title={`Needs ${count(p.more)} predictions of the model`}
          onClick={() => void store.ask("compute", { panel: "interactions" })}
        >
          use more rows
        </button>
      )}
    </p>
  );
}

/** What the focused feature interacts with, the strongest first. */
function Partners({ ui, state }: Props) {
  const p = useValue(() => state.pairs.value)!;
  const focus = useValue(() => state.focus.value);
  const name = useValue(() => ui.store.public.feature.value);
  const shown = useValue(() => state.shown.value);
  const all = useValue(() => state.allPartners.value);
  if (focus < 0)
    return <p class="pdpw-with pdpw-muted">{name} is none of the features that interact most with others.</p>;
  const pairs = pairsOf(p, focus);
  if (complete(p) && pairs.every((pair) => p.strength[pair] === 0))
    return (
      <p class="pdpw-with" data-testid="partners">
        {name} acts alone: it interacts with no other feature.
      </p>
    );
  const scale = 1.1 * fullScale(p, "strength"); // room for the whisker
  const rows = all ? pairs : pairs.slice(0, FEW);
  const longest = Math.max(...pairs.map((pair) => p.features[other(p, pair, focus)].length));
  return (
    <div class="pdpw-with">
      <span class="pdpw-muted" title={STRENGTH}>
        What interacts with {name}?
      </span>
      <ul
        class="pdpw-partners"
        data-testid="partners"
        aria-label={`What interacts with ${name}`}
        style={{ "--pdpw-longest": `${longest + 1}ch` }}
      >
        {rows.map((pair) => (
          <Partner
            key={pair}
            p={p}
            pair={pair}
            focus={focus}
            scale={scale}
            shown={pair === shown}
            open={() => state.open([focus, other(p, pair, focus)])}
          />
        ))}
      </ul>
      {pairs.length > FEW && (
        <button
          type="button"
          class="pdpw-toggle"
          data-testid="partners-all"
          aria-expanded={all}
          onClick={() => {
            state.allPartners.value = !all;
          }}
        >
          {all ? `only ${FEW}` : `all ${pairs.length}`}
        </button>
      )}
    </div>
  );
}

interface PartnerProps {
  p: Pairs;
  pair: number;
  focus: number;
  scale: number;
  shown: boolean;
  open(): void;
}

function Partner({ p, pair, focus, scale, shown, open }: PartnerProps) {
  const j = other(p, pair, focus);
  const strength = p.strength[pair];
  const stderr = p.strength_stderr[pair];
  const width = (value: number) => `${100 * Math.max(0, Math.min(1, value / scale))}%`;
  const low = Math.max(0, strength - stderr);
  return (
    <li>
      <button
        type="button"
        class="pdpw-partner"
        data-testid="partner"
        data-name={p.features[j]}
        data-strength={strength}
        aria-pressed={shown}
        title={describe(p, pair, [focus, j])}
        onClick={open}
      >
        <span class="pdpw-name">{p.features[j]}</span>
        <span class="pdpw-strength" aria-hidden="true">
          {Number.isNaN(strength) ? (
            <span class="pdpw-pending" />
          ) : (
            <>
              <span style={{ width: width(strength) }} />
              {stderr > 0 && (
                <span
                  class="pdpw-whisker"
                  style={{ left: width(low), right: `calc(100% - ${width(strength + stderr)})` }}
                />
              )}
            </>
          )}
        </span>
        <span>{fmt(strength)}</span>
      </button>
    </li>
  );
}

function Pictures({ ui, state }: Props) {
  const shape = useValue(() => state.shape.value);
  const measure = useValue(() => state.measure.value);
  const blocks = useValue(() => state.blocks.value);
  const press = (testid: string, text: string, on: boolean, act: () => void, about?: string) => (
    <button type="button" class="pdpw-toggle" data-testid={testid} aria-pressed={on} title={about} onClick={act}>
      {text}
    </button>
  );
  const showAs = (to: "matrix" | "network") =>
    press(`view-${to}`, to, shape === to, () => {
      state.at.value = null;
      state.shape.value = to;
    });
  const measureAs = (to: Measure, text: string, about: string) =>
    press(`measure-${to}`, text, measure === to, () => (state.measure.value = to), about);
  const toggleBlocks = () => {
    state.blocks.value = !blocks;
  };
  return (
    <>
      <div class="pdpw-switches">
        <span class="pdpw-group">
          {showAs("matrix")}
          {showAs("network")}
        </span>
        {shape === "matrix" && (
          <>
            <span class="pdpw-group">
              {measureAs("strength", "strength", STRENGTH)}
              {measureAs("h2", "share", SHARE)}
            </span>
            {press(
              "seriate",
              "group",
              blocks,
              toggleBlocks,
              "What interacts stands together; else the most important first",
            )}
          </>
        )}
      </div>
      {shape === "matrix" ? <Matrix ui={ui} state={state} /> : <Network ui={ui} state={state} />}
      <Read state={state} />
      {shape === "matrix" && <Key state={state} />}
    </>
  );
}

function Read({ state }: { state: Pairing }) {
  const text = useValue(() => state.read.value);
  return (
    <p class={`pdpw-pair-read${text ? "" : " pdpw-muted"}`} data-testid="pair-read">
      {text || "click a pair to see both together, a name to bring it into focus"}
    </p>
  );
}

/** What the colours mean. */
function Key({ state }: { state: Pairing }) {
  const p = useValue(() => state.pairs.value)!;
  const measure = useValue(() => state.measure.value);
  const scale = fullScale(p, measure);
  const own = Math.max(...Array.from(p.main_strength), 0);
  const flagged = Array.from(p.dependent).some((v) => v === 1);
  return (
    <div class="pdpw-key pdpw-muted">
      <span title={measure === "h2" ? SHARE : STRENGTH}>
        <i class="pdpw-ramp" aria-hidden="true" />
        pair, 0 to {measure === "h2" ? percent(scale, 1) : fmt(scale)}
      </span>
      <span title={OWN}>
        <i class="pdpw-ramp" data-own="true" aria-hidden="true" />
        own effect, to {fmt(own)}
      </span>
      {!complete(p) && <span>hatched: not computed</span>}
      {flagged && (
        <span title="More interaction than joint effect (H² > 1): the features depend on each other, or do next to nothing together">
          <i class="pdpw-corner" aria-hidden="true" />
          above 100 %
        </span>
      )}
    </div>
  );
}
