// The typed mirror of the Python traits and of the messages: names, shapes and units, nothing else.
// A Python test reads TRAITS from this file and compares it with the widget's synced traits.

/** An array as it travels: raw bytes in a live notebook, base64 in a recorded page. */
export type RawArray =
  | { view: DataView | ArrayBuffer | ArrayBufferView; dtype: Dtype; shape: number[] }
  | { b64: string; dtype: Dtype; shape: number[] };

export type Dtype = "float32" | "float64" | "int32" | "uint8";

/** Two-way traits: the person and Python may both set them. */
export const PUBLIC_TRAITS = [
  "feature",
  "output",
  "model",
  "show_models",
  "centered",
  "show_ice",
  "sort_by",
  "pair",
  "effect",
  "by",
  "color_by",
  "derivative",
  "row",
  "panels",
  "bookmarks",
  "notes",
  "theme",
  "size",
] as const;

/** Kernel -> page only. */
export const PRIVATE_TRAITS = [
  "_info",
  "_sample",
  "_overview",
  "_curve",
  "_ice",
  "_split",
  "_selection",
  "_bookmarks",
  "_progress",
  "_effects",
  "_regions",
  "_importance",
  "_interactions",
  "_heatmap",
  "_rules",
] as const;

/** Panels beside the curves, in the page's order; each has the private trait of its name with "_" before it. */
export const PANELS = ["effects", "regions", "importance", "interactions", "heatmap", "rules"] as const;
export type PanelName = (typeof PANELS)[number];

export const TRAITS = [...PUBLIC_TRAITS, ...PRIVATE_TRAITS] as const;

export type PublicTrait = (typeof PUBLIC_TRAITS)[number];
export type PrivateTrait = (typeof PRIVATE_TRAITS)[number];

export type SortBy =
  | "importance"
  | "heterogeneity"
  | "weighted"
  | "permutation"
  | "total"
  | "rulefit"
  | "name"
  | "order";
export type AxisKind = "number" | "datetime" | "timedelta" | "category";
export type FeatureKind = "number" | "integer" | "bool" | "category" | "datetime" | "timedelta" | "group";

export interface PublicTraits {
  feature: string;
  output: string;
  /** Name of the model that the page is about; empty where there is one without a name. */
  model: string;
  /** The other models' curves beside the focused one. */
  show_models: boolean;
  centered: boolean;
  show_ice: boolean;
  sort_by: SortBy;
  /** Empty, or the two features of the surface. */
  pair: string[];
  effect: "pd" | "ale";
  /** Empty, or the feature whose levels have a curve each, or a condition, or `bookmarksKey`. */
  by: string;
  /** Empty, or the feature whose values colour the lines of single rows. */
  color_by: string;
  /** Slopes instead of values, where the axis is a number or a date; goes before `centered`. */
  derivative: boolean;
  /** Position of the row that the rules are read for. */
  row: number | null;
  panels: string[];
  /** Selections by name, as text. */
  bookmarks: Record<string, string>;
  /** What is written about them, by name. */
  notes: Record<string, string>;
  theme: "auto" | "light" | "dark";
  size: "normal" | "large";
}

export interface FeatureInfo {
  name: string;
  kind: FeatureKind;
  n_levels: number | null;
  missing: number;
  infinite: number;
}

export interface Info {
  model: string;
  /** All names, where there are several. */
  models?: string[];
  rows: number;
  rows_given: number;
  weighted: boolean;
  scale: string;
  outputs: string[];
  features: FeatureInfo[];
  protocol: number;
}

/** The rows whose own curves the page holds: the same rows for every feature. */
export interface Sample {
  rows: ArrayLike<number>;
  labels: string[];
  weight: ArrayLike<number> | null;
}

export interface OverviewFeature {
  name: string;
  rows: number;
  total: number;
  importance: number | null;
  /** The same of the selected rows' average curve. */
  importance_selected?: number | null;
  heterogeneity: number | null;
  error: string | null;
}

/** One sparkline of SPARK points per feature, row by row; NaN where not known yet. */
export interface Overview {
  output: string;
  features: OverviewFeature[];
  points: number[];
  /** Where each begins and ends on its axis, two by two; NaN for levels. */
  ends?: ArrayLike<number> | null;
  all: ArrayLike<number> | null;
  selection: ArrayLike<number> | null;
  rest: ArrayLike<number> | null;
  n_selection: number;
  n_rest: number;
}

export const SPARK = 24;

export interface Histogram {
  /** Bin edges in axis units, or null for one bar per level. */
  edges: ArrayLike<number> | null;
  counts: ArrayLike<number>;
}

