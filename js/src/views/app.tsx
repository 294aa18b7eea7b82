// The page: toolbar, selection, columns that fold into one, and what stands below them over the whole width.

import { Component, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { compact, count, fmtOn } from "../geometry/format";
import type { Curve } from "../model";
import { messageOf, type Store } from "../store";
import { Curves } from "./curves";
import { Distribution } from "./distribution";
import { Divider } from "./divider";
import { Download } from "./download";
import { EffectControls, LinesLegend } from "./effects";
import { Features, useAmounts } from "./features";
import { Hints, Regions } from "./hints";
import { useValue } from "./hooks";
import { Larger } from "./panel";
import { BELOW, SIDE } from "./panels";
import { Answer } from "./questions";
import { Readout } from "./readout";
import { SelectionBar } from "./selection";
import { Toolbar } from "./toolbar";
import type { Ui } from "./ui";

/** What a component throws is said in its place; the rest of the page goes on. */
class Guard extends Component<{ children: ComponentChildren }, { error: string | null }> {
  override state = { error: null as string | null };

  override componentDidCatch(error: unknown): void {
    this.setState({ error: messageOf(error) });
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <p class="pdpw-strip pdpw-error" role="alert" data-testid="broken">
        This part could not be drawn: {this.state.error}
        <button type="button" onClick={() => this.setState({ error: null })}>
          try again
        </button>
      </p>
    );
  }
}

/** What is above and around a node, and how far it is scrolled. */
function scrolled(node: Element): [Element, number][] {
  const found: [Element, number][] = [];
  let at: Element | null | undefined = node;
  while (at) {
    found.push([at, at.scrollTop]);
    at = at.parentElement ?? (at.getRootNode() as Partial<ShadowRoot>).host;
  }
  return found;
}

/** A part that fills the page is in view from its top; afterwards the page is where it was. */
function useStay(ui: Ui, full: string): void {
  const before = useRef<[Element, number][]>([]);
  useLayoutEffect(
    () =>
      ui.watch(() => {
        // Before anything is drawn: a page that gets shorter scrolls.
        if (ui.full.value !== "" && before.current.length === 0) before.current = scrolled(ui.root);
      }),
    [ui],
  );
  useLayoutEffect(() => {
    if (full !== "") {
      ui.root.querySelector(`[data-testid=full-${full}]`)?.scrollIntoView({ block: "nearest" });
      return;
    }
    const places = before.current;
    before.current = [];
    const back = (those: [Element, number][]) => {
      for (const [node, top] of those) node.scrollTop = top;
    };
    back(places);
    // Where canvases do not have their height again yet.
    const short = places.filter(([node, top]) => Math.abs(node.scrollTop - top) > 1);
    if (short.length > 0) requestAnimationFrame(() => back(short));
  }, [ui, full]);
}

