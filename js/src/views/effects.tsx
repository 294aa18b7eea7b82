// The controls in the focused feature's head: which effect, of what, how its lines look. What they change is on screen at once.

import { fmtX } from "../geometry/format";
import type { AxisKind } from "../model";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

const NO_KERNEL = "Needs Python: run the cell first";

function toggle(testid: string, name: string, on: boolean, title: string, flip: () => void, disabled = false) {
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

/** A select with nothing chosen as its first option. */
function pick(
  testid: string,
  label: string,
  title: string,
  live: boolean,
  value: string,
  none: string,
  names: string[],
  choose: (value: string) => void,
) {
  return (
    <label class="pdpw-pick" title={live ? title : NO_KERNEL}>
      <span class="pdpw-muted">{label}</span>
      <select
        data-testid={testid}
        value={value}
        disabled={!live}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{none}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name.includes("; ") ? `${name.split("; ").length} regions` : name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What `by` is to compare bookmarks: no feature's name. */
export function bookmarksKey(features: string[]): string {
  let key = "bookmarks";
  while (features.includes(key)) key = `@${key}`;
  return key;
}

export function EffectControls({ ui }: { ui: Ui }) {
  const { store } = ui;
  const traits = store.public;
  // One object of plain values: read together, drawn together.
  const now = useValue(() => {
    const picture = ui.effects.value;
    const sloping = store.curve.value?.kind !== "category";
    const slope = traits.derivative.value && sloping;
    return {
      open: traits.panels.value.includes("effects"),
      ...ui.drawn.value,
      hasAle: picture?.ale != null,
      ice: traits.show_ice.value,
      sloping,
      slope,
      centered: traits.centered.value && !slope,
      live: store.host.value === "kernel",
      outputs: picture?.outputs != null,
      classes: ui.classes.value && picture?.outputs != null,
      outcome: picture?.observed != null,
      observing: ui.observing.value,
      several: store.several.value.length > 0,
      models: ui.models.value && (store.host.value === "kernel" || picture?.models != null),
      hasModels: picture?.models != null,
      marks: Object.keys(traits.bookmarks.value).length,
      focus: traits.feature.value,
      features: store.info.value?.features ?? [],
    };
  });
  const { open, live, by, slope, centered } = now;
  const names = now.features.map(({ name }) => name);
  const marked = bookmarksKey(names);
  const level = !slope && !centered;
  const show = (derivative: boolean, first: boolean) => {
    store.set("derivative", derivative);
    store.set("centered", first);
  };
  const group = (name: string) => {
    ui.classes.value = false;
    // Hues are the groups' now; a scale of numbers may stay.
    if (name !== "" && ui.effects.peek()?.colour?.labels) store.set("color_by", "");
    store.set("by", name);
  };
  const colour = (name: string) => {
    const kind = now.features.find((feature) => feature.name === name)?.kind ?? "";
    if (["category", "bool", "group"].includes(kind)) {
      ui.classes.value = false;
      store.set("by", "");
    }
    store.set("color_by", name);
  };
  const compare = () => {
    if (!now.models) {
      group("");
      if (ui.effects.peek()?.colour?.labels) store.set("color_by", "");
    }
    store.set("show_models", !now.models);
  };
  const reachable = live || now.hasAle;
  return (
    <div class="pdpw-bar pdpw-effects" role="toolbar" aria-label="Curves">
      {open && (
        <span class="pdpw-group">
          {toggle(
            "effect-pd",
            "PD",
            !now.ale,
            "Partial dependence: the mean prediction when every row is given the value",
            () => store.set("effect", "pd"),
          )}
          {toggle(
            "effect-ale",
            "ALE",
            now.ale,
            reachable
              ? "Accumulated local effects: rows move only to values near their own, which is fairer where features move together"
              : NO_KERNEL,
            () => store.set("effect", "ale"),
            !reachable,
          )}
        </span>
      )}
      <span class="pdpw-group">
        {toggle("ice", "ICE", now.ice, "One pale line per sampled row (individual conditional expectation)", () =>
          store.set("show_ice", !now.ice),
        )}
        {toggle("centered", "centred", centered, "Every line minus its own first value", () => show(false, !centered))}
        {toggle(
          "slope",
          "slope",
          slope,
          now.sloping
            ? "How steep every line is (d-ICE): lines differ where features interact"
            : "Levels have no slope",
          () => show(!slope, false),
          !now.sloping,
        )}
      </span>
      {open &&
        pick(
          "by",
          "by",
          "A curve for each group of rows: levels of a category, a number’s quarters, your bookmarks",
          live,
          now.classes ? "" : by,
          "–",
          [
            ...(now.marks > 1 || by === marked ? [marked] : []),
            ...(["", marked, ...names].includes(by) ? [] : [by]),
            ...names.filter((name) => name !== now.focus || name === by),
          ],
          group,
        )}
      {open &&
        now.ice &&
        pick(
          "color-by",
          "lines",
          "Colours the single rows’ lines by a feature’s values",
          live,
          now.colour,
          by === "" ? "one colour" : "groups",
          names,
          colour,
        )}
      {open &&
        now.several &&
        toggle(
          "models",
          "models",
          now.models,
          live || now.hasModels
            ? "The other models’ curves of the same rows; with a selection, those of the selected rows, to compare with the curve “selection”"
            : NO_KERNEL,
          compare,
          !live && !now.hasModels,
        )}
      {now.outputs &&
        toggle("classes", "classes", now.classes, "The curves of all outputs over each other", () => {
          ui.classes.value = !now.classes;
        })}
      {now.outcome &&
        toggle(
          "observed",
          "observed",
          now.observing && level,
          level
            ? "Mean outcome near each value (ring, with the standard error of the residual) and the model’s mean for the same rows (tick)"
            : "Switch off centred and slope to compare with what was observed",
          () => {
            ui.observing.value = !now.observing;
          },
          !level,
        )}
    </div>
  );
}

/** What the lines' colours mean, where no curve says so. */
export function LinesLegend({ ui }: { ui: Ui }) {
  const legend = useValue(() => (ui.scene.value?.lines ? (ui.tints.value?.legend ?? null) : null));
  if (!legend) return null;
  const { feature, levels, low, high, kind, scale } = legend;
  const write = (value: number) => fmtX(value, kind as AxisKind, high - low);
  return (
    <span class="pdpw-legend pdpw-muted" data-testid="lines-legend">
      <span>lines by {feature}</span>
      {levels?.map(({ name, colour }) => (
        <span key={name}>
          <span class="pdpw-swatch" style={{ background: colour }} />
          {name}
        </span>
      ))}
      {!levels && (
        <>
          {write(low)}
          <span class="pdpw-scale" style={{ background: `linear-gradient(to right, ${scale.join(",")})` }} />
          {write(high)}
        </>
      )}
    </span>
  );
}
