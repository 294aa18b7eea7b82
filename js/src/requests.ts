// The msg:custom protocol: requests with an id, their replies, and a note when the kernel keeps one waiting. Nothing
// times out: a busy kernel answers when its cell has run. While something waits, the host is asked now and then whether
// it still sends: it refuses when the kernel is gone, and says so in no other way.

import { signal } from "@preact/signals-core";
import type { HostModel, Method, Reply, RequestParams } from "./model";
import type { Timers } from "./timers";

const BUSY_AFTER = 1000;
const RAREST = 30_000;

/** Requests of no one's hand: their silence is not worth a note. */
export const QUIET: Method[] = ["hello", "visible", "open"];

/** The host refuses to send: its kernel is gone. Lab restarts one without marking the view. */
export class Unreachable extends Error {}

interface Pending {
  method: Method;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class Requests {
  /** A request of the person's has been waiting for more than a second. */
  readonly busy = signal(false);
  readonly prefix = Math.random().toString(36).slice(2, 8); // two views of one model must not take each other's replies
  #model: HostModel;
  #timers: Timers;
  #pending = new Map<string, Pending>();
  #serial = 0;
  #running = false;
  #lost: () => void;

  /** `lost` is called when the host refuses to send. */
  constructor(model: HostModel, timers: Timers, lost: () => void) {
    this.#model = model;
    this.#timers = timers;
    this.#lost = lost;
  }

  /** Whether the kernel is at work, so that its silence means something. */
  set running(running: boolean) {
    this.#running = running;
    this.#watch();
  }

  /** Resolves to the result; rejects with the kernel's message, or with Unreachable. */
  send<M extends Method>(method: M, params: RequestParams[M]): Promise<unknown> {
    const id = `${this.prefix}-${++this.#serial}`;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject });
      this.#watch();
      try {
        this.#model.send({ kind: "request", id, method, params });
      } catch (error) {
        this.#pending.delete(id);
        this.#watch();
        reject(new Unreachable(String(error)));
        if (method !== "open") this.#lost(); // nobody's act: the next one will find out
      }
    });
  }

  receive(content: unknown, buffers?: DataView[]): void {
    const reply = content as Reply | null;
    if (reply?.kind !== "reply") return;
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
    this.#pending.delete(reply.id);
    this.#watch();
    if (reply.status === "ok")
      pending.resolve(buffers?.length ? { ...(reply.result as object), bytes: buffers[0] } : reply.result);
    else pending.reject(new Error(reply.message || `The kernel could not do "${pending.method}".`));
  }

  /** Stops waiting. A kernel that is there is told so; if none is, what was asked may be answered here. */
  giveUp(tell: boolean): void {
    const waiting = [...this.#pending];
    this.#pending.clear();
    this.#watch();
    for (const [id, pending] of waiting) {
      if (!tell) {
        pending.reject(new Unreachable());
        continue;
      }
      pending.resolve(undefined);
      try {
        this.#model.send({ kind: "cancel", id });
      } catch {
        tell = false; // no one to tell
      }
    }
  }

  /** Ever more rarely: a kernel that is busy for an hour is to find few of these. */
  #knock(ms: number): void {
    this.#timers.later("knock", ms, () => {
      try {
        this.#model.send({ kind: "cancel", id: this.prefix }); // of nothing
        this.#knock(Math.min(2 * ms, RAREST));
      } catch {
        this.#lost();
      }
    });
  }

  #watch(): void {
    if (this.#pending.size === 0 && !this.#running) this.#timers.cancel("knock");
    else if (!this.#timers.has("knock")) this.#knock(BUSY_AFTER);
    const waiting = [...this.#pending.values()].some((p) => !QUIET.includes(p.method));
    if (!waiting) {
      this.#timers.cancel("busy");
      this.busy.value = false;
    } else if (!this.#timers.has("busy") && !this.busy.peek()) {
      this.#timers.later("busy", BUSY_AFTER, () => {
        this.busy.value = true;
      });
    }
  }
}
