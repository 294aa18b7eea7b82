import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeRecord } from "../demo/data.mjs";
import { EchoGuard } from "../src/echo";
import { PRIVATE_TRAITS, PUBLIC_TRAITS, TRAITS } from "../src/model";
import { StaticModel } from "../src/record";
import { Store } from "../src/store";

class FakeModel extends StaticModel {
  sent: { id: string; method: string; params: Record<string, unknown>; kind: string }[] = [];
  saves = 0;
  gone = false; // as in JupyterLab: sending fails, saving is forgotten
  listeners = 0;
  override send(message?: unknown): void {
    if (this.gone) throw new Error("Cannot send");
    this.sent.push(message as never);
  }
  override save_changes(): void {
    this.saves++;
  }
  override on(name: string, callback: (...args: never[]) => void): void {
    this.listeners++;
    this.custom.set(name, callback as never);
    super.on(name, callback);
  }
  override off(name: string, callback?: ((...args: never[]) => void) | null): void {
    this.listeners--;
    super.off(name, callback);
  }
  custom = new Map<string, (content: unknown) => void>();
  reply(id: string, status = "ok", message = ""): void {
    this.custom.get("msg:custom")!({ kind: "reply", id, status, message });
  }
}

const record = makeRecord({ rows: 60, sample: 30, only: ["temp", "season", "humidity"] });
const open = () => new FakeModel(structuredClone(record.traits) as Record<string, unknown>);

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("the traits", () => {
  it("are listed once", () => {
    expect(TRAITS).toEqual([...PUBLIC_TRAITS, ...PRIVATE_TRAITS]);
    expect(new Set(TRAITS).size).toBe(TRAITS.length);
  });
});

describe("echo guard", () => {
  it("takes what Python sets and drops overtaken echoes", () => {
    const guard = new EchoGuard();
    guard.sent("feature", "a", 0);
    guard.sent("feature", "b", 1);
    guard.sent("feature", "c", 2);
    expect(guard.accepts("feature", "b", 3)).toBe(false);
    expect(guard.accepts("feature", "c", 4)).toBe(true);
    expect(guard.accepts("feature", "b", 5)).toBe(true); // now it is Python's own
    expect(guard.accepts("output", "x", 6)).toBe(true);
  });
  it("forgets after a while", () => {
    const guard = new EchoGuard();
    guard.sent("feature", "a", 0);
    guard.sent("feature", "b", 1);
    expect(guard.accepts("feature", "a", 60_000)).toBe(true);
  });
  it("keeps the page's value against a late echo", () => {
    const model = open();
    const store = new Store(model);
    store.set("feature", "season");
    store.set("feature", "humidity");
    model.set("feature", "season"); // the echo of the first
    expect(store.public.feature.value).toBe("humidity");
    expect(model.get("feature")).toBe("humidity");
    model.set("feature", "humidity");
    model.set("feature", "temp"); // Python
    expect(store.public.feature.value).toBe("temp");
    expect(model.saves).toBe(2);
  });
});

