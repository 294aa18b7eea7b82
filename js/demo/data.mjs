// Made-up data for the demo page and the browser tests: a known function of ten features, its exact curves on 1,000
// rows, and a record of them in the form that `mount` takes. No kernel, no dependency, the same numbers every time.

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const TYPES = { float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array };

export function pack(values, dtype, shape) {
  const array = TYPES[dtype].from(values);
  const bytes = new Uint8Array(array.buffer);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return { b64: btoa(text), dtype, shape: shape ?? [array.length] };
}

const DAY = 86400e3;
const START = Date.UTC(2021, 0, 1);
const SEASONS = ["spring", "summer", "autumn", "winter"];
const CITIES = Array.from({ length: 55 }, (_, i) => `city ${String.fromCharCode(65 + (i % 26))}${i}`);
const LONG = "a column whose name somebody wrote as a whole sentence <b>in the data base</b> 🚲";

const logistic = (z) => 1 / (1 + Math.exp(-z));

/** name, kind, axis kind, how a row gets its value, the levels of a category. */
const FEATURES = [
  { name: "temp", kind: "number", draw: (u) => -6 + 38 * (0.5 * u() + 0.5 * u()) },
  { name: "humidity", kind: "number", draw: (u) => (u() < 0.08 ? Number.NaN : 100 * u() ** 0.6) },
  { name: "season", kind: "category", levels: SEASONS, draw: (u) => Math.floor(4 * u()) },
  { name: "hour", kind: "integer", draw: (u) => Math.floor(24 * u()) },
  { name: "day", kind: "datetime", draw: (u) => START + Math.floor(730 * u()) * DAY },
  { name: "workday", kind: "bool", levels: ["False", "True"], draw: (u) => (u() < 0.7 ? 1 : 0) },
  { name: "city", kind: "category", levels: CITIES, draw: (u) => Math.floor(55 * u() ** 2) },
  {
    name: "weather",
    kind: "category",
    levels: ["clear", "mist", "light rain or snow", "heavy rain", "missing"],
    missing: 4,
    draw: (u) => (u() < 0.1 ? Number.NaN : Math.floor(4 * u() ** 2)),
  },
  { name: LONG, kind: "number", draw: (u) => u() },
  { name: "offset", kind: "number", draw: (u) => 1e9 + 2 * u() - 1 },
  { name: "tiny", kind: "number", draw: (u) => 1e-12 * u() },
  { name: "constant", kind: "number", draw: () => 3 },
];

function score(row, shift) {
  const get = (name) => row[name];
  const hum = Number.isNaN(get("humidity")) ? 70 : get("humidity");
  const cold = get("temp") < 4 ? -0.8 : 0;
  let z = 1.6 * Math.sin(((get("temp") - 8) / 26) * Math.PI) + cold - 0.012 * hum * (get("season") === 3 ? 1.6 : 1);
  z += [0.2, 0.6, 0.3, -0.7][get("season")];
  z += get("workday")
    ? 1.2 * Math.exp(-((get("hour") - 8) ** 2) / 6) + 1.4 * Math.exp(-((get("hour") - 17.5) ** 2) / 8)
    : 0;
  z += get("workday") ? 0 : 1.3 * Math.exp(-((get("hour") - 14) ** 2) / 30);
  z += (0.9 * (get("day") - START)) / (730 * DAY);
  z += 0.2 * Math.sin(get("city"));
  z -= Number.isNaN(get("weather")) ? 0.3 : 0.35 * get("weather");
  z += 0.1 * get(LONG) + 0.05 * (get("offset") - 1e9) + 1e11 * get("tiny");
  return z + shift;
}

const quantile = (sorted, q) => {
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
};

function gridOf(feature, own) {
  if (feature.levels)
    return { x: feature.levels.map((_, i) => i), labels: feature.levels, missing: feature.missing ?? -1 };
  const sorted = Float64Array.from(own.filter((v) => !Number.isNaN(v))).sort();
  let x = [...new Set(sorted)];
  if (x.length > 40) x = [...new Set(Array.from({ length: 40 }, (_, i) => quantile(sorted, 0.02 + (0.96 * i) / 39)))];
  const missing = own.some(Number.isNaN) ? x.length : -1;
  if (missing >= 0) x.push(Number.NaN);
  return { x, labels: x.map((v) => (Number.isNaN(v) ? "missing" : String(v))), missing };
}

