/**
 * Lets two or more go on in turns: each step waits until the others have made theirs, or have ended. So what two sides
 * measure on one machine is spread over the same time.
 */
export class Turns {
  #order: number[] = [];
  readonly #waiting = new Map<number, () => void>();
  #isTaken = false;

  /** @param count How many take turns; they have the numbers from 0. */
  constructor(count: number) {
    this.#order = Array.from({ length: count }, (_, i) => i);
  }

  /** Does a step when it is this one's turn; no two steps overlap. */
  async step<T>(who: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.set(who, resolve);
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#isTaken = false;
      this.#next();
    }
  }

  /** Nobody waits for this one any more. */
  leave(who: number): void {
    this.#order = this.#order.filter((one) => one !== who);
    this.#next();
  }

  #next(): void {
    const [first] = this.#order;
    if (first === undefined || this.#isTaken) return;
    const begin = this.#waiting.get(first);
    if (begin === undefined) return;
    this.#waiting.delete(first);
    this.#order = [...this.#order.slice(1), first];
    this.#isTaken = true;
    begin();
  }
}
