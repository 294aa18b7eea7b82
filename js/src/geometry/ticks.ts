// Round numbers and round moments within a domain.

/** About `wanted` multiples of 1, 2 or 5 times a power of ten between low and high. */
export function ticks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) return low === high ? [low] : [];
  const raw = (high - low) / Math.max(1, wanted);
  const power = Math.max(-300, Math.floor(Math.log10(raw)));
  const error = raw / 10 ** power;
  const factor = error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.sqrt(2) ? 2 : 1;
  // Below one divide by a whole number instead of multiplying by a fraction: 3 / 10, not 3 * 0.1.
  const up = power >= 0;
  const unit = up ? 10 ** power * factor : 10 ** -power / factor;
  const scaled = (v: number) => (up ? v / unit : v * unit);
  const first = Math.ceil(scaled(low) - 1e-9);
  const last = Math.floor(scaled(high) + 1e-9);
  const out: number[] = [];
  for (let i = first; i <= last && out.length < 1000; i++) out.push(up ? i * unit : i / unit);
  // So far from zero that neighbours are the same number.
  return [...new Set(out)];
}

const SECOND = 1e3;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30.4 * DAY;
const STEPS = [
  ...[1, 5, 15, 30].map((n) => n * SECOND),
  ...[1, 5, 15, 30].map((n) => n * MINUTE),
  ...[1, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14].map((n) => n * DAY),
  ...[1, 3, 6].map((n) => n * MONTH),
];
const MONDAY = 4 * DAY; // 1970-01-05

/** Round moments (UTC, ms) between low and high. */
export function moments(low: number, high: number, wanted: number): number[] {
  const raw = (high - low) / Math.max(1, wanted);
  if (raw < SECOND * 0.7) return ticks(low, high, wanted);
  if (raw > MONTH * 8) {
    const year = (ms: number) => new Date(ms).getUTCFullYear();
    return ticks(year(low), year(high) + 1, wanted)
      .filter(Number.isInteger)
      .map((y) => new Date(0).setUTCFullYear(y, 0, 1))
      .filter((t) => t >= low && t <= high);
  }
  const step = STEPS.reduce((best, s) => (Math.abs(Math.log(s / raw)) < Math.abs(Math.log(best / raw)) ? s : best));
  const out: number[] = [];
  if (step >= MONTH) {
    const by = Math.round(step / MONTH);
    const start = new Date(low);
    for (let m = Math.ceil(start.getUTCMonth() / by) * by; out.length < 1000; m += by) {
      const t = Date.UTC(start.getUTCFullYear(), m, 1);
      if (t > high) break;
      if (t >= low) out.push(t);
    }
    return out;
  }
  const base = step >= 7 * DAY ? MONDAY : 0;
  for (let t = Math.ceil((low - base) / step) * step + base; t <= high; t += step) out.push(t);
  return out;
}
