// The panel of the rules: what they are rules of and how well they stand for it, how many, filters, the table.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { count, fmt, percent } from "../geometry/format";
import { asCsv, asMarkdown, type Picture } from "../geometry/rules";
import type { Info } from "../model";
import { useValue } from "./hooks";
import { Panel } from "./panel";
import { Filters } from "./rulesfilters";
import { RulesState } from "./rulesstate";
import { Table } from "./rulestable";
import type { Ui } from "./ui";

const TITLES: Record<Picture["kind"], string> = {
  model: "The model’s own rules",
  surrogate: "Rules that imitate the model",
  outcome: "Rules of the outcome",
};
const WAITS = ["ask", "failed", "stopped"]; // its own line says what to do
const ABOUT =
  "RuleFit (Friedman & Popescu 2008): a sum of rules and linear terms, chosen by the lasso. A rule adds its coefficient where it holds.";

export function Rules({ ui }: { ui: Ui }) {
  const { store } = ui;
  const state = useMemo(() => new RulesState(ui), [ui]);
  const picture = useValue(() => state.picture.value);
  const message = useValue(() => store.messages.value.rules);
  const old = useValue(() => state.picture.value?.output !== store.public.output.value || state.subject.value !== "");
  return (
    <Panel
      ui={ui}
      name="rules"
      title={picture ? TITLES[picture.kind] : "Rules"}
      about={ABOUT}
      filled={picture !== null}
      controls={picture && <Controls ui={ui} state={state} p={picture} />}
    >
      {picture && (
        <div class="pdpw-rules" data-old={old} data-id={picture.id}>
          {message && (
            <p class="pdpw-strip pdpw-error" role="alert" data-testid="rules-error">
              {message}
              <button type="button" onClick={() => store.say("rules", "")}>
                dismiss
              </button>
            </p>
          )}
          <div class="pdpw-rules-filters">
            <Filters ui={ui} state={state} p={picture} />
            <Row state={state} p={picture} />
          </div>
          <Table ui={ui} state={state} p={picture} />
        </div>
      )}
    </Panel>
  );
}

/** How well terms stand for what they describe; `share` is how much they explain of held-out rows. */
function says(p: Picture, share: number, { scale = "", outputs = [] }: Partial<Info>): string {
  const explain = Number.isNaN(share) ? "" : percent(Math.max(0, share), 1);
  const rows = p.rows < p.rows_total ? `, fitted to ${count(p.rows)} of ${count(p.rows_total)} rows` : "";
  if (explain === "") return p.kind === "model" ? "all it predicts by" : `too few rows to say how well${rows}`;
  const of = outputs.length < 2 ? "" : scale === "probability" ? ` of P(${p.output})` : ` of ${p.output}`;
  const what =
    p.kind === "model"
      ? "the outcome"
      : p.link !== "identity"
        ? `the log-loss${of}`
        : of
          ? `the variation${of}`
          : "its variation";
  return `they explain ${explain} of ${what} on held-out rows${rows}`;
}

function Controls({ ui, state, p }: { ui: Ui; state: RulesState; p: Picture }) {
  const { store } = ui;
  const [draft, setDraft] = useState<number | null>(null);
  const live = useValue(() => store.host.value === "kernel");
  const { path } = p;
  const at = draft ?? path?.at ?? 0;
  // The slider stays where the hand has put it until these terms are there.
  useLayoutEffect(() => setDraft((step) => (step === path?.at ? null : step)), [p.id]);
  const wanted = useValue(() => state.subject.value);
  const fitting = useValue(
    () => state.subject.value !== "" && !WAITS.includes(store.pictures.rules.value?.status?.state ?? ""),
  );
  const info = useValue(() => store.info.value ?? {});
  const text = fitting ? "Fitting rules" : says(p, path ? path.explained[at] : (p.fidelity ?? Number.NaN), info);
  const described = wanted || (p.kind === "outcome" ? "outcome" : "model");
  const subject = (to: "model" | "outcome") => (
    <button
      type="button"
      class="pdpw-toggle"
      aria-pressed={described === to}
      data-testid={`rules-${to}`}
      onClick={() => void state.describe(to)}
    >
      of the {to}
    </button>
  );
  return (
    <>
      <span
        class="pdpw-muted pdpw-rules-says"
        role="status"
        data-testid="rules-says"
        title={fitting ? text : `${text} (${p.of}; ${p.describes})`}
      >
        {text}
      </span>
      {live && p.more !== null && (
        <button
          type="button"
          class="pdpw-act"
          data-testid="rules-more"
          onClick={() => void store.ask("compute", { panel: "rules" })}
        >
          use {count(p.more)} rows
        </button>
      )}
      {live && p.outcome && p.kind !== "model" && (
        <span class="pdpw-group">
          {subject("model")}
          {subject("outcome")}
        </span>
      )}
      {path && (
        <label
          class="pdpw-rules-terms"
          title={
            live
              ? "Fewer terms are easier to read, more of them explain more (the penalty of the lasso)"
              : "Another number of terms needs Python: run the cell first"
          }
        >
          <span data-testid="rules-terms">terms {path.terms[at]}</span>
          <input
            type="range"
            data-testid="rules-step"
            aria-label="Number of terms"
            aria-valuetext={`${path.terms[at]} terms, ${text}`}
            min={0}
            max={path.terms.length - 1}
            value={at}
            disabled={!live}
            onInput={(event) => setDraft(Number(event.currentTarget.value))}
            onChange={(event) => {
              const step = Number(event.currentTarget.value);
              void store.ask("terms", { step }).then((done) => done === undefined && setDraft(null));
            }}
          />
        </label>
      )}
      {live && <Stable state={state} p={p} />}
      <Copy state={state} p={p} />
    </>
  );
}

