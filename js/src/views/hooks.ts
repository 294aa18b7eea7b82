// Signals in Preact components, without another dependency.

import { computed, effect } from "@preact/signals-core";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";

/** The value of a function of signals; the component follows its changes. `keys` are what else the function reads. */
export function useValue<T>(read: () => T, keys: unknown[] = []): T {
  const [, redraw] = useState(0);
  const value = useMemo(() => computed(read), keys);
  useLayoutEffect(() => {
    let first = true;
    return effect(() => {
      value.value;
      if (!first) redraw((n) => n + 1);
      first = false;
    });
  }, [value]);
  return value.value;
}

/** Canvas code of one component: watches and listeners that end with the component or with the view. */
export function scoped(
  ui: { abort: AbortSignal },
  setup: (signal: AbortSignal, watch: (run: () => void) => void) => void,
): () => void {
  const controller = new AbortController();
  const stops: (() => void)[] = [];
  const end = () => {
    for (const stop of stops.splice(0)) stop();
    controller.abort();
    ui.abort.removeEventListener("abort", end);
  };
  ui.abort.addEventListener("abort", end, { once: true });
  setup(controller.signal, (run) => stops.push(effect(run)));
  return end;
}
