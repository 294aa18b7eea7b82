// The controls in the focused feature's head: which effect, of what, how its lines look. What they change is on screen at once.

import { fmtX } from "../geometry/format";
import type { PublicTraits } from "../model";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

interface ToggleProps {
  on: boolean;
  name: string;
  title: string;
  testid: string;
  disabled?: boolean;
  flip(): void;
}

function Toggle({ on, name, title, testid, disabled, flip }: ToggleProps) {
  return (
    <button
      type="button"
      class="pdpw-toggle"
      aria-pressed={on}
      data-testid={testid}
      title={title}
      disabled={disabled}
      onClick={flip}
    >
      {name}
    </button>
  );
}

const NO_KERNEL = "Needs Python: run the cell first";

export function EffectControls({ ui }: { ui: Ui }) {
  const { store } = ui;
  const open = useValue(() => store.public.panels.value.includes("effects"));
  const effect = useValue(() => store.public.effect.value);
  const showIce = useValue(() => store.public.show_ice.value);
  const centered = useValue(() => store.public.centered.value);
  const derivative = useValue(() => store.public.derivative.value);
  const sloping = useValue(() => store.curve.value?.kind !== "category");
  const live = useValue(() => store.host.value === "kernel");
  const hasAle = useValue(() => ui.effects.value?.ale != null);
  const outputs = useValue(() => ui.effects.value?.outputs != null);
  const classes = useValue(() => ui.classes.value);
  const outcome = useValue(() => ui.effects.value?.observed != null);
  const observing = useValue(() => ui.observing.value);
  const level = !centered && !(derivative && sloping);
  const show = (which: "level" | "centred" | "slope") => {
    store.set("derivative", which === "slope");
    store.set("centered", which === "centred");
  };
  return (
    <div class="pdpw-bar pdpw-effects" role="toolbar" aria-label="Curves">
      {open && (
        <span class="pdpw-group">
          <Toggle
            testid="effect-pd"
            name="PD"
            on={effect === "pd"}
            title="Partial dependence: the mean prediction when every row is given the value"
            flip={() => store.set("effect", "pd")}
          />
          <Toggle
            testid="effect-ale"
            name="ALE"
            on={effect === "ale"}
            disabled={!live && !hasAle}
            title={
              live || hasAle
                ? "Accumulated local effects: rows are moved only to values near their own, which is fairer where features move together"
                : NO_KERNEL
            }
            flip={() => store.set("effect", "ale")}
          />
        </span>
      )}
      <span class="pdpw-group">
        <Toggle
          testid="ice"
          name="ICE"
          on={showIce}
          title="One pale line per sampled row (individual conditional expectation)"
          flip={() => store.set("show_ice", !showIce)}
        />
        <Toggle
          testid="centered"
          name="centred"
          on={centered && !(derivative && sloping)}
          title="Every line minus its own first value"
          flip={() => show(centered && !(derivative && sloping) ? "level" : "centred")}
        />
        <Toggle
          testid="slope"
          name="slope"
          on={derivative && sloping}
          disabled={!sloping}
          title={
            sloping ? "How steep every line is (d-ICE): lines differ where features interact" : "Levels have no slope"
          }
          flip={() => show(derivative ? "level" : "slope")}
        />
      </span>
      {open && <By ui={ui} live={live} />}
      {open && showIce && <ColourBy ui={ui} live={live} />}
      {outputs && (
        <Toggle
          testid="classes"
          name="all classes"
          on={classes}
          title="The curves of all outputs over each other"
          flip={() => {
            ui.classes.value = !classes;
          }}
        />
      )}
      {outcome && (
        <Toggle
          testid="observed"
          name="observed"
          on={observing && level}
          disabled={!level}
          title={
            level
              ? "Mean of the outcome near each value (ring, with the standard error of the residual); the tick is what the model predicts for the same rows"
              : "Switch off centred and slope to compare with what was observed"
          }
          flip={() => {
            ui.observing.value = !observing;
          }}
        />
      )}
    </div>
  );
}

interface PickProps {
  ui: Ui;
  live: boolean;
}

/** A curve per group. */
function By({ ui, live }: PickProps) {
  const { store } = ui;
  const by = useValue(() => store.public.by.value);
  const feature = useValue(() => store.public.feature.value);
  const classes = useValue(() => ui.classes.value && ui.effects.value?.outputs != null);
  const names = useValue(() => store.info.value?.features.map((f) => f.name) ?? []);
  const title = live ? "A curve for each group of rows: levels of a category, a number's quarters" : NO_KERNEL;
  return (
    <Pick
      label="by"
      testid="by"
      value={classes ? "" : by}
      title={title}
      disabled={!live}
      none="–"
      names={names.filter((name) => name !== feature || name === by)}
      extra={by !== "" && !names.includes(by) ? by : null}
      choose={(value) => {
        ui.classes.value = false;
        // Hues are the groups' now; a scale of numbers may stay.
        if (value !== "" && ui.effects.peek()?.colour?.labels) store.set("color_by", "");
        store.set("by", value);
      }}
    />
  );
}

/** What the single lines' colours mean. */
function ColourBy({ ui, live }: PickProps) {
  const { store } = ui;
  const value = useValue(() => store.public.color_by.value);
  const grouped = useValue(() => store.public.by.value !== "");
  const names = useValue(() => store.info.value?.features.map((f) => f.name) ?? []);
  return (
    <Pick
      label="lines"
      testid="color-by"
      value={value}
      title={live ? "Colours the single rows’ lines by a feature’s values" : NO_KERNEL}
      disabled={!live}
      none={grouped ? "as groups" : "one colour"}
      names={names}
      extra={null}
      choose={(name) => {
        const kind = store.info.peek()?.features.find((f) => f.name === name)?.kind ?? "";
        if (["category", "bool", "group"].includes(kind)) {
          ui.classes.value = false;
          store.set("by", "");
        }
        store.set("color_by", name);
      }}
    />
  );
}

interface SelectProps {
  label: string;
  testid: string;
  value: string;
  title: string;
  disabled: boolean;
  none: string;
  names: string[];
  /** A value that is no feature. */
  extra: string | null;
  choose(value: PublicTraits["by"]): void;
}

function Pick({ label, testid, value, title, disabled, none, names, extra, choose }: SelectProps) {
  return (
    <label class="pdpw-pick" title={title}>
      <span class="pdpw-muted">{label}</span>
      <select
        data-testid={testid}
        value={value}
        disabled={disabled}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{none}</option>
        {extra !== null && <option value={extra}>{extra}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What the lines' colours mean, where no curve says so. */
export function LinesLegend({ ui }: { ui: Ui }) {
  const legend = useValue(() => (ui.scene.value?.lines ? (ui.tints.value?.legend ?? null) : null));
  if (!legend) return null;
  const { feature, levels, low, high, kind, scale } = legend;
  const write = (value: number) => fmtX(value, kind as "number", high - low);
  return (
    <span class="pdpw-legend pdpw-muted" data-testid="lines-legend">
      lines by {feature}
      {levels ? (
        levels.map(({ name, colour }) => (
          <span key={name} class="pdpw-legend-level">
            <span class="pdpw-swatch" style={{ background: colour }} />
            {name}
          </span>
        ))
      ) : (
        <>
          <span>{write(low)}</span>
          <span class="pdpw-scale" style={{ background: `linear-gradient(to right, ${scale.join(",")})` }} />
          <span>{write(high)}</span>
        </>
      )}
    </span>
  );
}
