import { PerformanceObserver } from 'node:perf_hooks';

/** Pauses of garbage collection in this thread since it was made. */
export class GcPauses {
  count = 0;
  totalNs = 0;
  maxNs = 0;
  readonly #observer: PerformanceObserver;

  constructor() {
    this.#observer = new PerformanceObserver((list) => this.#add(list.getEntries()));
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    this.#add(this.#observer.takeRecords());
    this.#observer.disconnect();
  }

  #add(entries: readonly { readonly duration: number }[]): void {
    for (const { duration } of entries) {
      const ns = Math.round(duration * 1e6);
      this.count += 1;
      this.totalNs += ns;
      this.maxNs = Math.max(this.maxNs, ns);
    }
  }
}
