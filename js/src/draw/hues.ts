// Colours beyond the page's own: for groups and classes the set of Okabe & Ito, for numbers cividis. Both are safe for the
// colour-blind. Of the set, black is all rows, and blue would be taken for the selection.

/** The first four differ most from each other, with whatever eyes; vermilion, orange and yellow stand apart. */
const SET = ["#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#e69f00", "#f0e442"];
/** The set's yellow is not seen on white. */
const ON_WHITE = "#a89500";

export const HUES = SET.length;

/** The colour of a group; from the seventh on they come again, and lines are to be dashed. */
export function hueOf(index: number, dark: boolean): string {
  const at = index % HUES;
  return at === HUES - 1 && !dark ? ON_WHITE : SET[at];
}

/** Nuñez, Anderton & Renslow 2018, at ten equal steps. */
const CIVIDIS = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 108],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [254, 232, 56],
];

/** A share from 0 to 1 as a colour. */
export function cividis(share: number): string {
  const at = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const low = Math.min(CIVIDIS.length - 2, Math.floor(at));
  const mixed = CIVIDIS[low].map((v, i) => Math.round(v + (CIVIDIS[low + 1][i] - v) * (at - low)));
  return `rgb(${mixed.join(",")})`;
}

/** Dark lines on white, light ones on black: the end of the scale that would vanish is left out. */
export const cividisOn = (share: number, dark: boolean): string => cividis(dark ? 0.25 + 0.75 * share : 0.85 * share);
