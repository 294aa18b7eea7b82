// What one view of the rules knows: sorting, filters, heads that are closed, the rule and the row that are looked at.

import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { count } from "../geometry/format";
import {
  aboutTerm,
  type Column,
  clicked,
  drawnOf,
  type Filters,
  type Group,
  type Grouping,
  groups,
  type Item,
  itemsOf,
  keep,
  NO_FILTERS,
  type Picture,
  type RowTerms,
  rowTerms,
  type SortKey,
  sorted,
  type Terms,
  termsOf,
} from "../geometry/rules";
import type { Op, Related, RowReply } from "../model";
import type { Ui } from "./ui";

const REST = 250; // ms
const BY_RANK: SortKey[] = [{ by: "rank", down: false }];

export class RulesState {
  readonly sort = signal<SortKey[]>(BY_RANK);
  readonly filters = signal<Filters>(NO_FILTERS);
  readonly grouping = signal<Grouping>("");
  readonly closed = signal<ReadonlySet<string>>(new Set());
  /** The rules that made the selection, by their texts, and the selection that they made. */
  readonly chosen = signal<{ texts: string[]; selection: string }>({ texts: [], selection: "" });
  /** The rule that is read more closely; its relatives are null while they are not known. */
  readonly open = signal<{ of: number; term: number; related: Related[] | null; more: number } | null>(null);
  /** What is described next, while its rules are not there; "" for what the picture shows. */
  readonly subject = signal<"" | "model" | "outcome">("");
  readonly row = signal<RowReply | null>(null);
  /** The sampled row on whose curve the pointer rested last, by its position in the sample; -1 before. */
  readonly seen = signal(-1);
  /** The term that is looked at without being chosen; -1 for none. */
  readonly look = signal(-1);
  /** Key of the line that the keyboard is at. */
  readonly active = signal("");

  readonly picture: ReadonlySignal<Picture | null>;
  readonly terms: ReadonlySignal<Terms | null>;
  readonly rowTerms: ReadonlySignal<RowTerms | null>;
  /** Positions of the terms that are kept, sorted. */
  readonly order: ReadonlySignal<number[]>;
  readonly groups: ReadonlySignal<Group[]>;
  readonly items: ReadonlySignal<Item[]>;

  constructor(readonly ui: Ui) {
    const found = ui.store.pictures.rules;
    let last: { id: number; terms: Terms } | null = null;
    this.picture = computed(() => (found.value?.ends ? (found.value as Picture) : null));
    this.terms = computed(() => {
      const p = this.picture.value;
      if (!p) return null;
      // A selection changes numbers, not the terms.
      if (last?.id !== p.id || last.terms.k !== p.ends.length) last = { id: p.id, terms: termsOf(p) };
      return last.terms;
    });
    this.rowTerms = computed(() => {
      const [p, reply] = [this.picture.value, this.row.value];
      return p && reply?.of === p.id ? rowTerms(p, reply) : null;
    });
    this.order = computed(() => {
      const [p, terms] = [this.picture.value, this.terms.value];
      if (!p || !terms) return [];
      const row = this.rowTerms.value;
      return sorted(keep(p, terms, this.filters.value, row), this.sort.value, p, terms, row);
    });
    this.groups = computed(() => {
      const [p, terms] = [this.picture.value, this.terms.value];
      return p && terms ? groups(this.order.value, this.grouping.value, p, terms) : [];
    });
    this.items = computed(() => {
      const [open, p, terms] = [this.open.value, this.picture.value, this.terms.value];
      const read = open && p && terms && open.of === p.id ? { ...open, about: aboutTerm(p, terms, open.term) } : null;
      return itemsOf(this.groups.value, this.closed.value, read);
    });
    // On its way to the button the pointer passes other rows' curves: only where it rests one is meant.
    let [over, rest] = [-1, 0];
    ui.watch(() => {
      const { row } = ui.hover.value;
      if (row === over) return;
      over = row;
      clearTimeout(rest);
      if (row >= 0)
        rest = window.setTimeout(() => {
          this.seen.value = row;
        }, REST);
    });
    ui.abort.addEventListener("abort", () => clearTimeout(rest), { once: true });
    ui.watch(() => {
      const p = this.picture.value;
      if (p && (p.kind === "outcome") === (this.subject.value === "outcome")) this.subject.value = "";
    });
    ui.watch(() => {
      const [p, terms, term] = [this.picture.value, this.terms.value, this.look.value];
      // A rule that is selected is drawn as the selection.
      const none = !p || !terms || term < 0 || term >= terms.k || this.isChosen(terms.texts[term]);
      ui.looked.value = none ? [] : drawnOf(p, terms, term);
    });
    // The row is chosen here or in Python; of other terms it is explained anew.
    let asked = "";
    ui.watch(() => {
      const [p, row, host] = [this.picture.value, ui.store.public.row.value, ui.store.host.value];
      const reply = this.row.peek();
      const wanted = `${p?.id} ${row} ${host}`;
      const known = reply?.of === p?.id && reply?.row === row;
      if (row === null && reply) this.#leave();
      else if (row !== null && p && host === "kernel" && !known && asked !== wanted) void this.explain({ row });
      asked = wanted;
    });
  }

