// A stand-in for a notebook host: anywidget's life cycle around a model that remembers what the page sends. The
// browser tests in tests/test_bundle_browser.py load it beside the built bundle. It also counts what outlives a view.

import { makeRecord, pack } from "../demo/data.mjs";

const live = { listeners: [], observers: new Set(), timers: new Set(), frames: new Set() };
const spent = []; // ms of every animation frame callback

const { addEventListener, removeEventListener } = EventTarget.prototype;
EventTarget.prototype.addEventListener = function (type, callback, options) {
  const signal = typeof options === "object" ? options?.signal : undefined;
  if (!signal?.aborted) {
    const entry = { target: this, type, callback };
    live.listeners.push(entry);
    if (signal)
      addEventListener.call(signal, "abort", () => {
        live.listeners = live.listeners.filter((other) => other !== entry);
      });
  }
  return addEventListener.call(this, type, callback, options);
};
EventTarget.prototype.removeEventListener = function (type, callback, options) {
  live.listeners = live.listeners.filter((e) => e.target !== this || e.type !== type || e.callback !== callback);
  return removeEventListener.call(this, type, callback, options);
};
for (const name of ["ResizeObserver", "MutationObserver", "IntersectionObserver"]) {
  const Base = window[name];
  window[name] = class extends Base {
    observe(...args) {
      live.observers.add(this);
      super.observe(...args);
    }
    disconnect() {
      live.observers.delete(this);
      super.disconnect();
    }
  };
}
const plain = {
  setTimeout: window.setTimeout,
  clearTimeout: window.clearTimeout,
  raf: window.requestAnimationFrame,
  caf: window.cancelAnimationFrame,
};
window.setTimeout = (run, ms, ...args) => {
  const id = plain.setTimeout.call(
    window,
    () => {
      live.timers.delete(id);
      run(...args);
    },
    ms,
  );
  live.timers.add(id);
  return id;
};
window.clearTimeout = (id) => {
  live.timers.delete(id);
  plain.clearTimeout.call(window, id);
};
window.setInterval = () => {
  throw new Error("the widget must not poll");
};
window.requestAnimationFrame = (run) => {
  const id = plain.raf.call(window, (time) => {
    live.frames.delete(id);
    const start = performance.now();
    run(time);
    spent.push(performance.now() - start);
  });
  live.frames.add(id);
  return id;
};
window.cancelAnimationFrame = (id) => {
  live.frames.delete(id);
  plain.caf.call(window, id);
};

/** As a notebook holds arrays: views into a larger buffer, at an odd offset. */
function asViews(value) {
  if (Array.isArray(value)) return value.map(asViews);
  if (value === null || typeof value !== "object") return value;
  if ("b64" in value) {
    const text = atob(value.b64);
    const bytes = new Uint8Array(text.length + 8);
    for (let i = 0; i < text.length; i++) bytes[i + 4] = text.charCodeAt(i);
    return { view: new DataView(bytes.buffer, 4, text.length), dtype: value.dtype, shape: value.shape };
  }
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, asViews(v)]));
}

class Model {
  constructor(traits) {
    this.traits = new Map(Object.entries(traits));
    this.handlers = new Map();
    this.sent = [];
    this.saved = [];
    this.dirty = new Set();
  }
  get(name) {
    return this.traits.get(name);
  }
  set(name, value) {
    this.traits.set(name, value);
    this.dirty.add(name);
    this.trigger(`change:${name}`);
  }
  save_changes() {
    for (const name of this.dirty) this.saved.push([name, this.traits.get(name)]);
    this.dirty.clear();
  }
  send(content) {
    this.sent.push(structuredClone(content));
  }
  on(name, callback) {
    if (!this.handlers.has(name)) this.handlers.set(name, new Set());
    this.handlers.get(name).add(callback);
  }
  off(name, callback) {
    this.handlers.get(name)?.delete(callback);
  }
  trigger(name, ...args) {
    for (const callback of [...(this.handlers.get(name) ?? [])]) callback(...args);
  }
  get listeners() {
    return [...this.handlers.values()].reduce((n, set) => n + set.size, 0);
  }
}

const widgets = [];

