// The page's state as signals over the host's model: reads traits, sends requests, answers drafts from the sample.
// No DOM here. One store per model where the host allows it, else one per view.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import { Brush, type Draft, partsOf } from "./brush";
import { EchoGuard, same } from "./echo";
import { evaluate, type Lookup } from "./geometry/conditions";
import { withoutFeature } from "./geometry/query";
import { previewSplit } from "./geometry/subset";
import { LocalKernel } from "./local";
import {
  type Curve,
  type FileReply,
  type HostModel,
  type Ice,
  type Info,
  type Method,
  type Overview,
  PANELS,
  type PanelName,
  type Part,
  type Pictures,
  type Progress,
  PUBLIC_TRAITS,
  type PublicTrait,
  type PublicTraits,
  type RequestParams,
  type Sample,
  type Selection,
  type Split,
} from "./model";
import { QUIET, Requests, Unreachable } from "./requests";
import { belong, type PageRecord, Seen } from "./seen";
import { Timers } from "./timers";
import {
  IDLE,
  isDict,
  NO_SELECTION,
  readCurve,
  readIce,
  readInfo,
  readOverview,
  readPicture,
  readProgress,
  readSample,
  readSelection,
  readSplit,
} from "./wire";

const DEFAULTS: PublicTraits = {
  feature: "",
  output: "",
  model: "",
  show_models: true,
  centered: false,
  show_ice: true,
  sort_by: "importance",
  pair: [],
  effect: "pd",
  by: "",
  color_by: "",
  derivative: false,
  row: null,
  panels: [],
  bookmarks: {},
  notes: {},
  theme: "auto",
  size: "normal",
};

/** Where a message is shown. "curve" is a note, gone at the next act; the others tell what went wrong. */
export type Place = "toolbar" | "selection" | "curve" | "rules" | "page";

/** What stands behind the page: a kernel, only a saved notebook, or a recorded page. */
export type Host = "kernel" | "saved" | "recorded";

/** The two sides as they are to be drawn. */
export interface Shown {
  selection: Part;
  rest: Part;
  exact: boolean;
}

const notSaved = (what: string) => `The curve of ${what} is not in this notebook: run the cell to see it.`;
const GONE = "Python does not answer any more: the page shows what it has. Run the cell again to ask the model.";

const ABOUT_RULES: Method[] = ["terms", "overlap", "row", "stability"];

const placeOf = (method: Method): Place =>
  method === "stop" || method === "resume"
    ? "toolbar"
    : ABOUT_RULES.includes(method)
      ? "rules"
      : QUIET.includes(method)
        ? "page"
        : "selection";

export class Store {
  readonly info = signal<Info | null>(null);
  readonly sample = signal<Sample | null>(null);
  readonly overview = signal<Overview | null>(null);
  readonly curve = signal<Curve | null>(null);
  readonly ice = signal<Ice | null>(null);
  readonly split = signal<Split | null>(null);
  readonly selection = signal<Selection>(NO_SELECTION);
  /** How many rows each bookmark selects. */
  readonly marked = signal<Record<string, number>>({});
  readonly progress = signal<Progress>(IDLE);
  /** What each panel shows; null while nothing is known. */
  readonly pictures: { [K in PanelName]: Signal<Pictures[K] | null> };
  readonly public: { [K in PublicTrait]: Signal<PublicTraits[K]> };

  readonly host: Signal<Host>;
  readonly messages = signal<Partial<Record<Place, string>>>({});
  readonly brush: Brush;

  /** ICE lines that belong to the curve on screen, or null. */
  readonly lines: ReadonlySignal<Ice | null>;
  /** 1 per sampled row in the selection or in the draft; null for no selection. */
  readonly mask: ReadonlySignal<ArrayLike<number> | null>;
  readonly shown: ReadonlySignal<Shown | null>;
  /** Names of the models, where there are several. */
  readonly several = computed(() => (this.info.value?.models ?? []) as string[]);
  /** The curve on screen is not yet the one asked for. */
  readonly waiting: ReadonlySignal<boolean>;

  #model: HostModel;
  #guard = new EchoGuard();
  #own = 0; // > 0 while the page itself writes to the model
  #timers = new Timers();
  #requests: Requests;
  #seen: Seen;
  #handlers: [string, (...args: never[]) => void][] = [];
  #local: LocalKernel | null = null;
  #disposed = false;

