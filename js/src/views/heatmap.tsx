// The panel of a surface: its title and second feature, what is shown, the picture, the read-out, and on how many rows it stands.

import { useMemo } from "preact/hooks";
import type { Heat } from "../draw/heatscene";
import { count, fmt, percent } from "../geometry/format";
import { type Pairs, square } from "../geometry/pairs";
import type { Mode, Surface } from "../geometry/surface";
import { CanvasView } from "./canvas";
import { Combobox } from "./combobox";
import { useValue } from "./hooks";
import { Panel } from "./panel";
import { Looked } from "./spans";
import { listen, NAMES, paint, pairOf, read, State } from "./surface";
import type { Ui } from "./ui";

const ABOUT: Record<Mode, string> = {
  pd: "Partial dependence on both features, over all rows",
  selection: "Partial dependence over the selected rows",
  difference: "Partial dependence over the selected rows less that over the rest",
  interaction: "What both features do together beyond the sum of their own effects",
};

export function Heatmap({ ui }: { ui: Ui }) {
  const { store } = ui;
  const state = useMemo(() => new State(ui), [ui]);
  const surface = useValue(() => state.surface.value);
  const heat = useValue(() => state.heat.value);
  const mode = useValue(() => state.mode.value);
  const swapped = useValue(() => state.swapped.value);
  const host = useValue(() => store.host.value);
  const status = useValue(() => store.pictures.heatmap.value?.status ?? null);
  const features = useValue(() => store.info.value?.features ?? []);
  // A surface of all rows is still right when only the selection has changed.
  const old = useValue(() => {
    const [now, picture] = [state.surface.value, store.pictures.heatmap.value];
    if (!now || !picture?.status.stale) return false;
    const { feature, output } = store.public;
    const live = store.host.value === "kernel";
    const other = now.output !== output.value || (live && ![now.first, now.second].includes(feature.value));
    return other || state.mode.value === "selection" || state.mode.value === "difference";
  });
  const title = heat
    ? `${heat.x.axis.feature} × ${heat.y.axis.feature}`
    : surface
      ? `${surface.first} × ${surface.second}`
      : "Two features together";
  const waits = !surface && status?.state === "idle" && host === "kernel";
  return (
    <Panel
      ui={ui}
      name="heatmap"
      title={title}
      about={`${title}: partial dependence on both features`}
      filled={surface !== null || waits}
      mode={mode === "pd" ? undefined : mode}
      swapped={surface !== null && swapped === pairOf(surface)}
      controls={<Controls ui={ui} state={state} surface={surface} />}
    >
      {!surface && (
        <p class="pdpw-strip">
          {features.length < 2
            ? "It takes two features."
            : "Shown when all curves are known; or choose the second feature."}
        </p>
      )}
      {surface && (
        <div class="pdpw-heat" data-old={old}>
          <div class="pdpw-heat-line">
            <Modes state={state} surface={surface} mode={mode} />
            <Share ui={ui} surface={surface} />
          </div>
          <div class="pdpw-overlap">
            {/* biome-ignore lint/a11y/useValidAriaRole: a description of the picture, no ARIA role */}
            <CanvasView
              ui={ui}
              id="heatmap"
              class="pdpw-heat-plot"
              role="heatmap"
              label={`${title}, ${NAMES[mode]}. Arrow keys read the cells, Enter selects one, Space begins a rectangle that Enter selects.`}
              follow={() => {
                state.heat.value;
                state.cell.value;
                state.anchor.value;
                store.brush.draft.value;
                store.selection.value;
              }}
              height={(width) => {
                state.width.value = width;
                return state.heat.peek()?.height ?? 0;
              }}
              paint={(ctx, _, __, node) => paint(state, ctx, node)}
              listen={(node, abort) => listen(state, node, abort)}
            />
            <Looked state={state} />
            <Reading state={state} />
          </div>
          <Notes ui={ui} surface={surface} heat={heat} mode={mode} />
        </div>
      )}
    </Panel>
  );
}

