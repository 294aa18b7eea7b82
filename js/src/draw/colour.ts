// Colours of surfaces: cividis for values, and a scale with a neutral middle at 0 for differences and interactions. Both are told
// apart by the colour-blind; orange and violet, since blue is the selection and red against green is nobody's friend.

import { cividis } from "./hues";

const STEPS = 256;

/** From far below 0 to far above; the middle is next to the page's own background. */
const DIVERGING = {
  light: ["#4b2a86", "#8073ac", "#c6c0dd", "#f4f4f5", "#fbd2a0", "#e08a2c", "#8f4a06"],
  dark: ["#c9b8ff", "#8f7fd0", "#52497a", "#2a2d33", "#6b4c22", "#bb7a26", "#ffbf5e"],
};

export interface Ramp {
  /** The colour of a value. */
  of(value: number): string;
  /** How bright that is, 0 to 1. */
  light(value: number): number;
}

type Rgb = [number, number, number];

const hex = (text: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as Rgb;
const numbers = (text: string): Rgb => text.match(/\d+/g)!.map(Number) as Rgb;

/** Relative luminance, near enough. */
const brightness = ([r, g, b]: Rgb) => (0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2) / 255 ** 2.2;

function mixed(stops: string[], share: number): string {
  const at = share * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [hex(stops[low]), hex(stops[low + 1])];
  return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * (at - low))).join(",")})`;
}

const made = new Map<string, { colours: string[]; lights: number[] }>();

function table(name: string, colour: (share: number) => string) {
  let found = made.get(name);
  if (!found) {
    const colours = Array.from({ length: STEPS }, (_, i) => colour(i / (STEPS - 1)));
    found = { colours, lights: colours.map((c) => brightness(numbers(c))) };
    made.set(name, found);
  }
  return found;
}

/** The scale between two values; for differences these are as far below as above 0. */
export function ramp([low, high]: [number, number], diverging: boolean, dark: boolean): Ramp {
  const { colours, lights } = diverging
    ? table(dark ? "dark" : "light", (share) => mixed(DIVERGING[dark ? "dark" : "light"], share))
    : table("cividis", cividis);
  const at = (value: number) => {
    // In halves, so that no range is too wide.
    const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    return Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))));
  };
  return { of: (value) => colours[at(value)], light: (value) => lights[at(value)] };
}
