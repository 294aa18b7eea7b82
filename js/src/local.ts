// Answers requests on the page when no kernel does: in a saved notebook and in a recorded page. Everything here is
// worked out on the sampled rows.

import { partsOf } from "./brush";
import {
  apply,
  type Clause,
  combine,
  EMPTY_STATE,
  inner,
  invert,
  isEmpty,
  keep,
  type Names,
  restored,
  type State,
  stateText,
} from "./geometry/conditions";
import { conjuncts } from "./geometry/query";
import { readClause } from "./geometry/reading";
import { resample } from "./geometry/resample";
import { splitMeans } from "./geometry/subset";
import { type Curve, type Method, type Overview, type RequestParams, SPARK } from "./model";
import type { Store } from "./store";

/** How much an average curve moves: PD importance. */
function spreadOf({ kind, missing }: Curve, average: ArrayLike<number>): number {
  const values = Array.from(average).filter((_, i) => i !== missing);
  if (values.length < 2) return 0;
  if (kind === "category") return (Math.max(...values) - Math.min(...values)) / 4;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

export class LocalKernel {
  #store: Store;
  #all: boolean; // the curves of every feature are on the page
  #state: State = EMPTY_STATE;
  #past: State[] = [];
  #future: State[] = [];

  constructor(store: Store, all: boolean) {
    this.#store = store;
    this.#all = all;
    this.#state = restored(store.selection.peek(), store.known, this.#names);
    // What was done before the kernel went cannot be undone here.
    store.selection.value = { ...store.selection.peek(), can_undo: false, can_redo: false };
    if (all) this.refresh();
  }

  get #names(): Names {
    const features = this.#store.info.peek()?.features ?? [];
    const kinds = new Map(features.map((f) => [f.name, f.kind]));
    return { all: [...kinds.keys()], bool: (name) => kinds.get(name) === "bool" };
  }

  get #rows(): number {
    return this.#store.sample.peek()?.rows.length ?? this.#store.ice.peek()?.m ?? 0;
  }

  handle<M extends Method>(method: M, params: RequestParams[M]): unknown {
    switch (method) {
      case "select": {
        const { op, condition } = params as RequestParams["select"];
        const parts = partsOf(condition);
        if (parts.length > 1 && op !== "replace")
          throw new Error("Adding or removing a rectangle of two features needs Python: run the cell first.");
        let state: State | null = this.#state;
        for (const part of parts) state = state && apply(state, op, part, this.#store.known, this.#names);
        return this.#move(state);
      }
      case "clear":
        return this.#move(EMPTY_STATE);
      case "invert":
        return this.#move(invert(this.#state));
      case "undo":
      case "redo": {
        const [from, to] = method === "undo" ? [this.#past, this.#future] : [this.#future, this.#past];
        const state = from.pop();
        if (!state) return null;
        to.push(this.#state);
        this.#state = state;
        return this.#publish();
      }
      case "query": {
        const { text, op = "replace" } = params as RequestParams["query"];
        const found = this.#read(text);
        return this.#move(op === "replace" ? found : combine(this.#state, op, found));
      }
      case "rule":
        throw new Error(this.#cannot("rule"));
      case "stop":
      case "resume":
        throw new Error("Nothing is being computed: the page is not connected to Python.");
      default:
        return method === "file" ? null : undefined;
    }
  }

  /** What a text selects, worked out from the features' own values that are on the page. */
  #read(text: string): State {
    if (text.trim() === "") return EMPTY_STATE;
    const seen = [...this.#past, ...this.#future, this.#state].find((state) => stateText(state) === text);
    if (seen) return seen;
    const { known } = this.#store;
    const clauses = conjuncts(text).map(
      (part) => this.#state.clauses.find((clause) => inner(clause) === part) ?? readClause(part, known, this.#names),
    );
    const state = clauses.includes(null) ? null : keep(clauses as Clause[], known);
    if (!state) throw new Error(this.#cannot("condition"));
    return state;
  }

  #cannot(by: string): string {
    return this.#all
      ? `This page cannot select by this ${by}; open the notebook.`
      : `To select by this ${by} needs Python: run the cell first.`;
  }

  #move(state: State | null): null {
    if (!state) throw new Error("This selection needs Python: the page does not have the rows' values for it.");
    if (isEmpty(state) && isEmpty(this.#state)) return null;
    this.#past.push(this.#state);
    this.#future = [];
    this.#state = state;
    return this.#publish();
  }

  #publish(): null {
    const store = this.#store;
    const m = this.#rows;
    const total = store.info.peek()?.rows ?? m;
    const none = isEmpty(this.#state);
    const mask = this.#state.whole;
    const weight = store.sample.peek()?.weight;
    let share = 0;
    let whole = 0;
    let rows = 0;
    for (let i = 0; i < m; i++) {
      const w = weight ? weight[i] : 1;
      whole += w;
      if (mask?.[i]) {
        share += w;
        rows++;
      }
    }
    store.selection.value = {
      id: store.selection.peek().id + 1,
      text: none ? "" : stateText(this.#state),
      n: m === total ? rows : Math.round((total * share) / (whole || 1)),
      total,
      conditions: this.#state.clauses.flatMap((clause) => clause.condition ?? []),
      names: store.selection.peek().names,
      sample: mask,
      can_undo: this.#past.length > 0,
      can_redo: this.#future.length > 0,
      approx: m < total,
    };
    store.brush.draft.value = null;
    this.refresh();
    return null;
  }

  /** Sparklines for the output and the selection on screen. */
  refresh(): void {
    const store = this.#store;
    const overview = store.overview.peek();
    if (!overview) return;
    const output = store.public.output.peek() || overview.output;
    const selection = store.selection.peek();
    const mask = selection.text === "" ? null : selection.sample;
    const p = overview.features.length;
    const next: Overview = { ...overview, output, n_selection: selection.n, n_rest: selection.total - selection.n };
    const blank = () => new Float32Array(p * SPARK).fill(Number.NaN);
    const all = this.#all ? blank() : null;
    const inside = mask ? blank() : null;
    const outside = mask ? blank() : null;
    next.features = overview.features.map((feature, row) => {
      const known = store.known(feature.name, output);
      if (!known) return feature;
      const { curve, ice } = known;
      const put = (target: Float32Array | null, values: ArrayLike<number>) => {
        if (!target) return;
        const spark =
          curve.kind === "category"
            ? Float32Array.from(values as ArrayLike<number>).slice(0, SPARK)
            : resample(
                Float64Array.from(curve.x, (x, i) => (i === curve.missing ? Number.NaN : x)),
                values,
                SPARK,
              );
        target.set(spark, row * SPARK);
      };
      put(all, curve.average);
      let selected: ArrayLike<number> | null = null;
      if (mask && mask.length === ice.m) {
        const means = splitMeans(ice, mask, store.sample.peek(), curve.average);
        selected = means.selection;
        put(inside, means.selection);
        put(outside, means.rest);
      }
      const importance_selected = selected && inside ? spreadOf(curve, selected) : null;
      return { ...feature, importance: curve.importance, importance_selected, heterogeneity: curve.heterogeneity };
    });
    store.overview.value = { ...next, all: all ?? overview.all, selection: inside, rest: outside };
  }
}
