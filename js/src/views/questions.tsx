// Questions as a way in: a click arranges the page for one, and says in a line what there is to see.

import { type Question, ranked, whatInteracts, whatMatters, whichRules, whoDisagrees } from "../geometry/answers";
import type { SortBy } from "../model";
import { allDone } from "./features";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

const QUESTIONS: [Question, (feature: string) => string, string][] = [
  ["matters", () => "what matters?", "Sorts the features by importance and shows the most important one"],
  [
    "interacts",
    (feature) => `what interacts with ${feature}?`,
    "Shows what the feature acts together with, and the strongest pair",
  ],
  [
    "disagree",
    () => "where do rows disagree?",
    "Sorts the features by disagreement and shows single rows’ curves from a common start",
  ],
  ["rules", () => "which rules describe it?", "Shows a short list of rules that predict as the model does"],
];

/** Changes the page so that it answers. */
function arrange(ui: Ui, question: Question): void {
  const { store } = ui;
  const sorted = (by: SortBy & ("importance" | "heterogeneity")) => {
    store.set("sort_by", by);
    const first = ranked(store.overview.peek(), by)[0];
    if (first) store.set("feature", first.name);
    ui.reveal("features");
  };
  ui.asked.value = question;
  if (question === "matters") sorted("importance");
  else if (question === "interacts") {
    store.set("pair", []); // the surface follows the strongest partner
    ui.reveal("interactions");
  } else if (question === "disagree") {
    store.set("show_ice", true);
    store.set("derivative", false);
    store.set("centered", true);
    sorted("heterogeneity");
  } else ui.reveal("rules");
}

/** What the page says to a question, from what is known now. */
function answer(ui: Ui, question: Question): string {
  const { store } = ui;
  const overview = store.overview.value;
  const info = store.info.value;
  const feature = store.public.feature.value || store.curve.value?.feature || "";
  const output = store.public.output.value || overview?.output || "";
  const done = store.host.value !== "kernel" || allDone(overview) || store.progress.value.state === "idle";
  if (question === "matters") {
    const scale = info && info.scale !== "" && info.scale !== output ? `${info.scale} of ${output}` : output;
    return whatMatters(overview, scale, done);
  }
  if (question === "interacts") return whatInteracts(feature, store.pictures.interactions.value, output);
  if (question === "disagree") return whoDisagrees(feature, overview, store.pictures.regions.value, done);
  return whichRules(store.pictures.rules.value, output);
}

export function Questions({ ui }: { ui: Ui }) {
  const { store } = ui;
  const feature = useValue(() => store.public.feature.value || store.curve.value?.feature || "");
  const asked = useValue(() => ui.asked.value);
  const ready = useValue(() => (store.info.value?.features.length ?? 0) > 0);
  if (!ready) return null;
  return (
    <nav class="pdpw-questions" aria-label="Questions">
      {QUESTIONS.map(([question, words, about]) => (
        <button
          key={question}
          type="button"
          class="pdpw-question"
          data-testid={`ask-${question}`}
          aria-pressed={asked === question}
          title={`${words(feature)} ${about}`}
          onClick={() => arrange(ui, question)}
        >
          {words(feature)}
        </button>
      ))}
    </nav>
  );
}

/** The answer to the question that was asked last. */
export function Answer({ ui }: { ui: Ui }) {
  const asked = useValue(() => ui.asked.value);
  const text = useValue(() => (asked ? answer(ui, asked) : ""), [asked]);
  if (!asked) return null;
  return (
    <p class="pdpw-strip pdpw-answer" role="status" data-testid="answer" data-question={asked}>
      {text}
      <button
        type="button"
        class="pdpw-dismiss"
        aria-label="Dismiss the answer"
        data-testid="answer-dismiss"
        onClick={() => {
          ui.asked.value = null;
        }}
      >
        ×
      </button>
    </p>
  );
}
