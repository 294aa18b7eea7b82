// The page's state as signals over the host's model: reads traits, sends requests, answers drafts from the sample.
// No DOM here. One store per model where the host allows it, else one per view.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { evaluate, type Known, type Lookup, others } from "./geometry/conditions";
import { previewSplit } from "./geometry/subset";
import { LocalKernel } from "./local";
import {
  type Condition,
  type Curve,
  type HostModel,
  type Ice,
  type Info,
  type Method,
  type Op,
  type Overview,
  type Part,
  type Progress,
  PUBLIC_TRAITS,
  type PublicTrait,
  type PublicTraits,
  type Reply,
  type Requests,
  type Sample,
  type Selection,
  type Split,
} from "./model";
import {
  IDLE,
  NO_SELECTION,
  readCurve,
  readIce,
  readInfo,
  readOverview,
  readProgress,
  readSample,
  readSelection,
  readSplit,
} from "./wire";

const DEFAULTS: PublicTraits = {
  feature: "",
  output: "",
  centered: false,
  show_ice: true,
  sort_by: "importance",
  theme: "auto",
  size: "normal",
};

const BUSY_AFTER = 1000;
const ECHO_LIFE = 5000;
const KEPT_CURVES = 40;

/** Where a message is shown. */
export type Place = "toolbar" | "selection" | "curve" | "page";

/** What stands behind the page: a kernel, only a saved notebook, or a recorded page. */
export type Host = "kernel" | "saved" | "recorded";

/**
 * Tells a late echo of the page's own earlier value from a value that Python set. Without it a quick A, B, C would
 * jump back to B when the host repeats B after C was chosen.
 */
export class EchoGuard {
  #sent = new Map<string, { value: unknown; at: number }[]>();

  sent(name: string, value: unknown, now: number): void {
    const list = this.#sent.get(name) ?? [];
    list.push({ value, at: now });
    this.#sent.set(name, list);
  }

  /** Whether an incoming value is news; false for an echo that a later own value has overtaken. */
  accepts(name: string, value: unknown, now: number): boolean {
    const list = (this.#sent.get(name) ?? []).filter((entry) => now - entry.at < ECHO_LIFE);
    const index = list.findIndex((entry) => entry.value === value);
    if (index < 0) {
      this.#sent.delete(name);
      return true;
    }
    const stale = index < list.length - 1;
    this.#sent.set(name, list.slice(index + 1));
    return !stale;
  }
}

/** A brush that is being made: shown at once from the sample, sent to the kernel when the pointer rests. */
export interface Draft {
  op: Op;
  condition: Condition;
}

/** The two sides as they are to be drawn. */
export interface Shown {
  selection: Part;
  rest: Part;
  exact: boolean;
}

export const keyOf = (feature: string, output: string) => `${feature}\u0000${output}`;

interface Pending {
  method: Method;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface Record_ {
  traits: { [name: string]: unknown };
  curves: { [key: string]: { _curve: unknown; _ice: unknown } };
}

/** Requests of no one's hand: their silence is not worth a note. */
const QUIET: Method[] = ["hello", "visible"];

const placeOf = (method: Method): Place =>
  method === "stop" || method === "resume" ? "toolbar" : QUIET.includes(method) ? "page" : "selection";

export class Store {
  readonly info = signal<Info | null>(null);
  readonly sample = signal<Sample | null>(null);
  readonly overview = signal<Overview | null>(null);
  readonly curve = signal<Curve | null>(null);
  readonly ice = signal<Ice | null>(null);
  readonly split = signal<Split | null>(null);
  readonly selection = signal<Selection>(NO_SELECTION);
  readonly progress = signal<Progress>(IDLE);
  readonly public: { [K in PublicTrait]: Signal<PublicTraits[K]> };

  readonly host: Signal<Host>;
  /** A request of the person's has been waiting for more than a second. */
  readonly busy = signal(false);
  readonly messages = signal<Partial<Record<Place, string>>>({});
  readonly draft = signal<Draft | null>(null);
  /** How the next brush combines; Shift and Alt override it. */
  readonly mode = signal<Op>("replace");