/** The focused feature's partial dependence. */
export interface Curve {
  feature: string;
  output: string;
  kind: AxisKind;
  integer: boolean;
  x: ArrayLike<number>;
  labels: string[];
  /** The levels as they stand in a condition; without it the labels must do. */
  literals?: string[];
  /** Index of the missing level in x, or -1. */
  missing: number;
  average: ArrayLike<number>;
  stderr: ArrayLike<number> | null;
  rows: number;
  total: number;
  thin: ArrayLike<number> | null;
  hist: Histogram | null;
  deciles: ArrayLike<number> | null;
  missing_count: number;
  infinite_count: number;
  note: string;
  error: string | null;
  heterogeneity: number | null;
  importance: number | null;
}

/** ICE lines of the sampled rows, row by row (m x K); `offset` is to be added. */
export interface Ice {
  feature: string;
  output: string;
  offset: number;
  m: number;
  k: number;
  values: ArrayLike<number>;
  own: ArrayLike<number>;
  fitted: ArrayLike<number>;
}

export interface Part {
  average: ArrayLike<number>;
  n: number;
  counts: ArrayLike<number>;
  /** 1 where few of this side's rows are near the grid point. */
  thin?: ArrayLike<number> | null;
}

/** Exact curves of the selection and of the rest. */
export interface Split {
  feature: string;
  output: string;
  selection_id: number;
  exact: boolean;
  selection: Part;
  rest: Part;
}

export type Condition =
  | { type: "range"; feature: string; low: number | null; high: number | null }
  | { type: "levels"; feature: string; levels: number[] }
  | {
      type: "ice";
      feature: string;
      output: string;
      x: [number, number];
      y: [number, number];
      centered: boolean;
      /** What it is called in the selection's text. */
      name?: string;
    };

/** A rectangle on a surface: one condition per axis. */
export interface Both {
  type: "all";
  conditions: [Condition, Condition];
}

export interface Selection {
  id: number;
  text: string;
  n: number;
  total: number;
  conditions: Condition[];
  /** What can be drawn, but not taken over by a brush. */
  marks?: Condition[];
  sample: ArrayLike<number> | null;
  can_undo: boolean;
  can_redo: boolean;
  /** What the names in the text ("@curves1") stand for, in words. */
  names?: Record<string, string>;
  /** Only on the page: counted on the sample, not on all rows. */
  approx?: boolean;
}

export interface Progress {
  state: "idle" | "running" | "stopped" | "failed";
  done: number;
  total: number;
  label: string;
  message: string | null;
}

/** How far a panel's picture is. */
export interface Status {
  /** "ask": it costs so many model rows that the person is asked first. */
  state: "idle" | "running" | "done" | "ask" | "stopped" | "failed";
  message: string | null;
  cost: number;
  /** The picture is that of an earlier focus or selection. */
  stale: boolean;
}

/** Columns of the importance table, one number per feature; NaN where not known. */
export interface Measures {
  computed: ArrayLike<number>;
  pd_importance: ArrayLike<number>;
  pd_importance_weighted: ArrayLike<number>;
  pdi: ArrayLike<number>;
  pdi_stderr: ArrayLike<number>;
  heterogeneity: ArrayLike<number>;
  permutation: ArrayLike<number>;
  permutation_stderr: ArrayLike<number>;
}

export interface ImportancePicture {
  status: Status;
  output: string;
  features: string[];
  /** The loss of permutation importance; null without an outcome. */
  score: string | null;
  note: string;
  all: Measures;
  selection: Measures | null;
  n: number;
  n_selection: number;
}

/** A curve with points of its own; of a category they are positions on the curve's axis. */
export interface OwnCurve {
  x: ArrayLike<number>;
  values: ArrayLike<number>;
  n: number;
}

export interface GroupLevel {
  label: string;
  condition: string;
  n: number;
  /** Null: on the grid of the focused curve. */
  x: ArrayLike<number> | null;
  /** Null while not known. */
  values: ArrayLike<number> | null;
  /** 1 where few of the group's rows are; null where that is not told (ALE). */
  thin: ArrayLike<number> | null;
}

/** A curve of another model; its rows are so far `n` of `total`. */
export type ModelLine = Omit<GroupLevel, "label" | "condition"> & { name: string; hue: number; total: number };

export interface Hint {
  kind: string;
  severity: "warning" | "note";
  text: string;
  about: string;
}