export function App({ ui }: { ui: Ui }) {
  const { store, parts } = ui;
  const message = useValue(() => store.messages.value.page);
  const panels = useValue(() => store.public.panels.value);
  const full = useValue(() => ui.full.value);
  const sizes = useValue(() => ui.sizes.value);
  useStay(ui, full);
  // What a view is asked for it shows; the page as a whole shows what Python says.
  const shown = (name: string) => (parts ? parts.includes(name) : panels.includes(name));
  const part = (name: string) => !parts || parts.includes(name);
  const seen = (name: string) => full === "" || full === name;
  const side = SIDE.filter(([name]) => shown(name));
  const below = BELOW.filter(([name]) => shown(name));
  const features = part("features") && seen("features");
  const curves = part("curves") && seen("curves");
  const beside = side.some(([name]) => seen(name));
  const columns = `${features ? "f" : ""}${curves ? "c" : ""}${beside ? "s" : ""}`;
  const tall = full === "" && sizes.height > 0 && below.length > 0;
  const style = {
    ...(sizes.features && { "--pdpw-wf": `min(${sizes.features}px, 45%)` }),
    ...(sizes.side && { "--pdpw-ws": `min(${sizes.side}px, 50%)` }),
    ...(tall && { height: `${sizes.height}px` }),
  };
  return (
    <>
      <Guard>
        {!parts && <Toolbar ui={ui} />}
        {!parts && <Answer ui={ui} at="" />}
        <SelectionBar ui={ui} />
      </Guard>
      {message && (
        <p class="pdpw-strip pdpw-error" role="alert" data-testid="page-error">
          {message}
          <button type="button" onClick={() => store.say("page", "")}>
            dismiss
          </button>
        </p>
      )}
      {(part("features") || part("curves") || side.length > 0) && (
        <div
          class="pdpw-columns"
          data-side={side.length > 0}
          data-columns={columns}
          data-sides={side.filter(([name]) => seen(name)).length}
          data-tall={tall}
          style={style}
          hidden={columns === ""}
        >
          {part("features") && (
            <Guard>
              <Features ui={ui} hidden={!features} />
            </Guard>
          )}
          {part("curves") && (
            <Guard>
              <Focus ui={ui} hidden={!curves} />
            </Guard>
          )}
          {features && curves && (
            <Divider
              ui={ui}
              side="features"
              measured={(node) => node.parentElement!.querySelector(".pdpw-features")}
              most={() => 0.45 * ui.root.clientWidth}
            />
          )}
          {side.length > 0 && (
            <div class="pdpw-side" hidden={!beside}>
              {side.map(([name, View]) => (
                <div key={name} class="pdpw-place" hidden={!seen(name)}>
                  <Guard>
                    {!parts && <Answer ui={ui} at={name} />}
                    <View ui={ui} />
                  </Guard>
                </div>
              ))}
            </div>
          )}
          {curves && beside && (
            <Divider
              ui={ui}
              side="side"
              measured={(node) => node.parentElement!.querySelector(".pdpw-side")}
              most={() => 0.5 * ui.root.clientWidth}
            />
          )}
        </div>
      )}
      {columns !== "" && below.length > 0 && full === "" && (
        <Divider
          ui={ui}
          side="height"
          measured={(node) => node.previousElementSibling as HTMLElement}
          most={() =>
            Math.max(0, ...Array.from(ui.root.querySelectorAll(".pdpw-columns > *"), (child) => child.scrollHeight))
          }
        />
      )}
      {below.map(([name, View]) => (
        <div class="pdpw-below" key={name} hidden={!seen(name)}>
          <Guard>
            {!parts && <Answer ui={ui} at={name} />}
            <View ui={ui} />
          </Guard>
        </div>
      ))}
      <Spoken ui={ui} />
    </>
  );
}

function Spoken({ ui }: { ui: Ui }) {
  const text = useValue(() => ui.spoken.value);
  return (
    <div class="pdpw-hidden" aria-live="polite" data-testid="spoken">
      {text}
    </div>
  );
}

