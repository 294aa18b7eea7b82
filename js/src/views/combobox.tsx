// A picker with search, for outputs too many for a plain select.

import { useRef, useState } from "preact/hooks";
import type { Ui } from "./ui";

let serial = 0;

interface Props {
  ui: Ui;
  label: string;
  testid: string;
  options: string[];
  value: string;
  choose(value: string): void;
}

const MOST_SHOWN = 200;

export function Combobox({ label, testid, options, value, choose }: Props) {
  const [id] = useState(() => `pdpw-combo-${++serial}`);
  const [typed, setTyped] = useState<string | null>(null); // null: closed
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const wanted = (typed ?? "").toLowerCase();
  const found = options.filter((name) => name.toLowerCase().includes(wanted)).slice(0, MOST_SHOWN);
  const open = typed !== null;

  const close = () => setTyped(null);
  const take = (name: string | undefined) => {
    if (name !== undefined) choose(name);
    close();
  };
  const move = (to: number) => {
    const next = Math.max(0, Math.min(found.length - 1, to));
    setActive(next);
    (list.current?.children[next] as HTMLElement | undefined)?.scrollIntoView?.({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") open ? move(active + 1) : setTyped("");
    else if (event.key === "ArrowUp") move(active - 1);
    else if (event.key === "Enter" && open) take(found[active]);
    else if (event.key === "Escape" && open) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="pdpw-combo">
      <input
        type="text"
        role="combobox"
        class="pdpw-output"
        data-testid={testid}
        data-value={value}
        aria-label={label}
        aria-expanded={open}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={open && found.length > 0 ? `${id}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        value={open ? typed : value}
        placeholder={open ? `${value} — type to search` : ""}
        onFocus={() => {
          setTyped("");
          setActive(Math.max(0, options.indexOf(value)));
        }}
        onBlur={close}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      {open && (
        <div class="pdpw-combo-list" role="listbox" id={id} aria-label={label} ref={list}>
          {found.map((name, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the input, which keeps the focus
            <div
              key={name}
              id={`${id}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={name === value}
              class={i === active ? "pdpw-active" : ""}
              title={name}
              onPointerDown={(event) => event.preventDefault()}
              onClick={(event) => {
                take(name);
                (event.currentTarget.closest(".pdpw-combo")?.querySelector("input") as HTMLElement | null)?.blur();
              }}
            >
              {name}
            </div>
          ))}
          {found.length === 0 && <div class="pdpw-muted">nothing found</div>}
        </div>
      )}
    </span>
  );
}