/** Opens a widget as anywidget would. `traits` overrides what the record has; `dead` says there is no comm. */
async function open({ record = {}, traits = {}, dead = false, bundle = "/widget.js", empty = false } = {}) {
  const { default: define } = await import(bundle);
  const made = empty ? { traits: {} } : makeRecord(record);
  const model = new Model(asViews({ ...made.traits, ...traits }));
  const el = document.createElement("div");
  el.className = dead ? "host jupyter-widgets-disconnected" : "host";
  document.body.append(el);
  const definition = define();
  const life = new AbortController();
  const view = new AbortController();
  await definition.initialize({ model, signal: life.signal });
  const cleanup = await definition.render({ model, el, signal: view.signal });
  const widget = { model, el, made, life, view, cleanup };
  widgets.push(widget);
  return widgets.length - 1;
}

window.stub = {
  open,
  live,
  spent,
  widgets,
  async mount(options, traits = {}) {
    const { mount } = await import("/widget.js");
    const record = makeRecord(options);
    Object.assign(record.traits, traits);
    const el = document.createElement("div");
    el.className = "host";
    document.body.append(el);
    widgets.push({ el, cleanup: mount(el, record) });
  },
  /** What the kernel does: sets a trait, answers a request. */
  set(name, value, index = 0) {
    const { model } = widgets[index];
    model.traits.set(name, asViews(value));
    model.trigger(`change:${name}`);
  },
  reply(id, status = "ok", message = "", index = 0, result = null, buffers = []) {
    const views = buffers.map((b64) => asViews({ b64 }).view);
    widgets[index].model.trigger("msg:custom", { kind: "reply", id, status, message, result }, views);
  },
  requests(method, index = 0) {
    return widgets[index].model.sent.filter((m) => m.kind === "request" && (!method || m.method === method));
  },
  saved: (index = 0) => widgets[index].model.saved,
  /** Shows another feature, as the kernel does after a change of `feature` or `output`. */
  show(feature, output, index = 0) {
    const { _curve, _ice } = widgets[index].made.curves[`${feature}\u0000${output}`];
    this.set("_curve", _curve, index);
    this.set("_ice", _ice, index);
  },
  /** A selection and its exact curves, shifted by `shift` from the curve of all rows. */
  answer({ id, text, n, conditions = [], share = 0.5, shift = 10, split = true }, index = 0) {
    const { model, made } = widgets[index];
    const m = made.traits._sample.labels.length;
    const total = made.traits._info.rows;
    const sample = Array.from({ length: m }, (_, i) => (i < m * share ? 1 : 0));
    this.set(
      "_selection",
      { id, text, n, total, conditions, sample: pack(sample, "uint8"), can_undo: true, can_redo: false },
      index,
    );
    if (!split) return;
    const curve = model.get("_curve");
    const { view, shape } = curve.average;
    const average = Array.from({ length: shape[0] }, (_, k) => view.getFloat64(8 * k, true));
    const counts = Array.from({ length: curve.hist.counts.shape[0] }, (_, b) =>
      curve.hist.counts.view.getInt32(4 * b, true),
    );
    const part = (by, rows, share) => ({
      average: pack(
        average.map((v) => v + by),
        "float64",
      ),
      n: rows,
      counts: pack(
        counts.map((c) => Math.floor(c * share)),
        "int32",
      ),
    });
    const split_ = {
      feature: curve.feature,
      output: curve.output,
      selection_id: id,
      exact: true,
      selection: part(shift, n, share),
      rest: part(-shift, total - n, 1 - share),
    };
    this.set("_split", split_, index);
  },
  /** How many pixels of a canvas are painted, and in how many colours. */
  painted(testid, index = 0) {
    const canvas = widgets[index].el.querySelectorAll(`[data-testid=${testid}] canvas`);
    const ctx = canvas[0].getContext("2d");
    const { data } = ctx.getImageData(0, 0, canvas[0].width, canvas[0].height);
    let n = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) n++;
    return n;
  },
  close(index = 0) {
    const widget = widgets[index];
    widget.view?.abort();
    widget.cleanup?.();
    widget.life?.abort();
  },
  /** What is still alive and not inside a removed element. */
  leftovers() {
    const gone = (target) => target instanceof Node && target !== document && !target.isConnected;
    return {
      listeners: live.listeners.filter((e) => !gone(e.target) && !(e.target instanceof AbortSignal)).map((e) => e.type),
      observers: live.observers.size,
      timers: live.timers.size,
      frames: live.frames.size,
    };
  },
};