function Focus({ ui, hidden }: { ui: Ui; hidden: boolean }) {
  const { store } = ui;
  const curve = useValue(() => store.curve.value);
  const wanted = useValue(() => store.public.feature.value);
  const waiting = useValue(() => store.waiting.value);
  const wait = useValue(() => waitText(store, wanted, waiting, curve), [wanted, waiting, curve]);
  const steps = useValue(() => ui.steps.value);
  const classes = useValue(() => ui.classes.value && ui.effects.value?.outputs != null);
  const centered = useValue(() => store.public.centered.value && ui.steps.value === null);
  const info = useValue(() => store.info.value);
  const message = useValue(() => store.messages.value.curve);
  const { measure, known } = useAmounts(ui);
  // The focused curve has more rows than the list knows of.
  const own = measure.by === "importance" || measure.by === "heterogeneity" ? curve?.[measure.by] : undefined;
  const size = own === undefined ? known.get(curve?.feature ?? "")?.value : own;
  const picture = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = picture.current!;
    const measure = () => {
      ui.width.value = Math.floor(node.clientWidth);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    measure();
    return () => observer.disconnect();
  }, [ui]);
  const scale = info?.scale ?? "";
  const unknown = curve ? !hasNumbers(curve.average) : true;
  const notes = curve
    ? [
        curve.missing_count > 0 ? `${count(curve.missing_count)} missing` : "",
        curve.infinite_count > 0 ? `${count(curve.infinite_count)} infinite, left out` : "",
        curve.note,
      ].filter(Boolean)
    : [];
  const name = waiting && wanted ? wanted : (curve?.feature ?? wanted);
  const subject = curve
    ? scale === "" || scale === curve.output
      ? curve.output
      : `${scale} of ${/^[-\d.]+$/.test(curve.output) ? "class " : ""}${curve.output}`
    : "";
  return (
    <div class="pdpw-focus" data-testid="focus" hidden={hidden}>
      <div class="pdpw-head">
        <h3 class="pdpw-title" title={name} data-testid="title">
          {name}
        </h3>
        {curve && !waiting && size !== null && size !== undefined && !Number.isNaN(size) && (
          <span class="pdpw-muted" data-testid="measure" title={measure.about}>
            {measure.name} {compact(size)}
          </span>
        )}
        {notes.length > 0 && !waiting && (
          <span class="pdpw-muted pdpw-notes" title={notes.join(" · ")}>
            {notes.join(" · ")}
          </span>
        )}
        <span class="pdpw-space" />
        <Download ui={ui} what="curves" mode={classes ? "classes" : undefined} />
        <Larger ui={ui} name="curves" title="the curves" />
      </div>
      <EffectControls ui={ui} />
      <div class="pdpw-ylabel pdpw-muted" data-testid="ylabel" title={subject}>
        {steps ? `slope of ${subject} per ${steps.per}` : subject}
        {curve && centered ? `, change from ${curve.feature} = ${firstX(curve)}` : ""}
        <LinesLegend ui={ui} />
      </div>
      {curve?.error && (
        <p class="pdpw-strip pdpw-error" role="alert" data-testid="curve-error">
          {curve.error}
        </p>
      )}
      {message && (
        <p class="pdpw-strip" role="status" data-testid="curve-message">
          {message}
        </p>
      )}
      <div class="pdpw-picture" data-waiting={waiting} ref={picture}>
        <div class="pdpw-overlap">
          <Curves ui={ui} />
          <Readout ui={ui} />
          {(unknown || waiting) && !curve?.error && (
            <p class="pdpw-wait" data-testid="wait" role="status">
              {wait}
            </p>
          )}
        </div>
        <Distribution ui={ui} />
      </div>
      <Hints ui={ui} />
      <Regions ui={ui} />
    </div>
  );
}

/** The grid's first value in words. */
function firstX(curve: Curve): string {
  const last = curve.missing === curve.x.length - 1 ? curve.x.length - 2 : curve.x.length - 1;
  if (curve.kind === "category" || !(last > 0)) return curve.labels[0] ?? String(curve.x[0]);
  return fmtOn(curve, curve.x[0], curve.x[last] - curve.x[0]);
}

/** Why there is no curve (yet), and what to do. */
function waitText(store: Store, wanted: string, waiting: boolean, curve: Curve | null): string {
  if (store.host.value !== "kernel") return "no curve was saved: run the cell to see it";
  const { state } = store.progress.value;
  const subject = waiting ? wanted : "the curve";
  if (state === "failed") return `${subject} could not be computed`;
  if (state === "stopped") return `stopped: resume to compute ${subject}`;
  if (waiting) return `computing ${wanted}`;
  if (curve && curve.total > 0 && curve.rows >= curve.total) return "the model returned no usable numbers";
  return "waiting for the first rows";
}

function hasNumbers(values: ArrayLike<number>): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) return true;
  return false;
}
