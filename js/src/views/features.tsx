// The left column: every feature with its curve in small, sorted by what matters. Only rows on screen are drawn.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { compact, fmt } from "../geometry/format";
import { type Amount, aboutOf, amounts, longest, MEASURES, measureOf, whyNot } from "../geometry/measures";
import { extent, union } from "../geometry/scale";
import type { Condition, FeatureKind, Info, Overview, SortBy } from "../model";
import { SPARK } from "../model";
import { Download } from "./download";
import { useValue } from "./hooks";
import { Line } from "./panel";
import { sparkMarks, sparkPath } from "./spark";
import type { Ui } from "./ui";

const KINDS: Record<FeatureKind, [string, string]> = {
  number: ["1.2", "number"],
  integer: ["12", "whole number"],
  bool: ["0/1", "yes or no"],
  category: ["abc", "category"],
  datetime: ["date", "date"],
  timedelta: ["Δt", "duration"],
  group: ["grp", "group of columns"],
};

/** Row numbers of `features` in the wanted order; unknown measures come last. */
export function orderOf(info: Info, known: Map<string, Amount>, by: SortBy): number[] {
  const rows = info.features.map((_, i) => i);
  if (by === "name")
    return rows.sort((a, b) =>
      info.features[a].name.localeCompare(info.features[b].name, undefined, { numeric: true }),
    );
  if (by === "order") return rows;
  const value = (i: number) => {
    const found = known.get(info.features[i].name)?.value;
    return found === undefined || Number.isNaN(found) ? Number.NEGATIVE_INFINITY : found;
  };
  return rows.sort((a, b) => value(b) - value(a) || a - b);
}

export const allDone = (overview: Overview | null): boolean =>
  overview?.features.every((f) => f.error !== null || (f.total > 0 && f.rows >= f.total)) ?? false;

function Spark({
  ui,
  overview,
  row,
  category,
  range,
}: {
  ui: Ui;
  overview: Overview;
  row: number;
  category: boolean;
  range: [number, number];
}) {
  const points = overview.points[row] ?? SPARK;
  const { name } = overview.features[row];
  const marks = (conditions: Condition[]) => {
    const own = conditions.filter((c) => c.feature === name);
    const [low, high] = [overview.ends?.[2 * row], overview.ends?.[2 * row + 1]];
    return own.length && low !== undefined && high !== undefined ? sparkMarks(own, [low, high], points) : "";
  };
  const selected = useValue(() => marks(ui.said(name)), [overview, row]);
  const looked = useValue(() => marks(ui.looked.value), [overview, row]);
  const line = (values: ArrayLike<number> | null) => (values ? sparkPath(values, row, points, category, range) : "");
  return (
    <svg class="pdpw-spark" viewBox="0 0 72 26" preserveAspectRatio="none" aria-hidden="true">
      <path d={line(overview.rest)} class="pdpw-s-rest" />
      <path d={line(overview.all)} class="pdpw-s-all" />
      <path d={line(overview.selection)} class="pdpw-s-sel" />
      {selected && <path d={selected} class="pdpw-s-sel pdpw-s-mark" data-of="selection" />}
      {looked && <path d={looked} class="pdpw-s-all pdpw-s-mark" data-of="look" />}
    </svg>
  );
}

/** How large a measure is over all rows, and over the selected ones, with standard errors. */
function Bars({ amount, most }: { amount: Amount; most: number }) {
  const share = (value: number) => Math.max(0, Math.min(100, (100 * value) / most));
  const bar = (value: number, stderr: number, of: string) =>
    value > 0 && (
      <span class={`pdpw-amount pdpw-amount-${of}`}>
        <span style={{ width: `${share(value)}%` }} />
        {share(stderr) > 0.5 && (
          <span
            class="pdpw-whisker"
            style={{ left: `${share(value - stderr)}%`, width: `${share(value + stderr) - share(value - stderr)}%` }}
          />
        )}
      </span>
    );
  return (
    <span class="pdpw-amounts" aria-hidden="true">
      {most > 0 && bar(amount.value, amount.stderr, "all")}
      {most > 0 && bar(amount.selected, amount.selectedStderr, "sel")}
    </span>
  );
}

/** As it stands in the list: what is nothing beside the largest is 0. */
const short = (value: number | undefined, most: number) =>
  value === undefined || Number.isNaN(value) ? "·" : compact(Math.abs(value) < 1e-5 * most ? 0 : value, 2);

const inWords = ({ value, stderr }: { value: number; stderr: number }) =>
  stderr > 0 ? `${fmt(value)} ± ${fmt(stderr, 2)}` : fmt(value);

/** The measure that the features are sorted by, and what is known of it. */
export function useAmounts(ui: Ui) {
  const { store } = ui;
  return useValue(() => {
    const by = store.public.sort_by.value;
    const overview = store.overview.value;
    const picture = store.pictures.importance.value;
    const rules = store.pictures.rules.value;
    const known = amounts(by, { overview, picture, rules, selected: store.selection.value.text !== "" });
    const measure = { ...measureOf(by), about: aboutOf(measureOf(by).by, picture?.score) };
    return { by, measure, picture, rules, known };
  });
}

