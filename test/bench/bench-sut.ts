import type { Clock } from '../../shared/base/clock.ts';
import type {
  Query,
  ResponseSink,
  ServiceTimes,
  SystemUnderTest,
} from '../../shared/domain/system-under-test.ts';

const NOTHING = new Uint8Array(0);

/**
 * A SUT that does nothing and notes when the last query was issued, which is when the last response
 * was there. It answers inside issueQuery, or after a delay of the clock.
 */
export class BenchSut implements SystemUnderTest {
  /** `performance.now()` when LoadGen said that no more would come. */
  flushedMs = 0;
  readonly #clock: Clock;
  readonly #delayNs: number;
  readonly #times: ServiceTimes | null;
  #sink: ResponseSink | null = null;

  /**
   * @param delayNs 0: inside the call.
   * @param times What it tells of the service of each sample; null: nothing.
   */
  constructor(clock: Clock, delayNs: number, times: ServiceTimes | null = null) {
    this.#clock = clock;
    this.#delayNs = delayNs;
    this.#times = times;
  }

  async name(): Promise<string> {
    return 'Network SUT that does nothing';
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
  }

  issueQuery(query: Query): void {
    const { firstResponseId, sampleCount, responseIdStride } = query;
    if (this.#delayNs === 0) this.#complete(firstResponseId, sampleCount, responseIdStride);
    else {
      const atNs = this.#clock.nowNs() + this.#delayNs;
      this.#clock.callAt(atNs, () => {
        this.#complete(firstResponseId, sampleCount, responseIdStride);
      });
    }
  }

  flushQueries(): void {
    this.flushedMs = performance.now();
  }

  async stop(): Promise<void> {
    this.#sink = null;
  }

  #complete(firstResponseId: number, sampleCount: number, stride: number): void {
    const sink = this.#sink as ResponseSink;
    const atNs = sink.nowNs();
    const times = this.#times;
    for (let i = 0; i < sampleCount; i += 1) {
      if (times !== null) sink.served(firstResponseId + i * stride, 0, times, 0);
      sink.complete(firstResponseId + i * stride, NOTHING, 0, atNs);
    }
  }
}