  /** ICE lines that belong to the curve on screen, or null. */
  readonly lines: ReadonlySignal<Ice | null>;
  /** 1 per sampled row in the selection or in the draft; null for no selection. */
  readonly mask: ReadonlySignal<ArrayLike<number> | null>;
  readonly shown: ReadonlySignal<Shown | null>;
  /** The curve on screen is not yet the one asked for. */
  readonly waiting: ReadonlySignal<boolean>;

  #model: HostModel;
  #guard = new EchoGuard();
  #own = 0; // > 0 while the page itself writes to the model
  #pending = new Map<string, Pending>();
  #prefix = Math.random().toString(36).slice(2, 8); // two views of one model must not answer each other's requests
  #serial = 0;
  #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #handlers: [string, (...args: never[]) => void][] = [];
  #known = new Map<string, Known>(); // curves seen, for revisits and for conditions on other features
  #masks = new Map<string, ArrayLike<number>>(); // sample masks by the conditions that made them
  #record: Record_ | null;
  #local: LocalKernel | null = null;
  #disposed = false;

  constructor(model: HostModel, record: Record_ | null = null) {
    this.#model = model;
    this.#record = record;
    this.host = signal<Host>(record ? "recorded" : "kernel");
    this.public = Object.fromEntries(PUBLIC_TRAITS.map((name) => [name, signal(DEFAULTS[name])])) as Store["public"];

    this.lines = computed(() => {
      const ice = this.ice.value;
      const curve = this.curve.value;
      return ice && curve && ice.feature === curve.feature && ice.output === curve.output && ice.k === curve.x.length
        ? ice
        : null;
    });
    this.mask = computed(() => {
      const draft = this.draft.value;
      if (draft) {
        const mask = this.#draftMask(draft);
        if (mask) return mask;
      }
      const selection = this.selection.value;
      return selection.text === "" ? null : selection.sample;
    });
    this.shown = computed(() => this.#shown());
    this.waiting = computed(() => {
      const curve = this.curve.value;
      const { feature, output } = this.public;
      if (!curve || feature.value === "") return false;
      return curve.feature !== feature.value || (output.value !== "" && curve.output !== output.value);
    });

    for (const name of PUBLIC_TRAITS) {
      this.#listen(`change:${name}`, () => this.#fromHost(name));
      this.#readPublic(name);
    }
    const readers: [string, (raw: unknown) => void][] = [
      ["_info", (raw) => this.#setInfo(readInfo(raw))],
      ["_sample", (raw) => this.#set(this.sample, readSample(raw))],
      ["_overview", (raw) => this.#set(this.overview, readOverview(raw))],
      ["_curve", (raw) => this.#setCurve(readCurve(raw))],
      ["_ice", (raw) => this.#setIce(readIce(raw))],
      ["_selection", (raw) => this.#setSelection(readSelection(raw))],
      ["_split", (raw) => this.#set(this.split, readSplit(raw))],
      ["_progress", (raw) => this.#set(this.progress, readProgress(raw))],
    ];
    for (const [name, read] of readers) {
      const update = () => {
        if (this.host.peek() === "recorded" && this.#local) return;
        if (this.host.peek() === "saved") this.setLive(true); // who sends is there
        try {
          read(this.#model.get(name));
        } catch (error) {
          this.say("page", `Could not read ${name}: ${messageOf(error)}`);
        }
      };
      this.#listen(`change:${name}`, update);
      update();
    }
    this.#listen("msg:custom", ((content: unknown) => this.#onMessage(content)) as (...args: never[]) => void);
    if (record) this.#local = new LocalKernel(this, this.#knownEverywhere());
  }

  // ---- traits -------------------------------------------------------------------------------------------------

  #listen(name: string, callback: (...args: never[]) => void): void {
    this.#model.on(name, callback);
    this.#handlers.push([name, callback]);
  }

  #set<T>(target: Signal<T>, value: T): void {
    target.value = value;
  }

  #readPublic(name: PublicTrait): void {
    const value = this.#model.get(name);
    const target = this.public[name] as Signal<unknown>;
    target.value = value === undefined || value === null ? DEFAULTS[name] : value;
  }

  #fromHost(name: PublicTrait): void {
    if (this.#own > 0) return;
    const value = this.#model.get(name);
    if (this.#guard.accepts(name, value, Date.now())) {
      this.#readPublic(name);
      if (name === "feature" || name === "output") this.#revisit();
    } else {
      this.#write(name, this.public[name].peek());
    }
  }

  #write(name: PublicTrait, value: unknown): void {
    this.#own++;
    try {
      this.#model.set(name, value);
    } finally {
      this.#own--;
    }
  }

  /** Sets a two-way trait from the page. */
  set<K extends PublicTrait>(name: K, value: PublicTraits[K]): void {
    const target = this.public[name] as Signal<PublicTraits[K]>;
    if (target.peek() === value) return;
    if ((name === "feature" || name === "output") && this.host.peek() !== "kernel") {
      const feature = name === "feature" ? (value as string) : this.public.feature.peek();
      const output = name === "output" ? (value as string) : this.public.output.peek();
      if (!this.known(feature, output)) {
        this.say(
          "curve",
          `No kernel: the curve of ${name === "feature" ? feature : output} is not in this notebook. Run the cell to see it.`,
        );
        return;
      }
    }
    batch(() => {
      target.value = value;
      this.#write(name, value);
      if (name === "feature" || name === "output") {
        this.say("curve", "");
        this.draft.value = null;
        this.#revisit();
      }
    });
    if (this.host.peek() === "kernel") {
      this.#guard.sent(name, value, Date.now());
      try {
        this.#model.save_changes();
        return;
      } catch {
        this.setLive(false); // the host refuses to send when its kernel is gone
        this.#returnToPicture();
      }
    }
    this.#local?.refresh();
  }

  /** Without a kernel the curve on screen is the one there is. */
  #returnToPicture(): void {
    const curve = this.curve.peek();
    if (!this.waiting.peek() || !curve) return;
    this.say(
      "curve",
      `No kernel: the curve of ${this.public.feature.peek()} is not in this notebook. Run the cell to see it.`,
    );
    for (const name of ["feature", "output"] as const) {
      this.public[name].value = curve[name];
      this.#write(name, curve[name]);
    }
  }

  /** Draws at once what was seen before, until the kernel's own answer comes. */
  #revisit(): void {
    const known = this.known(this.public.feature.peek(), this.public.output.peek());
    const curve = this.curve.peek();
    if (!known || known.curve === curve) return;
    batch(() => {
      this.curve.value = known.curve;
      this.ice.value = known.ice;
    });
  }

  #setInfo(info: Info | null): void {
    this.#known.clear();
    this.#masks.clear();
    this.info.value = info;
  }

  #setCurve(curve: Curve | null): void {
    this.curve.value = curve;
    this.#remember();
  }

  #setIce(ice: Ice | null): void {
    this.ice.value = ice;
    this.#remember();
  }

  #remember(): void {
    const curve = this.curve.peek();
    const ice = this.ice.peek();
    if (!curve || !ice || ice.feature !== curve.feature || ice.output !== curve.output) return;
    if (ice.k !== curve.x.length) return;
    const key = keyOf(curve.feature, curve.output);
    this.#known.delete(key);
    this.#known.set(key, { curve, ice });
    if (this.#known.size > KEPT_CURVES && !this.#record) this.#known.delete(this.#known.keys().next().value!);
  }

  #setSelection(selection: Selection): void {
    const before = this.selection.peek();
    batch(() => {
      this.selection.value = selection;
      if (this.#released && selection.id !== before.id) this.draft.value = null;
    });
    if (selection.sample) this.#masks.set(JSON.stringify(selection.conditions), selection.sample);
    if (this.#masks.size > 200) this.#masks.delete(this.#masks.keys().next().value!);
  }

  /** A feature's curve and lines if the page has them; any output will do when `output` is null. */
  known: Lookup = (feature, output) => {
    const wanted = output ?? this.public.output.peek();
    const found = this.#known.get(keyOf(feature, wanted)) ?? this.#fromRecord(keyOf(feature, wanted));
    if (found || output !== null) return found;
    for (const known of this.#known.values()) if (known.curve.feature === feature) return known;
    return undefined;
  };

  #fromRecord(key: string): Known | undefined {
    const raw = this.#record?.curves[key];
    if (!raw) return undefined;
    const curve = readCurve(raw._curve);
    const ice = readIce(raw._ice);
    if (!curve || !ice) return undefined;
    const known = { curve, ice };
    this.#known.set(key, known);
    return known;
  }

  #knownEverywhere(): boolean {
    return this.#record !== null;
  }

  // ---- the draft and what it shows ----------------------------------------------------------------------------

  #draftMask(draft: Draft): ArrayLike<number> | null {
    // Reading the signals ties the answer to them.
    const ice = this.ice.value;
    const selection = this.selection.value;
    if (!ice) return null;
    const one = evaluate(draft.condition, this.known);
    if (!one) return null;
    const active = selection.text !== "" && selection.sample !== null && selection.sample.length === one.length;
    if (!active) return draft.op === "remove" ? one.map((v) => 1 - v) : one;
    const now = selection.sample!;
    if (draft.op === "add") return one.map((v, i) => v | now[i]);
    if (draft.op === "remove") return one.map((v, i) => now[i] & (1 - v));
    const stay = this.#baseOf(selection, draft.condition, one.length);
    return one.map((v, i) => v & stay[i]);
  }

  /** Sample rows allowed by everything in the selection except the condition that is being replaced. */
  #baseOf(selection: Selection, condition: Condition, m: number): ArrayLike<number> {
    const now = selection.sample!;
    const stay = others(selection.conditions, condition);
    if (stay.length === selection.conditions.length) return now;
    const seen = this.#masks.get(JSON.stringify(stay));
    if (seen && seen.length === m) return seen;
    const mask = new Uint8Array(m).fill(1);
    for (const one of stay) {
      const rows = evaluate(one, this.known);
      if (!rows) return now;
      for (let i = 0; i < m; i++) mask[i] &= rows[i];
    }
    return mask;
  }

