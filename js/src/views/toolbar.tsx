// The top line: which output, how many rows it stands on, progress with stop and resume, what is drawn, which model.

import { useLayoutEffect, useState } from "preact/hooks";
import { count, fmt } from "../geometry/format";
import type { Curve, Info, Progress } from "../model";
import { Combobox } from "./combobox";
import { Share } from "./download";
import { scoped, useValue } from "./hooks";
import { Icon } from "./icons";
import { Questions } from "./questions";
import type { Ui } from "./ui";

/** The widest standard error on screen, as the read-out's band. */
function bandOf(curve: Curve): number | null {
  let most = 0;
  for (let i = 0; i < (curve.stderr?.length ?? 0); i++) if (curve.stderr![i] > most) most = curve.stderr![i];
  return most > 0 ? most : null;
}

/** "" or how many rows were given, when the curves stand on a sample of them. */
export const sampledText = (info: Info | null, n: number): string =>
  info && info.rows_given > n ? `${count(n)} sampled of ${count(info.rows_given)} rows` : "";

export function rowsText(curve: Curve, info: Info | null): string {
  const sampled = sampledText(info, curve.total);
  if (curve.rows >= curve.total)
    return sampled ? `${sampled} · exact for these` : `rows ${count(curve.rows)} of ${count(curve.total)} · exact`;
  const band = bandOf(curve);
  const parts = [
    `rows ${count(curve.rows)} of ${count(curve.total)}`,
    band === null ? "" : `± ${fmt(band, 2)}`,
    sampled,
  ];
  return parts.filter(Boolean).join(" · ");
}

