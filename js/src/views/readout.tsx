// The read-out beside the pointer: x, every curve's value with its n, and the row whose line is near.

import { colourOf } from "../draw/overlays";
import { firstOf, type Scene, toX } from "../draw/scene";
import { count, fmt, fmtOn } from "../geometry/format";
import { nearest } from "../geometry/hit";
import { nameOf } from "../geometry/overlays";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

/** A grid point in words. */
export function xText(scene: Scene, at: number): string {
  const { curve } = scene;
  if (at === curve.missing) return "missing";
  if (scene.bands) return curve.labels[at] ?? String(at);
  return fmtOn(curve, curve.x[at], scene.xDomain[1] - scene.xDomain[0]);
}

const ORDER: { [key: string]: number } = { ale: 0, sel: 1, rest: 2 };

/** How far the pointer may be from an observed mean that is read, in px. */
const NEAR = 24;

/** The observed mean nearest to a grid point. */
function observedAt(scene: Scene, at: number) {
  const { observed, px } = scene;
  if (!observed) return null;
  const xs = Float64Array.from(observed.x, (v) => (Number.isNaN(v) ? scene.missingAt : toX(scene, v)));
  const k = nearest(xs, px[at]);
  if (k < 0 || Math.abs(xs[k] - px[at]) > NEAR) return null;
  const error = observed.stderr[k] > 0 ? ` ± ${fmt(observed.stderr[k], 2)}` : "";
  return {
    outcome: `${fmt(observed.outcome[k])}${error}`,
    predicted: fmt(observed.predicted[k]),
    n: count(observed.n[k]),
  };
}

export function Readout({ ui }: { ui: Ui }) {
  const { store } = ui;
  const scene = useValue(() => ui.scene.value);
  const hover = useValue(() => ui.hover.value);
  const sides = useValue(() => ui.shown.value);
  const sample = useValue(() => store.sample.value);
  if (!scene || hover.at < 0 || hover.at >= scene.curve.x.length) return null;
  const { curve, centered, lines } = scene;
  const shown = scene.faint ? null : sides;
  const value = (values: ArrayLike<number>) => fmt(values[hover.at] - firstOf(values, centered));
  const stderr = curve.rows < curve.total && !centered ? (curve.stderr?.[hover.at] ?? 0) : 0;
  const rows: [string, string, string, string, string?][] = [
    ["all", scene.title, value(curve.average) + (stderr > 0 ? ` ± ${fmt(stderr, 2)}` : ""), count(curve.rows)],
  ];
  if (shown) {
    const about = shown.exact ? "" : "≈ ";
    rows.push(["sel", "selection", about + value(shown.selection.average), count(shown.selection.n)]);
    rows.push(["rest", "rest", about + value(shown.rest.average), count(shown.rest.n)]);
  }
  const beside: typeof rows = [];
  for (const overlay of scene.overlays) {
    const at = overlay.onGrid[hover.at];
    if (Number.isNaN(at)) continue;
    const { hue, n } = overlay;
    const colour = typeof hue === "number" ? colourOf(overlay, ui.colours.peek()) : undefined;
    const key = hue === "selection" ? "sel" : hue === "rest" ? "rest" : overlay.key;
    beside.push([key, nameOf(overlay), fmt(at), n === null ? "" : count(n), colour]);
  }
  // The subject first, then the selection and the rest, as everywhere.
  const ale = beside.filter(([key]) => !/^(group|class|model)/.test(key)).sort((a, b) => ORDER[a[0]] - ORDER[b[0]]);
  rows.unshift(...ale);
  rows.push(...beside.filter((row) => !ale.includes(row)));
  const seen = observedAt(scene, hover.at);
  if (seen) {
    rows.push(["observed", "observed", seen.outcome, seen.n]);
    rows.push(["predicted", "predicted there", seen.predicted, ""]);
  }
  let line = "";
  if (lines && hover.row >= 0) {
    const start = hover.row * lines.k;
    const v = lines.values[start + hover.at] - (centered ? lines.values[start] : -lines.offset);
    const own = lines.own[hover.row];
    const span = scene.xDomain[1] - scene.xDomain[0];
    const at = Number.isNaN(own) ? "missing" : scene.bands ? (curve.labels[own] ?? "") : fmtOn(curve, own, span);
    line = `row ${sample?.labels[hover.row] ?? hover.row}: ${fmt(v)} (its own ${curve.feature} is ${at}, predicted ${fmt(lines.fitted[hover.row] + lines.offset)})`;
  }
  // Where a curve is drawn dashed, and of which rows there are few.
  const few = (values: ArrayLike<number> | null | undefined) => values?.[hover.at] === 1;
  const sparse = scene.overlays.filter(({ thin }) => few(thin)).map(nameOf);
  const thin = few(curve.thin)
    ? "few rows near this value"
    : few(shown?.selection.thin)
      ? "few of the selection’s rows near this value"
      : few(shown?.rest.thin)
        ? "few of the other rows near this value"
        : sparse.length > 0
          ? `few rows near this value in ${sparse.join("; ")}`
          : "";
  // Beside the pointer, on the side with more room.
  const leftward = hover.x > scene.width * 0.55;
  const style = {
    left: leftward ? "auto" : `${Math.round(hover.x + 14)}px`,
    right: leftward ? `${Math.round(scene.width - hover.x + 14)}px` : "auto",
    top: `${Math.round(Math.max(0, Math.min(scene.height - 90, hover.y - 34)))}px`,
  };
  return (
    <div class="pdpw-readout" style={style} data-testid="readout" aria-hidden="true">
      <div class="pdpw-readout-x">
        {curve.feature} = {xText(scene, hover.at)}
      </div>
      <table>
        <tbody>
          {rows.map(([key, name, text, n, colour]) => (
            <tr key={key} data-key={key}>
              <th scope="row">
                {colour && <span class="pdpw-swatch" style={{ background: colour }} />}
                {name}
              </th>
              <td>{text}</td>
              <td class="pdpw-muted">{n && `n ${n}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {line && <div class="pdpw-readout-row">{line}</div>}
      {thin && <div class="pdpw-muted">dashed: {thin}</div>}
    </div>
  );
}
