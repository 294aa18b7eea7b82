// A brush on its way to the kernel: shown at once, sent when the pointer rests or lets go, dropped when the kernel's
// own selection is there.

import { signal } from "@preact/signals-core";
import type { Both, Condition, Op, RequestParams } from "./model";
import type { Timers } from "./timers";

const REST = 150;
const KEY_REST = 300;
const SETTLE = 200;

/** A brush that is being made: answered from the sample until the kernel has. */
export interface Draft {
  op: Op;
  condition: Condition | Both;
}

/** The conditions that must all hold. */
export const partsOf = (condition: Condition | Both): Condition[] =>
  condition.type === "all" ? condition.conditions : [condition];

export interface BrushTarget {
  /** Sends the request; resolves when it is answered, well or badly. */
  send(params: RequestParams["select"]): Promise<unknown>;
  /** Id of the kernel's selection now. */
  selectionId(): number;
  /** Whether a kernel answers while the pointer is still down. */
  live(): boolean;
}

export class Brush {
  readonly draft = signal<Draft | null>(null);
  /** How the next brush combines; Shift and Alt override it. */
  readonly mode = signal<Op>("replace");
  #target: BrushTarget;
  #timers: Timers;
  #prefix: string;
  #released = true;
  #lastSent = "";
  #waiting = 0;
  #gesture = 0; // one drag may be sent more than once; its requests carry the same number

  constructor(target: BrushTarget, timers: Timers, prefix: string) {
    this.#target = target;
    this.#timers = timers;
    this.#prefix = prefix;
  }

  /** Shows a brush at once and sends it when the pointer has rested for 150 ms. */
  move(op: Op, condition: Condition | Both): void {
    if (this.#released) this.#gesture++;
    this.#released = false;
    this.draft.value = { op, condition };
    // Adding and removing are not repeatable: the kernel gets them once, at the release.
    if (op === "replace" && this.#target.live()) this.#timers.later("brush", REST, () => this.#send());
  }

  /** The pointer is up: the brush counts. */
  release(): void {
    this.#timers.cancel("brush", "keys");
    this.#released = true;
    this.#send();
    this.#lastSent = "";
  }

  /** The same after a short rest, for keys, where each step would otherwise be an act of its own. */
  releaseSoon(): void {
    this.#timers.cancel("brush");
    this.#timers.later("keys", KEY_REST, () => this.release());
  }

  /** Sends at once what `releaseSoon` still holds back. */
  flush(): void {
    if (this.#timers.has("keys")) this.release();
  }

  /** Forgets a brush. */
  drop(): void {
    this.#timers.cancel("brush", "keys");
    this.#released = true;
    this.draft.value = null;
  }

  /** One act without a drag: a click, a key, a typed number. */
  select(op: Op, condition: Condition | Both): void {
    this.move(op, condition);
    this.release();
  }

  /** The kernel's selection is there, so the preview has done its part; not while the pointer is still down. */
  settle(): void {
    if (this.#released) this.draft.value = null;
  }

  #send(): void {
    const draft = this.draft.peek();
    if (!draft) return;
    const params = { ...draft, gesture: `${this.#prefix}-${this.#gesture}` };
    const key = JSON.stringify(params);
    if (key === this.#lastSent) {
      if (this.#waiting === 0) this.settle();
      return;
    }
    this.#lastSent = key;
    const before = this.#target.selectionId();
    this.#waiting++;
    void this.#target.send(params).then(() => {
      this.#waiting--;
      if (!this.#released || this.#waiting > 0 || !this.draft.peek()) return;
      // The new selection is usually there before the reply; if not, give it a moment, so that nothing flickers.
      if (this.#target.selectionId() !== before) this.settle();
      else this.#timers.later("settle", SETTLE, () => this.settle());
    });
  }
}