  constructor(model: HostModel, record: PageRecord | null = null) {
    this.#model = model;
    this.#requests = new Requests(model, this.#timers, () => this.#lose());
    this.brush = new Brush(
      {
        send: (params) => this.ask("select", params),
        selectionId: () => this.selection.peek().id,
        live: () => this.host.peek() === "kernel",
      },
      this.#timers,
      this.#requests.prefix,
    );
    this.#seen = new Seen(record, () => this.public.output.peek());
    this.host = signal<Host>(record ? "recorded" : "kernel");
    this.public = Object.fromEntries(PUBLIC_TRAITS.map((name) => [name, signal(DEFAULTS[name])])) as Store["public"];

    this.pictures = Object.fromEntries(PANELS.map((name) => [name, signal(null)])) as unknown as Store["pictures"];

    this.lines = computed(() => (belong(this.ice.value, this.curve.value) ? this.ice.value : null));
    this.mask = computed(() => {
      const draft = this.brush.draft.value;
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
      // The name comes with the model's own pictures.
      if (this.several.value.length > 0 && this.info.value?.model !== this.public.model.value) return true;
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
      ["_bookmarks", (raw) => this.#set(this.marked, isDict(raw) ? (raw as Record<string, number>) : {})],
      ["_split", (raw) => this.#set(this.split, readSplit(raw))],
      [
        "_progress",
        (raw) => {
          const progress = readProgress(raw);
          this.#set(this.progress, progress);
          this.#requests.running = progress.state === "running";
        },
      ],
      ...PANELS.map((name): [string, (raw: unknown) => void] => [
        `_${name}`,
        (raw) => this.#set(this.pictures[name] as Signal<unknown>, readPicture(raw)),
      ]),
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
    this.#listen("msg:custom", ((content: unknown, buffers?: DataView[]) =>
      this.#requests.receive(content, buffers)) as (...args: never[]) => void);
    if (record) this.#local = new LocalKernel(this, true);
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
    this.say("curve", "");
    if (same(target.peek(), value)) return;
    if ((name === "feature" || name === "output") && this.host.peek() !== "kernel") {
      const feature = name === "feature" ? (value as string) : this.public.feature.peek();
      const output = name === "output" ? (value as string) : this.public.output.peek();
      if (!this.known(feature, output)) {
        this.say("curve", notSaved(name === "feature" ? feature : output));
        return;
      }
    }
    batch(() => {
      target.value = value;
      this.#write(name, value);
      if (name === "feature" || name === "output") {
        this.brush.draft.value = null;
        this.#revisit();
      }
    });
    if (this.host.peek() === "kernel") {
      // JupyterLab loses what is saved for a kernel that is gone, and tells nobody: a request finds out, or its silence.
      void this.#request("hello", {});
      if (this.host.peek() === "kernel") {
        this.#guard.sent(name, value, Date.now());
        try {
          this.#model.save_changes();
          return;
        } catch {
          this.#lose();
        }
      }
    }
    this.#local?.refresh();
  }

  #lose(): void {
    this.say("curve", GONE);
    this.setLive(false);
  }

  /** Without a kernel the curve on screen is the one there is. */
  #returnToPicture(): void {
    const { curve, info } = this;
    if (!this.waiting.peek() || !curve.peek()) return;
    this.say("curve", notSaved(this.public.feature.peek()));
    const there = { ...curve.peek()!, model: info.peek()?.model ?? "" };
    for (const name of ["feature", "output", "model"] as const) {
      if (name === "model" && this.several.peek().length === 0) continue;
      this.public[name].value = there[name];
      this.#write(name, there[name]);
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
      const beside = this.#seen.beside(known.curve.feature, known.curve.output);
      for (const name of PANELS)
        if (beside[`_${name}`]) this.#set(this.pictures[name] as Signal<unknown>, readPicture(beside[`_${name}`]));
    });
  }

  #setInfo(info: Info | null): void {
    this.#seen.clear();
    // Of another model: what else has changed with it must not be taken for the one before.
    batch(() => {
      this.info.value = info;
      this.curve.value = readCurve(this.#model.get("_curve"));
      this.ice.value = readIce(this.#model.get("_ice"));
    });
  }

  #setCurve(curve: Curve | null): void {
    this.curve.value = curve;
    this.#seen.curve(this.curve.peek(), this.ice.peek());
  }

  #setIce(ice: Ice | null): void {
    this.ice.value = ice;
    this.#seen.curve(this.curve.peek(), this.ice.peek());
  }