export interface EffectsPicture {
  status: Status;
  feature: string;
  output: string;
  effect: "pd" | "ale";
  by: string;
  selection_id: number;
  /** Plus the rows' mean prediction, so that it shares the curve's axis. */
  ale: { all: OwnCurve | null; selection: OwnCurve | null; rest: OwnCurve | null } | null;
  groups: {
    by: string;
    /** Group of each sampled row, 255 for none. */
    codes: ArrayLike<number>;
    /** The curves are those of the selected rows only. */
    selected: boolean;
    levels: GroupLevel[];
  } | null;
  /** Of the selected rows only, where there is a selection. */
  models?: { selected: boolean; lines: ModelLine[] } | null;
  /** Means of the outcome and of the prediction over the rows near each point. */
  observed: {
    x: ArrayLike<number>;
    outcome: ArrayLike<number>;
    predicted: ArrayLike<number>;
    residual: ArrayLike<number>;
    stderr: ArrayLike<number>;
    n: ArrayLike<number>;
  } | null;
  /** All outputs' curves, row by row, where there are a few. */
  outputs: { names: string[]; averages: ArrayLike<number> } | null;
  /** Null while not known. */
  hints: Hint[] | null;
  /** The sampled rows' own values of the feature that colours their lines. */
  colour: { feature: string; kind: AxisKind; labels: string[] | null; values: ArrayLike<number> } | null;
  notes: string[];
}

/** Rows that a condition holds for. */
export interface Side {
  text: string;
  label: string;
  n: number;
}

export interface RegionSplit {
  /** Empty for all rows. */
  within: string;
  by: string;
  condition: string;
  /** Shares of the disagreement. */
  gain: number | null;
  gain_check: number | null;
  sides: Side[];
}

export interface RegionsPicture {
  status: Status;
  feature: string;
  output: string;
  here: {
    splits: RegionSplit[];
    /** What all splits together leave. */
    leaves?: Side[];
    reason: string;
    heterogeneity: number | null;
    rows: number;
    rows_total: number;
  } | null;
  /** First splits of all features that have one, the most useful first. */
  all: { feature: string; by: string; text: string; label: string; removed: number | null; size: number; n: number }[];
  done: number;
  total: number;
}

/** One of the two axes of a surface. */
export interface SurfaceAxis {
  feature: string;
  kind: AxisKind;
  integer: boolean;
  x: ArrayLike<number>;
  labels: string[];
  /** Index in the feature's own grid, as conditions count levels; -1 for the points of a number. */
  at: ArrayLike<number>;
  missing: number;
  /** Levels that are not shown. */
  left_out: number;
  hist: { edges: ArrayLike<number> | null; counts: ArrayLike<number>; selected: ArrayLike<number> | null };
}

/** The partial dependence on two features; matrices row by row (first feature x second feature). */
export interface HeatmapPicture {
  status: Status;
  first: string;
  second: string;
  output: string;
  a: SurfaceAxis;
  b: SurfaceAxis;
  average: ArrayLike<number>;
  /** Pure interaction: average - main_a - main_b + mean. */
  main_a: ArrayLike<number> | null;
  main_b: ArrayLike<number> | null;
  mean: number | null;
  /** Rows nearest each cell, unweighted. */
  counts: ArrayLike<number>;
  selection: ArrayLike<number> | null;
  rest: ArrayLike<number> | null;
  selection_id: number;
  n_selection: number;
  n_rest: number;
  rows: number;
  total: number;
  /** Rows that can be asked for, if there are more. */
  more: number | null;
  h2: number | null;
  strength: number | null;
  exact: boolean;
}

/** Which features act together; every pair has a strength in the prediction's unit and a share of the joint effect, h2. */
export interface InteractionsPicture {
  status: Status;
  output: string;
  /** The most important first. */
  features: string[];
  /** Features that are not among them. */
  left_out: number;
  /** Positions among `features`, two by two. */
  pairs: ArrayLike<number>;
  h2: ArrayLike<number>;
  h2_stderr: ArrayLike<number>;
  strength: ArrayLike<number>;
  strength_stderr: ArrayLike<number>;
  /** 1 where h2 is above 1: the features depend on each other. */
  dependent: ArrayLike<number>;
  pairs_done: number;
  overall_h2: ArrayLike<number>;
  overall_strength: ArrayLike<number>;
  main_strength: ArrayLike<number>;
  total_h2: number | null;
  total_h2_stderr: number | null;
  rows: number;
  rows_total: number;
  method: string;
  scale: string;
  /** What more exact numbers would ask of the model; null when there are none. */
  more: number | null;
  /** How far these are, 0 to 1. */
  refining: number | null;
}

