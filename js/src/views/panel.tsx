// What all panels beside the curves have in common: a head, and one line that says how far the picture is and what to do.

import type { ComponentChildren } from "preact";
import { count } from "../geometry/format";
import type { PanelName, Status } from "../model";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

interface PanelProps {
  ui: Ui;
  name: PanelName;
  title: string;
  /** Says what the title's subject is, on hover. */
  about?: string;
  /** Whether there is something to draw. */
  filled: boolean;
  /** Beside the title. */
  controls?: ComponentChildren;
  children?: ComponentChildren;
}

export function Panel({ ui, name, title, about, filled, controls, children }: PanelProps) {
  const status = useValue(() => ui.store.pictures[name].value?.status ?? null);
  return (
    <section
      class={`pdpw-panel pdpw-panel-${name}`}
      aria-label={title}
      data-testid={`panel-${name}`}
      data-state={status?.state ?? "idle"}
      data-stale={status?.stale ?? false}
    >
      <div class="pdpw-head">
        <h3 class="pdpw-panel-title" title={about}>
          {title}
        </h3>
        {controls}
      </div>
      <Line ui={ui} name={name} status={status} filled={filled} />
      {filled && <div class="pdpw-panel-body">{children}</div>}
    </section>
  );
}

/** How far a panel is, and what to do. */
export function Line({
  ui,
  name,
  status,
  filled,
}: {
  ui: Ui;
  name: PanelName;
  status: Status | null;
  filled: boolean;
}) {
  const { store } = ui;
  const host = useValue(() => store.host.value);
  const compute = (text: string) => (
    <button
      type="button"
      class="pdpw-act"
      data-testid={`compute-${name}`}
      onClick={() => void store.ask("compute", { panel: name })}
    >
      {text}
    </button>
  );
  if (host !== "kernel") {
    return filled ? null : <p class="pdpw-strip">Not saved: run the cell to see it.</p>;
  }
  switch (status?.state) {
    case "ask":
      return (
        <p class="pdpw-strip" data-testid={`${name}-ask`}>
          Needs {count(status.cost)} predictions of the model. {compute("compute")}
        </p>
      );
    case "failed":
      return (
        <p class="pdpw-strip pdpw-error" role="alert" data-testid={`${name}-failed`}>
          {status.message} {compute("try again")}
        </p>
      );
    case "stopped":
      return filled ? null : <p class="pdpw-strip">Stopped: resume to compute it.</p>;
    case "running":
      return filled ? null : <p class="pdpw-strip">Computing</p>;
    default:
      return status || filled ? null : <p class="pdpw-strip">Waiting for the curves</p>;
  }
}
