// The ends of the focused feature's range as two inputs.

import { useLayoutEffect, useState } from "preact/hooks";
import { fmtOn, parseX } from "../geometry/format";
import { extent } from "../geometry/scale";
import { someOutside } from "../geometry/subset";
import type { Curve, Ice } from "../model";
import { useValue } from "./hooks";
import { current, type Range } from "./range";
import type { Ui } from "./ui";

/** The ends of the brush as plain inputs; what is wrong with one is said below them. */
export function Ends({ ui }: { ui: Ui }) {
  const { store } = ui;
  const scene = useValue(() => ui.scene.value);
  const range = useValue(() => {
    const curve = ui.scene.value?.curve;
    return curve ? current(ui, "range", curve.feature) : null;
  });
  const wrong = useValue(() => ui.wrongEnd.value);
  const lines = useValue(() => store.lines.value);
  const stamp = JSON.stringify([scene?.curve.feature, range?.low, range?.high]);
  useLayoutEffect(() => {
    ui.wrongEnd.value = null;
  }, [stamp]);
  if (!scene) return null;
  const { curve, xDomain } = scene;
  const span = xDomain[1] - xDomain[0];
  const write = (v: number | null) => (v === null ? "" : fmtOn(curve, v, span));
  const commit = (end: "low" | "high", text: string) => {
    ui.wrongEnd.value = null;
    let value = parseX(text, curve.kind);
    if (value !== null && Number.isNaN(value)) {
      const wanted = { datetime: "a date like 2024-03-31", timedelta: "a duration like 3 h" }[curve.kind as string];
      ui.wrongEnd.value = { end, text: `“${text}” is not ${wanted ?? "a number"}.` };
      return false;
    }
    if (value !== null && curve.integer) value = end === "low" ? Math.ceil(value) : Math.floor(value);
    const next: Range = { type: "range", feature: curve.feature, low: range?.low ?? null, high: range?.high ?? null };
    if (next[end] === value || write(next[end]) === text) return true;
    next[end] = value;
    if (next.low !== null && next.high !== null && next.low > next.high) [next.low, next.high] = [next.high, next.low];
    if (next.low === null && next.high === null && store.forget(curve.feature)) return true;
    store.brush.select("replace", next);
    return true;
  };
  const extremes = extremesOf(curve, xDomain, lines);
  const end = (which: "low" | "high", name: "from" | "to") => {
    const extreme = extremes[which === "low" ? 0 : 1];
    const value = write(range?.[which] ?? null);
    return (
      <End
        value={value}
        label={`${curve.feature} ${name}`}
        testid={name}
        id={`${ui.id}-${name}`}
        // The true extreme, where the axis reaches it and it is an end of this range.
        hint={
          extreme !== undefined && inOrder(range, which, extreme)
            ? write(extreme)
            : which === "low"
              ? "lowest"
              : "highest"
        }
        stamp={stamp}
        wrong={wrong?.end === which}
        edit={() => {
          if (wrong) ui.wrongEnd.value = null;
        }}
        commit={(text) => commit(which, text)}
      />
    );
  };
  return (
    <>
      <span class="pdpw-muted">from</span>
      {end("low", "from")}
      <span class="pdpw-muted">to</span>
      {end("high", "to")}
    </>
  );
}

/** The feature's lowest and highest value, as far as the page knows them. */
function extremesOf(curve: Curve, [low, high]: [number, number], lines: Ice | null): (number | undefined)[] {
  const own = lines && lines.m === curve.total ? extent(lines.own) : null;
  if (own) return own;
  if (someOutside(curve)) return [];
  if (!curve.integer) return [low, high];
  // Bars of several whole numbers begin at the first, but may reach beyond the last one.
  const edges = curve.hist?.edges;
  return [Math.ceil(low), edges && edges[1] - edges[0] === 1 ? Math.floor(high) : undefined];
}

/** Whether an end of the axis can be an end of the range, too: not where the range begins beyond it. */
const inOrder = (range: Range | null, end: "low" | "high", extreme: number): boolean =>
  end === "low" ? extreme <= (range?.high ?? extreme) : extreme >= (range?.low ?? extreme);

function End(props: {
  value: string;
  label: string;
  testid: string;
  id: string;
  hint: string;
  /** What is typed goes when this changes. */
  stamp: string;
  wrong: boolean;
  edit(): void;
  commit(text: string): boolean;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  useLayoutEffect(() => setTyped(null), [props.stamp]);
  const done = () => {
    if (typed !== null && props.commit(typed)) setTyped(null);
  };
  return (
    <input
      type="text"
      class="pdpw-end"
      data-testid={props.testid}
      aria-label={props.label}
      aria-invalid={props.wrong}
      aria-describedby={props.wrong ? `${props.id}-error` : undefined}
      autocomplete="off"
      spellcheck={false}
      placeholder={props.hint}
      size={Math.max(4, Math.min(18, Math.max(props.hint.length, props.value.length)))}
      value={typed ?? props.value}
      onInput={(event) => {
        props.edit();
        setTyped(event.currentTarget.value);
      }}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === "Enter") done();
        else if (event.key === "Escape") {
          props.edit();
          setTyped(null);
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}

export function WrongEnd({ ui }: { ui: Ui }) {
  const wrong = useValue(() => ui.wrongEnd.value);
  if (!wrong) return null;
  const id = `${ui.id}-${wrong.end === "low" ? "from" : "to"}-error`;
  return (
    <p class="pdpw-strip pdpw-error" role="alert" id={id} data-testid="ends-error">
      {wrong.text}
    </p>
  );
}
