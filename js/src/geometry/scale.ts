// Linear axes and level bands as plain functions: data to pixels and back. No DOM.

export interface Linear {
  (value: number): number;
  invert(pixel: number): number;
  domain: [number, number];
  range: [number, number];
}

export function linear(domain: [number, number], range: [number, number]): Linear {
  const [d0, d1] = domain;
  const [r0, r1] = range;
  // In halves and as a share of the width, so that neither 1e308 nor 1e-310 overflows.
  const width = d1 / 2 - d0 / 2;
  const scale = (value: number) => (width === 0 ? (r0 + r1) / 2 : r0 + ((value / 2 - d0 / 2) / width) * (r1 - r0));
  return Object.assign(scale, {
    invert: (pixel: number) => {
      const share = r1 === r0 ? 0 : (pixel - r0) / (r1 - r0);
      return d0 * (1 - share) + d1 * share;
    },
    domain,
    range,
  });
}

/** Smallest and largest finite number of several arrays, or null. */
export function extent(...arrays: (ArrayLike<number> | null | undefined)[]): [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const array of arrays) {
    if (!array) continue;
    for (let i = 0; i < array.length; i++) {
      const value = array[i];
      if (value < low) low = value;
      if (value > high && value !== Number.POSITIVE_INFINITY) high = value;
    }
  }
  return low <= high && Number.isFinite(low) && Number.isFinite(high) ? [low, high] : null;
}

export function union(a: [number, number] | null, b: [number, number] | null): [number, number] | null {
  if (!a || !b) return a ?? b;
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

/** A domain with some air; a single value gets a width that can be told apart in float64. */
export function padded(range: [number, number] | null, share = 0.05): [number, number] {
  if (!range) return [0, 1];
  const [low, high] = range;
  const width = high - low;
  const least = Math.max(Math.abs(low), Math.abs(high)) * 1e-12;
  if (width <= least) {
    const half = low === 0 ? 0.5 : Math.max(Math.abs(low) * 0.05, least * 4);
    return [low - half, high + half];
  }
  return [low - width * share, high + width * share];
}

/** Where the levels of a category axis stand; the missing level, always last, keeps a gap of half a band. */
export interface Bands {
  step: number;
  width: number;
  center(index: number): number;
  /** The level under a pixel, or -1 between and beside the bands. */
  at(pixel: number): number;
  /** A pixel as a fractional level index, straight between the centres. */
  invert(pixel: number): number;
}

export function bands(count: number, range: [number, number], missing = -1): Bands {
  const [r0, r1] = range;
  const gap = missing >= 0 && count > 1 ? 0.5 : 0;
  const step = (r1 - r0) / Math.max(1, count + gap);
  const center = (index: number) => r0 + step * (index + 0.5 + (index === missing ? gap : 0));
  return {
    step,
    width: Math.max(1, Math.min(step * 0.72, 72)),
    center,
    at(pixel) {
      let best = -1;
      let distance = step / 2 + 1e-9;
      for (let i = 0; i < count; i++) {
        const d = Math.abs(center(i) - pixel);
        if (d <= distance) {
          distance = d;
          best = i;
        }
      }
      return best;
    },
    invert(pixel) {
      const plain = (pixel - r0) / step - 0.5;
      if (gap === 0 || plain <= missing - 1) return plain;
      const before = center(missing - 1);
      return missing - 1 + (pixel - before) / (center(missing) - before);
    },
  };
}

/** Rounds a value read off the screen to a decimal place worth at most two pixels, so that it reads well. */
export function readable(value: number, unitsPerPixel: number): number {
  if (!Number.isFinite(value) || !(unitsPerPixel > 0)) return value;
  const power = Math.floor(Math.log10(unitsPerPixel * 2));
  if (power >= 0) {
    const step = 10 ** power;
    return Math.round(value / step) * step;
  }
  if (-power > 15) return value;
  return Number(value.toFixed(-power));
}

const SECOND = 1000;
const DAY = 86400 * SECOND;

/** The same for dates: to the day, hour, minute, second or millisecond that one pixel can tell apart. */
export function readableDate(ms: number, msPerPixel: number): number {
  const unit = [DAY, 3600 * SECOND, 60 * SECOND, SECOND, 1].find((u) => u <= Math.max(1, msPerPixel)) ?? 1;
  return Math.round(ms / unit) * unit;
}
