// By what features can be sorted: what each measure says, its numbers over all rows and over the selected ones, and why one is
// not to be had.

import type { ImportancePicture, Measures, Overview, Pictures, SortBy } from "../model";

export const IMPORTANCE =
  "Importance: how much the average curve moves: its standard deviation over the grid (categories: range / 4). Every value of the grid counts alike; “own effect” in the matrix of interactions is over the rows instead, where frequent values count more, so that the two differ by design";
export const DISAGREEMENT = "Disagreement: how far single rows’ curves differ in shape";

type Rules = Pictures["rules"];
type Column = Exclude<keyof Measures, "computed">;

/** Name and meaning of each measure, and its column in the importance panel. */
export const MEASURES: { by: SortBy; name: string; about: string; column?: Column }[] = [
  { by: "importance", name: "importance", about: IMPORTANCE, column: "pd_importance" },
  {
    by: "weighted",
    name: "importance by rows",
    about: "Importance where the rows are: the standard deviation of the average curve over the rows’ own values",
    column: "pd_importance_weighted",
  },
  {
    by: "total",
    name: "total effect",
    about:
      "Total effect, with all interactions: share of the predictions’ variance that is lost when the feature is averaged out (PDI), with its standard error",
    column: "pdi",
  },
  {
    by: "permutation",
    name: "loss when shuffled",
    about:
      "Permutation importance: how much worse the model gets when the feature is shuffled, with its standard error",
    column: "permutation",
  },
  { by: "heterogeneity", name: "disagreement", about: DISAGREEMENT, column: "heterogeneity" },
  {
    by: "rulefit",
    name: "weight in rules",
    about: "Importance of the terms that the feature is in (RuleFit), shared out",
  },
  { by: "name", name: "name", about: "Name" },
  { by: "order", name: "column order", about: "Order of the columns" },
];

/** What a measure says, with the name of the loss where that depends on the model. */
export const aboutOf = (by: SortBy, score: string | null | undefined): string => {
  const about = MEASURES.find((measure) => measure.by === by)?.about ?? "";
  return by === "permutation" && score ? `${about}. The loss is ${score}` : about;
};

export const measureOf = (by: SortBy) =>
  MEASURES.find((measure) => measure.by === by && (measure.column || by === "rulefit")) ?? MEASURES[0];

/** One feature's numbers; NaN for not known or none. */
export interface Amount {
  value: number;
  stderr: number;
  selected: number;
  selectedStderr: number;
}

export interface Known {
  overview: Overview | null;
  picture: Pictures["importance"] | null;
  rules: Rules | null;
  /** Whether rows are selected. */
  selected: boolean;
}

const NONE: Amount = { value: Number.NaN, stderr: Number.NaN, selected: Number.NaN, selectedStderr: Number.NaN };
const num = (value: number | null | undefined): number => value ?? Number.NaN;

/** The numbers of every feature whose measure is known. */
export function amounts(by: SortBy, { overview, picture, rules, selected }: Known): Map<string, Amount> {
  const found = new Map<string, Amount>();
  const { column, by: measure } = measureOf(by);
  const own = measure === "importance" || measure === "heterogeneity";
  if (own)
    for (const feature of overview?.features ?? [])
      found.set(feature.name, {
        ...NONE,
        value: num(feature[measure]),
        selected: selected && measure === "importance" ? num(feature.importance_selected) : Number.NaN,
      });
  if (measure === "rulefit") {
    if (!rules?.weight || rules.output !== overview?.output) return found;
    for (const { name } of overview?.features ?? []) found.set(name, { ...NONE, value: 0 });
    rules.focus?.forEach((name, i) => {
      const before = found.get(name); // several columns may belong to one feature
      if (before) before.value += rules.weight![i];
    });
  } else if (column && picture?.all && picture.output === overview?.output) {
    const stderr = `${column}_stderr` as Column;
    const part = selected && !picture.status.stale ? picture.selection : null;
    picture.features?.forEach((name, i) => {
      const before = found.get(name) ?? NONE;
      found.set(name, {
        value: own ? before.value : num(picture.all![column][i]),
        stderr: num(picture.all![stderr]?.[i]),
        selected: measure === "importance" ? before.selected : num(part?.[column][i]),
        selectedStderr: num(part?.[stderr]?.[i]),
      });
    });
  }
  return found;
}

/** The end of the bars' axis. */
export function longest(values: Iterable<Amount>): number {
  let most = 0;
  for (const { value, stderr, selected, selectedStderr } of values)
    for (const end of [value, value + stderr, selected, selected + selectedStderr]) if (end > most) most = end;
  return most;
}

/** Why a measure cannot be had, or "". */
export function whyNot(
  by: SortBy,
  picture: Partial<ImportancePicture> | null,
  rules: Rules | null,
  panels: string[],
  live: boolean,
): string {
  if (by === "rulefit") {
    if (rules?.weight) return "";
    return panels.includes("rules") ? "The rules are not known yet" : "Needs the panel of rules, which is not shown";
  }
  const { column } = measureOf(by);
  if (by === "importance" || by === "heterogeneity" || !column || by === "name" || by === "order") return "";
  const values = picture?.all?.[column];
  if (by === "permutation" && picture?.all && picture.score === null)
    return picture.note || "Needs the outcome: PDPWidget(model, X, y)";
  if (values && picture?.status?.state === "done" && !Array.from(values).some((value) => !Number.isNaN(value)))
    return picture.note || "Cannot be computed for this model";
  if (values) return "";
  if (!live) return "Not saved: run the cell to have it computed";
  return panels.includes("importance") ? "" : "Needs the panel of importance, which is not among panels";
}
