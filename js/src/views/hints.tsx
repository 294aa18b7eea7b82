// Under the curves: what to know before believing them, and by which condition the rows divide that disagree.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hueOf } from "../draw/hues";
import { count, fmt } from "../geometry/format";
import type { RegionSplit, Side } from "../model";
import { useValue } from "./hooks";
import { Line } from "./panel";
import type { Ui } from "./ui";

/** Strokes on a field of 14 x 14. */
const ICONS: { [kind: string]: string } = {
  heterogeneity: "M2 7 C5 7 7 4 12 2 M2 7 C6 7 8 7 12 7 M2 7 C5 7 7 10 12 12",
  association: "M1.5 7 a3.5 3.5 0 1 0 7 0 a3.5 3.5 0 1 0 -7 0 M5.5 7 a3.5 3.5 0 1 0 7 0 a3.5 3.5 0 1 0 -7 0",
  outside: "M2 2 H9 V9 H2 Z M11.5 12 h.5",
  thin: "M2 12 H12 M3 12 V4 M6 12 V6 M9 12 V10",
  error: "M7 2 V12 M4 2 H10 M4 12 H10",
  region: "M7 2 V12 M2 4 H5 M9 10 H12",
};

function Icon({ kind }: { kind: string }) {
  return (
    <svg class="pdpw-icon" viewBox="0 0 14 14" aria-hidden="true">
      <path d={ICONS[kind] ?? ICONS.error} />
    </svg>
  );
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const share = (value: number | null) => (value === null ? "–" : `${Math.round(100 * value)} %`);

/** Two readings of "does it depend on the season": the rows of a season, or every row with the season set. */
function Reading({ ui, feature, by, dismiss }: { ui: Ui; feature: string; by: string; dismiss: () => void }) {
  const { store } = ui;
  const live = useValue(() => store.host.value === "kernel");
  return (
    <li class="pdpw-hintline" data-kind="groups" data-testid="groups-reading">
      <Icon kind="region" />
      <span>
        One curve per group of rows, with all that differs between them. To change {by} alone, in every row:{" "}
        <button
          type="button"
          class="pdpw-question"
          data-testid="groups-pair"
          disabled={!live}
          title={live ? `Partial dependence on ${feature} and ${by} together` : "Needs Python: run the cell first"}
          onClick={() => {
            store.set("pair", [feature, by]);
            ui.reveal("heatmap");
          }}
        >
          {feature} × {by}
        </button>
      </span>
      <Dismiss text={`about curves by ${by}`} onClick={dismiss} />
    </li>
  );
}

function Dismiss({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button
      type="button"
      class="pdpw-dismiss"
      aria-label={`Dismiss: ${text}`}
      title="Put this hint away"
      onClick={onClick}
    >
      ×
    </button>
  );
}

export function Hints({ ui }: { ui: Ui }) {
  const { store } = ui;
  const feature = useValue(() => store.curve.value?.feature ?? "");
  const hints = useValue(() => ui.effects.value?.hints ?? null);
  const notes = useValue(() => ui.effects.value?.notes ?? []);
  const dismissed = useValue(() => ui.dismissed.value);
  const status = useValue(() => store.pictures.effects.value?.status ?? null);
  const open = useValue(() => store.public.panels.value.includes("effects"));
  const by = useValue(() => {
    const groups = ui.effects.value?.groups?.by;
    return store.info.value?.features.find(({ name }) => name === groups)?.name ?? ""; // "" for a condition, too
  });
  if (!open) return null;
  const gone = dismissed.feature === feature ? dismissed.kinds : [];
  const visible = hints?.filter((hint) => !gone.includes(hint.kind)) ?? [];
  const grouped = by !== "" && by !== feature && !gone.includes("groups");
  const dismiss = (kind: string) => {
    ui.dismissed.value = { feature, kinds: [...gone, kind] };
  };
  const troubled = status !== null && ["ask", "failed"].includes(status.state);
  return (
    <>
      {troubled && <Line ui={ui} name="effects" status={status} filled />}
      {notes.map((note) => (
        <p key={note} class="pdpw-strip" data-testid="effects-note">
          {sentence(note)}
        </p>
      ))}
      {(visible.length > 0 || grouped) && (
        <ul class="pdpw-hints" aria-label="Before you believe this curve" data-testid="hints">
          {visible.map(({ kind, severity, text, about }) => (
            <li key={kind} class="pdpw-hintline" data-kind={kind} data-severity={severity}>
              <Icon kind={kind} />
              <span title={about}>{sentence(text)}</span>
              <Dismiss text={text} onClick={() => dismiss(kind)} />
            </li>
          ))}
          {grouped && <Reading ui={ui} feature={feature} by={by} dismiss={() => dismiss("groups")} />}
        </ul>
      )}
    </>
  );
}

const MOST_ELSEWHERE = 4;

export function Regions({ ui }: { ui: Ui }) {
  const { store } = ui;
  const open = useValue(() => store.public.panels.value.includes("regions"));
  const picture = useValue(() => store.pictures.regions.value);
  const curve = useValue(() => store.curve.value);
  const disagree = useValue(() => ui.effects.value?.hints?.some(({ kind }) => kind === "heterogeneity") ?? false);
  const [whole, setWhole] = useState(false);
  const leaves = picture?.here?.leaves ?? [];
  const each = leaves.map(({ text }) => text).join("; ");
  const shownEach = useValue(() => each !== "" && ui.drawn.value.by === each, [each]);
  if (!open || !picture) return null;
  const { status, here, all } = picture;
  if (status.state === "ask" || status.state === "failed")
    return <Line ui={ui} name="regions" status={status} filled={false} />;
  if (picture.feature !== curve?.feature || picture.output !== curve?.output || !here) return null;
  const shown = whole ? here.splits : here.splits.slice(0, 1);
  const elsewhere = (all ?? []).filter((one) => one.feature !== picture.feature);
  return (
    <div class="pdpw-regions" data-testid="regions">
      {shown.map((split) => (
        <SplitLine
          key={split.within + split.condition}
          ui={ui}
          split={split}
          disagree={disagree}
          basis={
            here.rows < here.rows_total
              ? `, from the curves of ${count(here.rows)} of ${count(here.rows_total)} rows`
              : ""
          }
        >
          {split === here.splits[0] && leaves.length > 2 && (
            <Curves
              ui={ui}
              by={each}
              testid="regions-curves"
              about={`One curve for each of the ${leaves.length} regions that the splits together leave`}
            >
              {leaves.length} curves
            </Curves>
          )}
          {split === here.splits[0] && here.splits.length > 1 && (
            <button
              type="button"
              class="pdpw-toggle"
              data-testid="regions-more"
              aria-expanded={whole}
              title="How the two sides divide further"
              onClick={() => setWhole(!whole)}
            >
              {whole ? "less" : `${here.splits.length - 1} more`}
            </button>
          )}
        </SplitLine>
      ))}
      {shownEach && (
        <p class="pdpw-sides" data-testid="regions-legend">
          <Sides ui={ui} sides={leaves} tinted />
        </p>
      )}
      {here.splits.length === 0 && (
        <p class="pdpw-hintline pdpw-muted" data-testid="rows-agree" title={sentence(here.reason)}>
          <Icon kind="region" />
          {disagree
            ? "No split into two explains the disagreement"
            : "Rows agree: no split makes the curves more alike"}
        </p>
      )}
      {elsewhere.length > 0 && (
        <p class="pdpw-elsewhere pdpw-muted" data-testid="elsewhere">
          Rows also disagree in the curves of
          {elsewhere.slice(0, MOST_ELSEWHERE).map((one) => (
            <button
              key={one.feature}
              type="button"
              data-testid="elsewhere-feature"
              title={`Curves of ${one.feature} differ: a split at ${one.label} removes ${share(one.removed)} of the disagreement, ${fmt(one.size)} in the unit of the prediction`}
              onClick={() => store.set("feature", one.feature)}
            >
              {one.feature} <span class="pdpw-muted">by {one.by}</span>
            </button>
          ))}
        </p>
      )}
    </div>
  );
}

interface SplitProps {
  ui: Ui;
  split: RegionSplit;
  /** Rows are said to disagree. */
  disagree: boolean;
  /** On how many rows it stands, where these are not all. */
  basis: string;
  children?: ComponentChildren;
}

function SplitLine({ ui, split, disagree, basis, children }: SplitProps) {
  const { within, condition, gain, gain_check, sides } = split;
  const at = `at ${sides[0].label} removes ${share(gain)}`;
  return (
    <p class="pdpw-hintline" data-testid="region" data-condition={condition}>
      <Icon kind="region" />
      <span
        title={`Share of the squared heterogeneity that two mean curves instead of one remove; ${share(gain_check)} on rows that the split was not found on${basis}`}
      >
        {within
          ? `Where ${within}, a split ${at}`
          : disagree
            ? `Split ${at} of the disagreement`
            : `Rows mostly agree; a split ${at} of what disagreement there is`}
      </span>
      <span class="pdpw-sides">
        <Sides ui={ui} sides={sides} />
        {!within && (
          <Curves ui={ui} by={condition} testid="region-split" about="One curve for either side">
            two curves
          </Curves>
        )}
        {children}
      </span>
    </p>
  );
}

/** Conditions to select by, each with the colour of its curve where it has one. */
function Sides({ ui, sides, tinted = false }: { ui: Ui; sides: Side[]; tinted?: boolean }) {
  const { store } = ui;
  const selected = useValue(() => store.selection.value.text);
  const dark = useValue(() => ui.scheme.value === "dark");
  return (
    <>
      {sides.map(({ text, label, n }, i) => (
        <button
          key={text}
          type="button"
          class="pdpw-toggle"
          data-testid="region-select"
          aria-pressed={selected === text}
          title={`Select the ${count(n)} rows where ${label}`}
          onClick={() => void store.ask(selected === text ? "clear" : "query", selected === text ? {} : { text })}
        >
          {tinted && <span class="pdpw-swatch" style={{ background: hueOf(i, dark) }} />}
          {label} <span class="pdpw-muted">n {count(n)}</span>
        </button>
      ))}
    </>
  );
}

interface CurvesProps {
  ui: Ui;
  by: string;
  testid: string;
  about: string;
  children: ComponentChildren;
}

/** Shows a curve for each group, or none of them any more. */
function Curves({ ui, by, testid, about, children }: CurvesProps) {
  const { store } = ui;
  const on = useValue(() => ui.drawn.value.by === by, [by]);
  const live = useValue(() => store.host.value === "kernel");
  return (
    <button
      type="button"
      class="pdpw-toggle"
      data-testid={testid}
      aria-pressed={on}
      disabled={!live && !on}
      title={live ? about : "Needs Python: run the cell first"}
      onClick={() => {
        ui.classes.value = false;
        store.set("by", on ? "" : by);
      }}
    >
      {children}
    </button>
  );
}