function choice(testid: string, label: string, names: string[], value: string, choose: (v: string) => void, off = "") {
  return (
    <select
      class="pdpw-output"
      data-testid={testid}
      aria-label={label}
      title={off || undefined}
      disabled={off !== ""}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Which model: its name, or a menu of several. */
function Model({ ui }: { ui: Ui }) {
  const { store } = ui;
  const title = useValue(() => store.info.value?.model ?? "");
  const several = useValue(() => store.several.value);
  const chosen = useValue(() => store.public.model.value);
  const host = useValue(() => store.host.value);
  const live = host === "kernel";
  const off = live
    ? ""
    : host === "recorded"
      ? `This page is of the model ${title}; of the others it has only curves`
      : "Needs Python: run the cell first";
  if (several.length > 0)
    return (
      <span class="pdpw-pick">
        <span class="pdpw-muted">model</span>
        {choice("model", "Model", several, live ? chosen : title, (name) => store.set("model", name), off)}
      </span>
    );
  return title === "" ? null : (
    <span class="pdpw-model pdpw-muted" title={title}>
      {title}
    </span>
  );
}

function Output({ ui }: { ui: Ui }) {
  const { store } = ui;
  const info = useValue(() => store.info.value);
  const output = useValue(() => store.public.output.value || store.curve.value?.output || "");
  const outputs = info?.outputs ?? [];
  const choose = (value: string) => store.set("output", value);
  if (outputs.length < 2)
    return (
      <span class="pdpw-output" data-testid="output" data-value={output} title={output}>
        {outputs[0] ?? output}
      </span>
    );
  if (outputs.length > 10)
    return <Combobox ui={ui} label="Output" testid="output" options={outputs} value={output} choose={choose} />;
  return choice("output", "Output", outputs, output, choose);
}

function share(progress: Progress): number {
  return progress.total > 0 ? Math.max(0, Math.min(1, progress.done / progress.total)) : 0;
}

const computing = ({ label }: Progress): string => (label === "" ? "computing" : `computing ${label}`);

/** The widget over the whole screen, where the host allows it. */
function Screen({ ui }: { ui: Ui }) {
  const doc = ui.root.ownerDocument;
  const [on, setOn] = useState(false);
  useLayoutEffect(
    () =>
      scoped(ui, (signal) => {
        doc.addEventListener("fullscreenchange", () => setOn(doc.fullscreenElement === ui.root), { signal });
      }),
    [ui],
  );
  if (!doc.fullscreenEnabled) return null;
  const label = on ? "Leave the full screen (Escape)" : "Full screen";
  return (
    <button
      type="button"
      class="pdpw-larger"
      aria-label={label}
      aria-pressed={on}
      title={label}
      data-testid="screen"
      onClick={() => void (on ? doc.exitFullscreen() : ui.root.requestFullscreen()).catch(() => {})}
    >
      <Icon name={on ? "smaller" : "larger"} />
    </button>
  );
}

export function Toolbar({ ui }: { ui: Ui }) {
  const { store } = ui;
  const info = useValue(() => store.info.value);
  const curve = useValue(() => store.curve.value);
  const progress = useValue(() => store.progress.value);
  const busy = useValue(() => store.busy.value);
  const host = useValue(() => store.host.value);
  const message = useValue(() => store.messages.value.toolbar);
  const running = host === "kernel" && progress.state === "running";
  const stopped = host === "kernel" && progress.state === "stopped";
  const sampled = useValue(() => store.sample.value?.rows.length ?? store.ice.value?.m ?? 0);
  return (
    <div class="pdpw-top">
      <div class="pdpw-bar" role="toolbar" aria-label="Picture">
        <Output ui={ui} />
        {info?.scale && info.scale !== info.outputs[0] && <span class="pdpw-muted">{info.scale}</span>}
        <span class="pdpw-rows" data-testid="rows" title="Rows of the background data that the curves stand on">
          {curve ? rowsText(curve, info) : ""}
          {info?.weighted ? " · weighted" : ""}
        </span>
        {running && (
          <button type="button" class="pdpw-act" data-testid="stop" onClick={() => void store.ask("stop", {})}>
            stop
          </button>
        )}
        {stopped && (
          <button type="button" class="pdpw-act" data-testid="resume" onClick={() => void store.ask("resume", {})}>
            resume
          </button>
        )}
        <span class="pdpw-note" role="status" data-testid="status" title={running ? progress.label : undefined}>
          {busy
            ? "kernel busy: the answer comes when the running cell ends"
            : stopped
              ? "stopped: the curves stand on the rows so far"
              : running
                ? computing(progress)
                : ""}
        </span>
        {busy && (
          <button type="button" class="pdpw-act" data-testid="cancel" onClick={() => store.cancelAll()}>
            don’t wait
          </button>
        )}
        <span class="pdpw-space" />
        <Questions ui={ui} />
        <Model ui={ui} />
        <Share ui={ui} />
        <Screen ui={ui} />
      </div>
      <div
        class="pdpw-progress"
        role="progressbar"
        aria-label="Model rows computed"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share(progress) * 100)}
        data-state={host === "kernel" ? progress.state : "idle"}
      >
        <span style={{ transform: `scaleX(${running || stopped ? share(progress) : 0})` }} />
      </div>
      {host === "saved" && (
        <p class="pdpw-strip" data-testid="nokernel">
          Saved picture, not connected to Python: run the cell to ask the model again. Selections are answered from{" "}
          {count(sampled)} of {count(info?.rows ?? sampled)} rows.
        </p>
      )}
      {host === "recorded" && (
        <p class="pdpw-strip" data-testid="nokernel">
          Recorded: {info?.models?.length ? `the model ${info.model}, ` : ""}
          {count(sampled)} of {count(info?.rows ?? sampled)} rows
          {info && info.rows_given > info.rows ? ` (${sampledText(info, info.rows)})` : ""}, no kernel.
        </p>
      )}
      {progress.state === "failed" && host === "kernel" && (
        <p class="pdpw-strip pdpw-error" role="alert" data-testid="failed">
          {progress.message ?? "The computation failed."}
          <button type="button" class="pdpw-act" data-testid="resume" onClick={() => void store.ask("resume", {})}>
            try again
          </button>
        </p>
      )}
      {message && (
        <p class="pdpw-strip pdpw-error" role="alert" data-testid="toolbar-error">
          {message}
        </p>
      )}
    </div>
  );
}
