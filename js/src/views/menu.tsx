// A button that opens a few acts below it. What comes of an act, or why it cannot be had, stands in the same place.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "../store";
import { scoped } from "./hooks";
import { Icon, type Sign } from "./icons";
import type { Ui } from "./ui";

export interface Item {
  id: string;
  name: string;
  /** Why it cannot be had. */
  not?: string;
  /** Resolves to what there is to say about it. */
  act(): Promise<Note | undefined>;
}

interface Note {
  text: string;
  /** To be copied by hand. */
  copy?: string;
  alert?: boolean;
}

interface MenuProps {
  ui: Ui;
  id: string;
  label: string;
  sign: Sign;
  items: Item[];
  /** To be known before one chooses. */
  about?: string;
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, Home: 0, End: -1 };

export function Menu({ ui, id, label, sign, items, about }: MenuProps) {
  const [open, setOpen] = useState(false);
  const [note, setNote] = useState<Note | null>(null);
  const box = useRef<HTMLSpanElement>(null);
  const entries = () => [...box.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
  const show = (wanted: boolean) => {
    setOpen(wanted);
    setNote(null);
  };
  const leave = () => {
    show(false);
    box.current?.querySelector("button")?.focus();
  };
  const choose = async ({ not, act }: Item) => {
    if (not) return;
    setNote({ text: "Working on it" });
    let news: Note | undefined;
    try {
      news = await act();
    } catch (error) {
      news = { text: messageOf(error), alert: true };
    }
    if (news) setOpen(true);
    else if (box.current?.contains((box.current.getRootNode() as Document).activeElement)) leave();
    else setOpen(false);
    setNote(news ?? null);
  };
  useLayoutEffect(() => {
    if (!open) return;
    const popup = box.current!.lastElementChild as HTMLElement;
    const [here, page] = [popup, ui.root].map((node) => node.getBoundingClientRect().left);
    if (here < page) Object.assign(popup.style, { left: 0, right: "auto" });
    entries()[0]?.focus();
    return scoped(ui, (signal) => {
      const outside = (event: Event) => {
        if (!event.composedPath().includes(box.current!)) show(false);
      };
      for (const type of ["pointerdown", "focusin"])
        ui.root.ownerDocument.addEventListener(type, outside, { signal, capture: true });
    });
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.indexOf(event.target as HTMLElement);
    const step = STEPS[event.key];
    if (event.key === "Escape" && open) leave();
    else if (open && at >= 0 && step !== undefined) {
      const from = event.key.startsWith("Arrow") ? at + step : step;
      all[(from + all.length) % all.length].focus();
    } else if (event.key === "ArrowDown" && !open) show(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const said = note?.text ?? about ?? items.find(({ not }) => not)?.not;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the button and of the menu in it
    <span class="pdpw-menu" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="pdpw-larger"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        title={label}
        data-testid={id}
        onClick={() => show(!open)}
      >
        <Icon name={sign} />
      </button>
      {open && (
        <span class="pdpw-popup">
          <span role="menu" aria-label={label}>
            {items.map((item) => (
              <button
                key={item.id}
                type="button"
                role="menuitem"
                tabIndex={-1}
                aria-disabled={item.not !== undefined}
                title={item.not}
                data-testid={`${id}-${item.id}`}
                onClick={() => void choose(item)}
              >
                {item.name}
              </button>
            ))}
          </span>
          {said && (
            <span
              class={note?.alert ? "pdpw-error" : "pdpw-muted"}
              role={note?.alert ? "alert" : "status"}
              data-testid={`${id}-says`}
            >
              {said}
            </span>
          )}
          {note?.copy && (
            <textarea
              readOnly
              rows={8}
              aria-label={note.text}
              data-testid={`${id}-text`}
              value={note.copy}
              ref={(node) => node?.select()}
            />
          )}
        </span>
      )}
    </span>
  );
}