describe("requests", () => {
  const range = { type: "range", feature: "temp", low: 5, high: 20 } as const;

  it("sends a brush when it rests and once at the release", () => {
    const model = open();
    const store = new Store(model);
    store.brush.move("replace", { ...range, high: 10 });
    vi.advanceTimersByTime(100);
    store.brush.move("replace", range);
    vi.advanceTimersByTime(100);
    expect(model.sent).toHaveLength(0);
    vi.advanceTimersByTime(60);
    expect(model.sent).toHaveLength(1);
    store.brush.release();
    expect(model.sent).toHaveLength(1); // the kernel has it already
    expect(model.sent[0]).toMatchObject({
      kind: "request",
      method: "select",
      params: { op: "replace", condition: range },
    });
  });
  it("sends add and remove only at the release", () => {
    const model = open();
    const store = new Store(model);
    store.brush.move("add", range);
    vi.advanceTimersByTime(1000);
    expect(model.sent).toHaveLength(0);
    store.brush.release();
    expect(model.sent).toHaveLength(1);
  });
  it("shows the sample's answer until the kernel's selection is there", async () => {
    const model = open();
    const store = new Store(model);
    store.brush.select("replace", range);
    expect(store.shown.value!.exact).toBe(false);
    expect(store.brush.draft.value).not.toBeNull();
    const mask = Uint8Array.from(store.mask.value!);
    model.set("_selection", {
      id: 1,
      text: "5 <= temp <= 20",
      n: 31,
      total: 60,
      conditions: [range],
      sample: Array.from(mask),
      can_undo: true,
      can_redo: false,
    });
    expect(store.brush.draft.value).toBeNull();
    expect(store.selection.value.n).toBe(31);
    expect(store.shown.value!.selection.n).toBe(31);
    const average = Array.from(store.curve.value!.average, () => 42);
    model.set("_split", {
      feature: "temp",
      output: "count",
      selection_id: 1,
      exact: true,
      selection: { average, n: 31, counts: [] },
      rest: { average, n: 29, counts: [] },
    });
    expect(store.shown.value!.exact).toBe(true);
    expect(store.shown.value!.selection.average[0]).toBe(42);
    model.set("_split", {
      feature: "temp",
      output: "count",
      selection_id: 0,
      exact: true,
      selection: { average, n: 1, counts: [] },
      rest: { average, n: 1, counts: [] },
    });
    expect(store.shown.value!.exact).toBe(false); // an answer to another selection is not shown
  });
  it("shows an error in its place and drops the brush", async () => {
    const model = open();
    const store = new Store(model);
    store.brush.select("replace", range);
    model.reply(model.sent[0].id, "error", "feature 'tmp' is not a column of X");
    await vi.advanceTimersByTimeAsync(300);
    expect(store.messages.value.selection).toContain("'tmp'");
    expect(store.brush.draft.value).toBeNull();
  });
  it("says busy after a second, never gives up, and forgets other views' replies", async () => {
    const model = open();
    const store = new Store(model);
    void store.ask("invert", {});
    vi.advanceTimersByTime(900);
    expect(store.busy.value).toBe(false);
    vi.advanceTimersByTime(200);
    expect(store.busy.value).toBe(true);
    model.reply("someone else");
    vi.advanceTimersByTime(3600e3);
    expect(store.busy.value).toBe(true);
    model.reply(model.sent[0].id);
    expect(store.busy.value).toBe(false);
  });
  it("takes one condition back and leaves the others", () => {
    const model = open();
    const store = new Store(model);
    const selection = { id: 1, n: 3, total: 60, conditions: [], sample: null };
    model.set("_selection", { ...selection, text: "temp > 3 & season == 'summer'" });
    store.forget("season");
    expect(model.sent.at(-1)).toMatchObject({ method: "query", params: { text: "temp > 3" } });
    store.forget("humidity");
    expect(model.sent).toHaveLength(1);
    model.set("_selection", { ...selection, id: 2, text: "season == 'summer'" });
    store.forget("season");
    expect(model.sent.at(-1)).toMatchObject({ method: "clear" });
  });
  it("drops an error that was about another selection", async () => {
    const model = open();
    const store = new Store(model);
    void store.ask("query", { text: "foo" });
    model.reply(model.sent[0].id, "error", "foo is no condition");
    await vi.advanceTimersByTimeAsync(10);
    expect(store.messages.value.selection).toContain("foo");
    model.set("_selection", { id: 1, text: "temp > 3", n: 3, total: 60, conditions: [], sample: null });
    expect(store.messages.value.selection).toBeUndefined();
  });
  it("tells the kernel when it stops waiting", () => {
    const model = open();
    const store = new Store(model);
    void store.ask("invert", {});
    store.cancelAll();
    expect(model.sent.at(-1)).toEqual({ kind: "cancel", id: model.sent[0].id });
  });
  it("does not speak of a busy kernel for what nobody asked for", () => {
    const model = open();
    const store = new Store(model);
    void store.ask("visible", { features: ["temp"] });
    vi.advanceTimersByTime(5000);
    expect(store.busy.value).toBe(false);
  });
  it("keeps conditions on other features while one is brushed", () => {
    const model = open();
    const store = new Store(model);
    const rows = Array.from({ length: 30 }, (_, i) => i % 2);
    model.set("_selection", {
      id: 1,
      text: "query",
      n: 30,
      total: 60,
      conditions: [],
      sample: rows,
      can_undo: true,
      can_redo: false,
    });
    store.brush.move("replace", { ...range, low: null, high: null });
    expect(Array.from(store.mask.value!)).toEqual(rows);
    store.brush.move("remove", { ...range, low: null, high: null });
    expect(Array.from(store.mask.value!).every((v) => v === 0)).toBe(true);
  });
});

