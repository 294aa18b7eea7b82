// A model without a host, for recorded pages: it holds the traits and talks to no one.

import type { HostModel } from "./model";

type Callback = (...args: never[]) => void;

export class StaticModel implements HostModel {
  #values: Map<string, unknown>;
  #callbacks = new Map<string, Set<Callback>>();

  constructor(traits: Record<string, unknown>) {
    this.#values = new Map(Object.entries(traits));
  }

  get(name: string): unknown {
    return this.#values.get(name);
  }

  set(name: string, value: unknown): void {
    this.#values.set(name, value);
    for (const callback of this.#callbacks.get(`change:${name}`) ?? []) callback();
  }

  save_changes(): void {}

  send(): void {}

  on(name: string, callback: Callback): void {
    const set = this.#callbacks.get(name) ?? new Set();
    set.add(callback);
    this.#callbacks.set(name, set);
  }

  off(name: string, callback?: Callback | null): void {
    if (callback) this.#callbacks.get(name)?.delete(callback);
    else this.#callbacks.delete(name);
  }
}
