// Selections by name: to keep one, to go back to it, to combine with it.

import { useState } from "preact/hooks";
import { count, percent } from "../geometry/format";
import { inWords } from "../geometry/words";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

/** How the selection goes together with a bookmark. */
const COMBINE = [
  ["and", "Only the selected rows that it selects, too"],
  ["or", "The selected rows, and those that it selects"],
  ["not", "The selected rows without those that it selects"],
] as const;

/** A short name for a condition, as a first suggestion. */
const suggestion = (text: string, taken: Record<string, string>) => {
  const words = inWords(text);
  const short = words.length > 30 ? `${words.slice(0, 29)}…` : words;
  let name = short;
  for (let i = 2; name in taken; i++) name = `${short} ${i}`;
  return name;
};

export function Bookmarks({ ui }: { ui: Ui }) {
  const { store } = ui;
  const marks = useValue(() => store.public.bookmarks.value);
  const notes = useValue(() => store.public.notes.value);
  const counts = useValue(() => store.marked.value);
  const selection = useValue(() => store.selection.value);
  const live = useValue(() => store.host.value === "kernel");
  const [typed, setTyped] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<{ name: string; to: string } | null>(null);
  const { text } = selection;
  const names = Object.keys(marks);
  const kept = names.find((name) => marks[name] === text);
  const name = typed ?? (text === "" ? "" : suggestion(text, marks));
  const keep = () => {
    if (name.trim() === "" || text === "") return;
    store.set("bookmarks", { ...marks, [name.trim()]: text });
    store.marked.value = { ...counts, [name.trim()]: selection.n };
    setTyped(null);
    ui.spoken.value = `Bookmarked as ${name.trim()}`;
  };
  const rename = () => {
    if (!renaming) return;
    const to = renaming.to.trim();
    const free = to !== "" && (to === renaming.name || !(to in marks));
    if (free) {
      const change = <T,>(all: Record<string, T>) =>
        Object.fromEntries(Object.entries(all).map(([key, value]) => [key === renaming.name ? to : key, value]));
      store.set("notes", change(notes)); // first: without a bookmark of its name a note is dropped
      store.set("bookmarks", change(marks));
      store.marked.value = change(counts);
    }
    setRenaming(null);
  };
  const drop = (gone: string) => {
    const { [gone]: _, ...rest } = marks;
    store.set("bookmarks", rest);
    ui.spoken.value = `Bookmark ${gone} deleted`;
  };
  const combine = (how: (typeof COMBINE)[number][0], other: string) => {
    store.say("selection", "");
    if (how === "and") void store.ask("query", { text: `(${text}) & (${other})` });
    else void store.ask("query", { text: other, op: how === "or" ? "add" : "remove" });
  };
  const keys = (enter: () => void, leave: () => void) => (event: KeyboardEvent) => {
    if (event.key === "Enter") enter();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="pdpw-bookmarks" data-testid="bookmarks">
      {text !== "" && !kept && (
        <div class="pdpw-bar">
          <input
            type="text"
            class="pdpw-bookmark-name"
            data-testid="bookmark-name"
            aria-label="Name of the selection"
            maxLength={80}
            value={name}
            onFocus={(event) => event.currentTarget.select()}
            onClick={(event) => typed === null && event.currentTarget.select()}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={keys(keep, () => setTyped(null))}
          />
          <button
            type="button"
            class="pdpw-act"
            data-testid="bookmark-keep"
            disabled={name.trim() === ""}
            onClick={keep}
          >
            {name.trim() in marks ? "replace" : "keep this selection"}
          </button>
        </div>
      )}
      {names.length === 0 && text === "" && (
        <p class="pdpw-muted">Select rows, then give them a name here to come back to them.</p>
      )}
      <ul aria-label="Bookmarks">
        {names.map((mark) => (
          <li key={mark} class="pdpw-bookmark" data-testid="bookmark" data-name={mark}>
            {renaming?.name === mark ? (
              <input
                type="text"
                data-testid="bookmark-rename-to"
                aria-label={`New name of ${mark}`}
                maxLength={80}
                value={renaming.to}
                ref={(node) => {
                  if (node && node.ownerDocument.activeElement !== node) node.select();
                }}
                onInput={(event) => setRenaming({ name: mark, to: event.currentTarget.value })}
                onBlur={rename}
                onKeyDown={keys(rename, () => setRenaming(null))}
              />
            ) : (
              <button
                type="button"
                class="pdpw-toggle"
                aria-pressed={mark === kept}
                data-testid="bookmark-select"
                title={marks[mark]}
                onClick={() => void store.ask("query", { text: marks[mark] })}
              >
                {mark}
              </button>
            )}
            <span class="pdpw-muted">
              {mark in counts ? `n ${count(counts[mark])} (${percent(counts[mark], selection.total)})` : ""}
            </span>
            <span class="pdpw-group">
              {COMBINE.map(([how, about]) => (
                <button
                  key={how}
                  type="button"
                  data-testid={`bookmark-${how}`}
                  disabled={text === "" || !live || mark === kept}
                  title={about}
                  aria-label={`${how} ${mark}`}
                  onClick={() => combine(how, marks[mark])}
                >
                  {how}
                </button>
              ))}
            </span>
            <span class="pdpw-group">
              <button
                type="button"
                data-testid="bookmark-rename"
                aria-label={`Rename ${mark}`}
                onClick={() => setRenaming({ name: mark, to: mark })}
              >
                rename
              </button>
              <button
                type="button"
                class="pdpw-dismiss"
                data-testid="bookmark-delete"
                aria-label={`Delete ${mark}`}
                title="Delete"
                onClick={() => drop(mark)}
              >
                ×
              </button>
            </span>
            <input
              type="text"
              class="pdpw-bookmark-note"
              data-testid="bookmark-note"
              aria-label={`Note on ${mark}`}
              placeholder="note"
              maxLength={2000}
              value={notes[mark] ?? ""}
              title={notes[mark]}
              onChange={(event) => store.set("notes", { ...notes, [mark]: event.currentTarget.value })}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
