// What all panels beside the curves have in common: a head, and one line that says how far the picture is and what to do.

import type { ComponentChildren } from "preact";
import { count } from "../geometry/format";
import type { PanelName, Status } from "../model";
import { Download, type Part } from "./download";
import { useValue } from "./hooks";
import { Icon } from "./icons";
import type { Ui } from "./ui";

interface PanelProps {
  ui: Ui;
  name: PanelName;
  title: string;
  /** Says what the title's subject is, on hover. */
  about?: string;
  /** Whether there is something to draw. */
  filled: boolean;
  /** What the person has switched on the page alone, for files. */
  mode?: string;
  swapped?: boolean;
  /** Beside the title. */
  controls?: ComponentChildren;
  children?: ComponentChildren;
}

export function Panel({ ui, name, title, about, filled, mode, swapped, controls, children }: PanelProps) {
  const status = useValue(() => ui.store.pictures[name].value?.status ?? null);
  const folded = useValue(() => ui.folded.value.has(name) && ui.full.value !== name);
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
          <button
            type="button"
            class="pdpw-fold"
            aria-expanded={!folded}
            data-testid={`fold-${name}`}
            onClick={() => ui.fold(name, !folded)}
          >
            <Icon name="fold" />
            <span>{title}</span>
          </button>
        </h3>
        <span class="pdpw-head-end">
          {!folded && controls}
          {!folded && <Download ui={ui} what={name as Part} mode={mode} swapped={swapped} />}
          <Larger ui={ui} name={name} title={title} />
        </span>
      </div>
      {!folded && <Line ui={ui} name={name} status={status} filled={filled} />}
      {filled && (
        <div class="pdpw-panel-body" hidden={folded}>
          {children}
        </div>
      )}
    </section>
  );
}

/** Lets one part fill the page, and goes back. */
export function Larger({ ui, name, title }: { ui: Ui; name: string; title: string }) {
  const full = useValue(() => ui.full.value === name);
  const alone = ui.parts?.length === 1;
  if (alone) return null;
  const label = full ? "Back to the whole page (Escape)" : `Fill the page with ${title}`;
  return (
    <button
      type="button"
      class="pdpw-larger"
      aria-pressed={full}
      aria-label={label}
      title={label}
      data-testid={`full-${name}`}
      onClick={() => {
        ui.full.value = full ? "" : name;
      }}
    >
      <Icon name={full ? "smaller" : "larger"} />
    </button>
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
  // What is there of another output stays, and says so.
  const other = useValue(() => {
    const of = (store.pictures[name].value as { output?: string } | null)?.output;
    const { value } = store.public.output;
    return of && value && of !== value ? [of, value] : null;
  });
  if (host !== "kernel") {
    const text = !filled
      ? "Not saved: run the cell to see it."
      : other && `This is about the output “${other[0]}”; “${other[1]}” is not saved.`;
    return text ? (
      <p class="pdpw-strip" data-testid={`${name}-other`}>
        {text}
      </p>
    ) : null;
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