/** A sum of rules and linear terms; one number per term in every array, the most important first. */
export interface RulesPicture {
  status: Status;
  /** Tells one list of terms from another: positions in requests are those of this list. */
  id: number;
  output: string;
  kind: "model" | "surrogate" | "outcome";
  of: string;
  describes: string;
  link: "identity" | "logit" | "ovr";
  fidelity: number | null;
  rows: number;
  rows_total: number;
  /** Rows that can be asked for, if there are more. */
  more: number | null;
  intercept: number;
  /** The sum where no rule holds and every number is at its mean. */
  start: number;
  /** Rules are about columns as the page knows them. */
  as_seen: boolean;
  left_out: number;
  features: string[];
  /** The feature of the widget that each belongs to, or "". */
  focus: string[];
  /**
   * Distinct conditions: position among `features`, for people, for `select`; ends of an interval (NaN: open) and levels, both missing
   * where that cannot be drawn.
   */
  conditions: {
    feature: ArrayLike<number>;
    words: string[];
    texts: string[];
    low?: ArrayLike<number>;
    high?: ArrayLike<number>;
    levels?: (number[] | null)[];
  };
  /** Positions among the conditions, term after term; `ends` of each term. */
  parts: ArrayLike<number>;
  ends: ArrayLike<number>;
  /** The most important feature of each term. */
  main: ArrayLike<number>;
  /** RuleFit's importance of each of the features, in the unit of the sum. */
  weight?: ArrayLike<number>;
  /** 0: rule, 1: number, 2: one level of a category. */
  type: ArrayLike<number>;
  coefficient: ArrayLike<number>;
  support: ArrayLike<number>;
  n: ArrayLike<number>;
  importance: ArrayLike<number>;
  largest: number | null;
  inside: ArrayLike<number>;
  outside: ArrayLike<number>;
  /** Of the linear terms in their order. */
  limits: string[];
  path: { terms: ArrayLike<number>; explained: ArrayLike<number>; at: number } | null;
  cluster: ArrayLike<number> | null;
  selection: { importance: ArrayLike<number>; support: ArrayLike<number>; n: number } | null;
  selection_id: number;
  /** Share of `total` fits to other samples that have each term, too, after `done` of them; null: not asked for. */
  stability?: { back: ArrayLike<number>; done: number; total: number } | null;
  /** Whether there is an outcome to describe. */
  outcome: boolean;
}

/** Another rule that one has to be read with. */
export interface Related {
  term: number;
  relation: "equal" | "contains" | "within" | "complement" | "correlated";
  share: number | null;
  share_of_other: number | null;
  jaccard: number | null;
  correlation: number | null;
}

/** Why a row is predicted as it is: `start`, the contributions and `rest` add up to `decision`. */
export interface RowReply {
  of: number;
  row: number;
  label: string;
  start: number;
  decision: number;
  prediction: number;
  model: number | null;
  holds: number[];
  contributions: [number, number][];
  values: [number, number][];
  /** Of each of the picture's features, in words. */
  own: string[];
  rest: number;
  misses: [number, string, number | null][];
}

/** The picture of each panel; `Partial`, since a panel may have a status and nothing to show yet. */
export interface Pictures {
  effects: Partial<EffectsPicture> & { status: Status };
  regions: Partial<RegionsPicture> & { status: Status };
  importance: Partial<ImportancePicture> & { status: Status };
  interactions: Partial<InteractionsPicture> & { status: Status };
  heatmap: Partial<HeatmapPicture> & { status: Status };
  rules: Partial<RulesPicture> & { status: Status };
}

export type Op = "replace" | "add" | "remove";

/** Everything the page may ask of the kernel. */
export interface RequestParams {
  hello: Record<string, never>;
  /** The same `gesture` again is the same act going on, one step for undo. */
  select: { op: Op; condition: Condition | Both; gesture: string };
  clear: Record<string, never>;
  invert: Record<string, never>;
  undo: Record<string, never>;
  redo: Record<string, never>;
  query: { text: string; op?: Op };
  open: { panels: string[] };
  compute: { panel: string };
  terms: { step?: number; subject?: "model" | "outcome" };
  overlap: { of: number; term: number };
  row: { of: number; row?: number; label?: string };
  rule: { of: number; term: number; op: Op };
  stability: { of: number; on: boolean };
  /** A picture or a table of what is on screen, the view as Python text, or the page. */
  file: { what: string; format: string; mode?: string; swapped?: boolean };
  stop: Record<string, never>;
  resume: Record<string, never>;
  visible: { features: string[] };
}

export type Method = keyof RequestParams;

/** A file on its way; without bytes the page has to paint it. */
export interface FileReply {
  name: string;
  type: string;
  bytes?: DataView<ArrayBuffer>;
}

export interface Reply {
  kind: "reply";
  id: string;
  status: "ok" | "error";
  result?: unknown;
  message?: string;
}

/** What this package uses of an anywidget model. */
export interface HostModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown, callbacks?: unknown, buffers?: ArrayBuffer[]): void;
  on(name: string, callback: (...args: never[]) => void): void;
  off(name: string, callback?: ((...args: never[]) => void) | null): void;
}