/** The second feature, and which one runs along x. */
function Controls({ ui, state, surface }: { ui: Ui; state: State; surface: Surface | null }) {
  const { store } = ui;
  const host = useValue(() => store.host.value);
  const focus = useValue(() => store.public.feature.value);
  const pair = useValue(() => store.public.pair.value);
  const features = useValue(() => store.info.value?.features ?? []);
  const auto = "strongest partner";
  const chosen = pair.includes(focus) ? (pair.find((name) => name !== focus) ?? auto) : auto;
  const choose = (name: string) => store.set("pair", name === auto ? [] : [focus, name]);
  const others = features.map((f) => f.name).filter((name) => name !== focus);
  const label = "Second feature";
  return (
    <span class="pdpw-group">
      {surface && (
        <button
          type="button"
          data-testid="heatmap-swap"
          title="Swap the axes"
          aria-label="Swap the axes"
          onClick={() => {
            const key = pairOf(surface);
            state.cell.value = null;
            state.anchor.value = null;
            state.swapped.value = state.swapped.value === key ? "" : key;
          }}
        >
          ⇄
        </button>
      )}
      {host === "kernel" &&
        others.length > 0 &&
        (others.length > 60 ? (
          <Combobox
            ui={ui}
            label={label}
            testid="heatmap-partner"
            options={[auto, ...others]}
            value={chosen}
            choose={choose}
          />
        ) : (
          <select
            class="pdpw-heat-partner"
            data-testid="heatmap-partner"
            aria-label={label}
            title={label}
            value={chosen}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            {[auto, ...others].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        ))}
    </span>
  );
}

function Modes({ state, surface, mode }: { state: State; surface: Surface; mode: Mode }) {
  const there: Mode[] = ["pd"];
  if (surface.selection) there.push("selection");
  if (surface.selection && surface.rest) there.push("difference");
  there.push("interaction");
  return (
    // biome-ignore lint/a11y/useSemanticElements: buttons, not fields
    <span class="pdpw-group" role="group" aria-label="What is shown">
      {there.map((name) => (
        <button
          key={name}
          type="button"
          class="pdpw-toggle"
          aria-pressed={name === mode}
          disabled={name === "interaction" && !surface.main_a}
          data-testid={`heatmap-${name}`}
          title={ABOUT[name]}
          onClick={() => {
            state.wanted.value = name;
          }}
        >
          {NAMES[name]}
        </button>
      ))}
    </span>
  );
}

/** How much of the joint effect is interaction; where the surface does not say, the interactions may. */
function Share({ ui, surface }: { ui: Ui; surface: Surface }) {
  const found = useValue(() => {
    if (surface.h2 !== null) return { h2: surface.h2, strength: surface.strength ?? Number.NaN };
    const all = ui.store.pictures.interactions.value;
    if (!all?.pairs || !all.features || all.output !== surface.output) return null;
    const [i, j] = [all.features.indexOf(surface.first), all.features.indexOf(surface.second)];
    const k = i < 0 || j < 0 ? -1 : square(all as Pairs)[i * all.features.length + j];
    const h2 = k < 0 ? Number.NaN : all.h2![k];
    return Number.isNaN(h2) ? null : { h2, strength: all.strength![k] };
  }, [surface]);
  if (!found) return null;
  const { h2, strength } = found;
  return (
    <span
      class="pdpw-muted"
      data-testid="heatmap-share"
      title={`Friedman’s H² of the pair: ${fmt(h2)}, the share of the joint effect’s variance that is interaction. Strength ${fmt(strength)}, in the unit of the prediction.`}
    >
      {h2 === 0 ? "no interaction" : `${percent(h2, 1)} of their joint effect is interaction`}
    </span>
  );
}

function Notes({ ui, surface, heat, mode }: { ui: Ui; surface: Surface; heat: Heat | null; mode: Mode }) {
  const host = useValue(() => ui.store.host.value);
  const some = useValue(() => ui.store.selection.value.text !== "");
  const { rows, total, more, status, n_selection, n_rest, a, b } = surface;
  const split = mode === "selection" || mode === "difference";
  const notes = [
    split
      ? `selection ${count(n_selection)}, rest ${count(n_rest)} rows`
      : `${count(rows)} of ${count(total)} rows${rows < total ? "" : " · exact"}`,
    split && rows < total ? `among ${count(rows)} of ${count(total)}` : "",
    some && !surface.selection && n_rest > 0 ? "none of the selected rows is among them" : "",
    ...[a, b].map((axis) =>
      axis.left_out > 0 ? `the most frequent levels of ${axis.feature}, without ${axis.left_out}` : "",
    ),
    heat?.empty.includes(1) ? "hatched: no rows near" : "",
  ].filter(Boolean);
  return (
    <div class="pdpw-heat-line pdpw-muted" data-testid="heatmap-notes">
      <span class="pdpw-notes" title={notes.join(" · ")}>
        {notes.join(" · ")}
      </span>
      {more !== null && host === "kernel" && status.state !== "running" && (
        <button
          type="button"
          class="pdpw-act"
          data-testid="heatmap-more"
          onClick={() => void ui.store.ask("compute", { panel: "heatmap" })}
        >
          use {count(more)} rows
        </button>
      )}
    </div>
  );
}

function Reading({ state }: { state: State }) {
  const heat = useValue(() => state.heat.value);
  const cell = useValue(() => state.at);
  if (!heat || !cell) return null;
  const { x, y, rows, near } = read(heat, cell);
  const [x0, x1] = [heat.x.low[cell[0]], heat.x.high[cell[0]]];
  const [y0, y1] = [heat.y.low[cell[1]], heat.y.high[cell[1]]];
  const leftward = (x0 + x1) / 2 > heat.width * 0.55;
  const upward = (y0 + y1) / 2 > (heat.top + heat.bottom) / 2;
  const style = {
    left: leftward ? "auto" : `${Math.round(x1 + 8)}px`,
    right: leftward ? `${Math.round(heat.width - x0 + 8)}px` : "auto",
    top: upward ? "auto" : `${Math.round(y1)}px`,
    bottom: upward ? `${Math.round(heat.height - y0)}px` : "auto",
  };
  return (
    <div class="pdpw-readout" style={style} data-testid="heatmap-readout" aria-hidden="true">
      <div class="pdpw-readout-x">{x}</div>
      <div class="pdpw-readout-x">{y}</div>
      <table>
        <tbody>
          {rows.map(([key, name, text]) => (
            <tr key={key} data-key={key}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="pdpw-muted">{near}</div>
    </div>
  );
}
