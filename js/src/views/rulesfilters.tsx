// What is listed: a search, a few filters, chips of the features that are wanted or not, and heads to group by.

import { count, fmt } from "../geometry/format";
import { type Filters as All, type Grouping, NO_FILTERS, type Picture } from "../geometry/rules";
import { useValue } from "./hooks";
import type { RulesState } from "./rulesstate";
import type { Ui } from "./ui";

type Choice = [value: string, text: string];

const SUPPORT: Choice[] = [
  ["0", "any support"],
  ...[1, 5, 10, 25, 50].map((v): Choice => [String(v / 100), `≥ ${v} % of rows`]),
];
const IMPORTANCE: Choice[] = [
  ["0", "any importance"],
  ...[1, 5, 10, 25, 50].map((v): Choice => [String(v), `importance ≥ ${v}`]),
];
const LENGTH: Choice[] = [
  ["0", "any length"],
  ["1", "1 condition"],
  ["2", "≤ 2 conditions"],
  ["3", "≤ 3 conditions"],
];
const STABILITY: Choice[] = [
  ["0", "stable or not"],
  ...[25, 50, 75, 100].map((v): Choice => [String(v / 100), `comes back ≥ ${v} %`]),
];
const KIND: Choice[] = [
  ["", "rules and linear"],
  ["rule", "rules"],
  ["linear", "linear terms"],
];
const SIGN: Choice[] = [
  ["", "up and down"],
  ["up", "raise"],
  ["down", "lower"],
];
const GROUPS: Choice[] = [
  ["", "no groups"],
  ["feature", "by main feature"],
  ["cluster", "by overlap"],
];

export function Filters({ ui, state, p }: { ui: Ui; state: RulesState; p: Picture }) {
  const filters = useValue(() => state.filters.value);
  const shown = useValue(() => state.order.value.length);
  const grouping = useValue(() => state.grouping.value);
  const inRow = useValue(() => state.rowTerms.value !== null);
  const total = p.ends.length;
  const fires: Choice[] = [["", "anywhere"]];
  if (p.selection) fires.push(["selection", "in the selection"]);
  if (inRow) fires.push(["row", "for this row"]);
  const one = (name: keyof All, label: string, choices: Choice[], number = false) => (
    <select
      key={name}
      data-testid={`rules-${name}`}
      aria-label={label}
      data-on={String(filters[name]) !== String(NO_FILTERS[name])}
      value={String(filters[name])}
      onChange={(event) =>
        state.set({ [name]: number ? Number(event.currentTarget.value) : event.currentTarget.value })
      }
    >
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  const chips = [
    ...filters.include.map((name) => ({ name, how: "include" as const })),
    ...filters.exclude.map((name) => ({ name, how: "exclude" as const })),
  ];
  return (
    <>
      <input
        type="search"
        data-testid="rules-text"
        aria-label="Search the rules"
        placeholder="search the rules"
        value={filters.text}
        onInput={(event) => state.set({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          state.set({ text: "" });
        }}
      />
      <select
        data-testid="rules-feature"
        aria-label="Only terms with a feature"
        title="Only terms with a feature; or click its name in a rule, with Alt to leave out what has it"
        value=""
        onChange={(event) => {
          state.about(event.currentTarget.value, "include");
          event.currentTarget.value = "";
        }}
      >
        <option value="">with feature …</option>
        {[...p.features]
          .sort((a, b) => a.localeCompare(b))
          .map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
      </select>
      {chips.map(({ name, how }) => (
        <span key={name} class="pdpw-rules-chosen" data-how={how} data-testid="rules-chip" data-name={name}>
          <button
            type="button"
            title={how === "include" ? "Leave out what has it instead" : "Only what has it instead"}
            onClick={() => state.about(name, how === "include" ? "exclude" : "include")}
          >
            {how === "include" ? "with" : "without"} {name}
          </button>
          <button type="button" aria-label={`No filter by ${name}`} onClick={() => state.about(name, how)}>
            ×
          </button>
        </span>
      ))}
      {one("kind", "Kind of term", KIND)}
      {one("sign", "Direction", SIGN)}
      {one("support", "Least share of the rows", SUPPORT, true)}
      {one("importance", "Least importance", IMPORTANCE, true)}
      {one("length", "Most conditions", LENGTH, true)}
      {p.stability && one("stability", "Least share of refits that have it", STABILITY, true)}
      {fires.length > 1 && one("fires", "Holds where", fires)}
      <select
        data-testid="rules-grouping"
        aria-label="Group the rules"
        title="Overlap: rules that hold for about the same rows stand together"
        value={grouping}
        onChange={(event) => {
          state.grouping.value = event.currentTarget.value as Grouping;
        }}
      >
        {GROUPS.filter(([by]) => by !== "cluster" || p.cluster).map(([by, text]) => (
          <option key={by} value={by}>
            {text}
          </option>
        ))}
      </select>
      <span
        class="pdpw-muted"
        data-testid="rules-count"
        data-n={shown}
        title={`The sum starts at ${fmt(p.start)}: no rule holds, and linear terms stand relative to their means (intercept at zero ${fmt(p.intercept)})`}
      >
        {shown === total ? count(total) : `${count(shown)} of ${count(total)}`} {total === 1 ? "term" : "terms"}
        {p.left_out > 0 ? `, the most important of ${count(total + p.left_out)}` : ""}, added to {fmt(p.start)}
      </span>
      {filters !== NO_FILTERS && JSON.stringify(filters) !== JSON.stringify(NO_FILTERS) && (
        <button
          type="button"
          data-testid="rules-clear"
          onClick={() => {
            state.filters.value = NO_FILTERS;
            ui.spoken.value = "all rules listed";
          }}
        >
          show all
        </button>
      )}
    </>
  );
}
