// The page's questions, answered in one line from what is on it.

import type { InteractionsPicture, Overview, RegionsPicture, RulesPicture } from "../model";
import { fmt, percent } from "./format";
import type { Amount } from "./measures";
import { inWords } from "./words";

export type Question = "matters" | "interacts" | "disagree" | "rules";

type Row = { name: string; value: number };

/** The features by a measure, the largest first; those without a number are left out. */
export function ranked(overview: Overview | null, by: "importance" | "heterogeneity"): Row[] {
  return (overview?.features ?? [])
    .map(({ name, [by]: value }) => ({ name, value: value ?? Number.NaN }))
    .filter(({ value }) => value >= 0)
    .sort((a, b) => b.value - a.value);
}

/** What matters: the features whose average curves move most. */
export function whatMatters(overview: Overview | null, scale: string, done: boolean): string {
  const [first, ...others] = ranked(overview, "importance");
  if (!first) return "No curve is known yet.";
  const far = done ? "" : "So far: ";
  if (first.value === 0) return `${far}No feature moves the average ${scale}.`;
  const then = others.filter(({ value }) => value > 0).slice(0, 2);
  const rest = then.map(({ name, value }) => `${name} (${fmt(value, 2)})`).join(" and ");
  return `${far}${first.name} moves the average ${scale} most, by ${fmt(first.value, 2)} (standard deviation along its curve)${rest ? `; then ${rest}` : ""}.`;
}

/** What the focused feature acts together with. */
export function whatInteracts(feature: string, picture: Partial<InteractionsPicture> | null, output: string): string {
  const { features, pairs, strength, h2 } = picture ?? {};
  if (!features || !pairs || !strength || picture!.output !== output) return "The interactions are not known yet.";
  const at = features.indexOf(feature);
  if (at < 0)
    return `${feature} is not among the ${features.length} most important features, whose pairs are looked at.`;
  let best = -1;
  let unknown = 0;
  for (let p = 0; p < strength.length; p++) {
    if (pairs[2 * p] !== at && pairs[2 * p + 1] !== at) continue;
    if (Number.isNaN(strength[p])) unknown++;
    else if (best < 0 || strength[p] > strength[best]) best = p;
  }
  if (best < 0) return unknown ? "The interactions are not known yet." : `${feature} has no pair.`;
  const partner = features[pairs[2 * best] === at ? pairs[2 * best + 1] : pairs[2 * best]];
  const share = h2?.[best] ?? Number.NaN;
  const weak = share < 0.01 || strength[best] === 0;
  const far = unknown ? "So far: " : "";
  const much = Number.isNaN(share) ? fmt(strength[best]) : `${percent(share, 1)} of their joint effect`;
  return weak
    ? `${far}${feature} hardly interacts: at most with ${partner}, ${much}.`
    : `${far}${feature} interacts most with ${partner}: ${much} is neither one’s alone.`;
}

/** The share of the curves' variance from which on the hints say that rows disagree (explain/trust_result.py). */
const DISAGREE = 0.25;

/** Whose rows go other ways than the average curve. */
export function whoDisagrees(
  feature: string,
  overview: Overview | null,
  regions: Partial<RegionsPicture> | null,
  done: boolean,
  /** How much each average curve moves over the rows, as far as that is known. */
  moves: Map<string, Amount> | null = null,
  /** What the hints under the curve in focus say; null while they say nothing. */
  hinted: boolean | null = null,
): string {
  const first = ranked(overview, "heterogeneity")[0];
  if (!first) return "Single rows’ curves are not known yet.";
  const far = done ? "" : "So far: ";
  if (first.value === 0) return `${far}Rows agree on every feature: their curves have the same shape.`;
  const split =
    regions?.feature === feature && feature === first.name && regions.output === overview!.output
      ? regions.here?.splits[0]
      : undefined;
  const why = split?.gain ? `; ${inWords(split.condition)} accounts for ${percent(split.gain, 1)} of it` : "";
  const move = [
    moves?.get(first.name)?.value,
    ranked(overview, "importance").find(({ name }) => name === first.name)?.value,
  ];
  const common = move.find((value) => value !== undefined && value >= 0) ?? Number.NaN;
  const share = first.value ** 2 / (first.value ** 2 + common ** 2);
  const disagree = (feature === first.name ? hinted : null) ?? !(share < DISAGREE);
  const part = share >= 0 ? `; ${percent(share, 1)} of the curves’ variance` : "";
  const even = disagree ? "" : ", but even there they mostly agree";
  return `${far}Rows disagree most on ${first.name}${even}: their curves differ by ${fmt(first.value, 2)} (standard deviation${part})${why}.`;
}

/** The features that weigh most in the rules, all terms together. */
function heaviest({ focus, features, weight }: Partial<RulesPicture>): string {
  const sums = new Map<string, number>();
  (features ?? []).forEach((column, i) => {
    const name = focus?.[i] || column; // several columns may belong to one feature
    sums.set(name, (sums.get(name) ?? 0) + (weight?.[i] ?? 0));
  });
  const found = [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
  const names = found.slice(0, 3).map(([name]) => name);
  if (names.length < 2) return "";
  return `; by feature: ${names.slice(0, -1).join(", ")} and ${names.at(-1)} carry most weight`;
}

/** How well rules describe the model, the strongest one, and the features that weigh most. */
export function whichRules(picture: Partial<RulesPicture> | null, output: string): string {
  const { ends, parts, conditions, coefficient, fidelity, kind, type } = picture ?? {};
  if (!ends || !parts || !conditions || picture!.output !== output) return "The rules are not known yet.";
  if (ends.length === 0) return "No rule is needed: a constant describes it as well.";
  const words = Array.from({ length: ends[0] }, (_, i) => conditions.words[parts[i]]).join(" and ");
  const what = kind === "outcome" ? "the outcome" : "the model";
  const terms = ends.length === 1 ? "One term describes" : `${ends.length} terms describe`;
  const good = fidelity === null || fidelity === undefined ? "" : ` (R² ${fmt(fidelity, 2)})`;
  const up = (coefficient?.[0] ?? 0) > 0;
  const first =
    type?.[0] === 1 ? `${up ? "rises" : "falls"} with ${words}` : `${up ? "higher" : "lower"} where ${words}`;
  const one = type?.[0] === 0 || type === undefined ? "rule" : "term";
  return `${terms} ${what}${good}; the strongest single ${one}: ${first}${heaviest(picture!)}.`;
}
