// The table of the rules: only the lines on screen are drawn, all of the same height.
// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot hold lines that are not there
// biome-ignore-all lint/a11y/noStaticElementInteractions: the role is "grid" or "treegrid"
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: as above
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the active line

import { type ComponentChildren, Fragment } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, fmt, percent } from "../geometry/format";
import { type Column, type Item, type Picture, type RowTerms, relationWords, type Terms } from "../geometry/rules";
import { useValue } from "./hooks";
import type { RulesState } from "./rulesstate";
import type { Ui } from "./ui";

const NARROW = 760;
const WIDE = 1150; // below it the term has the room of what an opened rule says, too, and two rows
const LEAST: Column[] = ["inside", "outside", "conditions"];
const SPARE = 6; // lines beyond both ends

interface Head {
  by: Column;
  name: string;
  width: string;
  about: string;
}

function headsOf(p: Picture, row: string | null): Head[] {
  const what = p.link === "identity" ? "the outcome" : `the share of ${p.output}`;
  const odds = p.link !== "identity";
  const all: (Head | null | undefined)[] = [
    { by: "rank", name: "#", width: "2.8em", about: "Rank by importance over all rows" },
    {
      by: "term",
      name: "term",
      width: "minmax(12em, 1fr)",
      about: "A rule, or a number with the limits beyond which it counts as the limit",
    },
    row === null
      ? null
      : {
          by: "row",
          name: `row ${row}`,
          width: "minmax(11em, 0.4fr)",
          about: "What the term adds for this row, or which one condition fails",
        },
    {
      by: "coefficient",
      name: odds ? "odds" : "effect",
      width: "9.5em",
      about: odds
        ? `By how much a rule multiplies the odds, all else equal (its coefficient adds to ${p.describes}); of a number: per unit`
        : "What a rule adds where it holds, all else equal (coefficient); of a number: slope per unit",
    },
    {
      by: "support",
      name: "holds for",
      width: "9em",
      about: "Share and number of the rows that it holds for (support)",
    },
    {
      by: "importance",
      name: "importance",
      width: "8.5em",
      about: `Relative to the most important term, which has 100${p.largest === null ? "" : ` (${fmt(p.largest)})`}: |a| √(s (1 − s)) of a rule, |b| sd of a number`,
    },
    p.stability && {
      by: "stability",
      name: "comes back",
      width: "8em",
      about: `In how many of ${p.stability.done} fits to random halves of the rows the term comes back, or one that holds for nearly the same rows (Jaccard index .9 or more)`,
    },
    p.selection && {
      by: "selection",
      name: "selection",
      width: "7em",
      about: `Among the ${count(p.selection.n)} selected rows: how important the term is (the most important has 100), then the share of them that it holds for`,
    },
    known(p.inside)
      ? { by: "inside", name: "mean in", width: "4.8em", about: `Mean of ${what} where the rule holds` }
      : null,
    known(p.outside)
      ? { by: "outside", name: "out", width: "4.8em", about: `Mean of ${what} where it does not` }
      : null,
    { by: "conditions", name: "conditions", width: "5.6em", about: "Number of conditions" },
  ];
  return all.filter((head): head is Head => Boolean(head));
}

const known = (values: ArrayLike<number>) => Array.from(values).some((v) => !Number.isNaN(v));