  #shown(): Shown | null {
    const curve = this.curve.value;
    if (!curve) return null;
    const draft = this.draft.value;
    const selection = this.selection.value;
    const split = this.split.value;
    if (!draft) {
      if (selection.text === "") return null;
      if (
        split &&
        split.feature === curve.feature &&
        split.output === curve.output &&
        split.selection_id === selection.id &&
        split.selection.average.length === curve.x.length
      )
        return { selection: split.selection, rest: split.rest, exact: split.exact };
    }
    const lines = this.lines.value;
    const mask = this.mask.value;
    if (!lines || !mask || mask.length !== lines.m) return null;
    const total = this.info.value?.rows ?? curve.total;
    const preview = previewSplit(curve, lines, mask, this.sample.value, total);
    if (!draft) {
      preview.selection.n = selection.n;
      preview.rest.n = selection.total - selection.n;
    }
    return { ...preview, exact: lines.m === total && curve.rows >= curve.total };
  }

  #released = true;
  #lastSent = "";
  #gesture = 0; // one drag may be sent more than once; its requests carry the same number

  /** Shows a brush at once and sends it when the pointer has rested for 150 ms. */
  brush(op: Op, condition: Condition): void {
    if (this.#released) this.#gesture++;
    this.#released = false;
    this.draft.value = { op, condition };
    // Adding and removing are not repeatable: the kernel gets them once, at the release.
    if (op === "replace" && this.host.peek() === "kernel") this.#later("brush", 150, () => this.#sendDraft());
  }

  /** The pointer is up: the brush counts. */
  release(): void {
    this.#cancel("brush");
    this.#cancel("keys");
    this.#released = true;
    if (this.draft.peek()) this.#sendDraft();
    this.#lastSent = "";
  }

  /** The same after a short rest, for keys, where each step would otherwise be an act of its own. */
  releaseSoon(): void {
    this.#cancel("brush");
    this.#later("keys", 300, () => this.release());
  }

  /** Sends at once what `releaseSoon` still holds back. */
  flush(): void {
    if (this.#timers.has("keys")) this.release();
  }

  /** Drops a brush that was not sent yet. */
  drop(): void {
    this.#cancel("brush");
    this.#cancel("keys");
    this.#released = true;
    this.draft.value = null;
  }

  /** One act without a drag: a click, a key, a typed number. */
  select(op: Op, condition: Condition): void {
    this.brush(op, condition);
    this.release();
  }

  #sendDraft(): void {
    const draft = this.draft.peek();
    if (!draft) return;
    const params = { ...draft, gesture: `${this.#prefix}-${this.#gesture}` };
    const key = JSON.stringify(params);
    if (key === this.#lastSent) {
      if (this.#released && this.#waitingSelects === 0) this.#settle();
      return;
    }
    this.#lastSent = key;
    const before = this.selection.peek().id;
    this.#waitingSelects++;
    void this.ask("select", params).then(() => {
      this.#waitingSelects--;
      if (!this.#released || this.#waitingSelects > 0) return;
      // The new selection is usually there before the reply; if not, give it a moment, so that nothing flickers.
      if (this.selection.peek().id !== before) this.#settle();
      else this.#later("settle", 200, () => this.#settle());
    });
  }

  #waitingSelects = 0;

  #settle(): void {
    if (this.#released) this.draft.value = null;
  }

  // ---- requests -----------------------------------------------------------------------------------------------

  /** Sends a request; an error is shown in its place. Resolves to the result, or undefined after an error. */
  async ask<M extends Method>(method: M, params: Requests[M]): Promise<unknown> {
    const place = placeOf(method);
    if (!QUIET.includes(method)) this.say(place, "");
    try {
      return await this.#request(method, params);
    } catch (error) {
      if (!this.#disposed) this.say(place, messageOf(error));
      return undefined;
    }
  }

  #request<M extends Method>(method: M, params: Requests[M]): Promise<unknown> {
    if (this.host.peek() !== "kernel") {
      try {
        return Promise.resolve(this.#local?.handle(method, params));
      } catch (error) {
        return Promise.reject(error);
      }
    }
    const id = `${this.#prefix}-${++this.#serial}`;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject });
      this.#watchBusy();
      try {
        this.#model.send({ kind: "request", id, method, params });
      } catch {
        // The host refuses to send when its kernel is gone; Lab restarts one without marking the view.
        this.#pending.delete(id);
        this.setLive(false);
        resolve(this.#request(method, params));
      }
    });
  }

  /** Gives up waiting for what has not been answered, and tells the kernel. */
  cancelAll(): void {
    for (const [id, pending] of this.#pending) {
      this.#model.send({ kind: "cancel", id });
      pending.resolve(undefined);
    }
    this.#pending.clear();
    this.#watchBusy();
    this.drop();
  }

  #onMessage(content: unknown): void {
    const reply = content as Reply | null;
    if (reply?.kind !== "reply") return;
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
    this.#pending.delete(reply.id);
    this.#watchBusy();
    if (reply.status === "ok") pending.resolve(reply.result);
    else pending.reject(new Error(reply.message || `The kernel could not do "${pending.method}".`));
  }