/** The distribution of one feature's own values, in the form of `_curve.hist`. */
function histogram(feature, own, grid) {
  if (feature.levels) {
    const counts = new Array(grid.x.length).fill(0);
    for (const v of own) counts[Number.isNaN(v) ? grid.missing : v]++;
    return { edges: null, counts };
  }
  const known = own.filter((v) => !Number.isNaN(v));
  let low = Math.min(...known);
  let high = Math.max(...known);
  if (feature.kind === "integer") [low, high] = [low - 0.5, high + 0.5];
  const bins = low === high ? 1 : feature.kind === "integer" ? high - low : 30;
  const edges = Array.from({ length: bins + 1 }, (_, i) =>
    low === high ? low - 0.5 + i : low + ((high - low) * i) / bins,
  );
  const counts = new Array(bins).fill(0);
  for (const v of known) counts[Math.min(bins - 1, Math.floor(((v - edges[0]) / (edges[bins] - edges[0])) * bins))]++;
  if (grid.missing >= 0) counts.push(own.length - known.length);
  return { edges, counts };
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const sd = (values) => Math.sqrt(mean(values.map((v) => (v - mean(values)) ** 2)));

/**
 * A record. `classes` outputs of a classifier ("rider 1", ...), or none for a regression of "count".
 * `rows` background rows, of which `sample` travel with their own curves.
 */
export function makeRecord({
  classes = 0,
  rows = 1000,
  sample = 300,
  first = "temp",
  extra = 0,
  done = 1,
  only = null,
} = {}) {
  const u = random(7);
  const features = [...FEATURES];
  for (let i = 0; i < extra; i++) features.push({ name: `noise_${i}`, kind: "number", draw: (r) => r() });
  const data = Array.from({ length: rows }, () => Object.fromEntries(features.map((f) => [f.name, f.draw(u)])));
  const outputs = classes > 0 ? Array.from({ length: classes }, (_, i) => `class ${i + 1}`) : ["count"];
  const answer = (row, output) => (classes > 0 ? logistic(score(row, -0.4 * output)) : 120 + 60 * score(row, 0));
  const m = Math.min(sample, rows);
  const picked = Array.from({ length: m }, (_, i) => Math.floor((i * rows) / m));
  const used = Math.max(2, Math.round(rows * done));

  const curves = {};
  const overview = [];
  const computed = features.filter((f) => !only || only.includes(f.name));
  const shared = new Map();
  for (const feature of computed) {
    const own = data.map((row) => row[feature.name]);
    const grid = gridOf(feature, own);
    const hist = histogram(feature, own, grid);
    shared.set(feature.name, { own, grid, hist });
    const sorted = Float64Array.from(own.filter((v) => !Number.isNaN(v))).sort();
    const k = grid.x.length;
    outputs.forEach((output, o) => {
      const average = new Float64Array(k);
      const square = new Float64Array(k);
      const values = new Float32Array(m * k);
      const fitted = new Float32Array(m);
      const offset = answer(data[0], o);
      for (let g = 0; g < k; g++) {
        for (let r = 0; r < used; r++) {
          const f = answer(
            { ...data[r], [feature.name]: feature.levels && g === feature.missing ? Number.NaN : grid.x[g] },
            o,
          );
          average[g] += f / used;
          square[g] += (f * f) / used;
        }
        for (let i = 0; i < m; i++)
          values[i * k + g] =
            picked[i] < used ? answer({ ...data[picked[i]], [feature.name]: grid.x[g] }, o) - offset : Number.NaN;
      }
      for (let i = 0; i < m; i++) fitted[i] = answer(data[picked[i]], o) - offset;
      const stderr = average.map((a, g) => Math.sqrt(Math.max(0, square[g] - a * a) / used));
      const importance = feature.levels ? (Math.max(...average) - Math.min(...average)) / 4 : sd([...average]);
      const edges = hist.edges;
      const thin = grid.x.map((x) => {
        if (Number.isNaN(x) || !edges) return feature.levels ? Number(hist.counts[x] < 8) : 0;
        const bin = edges.findIndex((e, b) => b < edges.length - 1 && x >= e && x <= edges[b + 1]);
        return Number((hist.counts[bin] ?? 0) < 12);
      });
      curves[`${feature.name}\u0000${output}`] = {
        _curve: {
          feature: feature.name,
          output,
          kind: feature.levels ? "category" : feature.kind === "datetime" ? "datetime" : "number",
          integer: feature.kind === "integer",
          x: pack(grid.x, "float64"),
          labels: grid.labels,
          missing: grid.missing,
          average: pack(average, "float64"),
          stderr: done < 1 ? pack(stderr, "float64") : null,
          rows: used,
          total: rows,
          thin: pack(thin, "uint8"),
          hist: { edges: edges ? pack(edges, "float64") : null, counts: pack(hist.counts, "int32") },
          deciles: feature.levels
            ? null
            : pack(
                Array.from({ length: 9 }, (_, i) => quantile(sorted, (i + 1) / 10)),
                "float64",
              ),
          missing_count: own.filter(Number.isNaN).length,
          infinite_count: 0,
          note: "",
          error: null,
          heterogeneity: 0.1,
          importance,
        },
        _ice: {
          feature: feature.name,
          output,
          offset,
          values: pack(values, "float32", [m, k]),
          own: pack(
            picked.map((r) => own[r]),
            "float64",
          ),
          fitted: pack(fitted, "float32"),
        },
        spark: average,
      };
      if (o === 0)
        overview.push({
          name: feature.name,
          rows: used,
          total: rows,
          importance,
          heterogeneity: importance * ((feature.name.length % 5) + 1),
          error: null,
        });
    });
  }
  const points = computed.map((f) => (f.levels ? Math.min(24, f.levels.length) : 24));
  const all = new Float32Array(computed.length * 24).fill(Number.NaN);
  computed.forEach((feature, i) => {
    const curve = curves[`${feature.name}\u0000${outputs[0]}`].spark;
    const { grid } = shared.get(feature.name);
    const n = grid.missing >= 0 && !feature.levels ? grid.x.length - 1 : grid.x.length;
    for (let p = 0; p < points[i]; p++) {
      const at = feature.levels ? p : (p / 23) * (n - 1);
      const low = Math.floor(at);
      all[i * 24 + p] = curve[low] + (curve[Math.min(low + 1, n - 1)] - curve[low]) * (at - low);
    }
  });
  for (const key of Object.keys(curves)) delete curves[key].spark;
  const here = curves[`${first}\u0000${outputs[0]}`];
  const traits = {
    feature: first,
    output: outputs[0],
    centered: false,
    show_ice: true,
    sort_by: "importance",
    theme: "auto",
    size: "normal",
    _info: {
      model: classes > 0 ? "RandomForestClassifier" : "GradientBoostingRegressor",
      rows,
      rows_given: rows,
      weighted: false,
      scale: classes > 0 ? "probability" : "prediction",
      outputs,
      features: computed.map((f) => ({
        name: f.name,
        kind: f.kind,
        n_levels: f.levels?.length ?? null,
        missing: shared.get(f.name).own.filter(Number.isNaN).length,
        infinite: 0,
      })),
      protocol: 1,
    },
    _sample: { rows: pack(picked, "int32"), labels: picked.map(String), weight: null },
    _overview: {
      output: outputs[0],
      features: overview,
      points,
      all: pack(all, "float32", [computed.length, 24]),
      selection: null,
      rest: null,
      n_selection: 0,
      n_rest: rows,
    },
    _curve: here._curve,
    _ice: here._ice,
    _split: {},
    _selection: {
      id: 0,
      text: "",
      n: rows,
      total: rows,
      conditions: [],
      sample: pack(new Uint8Array(m).fill(1), "uint8"),
      can_undo: false,
      can_redo: false,
    },
    _progress: {
      state: done < 1 ? "running" : "idle",
      done: Math.round(done * rows * 40),
      total: rows * 40,
      label: done < 1 ? first : "",
      message: null,
    },
  };
  return { traits, curves };
}
