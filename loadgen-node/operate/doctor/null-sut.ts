import { NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type {
  Query,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';

/** A SUT that completes everything inside issueQuery: what is left is LoadGen's own work. */
export class NullSut implements SystemUnderTest {
  #sink: ResponseSink | null = null;

  async name(): Promise<string> {
    return 'Network SUT that does nothing';
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
  }

  issueQuery(query: Query): void {
    const sink = this.#sink as ResponseSink;
    const atNs = sink.nowNs();
    const { firstResponseId, sampleCount, responseIdStride } = query;
    for (let i = 0; i < sampleCount; i += 1) {
      sink.complete(firstResponseId + i * responseIdStride, NO_BYTES, 0, atNs);
    }
  }

  flushQueries(): void {
    // Holds nothing back.
  }

  async stop(): Promise<void> {
    this.#sink = null;
  }
}
