// A condition as people read it; `select` reads these words, too (pdp_widgets/inputs/chips.py), tests/chips.json says which.

import { conjuncts, tokens } from "./query";

export interface Chip {
  /** As it stands in the selection's text. */
  text: string;
  words: string;
  /** The text of the selection without it. */
  rest: string;
}

const SIGNS: Record<string, string> = {
  "<=": "≤",
  ">=": "≥",
  "==": "=",
  "!=": "≠",
  "~": "not ",
  " & ": " and ",
  " | ": " or ",
  "[": "",
  "]": "",
};
const plain = (token: string) => token.slice(1, -1);
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** A name or value between marks that keep its direction to itself: else "name > 3" is drawn as "3 < name". */
const apart = (name: string) => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

/** One condition in words; `names` tells what "@curves1" stands for. */
export function inWords(text: string, names: Record<string, string> = {}): string {
  const parts = tokens(text);
  let out = "";
  for (let i = 0; i < parts.length; i++) {
    const token = parts[i];
    const next = parts[i + 1] ?? "";
    if (token === "@") {
      const name = next.startsWith("`") ? plain(next).replaceAll("``", "`") : next;
      out += names[token + next] ?? name;
      i++;
    } else if (token === "." && next === "isna") {
      out += " is missing";
      i += 3;
    } else if (token === "." && next === "notna") {
      out += " is known";
      i += 3;
    } else if (/^['"]/.test(token)) out += apart(plain(token).replace(/\\(.)/g, "$1"));
    else if (token.startsWith("`")) out += apart(plain(token).replaceAll("``", "`"));
    else if (/^[<>=!]$/.test(token) && next === "=") {
      out += SIGNS[token + next];
      i++;
    } else if (token === "None" && /[[,\s]/.test(parts[i - 1] ?? "")) out += "missing";
    else out += SIGNS[token] ?? apart(token);
  }
  // "season in a, b" reads as "season is a or b" does, and is shorter.
  return out.replace(/ not in /g, " ≠ ").replace(/ in /g, " = ");
}

/** A condition without brackets around the whole of it. */
function bare(text: string): string {
  const parts = tokens(text);
  let depth = 0;
  const closed = parts.findIndex((token) => {
    if (token === "(") depth++;
    else if (token === ")") depth--;
    return depth === 0;
  });
  return parts[0] === "(" && closed === parts.length - 1 ? parts.slice(1, -1).join("") : text;
}

/** One chip for each part that must hold. */
export function chipsOf(text: string, names: Record<string, string> = {}): Chip[] {
  const parts = conjuncts(text);
  return parts.map((part, at) => ({
    text: part,
    words: inWords(bare(part), names),
    rest: parts.filter((_, i) => i !== at).join(" & "),
  }));
}
