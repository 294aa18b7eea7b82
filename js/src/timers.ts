// Named timers that end together: starting one again restarts it.

export class Timers {
  #running = new Map<string, ReturnType<typeof setTimeout>>();

  later(name: string, ms: number, run: () => void): void {
    this.cancel(name);
    const timer = setTimeout(() => {
      this.#running.delete(name);
      run();
    }, ms);
    this.#running.set(name, timer);
  }

  has(name: string): boolean {
    return this.#running.has(name);
  }

  cancel(...names: string[]): void {
    for (const name of names) {
      clearTimeout(this.#running.get(name));
      this.#running.delete(name);
    }
  }

  clear(): void {
    this.cancel(...this.#running.keys());
  }
}
