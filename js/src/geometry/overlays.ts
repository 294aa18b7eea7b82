// The curves that stand beside the partial dependence, ready to be drawn: accumulated effects, groups, other outputs, other models.
// Values are final: centred, or slopes, as the person wants to see them.

import type { Curve, EffectsPicture } from "../model";
import { type Steps, slopes, thinner } from "./slope";

/** "ink", "selection" and "rest" mean what they mean everywhere; a number counts through the hues of groups and classes. */
export type Hue = number | "ink" | "selection" | "rest";

export interface Overlay {
  key: string;
  name: string;
  /** "selected" where it stands on the selected rows (of its group) only, else "". */
  note: string;
  /** Rows it stands on; null where that is said elsewhere. */
  n: number | null;
  kind: "ale" | "group" | "class" | "model";
  hue: Hue;
  /** Axis units; NaN for the missing level of a number axis, positions of levels. */
  x: ArrayLike<number>;
  values: Float64Array;
  /** The values at the points of the focused curve as it is drawn, for reading. */
  onGrid: Float64Array;
  /** 1 at the points near which it has few rows of its own; null where that is not known. */
  thin: ArrayLike<number> | null;
}

/** As it stands at the end of the line. */
export const nameOf = ({ name, note }: Pick<Overlay, "name" | "note">): string => (note ? `${name}, ${note}` : name);

/** Means of what was observed, at their own points. */
export interface Observed {
  x: ArrayLike<number>;
  outcome: ArrayLike<number>;
  predicted: ArrayLike<number>;
  stderr: ArrayLike<number>;
  n: ArrayLike<number>;
}

export interface Wanted {
  effect: "pd" | "ale";
  by: string;
  classes: boolean;
  models: boolean;
  centered: boolean;
  /** Null: values. */
  steps: Steps | null;
  /** Of the selection on screen; 0 for none. */
  selection: number;
}

/** A piecewise linear curve at some points, NaN beyond its ends; on levels only where it has the level. */
export function valuesAt(
  at: ArrayLike<number>,
  x: ArrayLike<number>,
  values: ArrayLike<number>,
  levels: boolean,
): Float64Array {
  return Float64Array.from(at, (v) => {
    let k = 0;
    while (k < x.length && !(x[k] >= v)) k++;
    if (k >= x.length || Number.isNaN(v)) return Number.NaN;
    if (x[k] === v) return values[k];
    if (levels || k === 0) return Number.NaN;
    return values[k - 1] + ((values[k] - values[k - 1]) * (v - x[k - 1])) / (x[k] - x[k - 1]);
  });
}

/** The shape that the picture's arrays take on screen. `curve` is the focused one as the kernel sent it. */
export function overlaysOf(curve: Curve, picture: Partial<EffectsPicture>, wanted: Wanted): Overlay[] {
  const { steps, centered } = wanted;
  const levels = curve.kind === "category";
  const gridX = steps ? steps.x : curve.x;

  const onCurve = (values: ArrayLike<number>) => {
    const shown = steps ? slopes(values, steps) : Float64Array.from(values, (v) => v - (centered ? values[0] : 0));
    return { x: gridX, values: shown, onGrid: shown };
  };
  const onOwn = (x: ArrayLike<number>, values: ArrayLike<number>) => {
    if (steps) {
      const n = Math.max(0, x.length - 1);
      const unit = steps.width[0] / (curve.x[1] - curve.x[0]);
      const mids = Float64Array.from({ length: n }, (_, k) => x[k] / 2 + x[k + 1] / 2);
      const own = Float64Array.from({ length: n }, (_, k) => (values[k + 1] - values[k]) / ((x[k + 1] - x[k]) * unit));
      // A slope holds for its whole step.
      const onGrid = Float64Array.from(gridX, (v) => {
        let k = 0;
        while (k < n && !(x[k + 1] >= v)) k++;
        return k < n && v >= x[0] ? own[k] : Number.NaN;
      });
      return { x: mids, values: own, onGrid };
    }
    const [start] = centered ? valuesAt([curve.x[0]], x, values, levels) : [0];
    const first = Number.isNaN(start) ? values[0] : start;
    const shown = Float64Array.from(values, (v) => v - first);
    return { x, values: shown, onGrid: valuesAt(gridX, x, shown, levels) };
  };

  const found: Overlay[] = [];
  const ale = wanted.effect === "ale" ? picture.ale : null;
  if (ale?.all) {
    const { all, selection, rest } = ale;
    const sides = wanted.selection !== 0 && wanted.selection === picture.selection_id;
    const add = (key: string, name: string, hue: Hue, { x, values, n }: typeof all) =>
      found.push({ key, name, note: "", n, kind: "ale", hue, ...onOwn(x, values), thin: null });
    if (sides && rest) add("ale-rest", "rest", "rest", rest);
    add("ale", "ALE", "ink", all);
    if (sides && selection) add("ale-selection", "selection", "selection", selection);
  }
  if (wanted.classes && picture.outputs) {
    const { names, averages } = picture.outputs;
    const k = curve.x.length;
    let hue = 0;
    names.forEach((name, o) => {
      if (name === curve.output) return;
      const values = Array.from({ length: k }, (_, i) => averages[o * k + i]);
      const rest = { note: "", n: null, thin: null };
      found.push({ key: `class-${o}`, name, kind: "class", hue: hue++, ...rest, ...onCurve(values) });
    });
  } else if (wanted.by !== "" && picture.groups?.by === wanted.by) {
    const note = picture.groups.selected ? "selected" : "";
    picture.groups.levels.forEach(({ label, n, x, values, thin }, g) => {
      if (values && n > 0)
        found.push({
          key: `group-${g}`,
          name: label,
          note,
          n,
          kind: "group",
          hue: g,
          ...(x ? onOwn(x, values) : onCurve(values)),
          thin: x ? null : steps ? thinner(thin, steps) : thin,
        });
    });
  } else if (wanted.models && picture.models) {
    const note = picture.models.selected ? "selected" : "";
    for (const { name, hue, n, x, values, thin } of picture.models.lines) {
      if (!values) continue;
      const shown = x ? onOwn(x, values) : onCurve(values);
      const own = { n: n === curve.rows ? null : n, thin: thin && steps ? thinner(thin, steps) : thin };
      found.push({ key: `model-${hue}`, name, note, kind: "model", hue, ...own, ...shown });
    }
  }
  return found;
}
