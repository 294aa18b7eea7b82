// Numbers, dates and durations as short text. Three significant digits for reading, as many as needed for ticks.

import type { AxisKind, Curve } from "../model";
import { moments, ticks } from "./ticks";

const MINUS = "\u2212";
const pretty = (text: string) => text.replace(/^-/, MINUS).replace(/e-/, `e${MINUS}`).replace("e+", "e");

/** Fixed decimals with commas between thousands. */
function fixed(value: number, decimals: number): string {
  const [whole, part] = value.toFixed(decimals).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? text : `${text}.${part}`;
}

const grouped = (value: number) => fixed(value, 0);

/** A number in three significant digits: 0.412, 12.3, 1,235, 1.2e-12; nothing for unknown. */
export function fmt(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 10 ** -(digits + 1)) return pretty(value.toExponential(digits - 1).replace(/\.?0+e/, "e"));
  if (size >= 10 ** (digits - 1)) return pretty(grouped(Math.round(value)));
  const text = value.toPrecision(digits);
  return pretty(text.includes("e") ? grouped(Number(text)) : text);
}

/** A number that has to be short: 2.28M, 69.3k; as `fmt` says it below 10,000. */
export function compact(value: number, digits = 3): string {
  const round = Number(value.toPrecision(3));
  const size = Math.abs(round);
  if (!(size >= 1e4 && size < 1e15)) return fmt(value, digits);
  const power = size >= 1e12 ? 4 : size >= 1e9 ? 3 : size >= 1e6 ? 2 : 1;
  return `${fmt(round / 1000 ** power)}${" kMBT"[power]}`;
}

/** As many digits as `step` (what one pixel is worth) can tell apart, so that neighbours never read the same. */
export function fmtBy(value: number, step: number): string {
  if (!Number.isFinite(value)) return fmt(value);
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e15 || size < 1e-6)) return pretty(value.toExponential(3).replace(/\.?0+e/, "e"));
  const decimals = step > 0 && step < 1 ? Math.min(12, Math.ceil(-Math.log10(step))) : 0;
  return pretty(fixed(value, decimals));
}

export const count = (n: number): string => (Number.isFinite(n) ? grouped(n) : "–");

export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return "–";
  const share = (100 * part) / whole;
  if (share > 0 && share < 1) return "<1 %";
  if (share < 100 && share > 99) return ">99 %";
  return `${Math.round(share)} %`;
}

const iso = (date: Date) => date.toISOString();
const day = (date: Date) => iso(date).replace(/T.*/, "");
const minute = (date: Date) => iso(date).replace("T", " ").slice(0, -8);
const second = (date: Date) => iso(date).replace("T", " ").slice(0, -5);

/** A date, as fine as the span on screen asks for. */
export function fmtDate(ms: number, span: number): string {
  if (!Number.isFinite(ms)) return "–";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return fmt(ms);
  if (span > 20 * 86400e3) return day(date);
  if (span > 3 * 3600e3) return minute(date);
  if (span > 2e3) return second(date);
  return `${second(date)}.${String(date.getUTCMilliseconds()).padStart(3, "0")}`;
}

/** A duration in its two largest units. */
export function fmtDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const sign = ms < 0 ? MINUS : "";
  let left = Math.abs(ms);
  if (left === 0) return "0";
  if (left < 1000) return `${sign}${fmt(left)} ms`;
  const parts: string[] = [];
  for (const [unit, size] of [
    ["d", 86400e3],
    ["h", 3600e3],
    ["min", 60e3],
    ["s", 1e3],
  ] as const) {
    const whole = Math.floor(left / size);
    if (whole > 0) parts.push(`${count(whole)} ${unit}`);
    left -= whole * size;
    if (parts.length === 2) break;
  }
  return sign + parts.join(" ");
}

/** How whole numbers are written: not whole, with commas between thousands, or without as years are. */
export type Whole = boolean | "plain";

/** Whole numbers that are all between 1000 and 2999 are years, or read no worse as such. */
export function wholeOf({ integer, x, missing, hist }: Pick<Curve, "integer" | "x" | "missing" | "hist">): Whole {
  if (!integer) return false;
  const plain = (values: ArrayLike<number> | null | undefined) =>
    Array.from(values ?? []).every((v, i) => (v >= 999 && v < 3000) || (values === x && i === missing));
  return x.length > 0 && plain(x) && plain(hist?.edges) ? "plain" : true;
}

/** A value on a curve's axis; `span` is the width of the axis. */
export const fmtOn = (curve: Curve, value: number, span: number): string =>
  fmtX(value, curve.kind, span, wholeOf(curve));

export function fmtX(value: number, kind: AxisKind, span: number, integer: Whole = false): string {
  if (kind === "datetime") return fmtDate(value, span);
  if (kind === "timedelta") return fmtDuration(value);
  if (integer === "plain" && Math.abs(value) < 1e15) return pretty(String(Number(value.toFixed(6))));
  if (integer && Number.isInteger(value) && Math.abs(value) < 1e15) return pretty(grouped(value));
  return fmtBy(value, span / 500) === fmtBy(value + span / 500, span / 500)
    ? fmt(value, 6)
    : trim(fmtBy(value, span / 500));
}

/** Drops zeros that say nothing after the decimal point. */
const trim = (text: string) => (text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text);

