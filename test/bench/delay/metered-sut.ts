import type {
  Query,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';

/** A SUT that measures the CPU time of this process from the first query to the last. */
export class MeteredSut implements SystemUnderTest {
  readonly #inner: SystemUnderTest;
  #begin: { readonly cpu: NodeJS.CpuUsage; readonly atMs: number } | undefined;
  /** Cores that this process kept busy, on average. */
  cores = 0;

  constructor(inner: SystemUnderTest) {
    this.#inner = inner;
  }

  name(): Promise<string> {
    return this.#inner.name();
  }

  start(sink: ResponseSink): Promise<void> {
    return this.#inner.start(sink);
  }

  issueQuery(query: Query): void {
    this.#begin ??= { cpu: process.cpuUsage(), atMs: performance.now() };
    this.#inner.issueQuery(query);
  }

  flushQueries(): void {
    this.#inner.flushQueries();
    if (this.#begin === undefined) return;
    const { user, system } = process.cpuUsage(this.#begin.cpu);
    this.cores = (user + system) / 1e3 / (performance.now() - this.#begin.atMs);
  }

  stop(): Promise<void> {
    return this.#inner.stop();
  }
}