/** Asks how often the rules come back when they are fitted to other rows: many fits, so that nobody pays for it unasked. */
function Stable({ state, p }: { state: RulesState; p: Picture }) {
  const { stability } = p;
  const running = stability && stability.done < stability.total;
  return (
    <button
      type="button"
      class="pdpw-toggle"
      aria-pressed={Boolean(stability)}
      data-testid="rules-stable"
      title={
        stability
          ? "Leave off; what was fitted is kept"
          : "Fits the rules again to random halves of the rows, 20 times: how often does each come back?"
      }
      onClick={() => void state.ui.store.ask("stability", { of: p.id, on: !stability })}
    >
      {running ? `refit ${stability.done + 1} of ${stability.total}` : "how stable?"}
    </button>
  );
}

function Copy({ state, p }: { state: RulesState; p: Picture }) {
  const [done, setDone] = useState("");
  const copy = (name: string, write: typeof asCsv) => (
    <button
      type="button"
      data-testid={`rules-${name.toLowerCase()}`}
      title={`Copy the rules that are listed as ${name}`}
      onClick={async (event) => {
        const node = event.currentTarget;
        const ok = await toClipboard(node, write(p, state.terms.peek()!, state.order.peek()));
        state.ui.spoken.value = ok
          ? `${count(state.order.peek().length)} rules copied`
          : "The browser did not allow it";
        setDone(ok ? name : "");
      }}
    >
      {done === name ? `copied ${name}` : `copy ${name}`}
    </button>
  );
  return (
    <span class="pdpw-group">
      {copy("Markdown", asMarkdown)}
      {copy("CSV", asCsv)}
    </span>
  );
}

/** Hands a text to the clipboard; a page that is not served safely has only the old way. */
export async function toClipboard(node: HTMLElement, text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = node.ownerDocument.createElement("textarea");
    area.className = "pdpw-hidden";
    area.value = text;
    node.after(area);
    area.select();
    const ok = node.ownerDocument.execCommand("copy");
    area.remove();
    node.focus();
    return ok;
  }
}

/** One row: where its sum starts, what is added, and what comes out. */
function Row({ state, p }: { state: RulesState; p: Picture }) {
  const { store } = state.ui;
  const reply = useValue(() => state.row.value);
  const host = useValue(() => store.host.value);
  const seen = useValue(() => {
    const at = state.seen.value;
    return at < 0 ? null : { row: store.sample.value?.rows[at], label: store.sample.value?.labels[at] };
  });
  const [typed, setTyped] = useState("");
  if (host !== "kernel" && !reply) return null;
  const ask = () => typed.trim() && void state.explain({ label: typed.trim() });
  const up = reply?.contributions.reduce((sum, [, value]) => sum + Math.max(0, value), 0) ?? 0;
  const down = reply?.contributions.reduce((sum, [, value]) => sum + Math.min(0, value), 0) ?? 0;
  return (
    <div class="pdpw-rules-filters">
      <label>
        <span class="pdpw-muted">for row </span>
        <input
          type="text"
          class="pdpw-end"
          size={16}
          data-testid="rules-row"
          aria-label="Row to explain, by its label or number"
          placeholder="row label or number"
          disabled={host !== "kernel"}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" && event.key !== "Escape") return;
            event.preventDefault();
            event.stopPropagation();
            if (event.key === "Enter") ask();
            else setTyped("");
          }}
        />
      </label>
      {host === "kernel" && typed.trim() && typed.trim() !== reply?.label && (
        <button type="button" class="pdpw-act" data-testid="rules-row-ask" onClick={ask}>
          explain
        </button>
      )}
      {host === "kernel" && seen?.row !== undefined && seen.row !== reply?.row && (
        <button
          type="button"
          data-testid="rules-row-seen"
          title={`Why row ${seen.label}: its curve was under the pointer last`}
          onClick={() => {
            setTyped("");
            void state.explain({ row: seen.row });
          }}
        >
          explain row {seen.label}
        </button>
      )}
      {reply && (
        <>
          <span data-testid="rules-sum" title={SUM}>
            <strong>row {reply.label}</strong>: {fmt(reply.start)} + {fmt(up)} − {fmt(-down)}
            {reply.rest ? ` + ${fmt(reply.rest)} of terms not listed` : ""} = <strong>{fmt(reply.decision)}</strong>
            {p.link === "identity" ? "" : `, probability ${fmt(reply.prediction)}`}
            {reply.model !== null && p.kind !== "model" ? ` (the model: ${fmt(reply.model)})` : ""}
          </span>
          <button
            type="button"
            data-testid="rules-row-leave"
            onClick={() => {
              setTyped("");
              state.leaveRow();
            }}
          >
            all rows
          </button>
        </>
      )}
    </div>
  );
}

const SUM =
  "Starts where no rule holds and every number is at its mean, then adds the terms that raise the sum and those that lower it";
