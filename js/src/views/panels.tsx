// Where the panels stand: beside the curves, or below everything over the whole width.

import type { FunctionComponent } from "preact";
import type { PanelName } from "../model";
import { Heatmap } from "./heatmap";
import { Interactions } from "./interactions";
import { Rules } from "./rules";
import type { Ui } from "./ui";

type View = FunctionComponent<{ ui: Ui }>;

/** Beside the curves. */
export const SIDE: [PanelName, View][] = [
  ["interactions", Interactions],
  ["heatmap", Heatmap],
];
/** Below the columns. */
export const BELOW: [PanelName, View][] = [["rules", Rules]];