  get live(): boolean {
    return this.ui.store.host.peek() === "kernel";
  }

  set(part: Partial<Filters>): void {
    this.filters.value = { ...this.filters.peek(), ...part };
  }

  sortBy(by: Column, also: boolean): void {
    this.sort.value = clicked(this.sort.peek(), by, also);
    const [{ by: first, down }] = this.sort.value;
    this.ui.spoken.value = `sorted by ${first}, ${down ? "descending" : "ascending"}`;
  }

  /** Only terms with a feature, or none with it; the same again takes that back. */
  about(feature: string, how: "include" | "exclude"): void {
    const { include, exclude } = this.filters.peek();
    const there = (how === "include" ? include : exclude).includes(feature);
    const without = { include: include.filter((f) => f !== feature), exclude: exclude.filter((f) => f !== feature) };
    this.set(there ? without : { ...without, [how]: [...without[how], feature] });
  }

  toggle(group: string): void {
    const next = new Set(this.closed.peek());
    if (!next.delete(group)) next.add(group);
    this.closed.value = next;
  }

  isChosen(text: string): boolean {
    const now = this.ui.store.selection.value.text;
    const { texts, selection } = this.chosen.value;
    return now !== "" && (now === text || (now === selection && texts.includes(text)));
  }

  /** Makes a rule the selection, or part of it; brings the feature of a number into focus. */
  async choose(term: number, op: Op): Promise<void> {
    const { store, spoken } = this.ui;
    const p = this.picture.peek();
    const terms = this.terms.peek();
    if (!p || !terms) return;
    if (p.type[term] === 1) {
      const feature = p.focus[terms.features[term][0]];
      if (feature) store.set("feature", feature);
      spoken.value = feature ? `${feature} in focus` : "";
      return;
    }
    const text = terms.texts[term];
    const before = this.chosen.peek().selection === store.selection.peek().text ? this.chosen.peek().texts : [];
    this.open.value = { of: p.id, term, related: null, more: 0 };
    if (this.live) void this.relate(p.id, term);
    const done = p.as_seen ? await store.ask("query", { text, op }) : await store.ask("rule", { of: p.id, term, op });
    if (done === undefined) {
      // Said where the person clicked.
      const message = store.messages.peek().selection ?? "";
      store.say("selection", "");
      store.say("rules", message);
      return;
    }
    store.say("rules", "");
    const others = before.filter((other) => other !== text);
    const texts = op === "replace" ? [text] : op === "add" ? [...others, text] : others;
    const { n, text: selection } = store.selection.peek();
    this.chosen.value = { texts, selection };
    spoken.value = `${terms.labels[term]}: ${count(n)} rows selected`;
  }

  /** Has the rules of the model or of the outcome fitted. */
  async describe(subject: "model" | "outcome"): Promise<void> {
    this.subject.value = subject;
    this.ui.spoken.value = "Fitting rules";
    const done = await this.ui.store.ask("terms", { subject });
    if (done === undefined) this.subject.value = "";
  }

  /** Looks up which rules one has to be read with. */
  async relate(of: number, term: number): Promise<void> {
    const found = await this.ui.store.ask("overlap", { of, term });
    if (found && this.open.peek()?.term === term)
      this.open.value = { of, ...(found as { term: number; related: Related[]; more: number }) };
  }

  /** Reads the rules for one row. */
  async explain(which: { row?: number; label?: string }): Promise<void> {
    const p = this.picture.peek();
    if (!p) return;
    const reply = (await this.ui.store.ask("row", { of: p.id, ...which })) as RowReply | undefined;
    if (!reply) return;
    const fresh = this.row.peek() === null;
    this.row.value = reply;
    this.ui.store.set("row", reply.row);
    if (fresh) this.sort.value = [{ by: "row", down: true }];
  }

  leaveRow(): void {
    this.ui.store.set("row", null);
    this.#leave();
  }

  #leave(): void {
    this.row.value = null;
    if (this.filters.peek().fires === "row") this.set({ fires: "" });
    if (this.sort.peek().some(({ by }) => by === "row")) this.sort.value = BY_RANK;
  }
}