  #watchBusy(): void {
    const waiting = [...this.#pending.values()].some((p) => !QUIET.includes(p.method));
    if (!waiting) {
      this.#cancel("busy");
      this.busy.value = false;
    } else if (!this.#timers.has("busy") && !this.busy.peek()) {
      this.#later("busy", BUSY_AFTER, () => {
        this.busy.value = true;
      });
    }
  }

  /** Shows a message in its place, or clears it. */
  say(place: Place, message: string): void {
    const now = this.messages.peek();
    if ((now[place] ?? "") === message) return;
    const next = { ...now };
    if (message === "") delete next[place];
    else next[place] = message;
    this.messages.value = next;
  }

  // ---- life ---------------------------------------------------------------------------------------------------

  /** Whether the host still reaches a kernel. Without one the page answers from the sample. */
  setLive(live: boolean): void {
    const host = this.host.peek();
    if (host === "recorded" || (host === "kernel") === live) return;
    if (live) {
      this.#local = null;
      this.host.value = "kernel";
    } else {
      this.host.value = "saved";
      this.#local = new LocalKernel(this, false);
      for (const pending of this.#pending.values()) pending.resolve(undefined);
      this.#pending.clear();
      this.#watchBusy();
    }
  }

  #later(name: string, ms: number, run: () => void): void {
    this.#cancel(name);
    this.#timers.set(
      name,
      setTimeout(() => {
        this.#timers.delete(name);
        run();
      }, ms),
    );
  }

  #cancel(name: string): void {
    const timer = this.#timers.get(name);
    if (timer !== undefined) clearTimeout(timer);
    this.#timers.delete(name);
  }

  dispose(): void {
    this.#disposed = true;
    for (const [name, callback] of this.#handlers) this.#model.off(name, callback);
    this.#handlers = [];
    for (const name of [...this.#timers.keys()]) this.#cancel(name);
    this.#pending.clear();
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