export function Table({ ui, state, p }: { ui: Ui; state: RulesState; p: Picture }) {
  const items = useValue(() => state.items.value);
  const terms = useValue(() => state.terms.value)!;
  const sort = useValue(() => state.sort.value);
  const active = useValue(() => state.active.value);
  const grouping = useValue(() => state.grouping.value);
  const row = useValue(() => state.rowTerms.value);
  const chosen = useValue(() => [state.chosen.value, ui.store.selection.value.text]) && state.isChosen.bind(state);
  const large = useValue(() => ui.store.public.size.value === "large");
  const [top, setTop] = useState(0);
  const [box, setBox] = useState({ width: 1000, height: 300 });
  const node = useRef<HTMLDivElement>(null);
  const leave = () => {
    state.look.value = -1;
  };
  useLayoutEffect(() => {
    const own = node.current!;
    const observer = new ResizeObserver(() => setBox({ width: own.clientWidth, height: own.clientHeight }));
    observer.observe(own);
    return () => {
      observer.disconnect();
      leave();
    };
  }, []);
  const narrow = box.width < NARROW;
  const wide = box.width >= WIDE;
  const line = (wide ? 26 : 44) * (large ? 1.4 : 1);
  const headHeight = 26 * (large ? 1.4 : 1);
  const first = Math.max(0, Math.floor(top / line) - SPARE);
  const last = Math.min(items.length, Math.ceil((top + box.height) / line) + SPARE);
  // What takes a look at all terms is not worked out anew while one scrolls.
  const label = row && state.row.peek()!.label;
  const heads = useMemo(
    () => headsOf(p, label).filter(({ by }) => wide || narrow || !LEAST.includes(by)),
    [p, label, wide, narrow],
  );
  const position = useMemo(() => items.findIndex((item) => item.key === active), [items, active]);
  const scale = useMemo(() => scaleOf(p), [p]);

  const move = (to: number) => {
    const own = node.current!;
    const at = Math.max(0, Math.min(items.length - 1, to));
    if (!items[at]) return;
    state.active.value = items[at].key;
    state.look.value = termOf(items[at]);
    const room = own.clientHeight - headHeight;
    if (at * line < own.scrollTop) own.scrollTop = at * line;
    else if ((at + 1) * line > own.scrollTop + room) own.scrollTop = (at + 1) * line - room;
  };
  const act = (item: Item | undefined, event: { shiftKey: boolean; altKey: boolean }) => {
    if (!item || item.kind === "note") return;
    if (item.kind === "head") state.toggle(item.key);
    else void state.choose(item.term, event.altKey ? "remove" : event.shiftKey ? "add" : "replace");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== node.current || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((box.height - headHeight) / line) - 1);
    const item = items[position];
    const group = item?.kind === "head" ? item : undefined;
    if (event.key === "ArrowDown") move(position + 1);
    else if (event.key === "ArrowUp") move(position - 1);
    else if (event.key === "PageDown") move(position + page);
    else if (event.key === "PageUp") move(position - page);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(items.length - 1);
    else if (event.key === "ArrowLeft" && group?.open) state.toggle(group.key);
    else if (event.key === "ArrowRight" && group && !group.open) state.toggle(group.key);
    else if (event.key === "Enter" || event.key === " ") act(item, event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const id = (at: number) => `${ui.id}-rule-${at}`;
  return (
    <div
      ref={node}
      class="pdpw-rules-table"
      role={grouping ? "treegrid" : "grid"}
      aria-label="Rules. Arrow keys move, Enter selects the rows of a rule, with Shift adds them, with Alt takes them away."
      aria-rowcount={items.length + 1}
      aria-colcount={heads.length}
      aria-activedescendant={position >= first && position < last ? id(position) : undefined}
      tabIndex={0}
      data-testid="rules-table"
      data-lines={items.length}
      data-narrow={narrow}
      data-lines-of={wide ? 1 : 2}
      style={{
        "--pdpw-cols": heads.map((head) => head.width).join(" "),
        maxHeight: `${headHeight + (wide ? 12 : 8) * line}px`,
      }}
      onKeyDown={onKeyDown}
      onPointerOver={(event) => {
        const line = (event.target as Element).closest<HTMLElement>("[data-term]");
        state.look.value = line ? Number(line.dataset.term) : -1;
      }}
      onPointerLeave={leave}
      onBlur={leave}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="pdpw-rules-heads" role="row" aria-rowindex={1} style={{ height: `${headHeight}px` }}>
        {heads.map(({ by, name, about }) => {
          const at = sort.findIndex((key) => key.by === by);
          const down = sort[at]?.down;
          return (
            <div
              key={by}
              role="columnheader"
              data-by={by}
              aria-sort={at === 0 ? (down ? "descending" : "ascending") : undefined}
              title={`${about}. Click sorts, with Shift as a further key.`}
            >
              <button
                type="button"
                data-testid={`rules-sort-${by}`}
                onClick={(event) => state.sortBy(by, event.shiftKey)}
                onKeyDown={(event) => {
                  // A click from the keyboard does not say that Shift is held.
                  if (!event.shiftKey || (event.key !== "Enter" && event.key !== " ")) return;
                  event.preventDefault();
                  event.stopPropagation();
                  state.sortBy(by, true);
                }}
              >
                {name}
                {at >= 0 && (
                  <span aria-hidden="true">
                    {down ? "▾" : "▴"}
                    {sort.length > 1 ? at + 1 : ""}
                  </span>
                )}
              </button>
            </div>
          );
        })}
      </div>
      <div
        class="pdpw-rules-lines"
        role="presentation"
        style={{ height: `${items.length * line}px` }}
        onClick={(event) => {
          const target = event.target as Element;
          const name = target.closest("[data-testid=rules-name]")?.textContent;
          if (name) return state.about(name, event.altKey ? "exclude" : "include");
          const item = items[Number(target.closest<HTMLElement>("[data-at]")?.dataset.at)];
          if (item) state.active.value = item.key;
          act(item, event);
        }}
      >
        {items.slice(first, last).map((item, offset) => {
          const at = first + offset;
          const common = {
            id: id(at),
            role: "row" as const,
            "aria-rowindex": at + 2,
            "data-active": item.key === active,
            "data-at": at,
            style: { top: `${at * line}px`, height: `${line}px` },
          };
          // Lines that come in take the elements of those that go out.
          const key = at % (last - first);
          if (item.kind === "head")
            return (
              <div
                key={key}
                {...common}
                class="pdpw-rules-group"
                aria-level={1}
                aria-expanded={item.open}
                data-testid="rules-group"
                data-label={item.group.label}
              >
                <div role="gridcell" aria-colspan={heads.length}>
                  <span aria-hidden="true">{item.open ? "▾" : "▸"}</span> {item.group.label}{" "}
                  <span class="pdpw-muted">{count(item.group.terms.length)}</span>
                </div>
              </div>
            );
          if (item.kind === "note")
            return (
              <div
                key={key}
                {...common}
                class="pdpw-rules-related pdpw-muted"
                data-testid={item.key === "note" ? "rules-note" : "rules-about"}
              >
                <div role="gridcell" aria-colspan={heads.length}>
                  {item.text}
                </div>
              </div>
            );
          if (item.kind === "related")
            return (
              <div
                key={key}
                {...common}
                class="pdpw-rules-related"
                data-testid="related"
                data-term={item.term}
                data-relation={item.related.relation}
                data-text={terms.texts[item.term]}
                title={`correlation ${fmt(item.related.correlation)}, ${percent(item.related.jaccard ?? 0, 1)} of the rows of either are shared`}
              >
                <div role="gridcell" aria-colspan={heads.length}>
                  <span class="pdpw-muted">{relationWords(item.related)}</span> {terms.labels[item.term]}{" "}
                  <span class="pdpw-muted">
                    {p.link === "identity" ? "adds" : "odds"} {effect(p, item.term)}
                  </span>
                </div>
              </div>
            );
          return (
            <Line
              key={key}
              common={common}
              p={p}
              terms={terms}
              term={item.term}
              chosen={chosen(terms.texts[item.term])}
              row={row}
              heads={heads}
              level={grouping ? 2 : undefined}
              scale={scale}
            />
          );
        })}
      </div>
      {items.length === 0 && (
        <p class="pdpw-empty">{p.ends.length ? "no rule is like that" : "no rule helps: a constant does as well"}</p>
      )}
    </div>
  );
}

/** The term of a line; -1 for heads and notes. */
const termOf = (item: Item) => ("term" in item ? item.term : -1);

/** The largest coefficient of a rule: numbers have units of their own. */
function scaleOf(p: Picture): number {
  let most = 0;
  for (let i = 0; i < p.ends.length; i++) if (p.type[i] !== 1) most = Math.max(most, Math.abs(p.coefficient[i]));
  return most || 1;
}

const signed = (value: number) => (value > 0 ? `+${fmt(value)}` : fmt(value));

/** A coefficient as people say it. */
function effect(p: Picture, i: number): string {
  const a = p.coefficient[i];
  if (p.link === "identity") return signed(a);
  return `× ${fmt(Math.exp(a))}`;
}

interface LineProps {
  // biome-ignore lint/suspicious/noExplicitAny: attributes that all lines share
  common: any;
  p: Picture;
  terms: Terms;
  term: number;
  chosen: boolean;
  row: RowTerms | null;
  heads: Head[];
  level: number | undefined;
  scale: number;
}

function Line({ common, p, terms, term: i, chosen, row, heads, level, scale }: LineProps) {
  const cells = useMemo(() => cellsOf(p, terms, i, row, heads, scale), [p, terms, i, row, heads, scale]);
  return (
    <div
      {...common}
      class="pdpw-rules-line"
      aria-level={level}
      aria-selected={chosen}
      data-testid="rule"
      data-term={i}
      data-text={terms.texts[i]}
      data-linear={p.type[i] !== 0}
      data-state={row ? row.state[i] : undefined}
    >
      {cells}
    </div>
  );
}

function cellsOf(
  p: Picture,
  terms: Terms,
  i: number,
  row: RowTerms | null,
  heads: Head[],
  scale: number,
): ComponentChildren {
  const number = p.type[i] === 1;
  const cell: Record<Column, () => ComponentChildren> = {
    rank: () => i + 1,
    term: () => <Term p={p} terms={terms} i={i} />,
    row: () => {
      const miss = row?.misses.get(i);
      const own = row && terms.features[i].map((at) => `${p.features[at]} is ${row.own[at]}`).join(", ");
      if (row?.state[i] === 2) return <span title={own!}>{signed(row.contribution[i])}</span>;
      return miss ? <span title={`${miss[0]}; ${own}`}>misses: {miss[0]}</span> : "";
    },
    coefficient: () => (
      <>
        <span>
          {effect(p, i)}
          {number && <small> per unit</small>}
        </span>
        {!number && <Sign share={p.coefficient[i] / scale} />}
      </>
    ),
    support: () =>
      Number.isNaN(p.support[i]) ? (
        <span class="pdpw-muted">every row</span>
      ) : (
        <>
          <span>
            {percent(p.support[i], 1)} <small>{p.n[i] < 0 ? "" : count(p.n[i])}</small>
          </span>
          <Bars share={p.support[i]} selected={p.selection?.support[i]} />
        </>
      ),
    importance: () => (
      <>
        <span>{fmt(p.importance[i])}</span>
        <Bars share={p.importance[i] / 100} selected={p.selection && p.selection.importance[i] / 100} />
      </>
    ),
    stability: () =>
      p.stability?.done ? (
        <>
          <span>{percent(p.stability.back[i], 1)}</span>
          <Bars share={p.stability.back[i]} selected={null} />
        </>
      ) : (
        ""
      ),
    selection: () => (
      <span class="pdpw-rules-sel">
        {fmt(p.selection?.importance[i])}
        {Number.isNaN(p.selection?.support[i]) ? "" : <small> {percent(p.selection!.support[i], 1)}</small>}
      </span>
    ),
    inside: () => (Number.isNaN(p.inside[i]) ? "" : fmt(p.inside[i])),
    outside: () => (Number.isNaN(p.outside[i]) ? "" : fmt(p.outside[i])),
    conditions: () => terms.size[i] || "",
  };
  return heads.map(({ by }) => (
    <div key={by} role="gridcell" data-by={by}>
      {cell[by]()}
    </div>
  ));
}

/** Which way, and how far, from a middle line. */
function Sign({ share }: { share: number }) {
  const width = `${50 * Math.min(1, Math.abs(share))}%`;
  return (
    <span class="pdpw-rules-sign" aria-hidden="true">
      <i style={share < 0 ? { right: "50%", width } : { left: "50%", width }} />
    </span>
  );
}

/** All rows above, the selected ones below. */
function Bars({ share, selected }: { share: number; selected: number | null | undefined }) {
  const width = (value: number) => ({ width: `${100 * Math.max(0, Math.min(1, value))}%` });
  return (
    <span class="pdpw-rules-bars" aria-hidden="true">
      <i style={width(share)} />
      {selected !== null && selected !== undefined && !Number.isNaN(selected) && (
        <i data-selected style={width(selected)} />
      )}
    </span>
  );
}

/** One chip per condition; its feature's name filters. */
function Term({ p, terms, i }: { p: Picture; terms: Terms; i: number }) {
  return (
    <span
      class="pdpw-rules-term"
      title={`${terms.labels[i]}${terms.limits[i] ? `, counted from ${terms.limits[i]}` : ""}`}
    >
      {p.type[i] === 1 && (
        <span class="pdpw-rules-slope" role="img" aria-label={p.coefficient[i] > 0 ? "rises with" : "falls with"}>
          {p.coefficient[i] > 0 ? "↗" : "↘"}
        </span>
      )}
      {terms.parts[i].map((part, k) => {
        const name = p.features[p.conditions.feature[part]];
        const words = p.conditions.words[part];
        const at = words.indexOf(name);
        return (
          <Fragment key={part}>
            {k > 0 && <i> & </i>}
            <span class="pdpw-rules-part">
              {words.slice(0, at)}
              <b data-testid="rules-name" title={`Only terms with ${name}; Alt-click: only those without`}>
                {name}
              </b>
              {words.slice(at + name.length)}
            </span>
          </Fragment>
        );
      })}
      {terms.limits[i] && <small class="pdpw-muted"> within {terms.limits[i]}</small>}
    </span>
  );
}