describe("without a kernel", () => {
  it("answers from the sample in a saved notebook", async () => {
    const model = open();
    const store = new Store(model);
    store.setLive(false);
    expect(store.host.value).toBe("saved");
    store.brush.select("replace", { type: "range", feature: "temp", low: null, high: 15 });
    expect(model.sent).toHaveLength(0);
    expect(store.selection.value.text).toBe("temp <= 15");
    expect(store.selection.value.approx).toBe(true);
    await store.ask("undo", {});
    expect(store.selection.value.text).toBe("");
    await store.ask("query", { text: "temp > 3" });
    expect(store.selection.value.text).toBe("temp > 3");
    await store.ask("query", { text: "season == 'winter'" });
    expect(store.selection.value.text).toBe("temp > 3");
    expect(store.messages.value.selection).toContain("needs Python");
    store.set("feature", "season");
    expect(store.public.feature.value).toBe("temp");
    expect(store.messages.value.curve).toContain("run the cell to see it");
    await store.ask("clear", {});
    expect(store.messages.value.curve).toBeUndefined(); // a note: gone at the next act
    store.setLive(true);
    expect(store.host.value).toBe("kernel");
  });
  it("replaces a condition that came with the page, and takes one back", async () => {
    const model = open();
    const own = Array.from({ length: 30 }, () => 0);
    const above = { type: "range", feature: "temp", low: 12, high: null } as const;
    const saved = { id: 4, text: "temp > 12", n: 30, total: 60, conditions: [above], sample: own };
    model.set("_selection", saved);
    const store = new Store(model);
    store.setLive(false);
    store.brush.select("replace", { type: "range", feature: "temp", low: 10, high: null });
    expect(store.selection.value.text).toBe("temp >= 10");
    expect(store.selection.value.n).toBeGreaterThan(0);
    expect(store.forget("temp")).toBe(true);
    expect(store.selection.value.text).toBe("");
  });
  it("answers itself what waits when the kernel goes, where it can", async () => {
    const store = new Store(open());
    const selected = store.ask("query", { text: "temp > 3" });
    const asked = store.ask("overlap", { of: 1, term: 2 });
    store.setLive(false);
    await selected;
    expect(store.selection.value.text).toBe("temp > 3");
    await expect(asked).resolves.toBeUndefined();
  });
  it("finds out by the first act when the host loses what is saved", () => {
    const model = open();
    const store = new Store(model);
    model.gone = true;
    store.set("effect", "ale");
    expect(store.host.value).toBe("saved");
    expect(model.saves).toBe(0);
    expect(store.messages.value.curve).toContain("Run the cell again");
  });
  it("goes back to the curve that is there", () => {
    const model = open();
    const store = new Store(model);
    const { feature } = store.curve.value!;
    store.set("feature", "season"); // goes out, and its answer never comes
    expect(store.waiting.value).toBe(true);
    model.gone = true;
    vi.advanceTimersByTime(1100);
    expect(store.host.value).toBe("saved");
    expect([store.waiting.value, store.public.feature.value]).toEqual([false, feature]);
    expect(store.messages.value.curve).toContain("season is not in this notebook");
  });
  it("knocks ever more rarely while something waits, and not at all while nothing does", () => {
    const model = open();
    const store = new Store(model);
    const knocks = () => model.sent.filter(({ kind }) => kind === "cancel").length;
    vi.advanceTimersByTime(60_000);
    expect(knocks()).toBe(0);
    void store.ask("invert", {});
    vi.advanceTimersByTime(1000 * (1 + 2 + 4));
    expect(knocks()).toBe(3);
    vi.advanceTimersByTime(3_600_000);
    expect(knocks()).toBeLessThan(130);
    expect(store.host.value).toBe("kernel"); // busy, for all one knows
    const before = knocks();
    model.reply(model.sent[0].id);
    vi.advanceTimersByTime(60_000);
    expect(knocks()).toBe(before);
    model.set("_progress", { state: "running", done: 1, total: 2, label: "" });
    vi.advanceTimersByTime(1000);
    expect(knocks()).toBe(before + 1);
    model.set("_progress", { state: "idle", done: 2, total: 2, label: "" });
    vi.advanceTimersByTime(60_000);
    expect(knocks()).toBe(before + 1);
  });
  it("swaps curves on a recorded page and keeps the selection", () => {
    const store = new Store(new StaticModel(record.traits), record);
    expect(store.host.value).toBe("recorded");
    store.brush.select("replace", { type: "levels", feature: "season", levels: [1] });
    const n = store.selection.value.n;
    expect(n).toBeGreaterThan(0);
    store.set("feature", "season");
    expect(store.curve.value!.feature).toBe("season");
    const { shown } = store;
    expect(shown.value!.selection.n).toBe(n);
    expect(store.overview.value!.selection).not.toBeNull();
    expect(Array.from(shown.value!.selection.counts).filter((c) => c > 0)).toHaveLength(1);
  });
});

describe("teardown", () => {
  it("leaves no listener and no timer", () => {
    const model = open();
    const store = new Store(model);
    void store.ask("invert", {});
    store.brush.move("replace", { type: "range", feature: "temp", low: 1, high: 2 });
    store.dispose();
    expect(model.listeners).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
