// The selection in words: a chip for each condition, the text beneath them, its size, and the acts on it.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, percent } from "../geometry/format";
import { chipsOf } from "../geometry/words";
import type { Op } from "../model";
import { Bookmarks } from "./bookmarks";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

const MODES: [Op, string, string][] = [
  ["replace", "replace", "Replaces the condition on this feature; conditions on other features stay"],
  ["add", "add", "Adds rows to the selection (or; the same as holding Shift)"],
  ["remove", "remove", "Takes rows out of the selection (without; the same as holding Alt)"],
];

export function SelectionBar({ ui }: { ui: Ui }) {
  const { store } = ui;
  const selection = useValue(() => store.selection.value);
  const draft = useValue(() => store.brush.draft.value !== null);
  const shown = useValue(() => store.shown.value);
  const message = useValue(() => store.messages.value.selection);
  const mode = useValue(() => store.brush.mode.value);
  const host = useValue(() => store.host.value);
  const [typed, setTyped] = useState<string | null>(null); // null: not being edited
  const input = useRef<HTMLInputElement>(null);
  const [editing, setEditing] = useState(false);
  const [listed, setListed] = useState(false);
  const marks = useValue(() => Object.keys(store.public.bookmarks.value).length);
  const active = selection.text !== "";
  const chips = useMemo(() => chipsOf(selection.text, selection.names), [selection]);
  const asChips = active && !editing && (typed === null || typed === selection.text);

  useLayoutEffect(() => {
    setTyped(null);
    // A long condition shows its beginning; the title has all of it.
    if (input.current) input.current.scrollLeft = 0;
  }, [selection.id]);

  const n = draft && shown ? shown.selection.n : selection.n;
  const total = selection.total || store.info.peek()?.rows || 0;
  const about = draft ? shown !== null && !shown.exact : selection.approx === true;
  const send = () => {
    const text = typed ?? selection.text;
    store.say("selection", "");
    setEditing(false);
    if (text === selection.text) setTyped(null);
    else void store.ask("query", { text });
  };
  const named = Object.entries(selection.names ?? {}).map(([name, words]) => `${name}: ${words}`);
  /** The text may be changed, with the chip's part of it marked. */
  const edit = (text: string) => {
    const node = input.current;
    if (!node) return;
    node.focus();
    const at = node.value.indexOf(text);
    if (at >= 0) node.setSelectionRange(at, at + text.length);
  };
  const act = (method: "clear" | "invert" | "undo" | "redo") => void store.ask(method, {});
  return (
    <div class="pdpw-selection">
      <div class="pdpw-bar" role="toolbar" aria-label="Selection">
        <span class="pdpw-label" data-on={active || draft}>
          Selection
        </span>
        <div class="pdpw-field">
          <input
            ref={input}
            class="pdpw-query"
            data-under={asChips}
            type="text"
            data-testid="selection-text"
            aria-label="Selection as a condition"
            aria-invalid={message !== undefined}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            readOnly={host !== "kernel"}
            placeholder={
              host === "kernel" ? "none: drag, click a bar, or type, e.g. age > 30" : "none: drag or click a bar"
            }
            title={[typed ?? selection.text, ...named].join("\n")}
            value={typed ?? selection.text}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onFocus={() => setEditing(true)}
            onPointerDown={() => setEditing(true)}
            onBlur={() => {
              setEditing(false);
              if (input.current) input.current.scrollLeft = 0;
              if (typed !== selection.text) return;
              setTyped(null);
              store.say("selection", "");
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter") send();
              else if (event.key === "Escape") {
                setEditing(false);
                setTyped(null);
                store.say("selection", "");
              } else {
                setEditing(true);
                return;
              }
              event.preventDefault();
              event.stopPropagation();
            }}
          />
          {asChips && (
            <ul class="pdpw-chips" aria-label="Selected rows" data-testid="chips">
              {chips.map(({ text, words, rest }) => (
                <li key={text} class="pdpw-chip" data-testid="chip" data-text={text}>
                  <button type="button" title={`${text}\nClick to change the text`} onClick={() => edit(text)}>
                    {words}
                  </button>
                  <button
                    type="button"
                    class="pdpw-dismiss"
                    aria-label={`Take back ${words}`}
                    title="Take back"
                    data-testid="chip-remove"
                    onClick={() => void (rest === "" ? store.ask("clear", {}) : store.ask("query", { text: rest }))}
                  >
                    ×
                  </button>
                </li>
              ))}
            </ul>
          )}
        </div>
        {typed !== null && typed !== selection.text && (
          <button type="button" class="pdpw-act" data-testid="apply" onClick={send}>
            apply
          </button>
        )}
        <span class="pdpw-n" data-testid="selection-n" data-n={active || draft ? n : ""}>
          {active || draft ? `${about ? "≈ " : ""}n ${count(n)} (${percent(n, total)})` : ""}
        </span>
        <span class="pdpw-group">
          <button
            type="button"
            data-testid="clear"
            disabled={!active}
            title="Clear the selection (Escape)"
            onClick={() => act("clear")}
          >
            clear
          </button>
          <button
            type="button"
            data-testid="invert"
            disabled={!active}
            title="Select the rest instead"
            onClick={() => act("invert")}
          >
            invert
          </button>
          <button
            type="button"
            data-testid="undo"
            disabled={!selection.can_undo}
            title="Undo (Ctrl-Z)"
            onClick={() => act("undo")}
          >
            undo
          </button>
          <button
            type="button"
            data-testid="redo"
            disabled={!selection.can_redo}
            title="Redo (Ctrl-Shift-Z)"
            onClick={() => act("redo")}
          >
            redo
          </button>
        </span>
        <button
          type="button"
          class="pdpw-toggle"
          aria-expanded={listed}
          data-testid="bookmarks-open"
          disabled={!active && marks === 0 && !listed}
          title="Give the selection a name, or go back to one that has"
          onClick={() => setListed(!listed)}
        >
          name / bookmarks{marks > 0 ? ` ${marks}` : ""}
        </button>
        <fieldset class="pdpw-modes">
          <legend class="pdpw-hidden">What a brush does</legend>
          {MODES.map(([op, name, title]) => (
            <button
              key={op}
              type="button"
              class="pdpw-toggle"
              data-testid={`mode-${op}`}
              aria-pressed={mode === op}
              title={title}
              onClick={() => {
                store.brush.mode.value = op;
              }}
            >
              {name}
            </button>
          ))}
        </fieldset>
      </div>
      {listed && <Bookmarks ui={ui} />}
      {message && (
        <p class="pdpw-strip pdpw-error" role="alert" data-testid="selection-error">
          {message}
        </p>
      )}
    </div>
  );
}
