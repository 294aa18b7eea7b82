// Two-way traits come back from the host; this tells a late echo from news.

const LIFE = 5000;

/** Values of traits are plain JSON. */
export const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/**
 * Tells a late echo of the page's own earlier value from a value that Python set. Without it a quick A, B, C would
 * jump back to B when the host repeats B after C was chosen.
 */
export class EchoGuard {
  #sent = new Map<string, { value: unknown; at: number }[]>();

  sent(name: string, value: unknown, now: number): void {
    const list = this.#sent.get(name) ?? [];
    list.push({ value, at: now });
    this.#sent.set(name, list);
  }

  /** Whether an incoming value is news; false for an echo that a later own value has overtaken. */
  accepts(name: string, value: unknown, now: number): boolean {
    const list = (this.#sent.get(name) ?? []).filter((entry) => now - entry.at < LIFE);
    const index = list.findIndex((entry) => same(entry.value, value));
    if (index < 0) {
      this.#sent.delete(name);
      return true;
    }
    const stale = index < list.length - 1;
    this.#sent.set(name, list.slice(index + 1));
    return !stale;
  }
}