export function Features({ ui, hidden }: { ui: Ui; hidden: boolean }) {
  const { store } = ui;
  const info = useValue(() => store.info.value);
  const overview = useValue(() => store.overview.value);
  const focused = useValue(() => store.public.feature.value || store.curve.value?.feature || "");
  const { by: sortBy, measure, picture, rules, known: sizes } = useAmounts(ui);
  const panels = useValue(() => store.public.panels.value);
  const live = useValue(() => store.host.value === "kernel");
  const chosen = useValue(() => store.selection.value.id);
  const state = useValue(() => store.progress.value.state);
  const large = useValue(() => store.public.size.value === "large");
  const [search, setSearch] = useState("");
  const [active, setActive] = useState<string | null>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(320);
  const box = useRef<HTMLDivElement>(null);
  const [id] = useState(() => `pdpw-f${Math.random().toString(36).slice(2, 8)}`);
  const rowHeight = large ? 48 : 36;

  // The order changes when the person asks, and once per output when everything is known; never while numbers trickle in.
  const sorted = useRef({ info: null as Info | null, sortBy, done: "", order: [] as number[] });
  const ofCurves = measure.by === "importance" || measure.by === "heterogeneity";
  const settled =
    overview !== null &&
    (!live ||
      (ofCurves
        ? allDone(overview) || state === "stopped" || state === "idle"
        : measure.by === "rulefit" || (picture?.output === overview.output && picture.status.state !== "running")));
  if (info) {
    const last = sorted.current;
    const fresh = last.info !== info;
    const key = `${overview?.output} ${sortBy}`;
    const news = settled && last.done !== key;
    if (fresh || news || last.sortBy !== sortBy) {
      const early = fresh && !settled; // another model's numbers are on their way: the order stays until they are there
      const kept = early && last.order.length === info.features.length;
      const order = kept ? last.order : orderOf(info, early ? new Map() : sizes, sortBy);
      sorted.current = { info, sortBy, done: settled ? key : fresh ? "" : last.done, order };
    }
  }
  // So does the bars' axis: it only gets longer meanwhile.
  const axis = useRef({ key: "", most: 0 });
  const axisKey = `${overview?.output} ${sortBy} ${chosen}`;
  const most = useMemo(() => longest(sizes.values()), [sizes]);
  if (axis.current.key !== axisKey) axis.current = { key: axisKey, most };
  else if (most > axis.current.most) axis.current.most = most;
  const { order } = sorted.current;
  const lookup = useMemo(() => new Map(overview?.features.map((f, i) => [f.name, i])), [overview]);
  const range = useMemo(() => {
    const all = extent(overview?.all);
    const both = union(all, union(extent(overview?.selection), extent(overview?.rest))) ?? [0, 1];
    return (both[1] > both[0] ? both : [both[0] - 1, both[1] + 1]) as [number, number];
  }, [overview]);

  const wanted = search.trim().toLowerCase();
  const rows = useMemo(
    () => (info ? order.filter((i) => info.features[i].name.toLowerCase().includes(wanted)) : []),
    [info, order, wanted],
  );
  const first = Math.max(0, Math.floor(top / rowHeight) - 4);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + 4);
  const visible = info ? rows.slice(first, last).map((i) => info.features[i].name) : [];
  const visibleKey = visible.join("\u0000");

  // Tell the kernel what is on screen, so that it computes that first.
  useLayoutEffect(() => {
    if (visible.length === 0) return;
    const timer = setTimeout(() => void store.ask("visible", { features: visible }), 200);
    return () => clearTimeout(timer);
  }, [visibleKey]);

  useLayoutEffect(() => {
    const node = box.current;
    if (!node) return;
    const observer = new ResizeObserver(() => setHeight(node.clientHeight));
    observer.observe(node);
    return () => observer.disconnect();
  }, [info !== null]);

  const current = active ?? focused;
  const position = rows.findIndex((i) => info?.features[i].name === current);

  const show = (index: number) => {
    const node = box.current;
    if (!node) return;
    if (index * rowHeight < node.scrollTop) node.scrollTop = index * rowHeight;
    else if ((index + 1) * rowHeight > node.scrollTop + node.clientHeight)
      node.scrollTop = (index + 1) * rowHeight - node.clientHeight;
  };
  // A feature that comes into focus, from here or from Python, is to be seen in the list; so is it when the list gets small.
  const focusedAt = rows.findIndex((i) => info?.features[i].name === focused);
  useLayoutEffect(() => {
    if (focusedAt >= 0 && height > 0) show(focusedAt);
  }, [focused, height]);
  const move = (to: number) => {
    if (!info || rows.length === 0) return;
    const index = Math.max(0, Math.min(rows.length - 1, to));
    setActive(info.features[rows[index]].name);
    show(index);
  };
  const choose = (name: string) => {
    setActive(null);
    store.set("feature", name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown") move(position + 1);
    else if (event.key === "ArrowUp") move(position - 1);
    else if (event.key === "PageDown") move(position + page);
    else if (event.key === "PageUp") move(position - page);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if ((event.key === "Enter" || event.key === " ") && info && position >= 0)
      choose(info.features[rows[position]].name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const reason = whyNot(sortBy, picture, rules, panels, live);
  if (!info)
    return (
      <div class="pdpw-features pdpw-empty" hidden={hidden}>
        waiting for the first rows
      </div>
    );
  return (
    <div class="pdpw-features" hidden={hidden}>
      <div class="pdpw-head">
        <span class="pdpw-label">Features</span>
        <span class="pdpw-head-end">
          <label>
            <span class="pdpw-muted">sort </span>
            <select
              data-testid="sort"
              aria-label="Sort features by"
              value={sortBy}
              title={aboutOf(sortBy, picture?.score)}
              onChange={(event) => {
                store.set("sort_by", event.currentTarget.value as SortBy);
              }}
            >
              {MEASURES.map(({ by, name, about }) => {
                const reason = whyNot(by, picture, rules, panels, live);
                return (
                  <option key={by} value={by} disabled={reason !== "" && by !== sortBy} title={reason || about}>
                    {name}
                  </option>
                );
              })}
            </select>
          </label>
          <Download ui={ui} what="importance" />
        </span>
      </div>
      {!ofCurves && measure.column && (
        <Line ui={ui} name="importance" status={picture?.status ?? null} filled={sizes.size > 0} />
      )}
      {reason && (
        <p class="pdpw-strip" data-testid="sort-reason">
          {reason}
        </p>
      )}
      <input
        class="pdpw-search"
        type="search"
        data-testid="search"
        placeholder={`search ${info.features.length} features ( / )`}
        aria-label="Search features"
        aria-controls={id}
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setSearch("");
          else if (event.key === "ArrowDown") {
            box.current?.focus();
            move(Math.max(0, position));
          } else if (event.key === "Enter" && rows.length > 0) choose(info.features[rows[0]].name);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div
        ref={box}
        id={id}
        class="pdpw-list"
        style={{ "--pdpw-rows": `${rowHeight * Math.min(8, Math.max(1, rows.length))}px` }}
        role="listbox"
        aria-label="Features"
        tabIndex={0}
        data-testid="features"
        aria-activedescendant={position >= 0 ? `${id}-${rows[position]}` : undefined}
        onKeyDown={onKeyDown}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onBlur={() => setActive(null)}
      >
        <div style={{ height: `${rows.length * rowHeight}px` }} role="presentation">
          {rows.slice(first, last).map((i, offset) => {
            const feature = info.features[i];
            const row = lookup.get(feature.name) ?? -1;
            const known = row >= 0 ? overview!.features[row] : undefined;
            const amount = sizes.get(feature.name);
            const done = !ofCurves || (known ? known.rows >= known.total && known.total > 0 : false);
            const about = [
              measure.about,
              amount ? `all rows ${inWords(amount)}` : "",
              amount && !Number.isNaN(amount.selected)
                ? `selection ${inWords({ value: amount.selected, stderr: amount.selectedStderr })}`
                : "",
              ofCurves ? `known from ${known?.rows ?? 0} of ${known?.total ?? 0} rows` : "",
            ].filter(Boolean);
            const [mark, kind] = KINDS[feature.kind] ?? ["?", feature.kind];
            const note = [
              feature.name,
              kind,
              feature.n_levels !== null && feature.n_levels !== undefined ? `${feature.n_levels} levels` : "",
              feature.missing ? `${feature.missing} missing` : "",
              known?.error ?? "",
            ].filter(Boolean);
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list box has the focus and handles the keys
              <div
                key={feature.name}
                id={`${id}-${i}`}
                class={`pdpw-item${feature.name === current && active !== null ? " pdpw-active" : ""}`}
                role="option"
                tabIndex={-1}
                aria-selected={feature.name === focused}
                aria-setsize={rows.length}
                aria-posinset={first + offset + 1}
                data-testid="feature"
                data-name={feature.name}
                style={{ top: `${(first + offset) * rowHeight}px`, height: `${rowHeight}px` }}
                title={note.join(" · ")}
                onClick={() => choose(feature.name)}
              >
                <span class="pdpw-kind" role="img" aria-label={kind}>
                  {mark}
                </span>
                <span class="pdpw-name">{feature.name}</span>
                {known?.error ? (
                  <span class="pdpw-spark pdpw-error-text">failed</span>
                ) : overview && row >= 0 ? (
                  <Spark
                    ui={ui}
                    overview={overview}
                    row={row}
                    category={["category", "bool", "group"].includes(feature.kind)}
                    range={range}
                  />
                ) : (
                  <span class="pdpw-spark" />
                )}
                <span class="pdpw-imp" data-done={done} title={about.join(". ")}>
                  {short(amount?.value, axis.current.most)}
                  {amount && <Bars amount={amount} most={axis.current.most} />}
                </span>
              </div>
            );
          })}
        </div>
        {rows.length === 0 && <p class="pdpw-empty">no feature is called “{search}”</p>}
      </div>
    </div>
  );
}
