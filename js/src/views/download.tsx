// Menus of what one takes along: the picture and the numbers of a part, and of the view as a whole its Python text and the page.
// With Python a file is what Python makes of what is on screen; without, what can be made of what is on the page.

import { compose } from "../draw/compose";
import { csv, fileName, tableOf } from "../geometry/tables";
import { useValue } from "./hooks";
import { type Item, Menu } from "./menu";
import { toClipboard } from "./rules";
import type { Ui } from "./ui";

export type Part = "curves" | "importance" | "interactions" | "heatmap" | "rules";

const NO_KERNEL = "Needs Python: run the cell first";
/** Parts that are canvases, and where the page says what they stand on. */
const PAINTED: Partial<Record<Part, string[]>> = {
  curves: ["ylabel", "rows"],
  interactions: ["pair-rows"],
  heatmap: ["heatmap-notes"],
};
const LATER = 60_000; // hosts that fetch the file themselves need its address a while

/** Hands a file to the browser, or to the host that catches such links. */
function save(ui: Ui, name: string, content: Blob): void {
  const { document, URL } = ui.root.ownerDocument.defaultView!;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.hidden = true;
  ui.root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), LATER);
}

interface DownloadProps {
  ui: Ui;
  what: Part;
  /** What the person has switched on the page alone. */
  mode?: string;
  swapped?: boolean;
}

export function Download({ ui, what, mode, swapped }: DownloadProps) {
  const { store } = ui;
  const live = useValue(() => store.host.value === "kernel");
  const running = useValue(() => what !== "curves" && store.pictures[what].value?.status.state === "running");
  const table = useValue(() => (live ? null : tableOf(store, what)), [live]);
  const named = (format: string) => {
    const { first, second } = store.pictures.heatmap.peek() ?? {};
    const model = store.info.peek()?.model;
    const of = { curves: [store.curve.peek()?.feature], heatmap: [first, second] }[what as string];
    return `${fileName(...(of ? [...of, "partial-dependence"] : [model, what]))}.${format}`;
  };
  const paint = async (name: string) => {
    const box = ui.root.querySelector(`[data-testid=${what === "curves" ? "focus" : `panel-${what}`}]`)!;
    const text = store.selection.peek().text;
    const notes = [
      ...PAINTED[what]!.map((at) => ui.root.querySelector(`[data-testid=${at}]`)?.firstChild?.textContent),
      what !== "interactions" && text && `selected: ${text}`,
    ];
    save(ui, name, await compose(ui, box, notes.filter(Boolean).join(" · ")));
    return undefined;
  };
  const ask = async (format: string) => {
    const file = await store.file({ what, format, mode, swapped });
    if (file && !file.bytes) return paint(file.name);
    if (file) save(ui, file.name, new Blob([file.bytes!], { type: file.type }));
    return undefined;
  };
  const painted = what in PAINTED;
  const items: Item[] = [
    {
      id: "png",
      name: "PNG",
      act: () => (live ? ask("png") : paint(named("png"))),
      not: live || painted ? undefined : NO_KERNEL,
    },
    { id: "svg", name: "SVG", act: () => ask("svg"), not: live ? undefined : NO_KERNEL },
    {
      id: "csv",
      name: "CSV (numbers)",
      not: live || table ? undefined : NO_KERNEL,
      async act() {
        if (live) return ask("csv");
        save(ui, named("csv"), new Blob([csv(table!)], { type: "text/csv" }));
        return undefined;
      },
    },
  ];
  const about = live && running ? "Still computing: a file holds what is there by now" : undefined;
  return (
    <Menu ui={ui} id={`download-${what}`} label={`Download ${what}`} sign="download" items={items} about={about} />
  );
}

/** The view as a whole. */
export function Share({ ui }: { ui: Ui }) {
  const { store } = ui;
  const live = useValue(() => store.host.value === "kernel");
  const not = live ? undefined : NO_KERNEL;
  const items: Item[] = [
    {
      id: "python",
      name: "Copy Python",
      not,
      async act() {
        const file = await store.file({ what: "python", format: "py" });
        if (!file?.bytes) return undefined;
        const text = new TextDecoder().decode(file.bytes);
        const button = ui.root.querySelector<HTMLElement>("[data-testid=share]")!;
        if (await toClipboard(button, text)) return { text: "Copied: it makes this view again" };
        return { text: "The browser did not allow it: copy it from here", copy: text };
      },
    },
    {
      id: "page",
      name: "Export page (HTML)",
      not,
      async act() {
        const file = await store.file({ what: "page", format: "html" });
        if (file?.bytes) save(ui, file.name, new Blob([file.bytes], { type: file.type }));
        return undefined;
      },
    },
  ];
  return <Menu ui={ui} id="share" label="Take this view along" sign="share" items={items} />;
}
