// Curves and sample masks that the page has seen: for revisits, and for conditions on features that are not on screen.

import { evaluate, type Known, type Lookup, others } from "./geometry/conditions";
import type { Condition, Curve, Ice, Selection } from "./model";
import { readCurve, readIce } from "./wire";

const KEPT_CURVES = 40;
const KEPT_MASKS = 200;

/** What a recorded page is made of; array members in base64. */
export interface PageRecord {
  traits: { [name: string]: unknown };
  /** `beside`: pictures of panels about the feature, by their traits' names. */
  curves: { [key: string]: { _curve: unknown; _ice: unknown; beside?: { [name: string]: unknown } } };
}

export const keyOf = (feature: string, output: string) => `${feature}\u0000${output}`;

/** Whether these lines belong to this curve. */
export const belong = (ice: Ice | null, curve: Curve | null): boolean =>
  ice !== null &&
  curve !== null &&
  ice.feature === curve.feature &&
  ice.output === curve.output &&
  ice.k === curve.x.length;

function forget(map: Map<string, unknown>, most: number): void {
  while (map.size > most) map.delete(map.keys().next().value!);
}

export class Seen {
  #curves = new Map<string, Known>();
  #masks = new Map<string, ArrayLike<number>>(); // by the conditions that made them
  #record: PageRecord | null;
  #output: () => string;

  constructor(record: PageRecord | null, output: () => string) {
    this.#record = record;
    this.#output = output;
  }

  clear(): void {
    this.#curves.clear();
    this.#masks.clear();
  }

  curve(curve: Curve | null, ice: Ice | null): void {
    if (!curve || !ice || !belong(ice, curve)) return;
    const key = keyOf(curve.feature, curve.output);
    this.#curves.delete(key);
    this.#curves.set(key, { curve, ice });
    if (!this.#record) forget(this.#curves, KEPT_CURVES);
  }

  selection({ conditions, sample }: Selection): void {
    if (sample) this.#masks.set(JSON.stringify(conditions), sample);
    forget(this.#masks, KEPT_MASKS);
  }

  /** A feature's curve and lines if the page has them; any output will do when `output` is null. */
  lookup: Lookup = (feature, output) => {
    const key = keyOf(feature, output ?? this.#output());
    const found = this.#curves.get(key) ?? this.#recorded(key);
    if (found || output !== null) return found;
    for (const known of this.#curves.values()) if (known.curve.feature === feature) return known;
    return undefined;
  };

  beside(feature: string, output: string): { [name: string]: unknown } {
    return this.#record?.curves[keyOf(feature, output)]?.beside ?? {};
  }

  #recorded(key: string): Known | undefined {
    const raw = this.#record?.curves[key];
    const curve = readCurve(raw?._curve);
    const ice = readIce(raw?._ice);
    if (!curve || !ice) return undefined;
    const known = { curve, ice };
    this.#curves.set(key, known);
    return known;
  }

  /** Sample rows allowed by everything in the selection except the conditions that are being replaced. */
  without(selection: Selection, replaced: Condition[], m: number): ArrayLike<number> {
    const now = selection.sample!;
    const stay = replaced.reduce((left, condition) => others(left, condition), selection.conditions);
    if (stay.length === selection.conditions.length) return now;
    const seen = this.#masks.get(JSON.stringify(stay));
    // A selection may have parts that are no plain conditions: fewer conditions must then allow more rows.
    if (seen && seen.length === m && Array.from(now).every((v, i) => v <= seen[i])) return seen;
    const mask = new Uint8Array(m).fill(1);
    for (const one of stay) {
      const rows = evaluate(one, this.lookup);
      if (!rows) return now;
      for (let i = 0; i < m; i++) mask[i] &= rows[i];
    }
    return mask;
  }
}