export interface Ticks {
  values: number[];
  labels: string[];
  /** What is to be added to every label, or "". */
  offset: string;
}

const isWhole = (v: number) => Math.abs(v - Math.round(v)) < 1e-9;

/** Ticks of a number axis: distinct labels, whatever the size or the offset of the numbers. */
export function numberTicks(domain: [number, number], wanted: number, integer: Whole = false): Ticks {
  let values = ticks(domain[0], domain[1], Math.max(2, wanted));
  if (integer) values = values.filter(isWhole);
  const step = values.length > 1 ? values[1] - values[0] : Math.abs(domain[1] - domain[0]) || 1;
  const size = Math.max(...domain.map(Math.abs));
  if (size >= 1e6 && step / size < 1e-4) {
    // Far from zero and close together: label the distance from a round base instead.
    const base = roundest(domain);
    const inner = plainLabels(
      values.map((v) => v - base),
      step,
    );
    return {
      values,
      labels: inner.map((t) => (t.startsWith(MINUS) || t === "0" ? t : `+${t}`)),
      offset: pretty(grouped(base)),
    };
  }
  const labels = integer === "plain" ? values.map(String) : plainLabels(values, step);
  return { values, labels, offset: "" };
}

/** The number within a domain that has the most zeros at its end. */
function roundest([low, high]: [number, number]): number {
  for (let power = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)))); power > -12; power--) {
    const unit = 10 ** power;
    const found = Math.ceil(low / unit) * unit;
    if (found <= high && found !== 0) return found;
  }
  return low;
}

function plainLabels(values: number[], step: number): string[] {
  const size = Math.max(...values.map(Math.abs), 0);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) {
    const digits = Math.max(0, Math.min(12, Math.ceil(Math.log10(size / step) - 1e-9)));
    return values.map((v) =>
      v === 0
        ? "0"
        : pretty(
            v
              .toExponential(digits)
              .replace(/(\.\d*?)0+e/, "$1e")
              .replace(".e", "e"),
          ),
    );
  }
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  return values.map((v) => pretty(fixed(v === 0 ? 0 : v, decimals)));
}

const HOUR = 3600e3;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = (date: Date) => MONTHS[date.getUTCMonth()];

const formats: [number, (date: Date) => string][] = [
  [365 * 24 * HOUR, (date) => String(date.getUTCFullYear())],
  [28 * 24 * HOUR, (date) => `${month(date)} ${date.getUTCFullYear()}`],
  [24 * HOUR, (date) => `${date.getUTCDate()} ${month(date)}`],
  [60e3, (date) => minute(date).slice(-5)],
  [1e3, (date) => second(date).slice(-8)],
  [0, (date) => iso(date).slice(-5, -1)],
];

export function dateTicks(domain: [number, number], wanted: number): Ticks {
  const values = moments(domain[0], domain[1], Math.max(2, wanted));
  const step = values.length > 1 ? values[1] - values[0] : 24 * HOUR;
  const write = formats.find(([least]) => step >= least)![1];
  const labels = values.map((v) => write(new Date(v)));
  // The year, or the day, that the labels leave out.
  const first = new Date(domain[0]);
  const offset = step >= 28 * 24 * HOUR ? "" : step >= 24 * HOUR ? String(first.getUTCFullYear()) : day(first);
  return { values, labels, offset };
}

export function durationTicks(domain: [number, number], wanted: number): Ticks {
  const span = domain[1] - domain[0];
  const unit = [86400e3, 3600e3, 60e3, 1e3, 1].find((u) => u * 2 <= span) ?? 1;
  const inner = ticks(domain[0] / unit, domain[1] / unit, Math.max(2, wanted));
  const name = { 86400000: "d", 3600000: "h", 60000: "min", 1000: "s", 1: "ms" }[unit]!;
  return { values: inner.map((v) => v * unit), labels: inner.map((v) => `${fmt(v)} ${name}`), offset: "" };
}

export function ticksOf(kind: AxisKind, domain: [number, number], wanted: number, integer: Whole = false): Ticks {
  if (kind === "datetime") return dateTicks(domain, wanted);
  if (kind === "timedelta") return durationTicks(domain, wanted);
  return numberTicks(domain, wanted, integer);
}

/** Reads what a person typed on an axis: a number, or an ISO date; null for empty; NaN for nonsense. */
export function parseX(text: string, kind: AxisKind): number | null {
  const plain = text.trim().replace(MINUS, "-");
  if (plain === "") return null;
  if (kind === "datetime") {
    const iso = plain.replace(" ", "T");
    return Date.parse(/T/.test(iso) && !/(Z|[+-]\d\d:?\d\d)$/.test(iso) ? `${iso}Z` : iso);
  }
  if (kind === "timedelta") {
    const found = /^(-?[\d.]+(?:e[+-]?\d+)?)\s*(ms|s|min|h|d)?$/.exec(plain);
    if (!found) return Number.NaN;
    return Number(found[1]) * { ms: 1, s: 1e3, min: 60e3, h: HOUR, d: 24 * HOUR }[found[2] ?? "ms"]!;
  }
  const value = Number(plain.replace(/(\d),(?=\d{3})/g, "$1"));
  return Number.isFinite(value) ? value : Number.NaN;
}
