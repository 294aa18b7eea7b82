// Questions as a way in: a click arranges the page for one, and says in a line what there is to see.

import { type Question, ranked, whatInteracts, whatMatters, whichRules, whoDisagrees } from "../geometry/answers";
import { amounts } from "../geometry/measures";
import type { PanelName } from "../model";
import { allDone } from "./features";
import { useValue } from "./hooks";
import type { Ui } from "./ui";

const QUESTIONS: [Question, (feature: string) => string, string][] = [
  ["matters", () => "what matters?", "Sorts the features by importance"],
  [
    "interacts",
    (feature) => `what interacts with ${feature}?`,
    "Shows what the feature acts together with, and the strongest pair",
  ],
  [
    "disagree",
    () => "where do rows disagree?",
    "Names the feature that rows disagree most on, and shows single rows’ curves from a common start",
  ],
  ["rules", () => "which rules describe it?", "Shows a short list of rules that predict as the model does"],
];

const focusOf = ({ store }: Ui): string => store.public.feature.value || store.curve.value?.feature || "";

/** Where the answer stands: at the top, or in the panel that shows it. */
const PLACES: Partial<Record<Question, PanelName>> = { interacts: "interactions", rules: "rules" };

/** Changes the page so that it answers. The feature in focus stays there. */
function arrange(ui: Ui, question: Question): void {
  const { store } = ui;
  ui.asked.value = question;
  if (question === "matters") {
    store.set("sort_by", "importance");
    ui.reveal("features");
  } else if (question === "interacts") {
    store.set("pair", []); // the surface follows the strongest partner
    ui.reveal("interactions");
  } else if (question === "disagree") {
    store.set("show_ice", true);
    store.set("derivative", false);
    store.set("centered", true);
    ui.reveal("curves");
  } else ui.reveal("rules");
}

/** The feature that an answer is about, where it is not in focus. */
function subject(ui: Ui, question: Question, feature: string): string {
  if (question === "interacts" || question === "rules") return "";
  const [first] = ranked(ui.store.overview.value, question === "matters" ? "importance" : "heterogeneity");
  return first && first.name !== feature ? first.name : "";
}

/** What the page says to a question, from what is known now. */
function answer(ui: Ui, question: Question): string {
  const { store } = ui;
  const overview = store.overview.value;
  const info = store.info.value;
  const feature = focusOf(ui);
  const output = store.public.output.value || overview?.output || "";
  const done = store.host.value !== "kernel" || allDone(overview) || store.progress.value.state === "idle";
  if (question === "matters") {
    const scale = info && info.scale !== "" && info.scale !== output ? `${info.scale} of ${output}` : output;
    return whatMatters(overview, scale, done);
  }
  if (question === "interacts") return whatInteracts(feature, store.pictures.interactions.value, output);
  if (question === "disagree") {
    const known = { overview, picture: store.pictures.importance.value, rules: null, selected: false };
    const hints = ui.effects.value?.hints;
    const hinted = hints ? hints.some(({ kind }) => kind === "heterogeneity") : null;
    const regions = store.pictures.regions.value;
    return whoDisagrees(feature, overview, regions, done, amounts("weighted", known), hinted);
  }
  return whichRules(store.pictures.rules.value, output);
}

export function Questions({ ui }: { ui: Ui }) {
  const { store } = ui;
  const feature = useValue(() => focusOf(ui));
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

/** The answer to the question that was asked last, if it belongs here: at the top ("") or in a panel. */
export function Answer({ ui, at }: { ui: Ui; at: PanelName | "" }) {
  const { store } = ui;
  const asked = useValue(() => ui.asked.value);
  const text = useValue(() => (asked ? answer(ui, asked) : ""), [asked]);
  const about = useValue(() => (asked ? subject(ui, asked, focusOf(ui)) : ""), [asked]);
  if (!asked || (PLACES[asked] ?? "") !== at) return null;
  return (
    <p class="pdpw-strip pdpw-answer" role="status" data-testid="answer" data-question={asked}>
      <span>
        {text}
        {about && (
          <button
            type="button"
            class="pdpw-question"
            data-testid="answer-show"
            onClick={() => {
              store.set("feature", about);
              ui.asked.value = asked; // a new focus puts answers away
            }}
          >
            show {about}
          </button>
        )}
      </span>
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
