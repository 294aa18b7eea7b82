// Arrays to and from the wire: {view, dtype, shape} in a live notebook, {b64, dtype, shape} in a recorded page.

import type { Curve, Dtype, Ice, Info, Overview, Progress, RawArray, Sample, Selection, Split } from "./model";

export type Typed = Float32Array | Float64Array | Int32Array | Uint8Array;

const TYPES = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

function bytesOf(raw: RawArray): { buffer: ArrayBufferLike; offset: number; length: number } {
  if ("b64" in raw) {
    const text = atob(raw.b64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return { buffer: bytes.buffer, offset: 0, length: bytes.length };
  }
  const view = raw.view;
  if (ArrayBuffer.isView(view)) return { buffer: view.buffer, offset: view.byteOffset, length: view.byteLength };
  return { buffer: view, offset: 0, length: view.byteLength };
}

/** A typed array over the bytes; copies only where the offset is not aligned. null for anything that is no array. */
export function decode(raw: unknown): Typed | null {
  if (!raw || typeof raw !== "object" || !("dtype" in raw)) return null;
  const array = raw as RawArray;
  const Type = TYPES[array.dtype];
  if (!Type) throw new Error(`unknown dtype ${String(array.dtype)}`);
  const { buffer, offset, length } = bytesOf(array);
  const size = Type.BYTES_PER_ELEMENT;
  const count = array.shape.reduce((a, b) => a * b, 1);
  if (count * size > length)
    throw new Error(`array of shape ${array.shape} needs ${count * size} bytes, got ${length}`);
  if (offset % size === 0) return new Type(buffer as ArrayBuffer, offset, count);
  return new Type(buffer.slice(offset, offset + count * size) as ArrayBuffer, 0, count);
}

/** The inverse, for recorded pages and tests. */
export function encode(values: ArrayLike<number>, dtype: Dtype, shape?: number[]): RawArray {
  const array = TYPES[dtype].from(values as ArrayLike<number>);
  return {
    view: new DataView(array.buffer, array.byteOffset, array.byteLength),
    dtype,
    shape: shape ?? [array.length],
  };
}

type Dict = Record<string, unknown>;

export const isDict = (value: unknown): value is Dict => typeof value === "object" && value !== null;
const filled = (value: unknown): value is Dict => isDict(value) && Object.keys(value).length > 0;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const num = (value: unknown, otherwise = 0): number => (typeof value === "number" ? value : otherwise);
const text = (value: unknown): string => (value === null || value === undefined ? "" : String(value));
const EMPTY = new Float64Array(0);

/** An array trait member, which may also come as a plain list. */
function arr(raw: unknown): ArrayLike<number> | null {
  if (Array.isArray(raw)) return Float64Array.from(raw, (v) => (v === null ? Number.NaN : Number(v)));
  return decode(raw);
}

// One reader per private trait. Each gives null for "not there yet", so that views test one thing.

export function readInfo(raw: unknown): Info | null {
  if (!filled(raw)) return null;
  return { ...(raw as unknown as Info), outputs: list(raw.outputs).map(text) };
}

export function readSample(raw: unknown): Sample | null {
  if (!filled(raw) || !raw.rows) return null;
  return { rows: arr(raw.rows) ?? EMPTY, labels: list(raw.labels).map(text), weight: arr(raw.weight) };
}

export function readOverview(raw: unknown): Overview | null {
  if (!filled(raw) || !Array.isArray(raw.features)) return null;
  return {
    output: text(raw.output),
    features: raw.features as Overview["features"],
    points: list(raw.points).map(Number),
    ends: arr(raw.ends),
    all: arr(raw.all),
    selection: arr(raw.selection),
    rest: arr(raw.rest),
    n_selection: num(raw.n_selection),
    n_rest: num(raw.n_rest),
  };
}

export function readCurve(raw: unknown): Curve | null {
  if (!filled(raw) || !raw.feature) return null;
  const hist =
    isDict(raw.hist) && raw.hist.counts ? { edges: arr(raw.hist.edges), counts: arr(raw.hist.counts) } : null;
  return {
    ...(raw as unknown as Curve),
    x: arr(raw.x) ?? EMPTY,
    labels: list(raw.labels).map(text),
    missing: num(raw.missing, -1),
    average: arr(raw.average) ?? EMPTY,
    stderr: arr(raw.stderr),
    thin: arr(raw.thin),
    deciles: arr(raw.deciles),
    note: text(raw.note),
    hist: hist?.counts ? (hist as Curve["hist"]) : null,
  };
}

export function readIce(raw: unknown): Ice | null {
  if (!filled(raw) || !isDict(raw.values)) return null;
  const values = decode(raw.values);
  const shape = raw.values.shape as number[];
  if (!values || shape.length !== 2) return null;
  return {
    feature: text(raw.feature),
    output: text(raw.output),
    offset: num(raw.offset),
    m: shape[0],
    k: shape[1],
    values,
    own: arr(raw.own) ?? EMPTY,
    fitted: arr(raw.fitted) ?? EMPTY,
  };
}

export function readSplit(raw: unknown): Split | null {
  if (!filled(raw) || !isDict(raw.selection) || !isDict(raw.rest)) return null;
  const part = (side: Dict) => ({
    average: arr(side.average) ?? EMPTY,
    n: num(side.n),
    counts: arr(side.counts) ?? EMPTY,
    thin: arr(side.thin),
  });
  return {
    feature: text(raw.feature),
    output: text(raw.output),
    selection_id: num(raw.selection_id, -1),
    exact: raw.exact !== false,
    selection: part(raw.selection),
    rest: part(raw.rest),
  };
}

export const NO_SELECTION: Selection = {
  id: 0,
  text: "",
  n: 0,
  total: 0,
  conditions: [],
  sample: null,
  can_undo: false,
  can_redo: false,
};

export function readSelection(raw: unknown): Selection {
  if (!filled(raw)) return NO_SELECTION;
  return {
    id: num(raw.id),
    text: text(raw.text),
    n: num(raw.n),
    total: num(raw.total),
    conditions: list(raw.conditions) as Selection["conditions"],
    marks: list(raw.marks) as Selection["conditions"],
    sample: arr(raw.sample),
    can_undo: raw.can_undo === true,
    can_redo: raw.can_redo === true,
    names: isDict(raw.names) ? (raw.names as Selection["names"]) : {},
  };
}

/** A panel's picture: every array in it decoded, the rest as it is; null for "not there yet". */
export function readPicture<T>(raw: unknown): T | null {
  return filled(raw) && raw.status ? (decoded(raw) as T) : null;
}

function decoded(raw: unknown): unknown {
  if (Array.isArray(raw)) return raw.map(decoded);
  if (!isDict(raw)) return raw;
  if ("dtype" in raw && "shape" in raw) return decode(raw);
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, decoded(value)]));
}

export const IDLE: Progress = { state: "idle", done: 0, total: 0, label: "", message: null };

export function readProgress(raw: unknown): Progress {
  if (!filled(raw)) return IDLE;
  return {
    state: (raw.state as Progress["state"]) ?? "idle",
    done: num(raw.done),
    total: num(raw.total),
    label: text(raw.label),
    message: raw.message === null || raw.message === undefined ? null : text(raw.message),
  };
}