  #setSelection(selection: Selection): void {
    const before = this.selection.peek();
    batch(() => {
      this.selection.value = selection;
      if (selection.id === before.id) return;
      this.brush.settle();
      this.say("selection", ""); // it was about another selection
    });
    this.#seen.selection(selection);
  }

  /** A feature's curve and lines if the page has them; any output will do when `output` is null. */
  get known(): Lookup {
    return this.#seen.lookup;
  }

  /** A request of the person's has been waiting for more than a second. */
  get busy(): ReadonlySignal<boolean> {
    return this.#requests.busy;
  }

  // ---- the draft and what it shows ----------------------------------------------------------------------------

  #draftMask(draft: Draft): ArrayLike<number> | null {
    // Reading the signals ties the answer to them.
    const ice = this.ice.value;
    const selection = this.selection.value;
    if (!ice) return null;
    const parts = partsOf(draft.condition);
    const masks = parts.map((part) => evaluate(part, this.known));
    if (masks.some((mask) => mask === null)) return null;
    const one = (masks as Uint8Array[]).reduce((a, b) => a.map((v, i) => v & b[i]));
    const active = selection.text !== "" && selection.sample !== null && selection.sample.length === one.length;
    if (!active) return draft.op === "remove" ? one.map((v) => 1 - v) : one;
    const now = selection.sample!;
    if (draft.op === "add") return one.map((v, i) => v | now[i]);
    if (draft.op === "remove") return one.map((v, i) => now[i] & (1 - v));
    const stay = this.#seen.without(selection, parts, one.length);
    return one.map((v, i) => v & stay[i]);
  }

  #shown(): Shown | null {
    const curve = this.curve.value;
    if (!curve) return null;
    const draft = this.brush.draft.value;
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

  // ---- requests -----------------------------------------------------------------------------------------------

  /** Sends a request; an error is shown in its place. Resolves to the result, or undefined after an error. */
  async ask<M extends Method>(method: M, params: RequestParams[M]): Promise<unknown> {
    const place = placeOf(method);
    if (!QUIET.includes(method)) {
      this.say(place, "");
      this.say("curve", "");
    }
    try {
      return await this.#request(method, params);
    } catch (error) {
      if (!this.#disposed) this.say(place, messageOf(error));
      return undefined;
    }
  }

  /** A file of what is on screen, made by Python; undefined when nobody waits for it any more. */
  async file(params: RequestParams["file"]): Promise<FileReply | undefined> {
    const file = await this.#request("file", params);
    if (file === null) throw new Error("There is no Python to make it: run the cell again.");
    return file as FileReply | undefined;
  }

  /** Takes back the selection's one plain condition on a feature; false if its text cannot be taken apart. */
  forget(feature: string): boolean {
    const text = withoutFeature(this.selection.peek().text, feature);
    if (text === null) return false;
    void (text === "" ? this.ask("clear", {}) : this.ask("query", { text }));
    return true;
  }

  async #request<M extends Method>(method: M, params: RequestParams[M]): Promise<unknown> {
    if (this.host.peek() === "kernel") {
      try {
        return await this.#requests.send(method, params);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        if (method === "open") return undefined;
      }
    }
    return this.#local?.handle(method, params);
  }

  /** Gives up waiting for what has not been answered, and tells the kernel. */
  cancelAll(): void {
    this.#requests.giveUp(true);
    this.brush.drop();
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
      this.say("curve", "");
    } else {
      this.host.value = "saved";
      this.#local = new LocalKernel(this, false);
      this.#requests.running = false;
      this.#requests.giveUp(false);
      this.#returnToPicture();
    }
  }

  dispose(): void {
    this.#disposed = true;
    for (const [name, callback] of this.#handlers) this.#model.off(name, callback);
    this.#handlers = [];
    this.#requests.giveUp(false);
    this.#timers.clear();
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
