import type {
  Query,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import type { SimulatedClock } from '../../scenes/clock.ts';

/** How a {@link CheckingSut} answers. */
export interface CheckingSutOptions {
  /**
   * Time from issue to completion in ns, by the number of the sample in the test. 0 completes inside
   * issueQuery. NaN: no answer ever.
   */
  readonly serviceNs: (sample: number) => number;
  /** True: the call itself takes the time, as a SUT that computes on LoadGen's thread. */
  readonly blocks?: boolean;
  /** Called instead of completing; for faults. */
  readonly answer?: (sink: ResponseSink, responseId: number, atNs: number) => void;
  /** Called after a query was taken. */
  readonly afterIssue?: (sink: ResponseSink, query: Query) => void;
  readonly names?: readonly (string | Error)[];
  /** Samples that are in memory, if the test wants that checked. */
  readonly isLoaded?: (sampleIndex: number) => boolean;
}

/** A query as it came: what LoadGen's reused object held during the call. */
export interface SeenQuery {
  readonly id: number;
  readonly firstResponseId: number;
  readonly responseIdStride: number;
  readonly sampleIndices: readonly number[];
  readonly issuedAtNs: number;
}

/**
 * A SUT that answers by a simulated clock and checks LoadGen's side of the contract: order of the
 * calls, ids, loaded samples. What it finds wrong is in `complaints`.
 */
export class CheckingSut implements SystemUnderTest {
  readonly complaints: string[] = [];
  readonly queries: SeenQuery[] = [];
  readonly calls: string[] = [];
  /** Deepest nesting of issueQuery: 1 if LoadGen never recurses. */
  depthMax = 0;
  outstanding = 0;
  outstandingMax = 0;
  readonly #clock: SimulatedClock;
  readonly #options: CheckingSutOptions;
  #sink: ResponseSink | null = null;
  #depth = 0;
  readonly #seenIds = new Set<number>();
  #nextQueryId = 0;
  #nextResponseId = 0;
  #nameCalls = 0;

  constructor(clock: SimulatedClock, options: CheckingSutOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  get flushCount(): number {
    return this.calls.filter((call) => call === 'flush').length;
  }

  async name(): Promise<string> {
    this.calls.push('name');
    const { names = ['Network SUT of the test'] } = this.#options;
    const name = names[Math.min(this.#nameCalls, names.length - 1)] ?? '';
    this.#nameCalls += 1;
    this.#clock.spend(12_345);
    if (name instanceof Error) throw name;
    return name;
  }

  async start(sink: ResponseSink): Promise<void> {
    this.calls.push('start');
    this.#sink = sink;
  }

  issueQuery(query: Query): void {
    this.#depth += 1;
    this.depthMax = Math.max(this.depthMax, this.#depth);
    this.#check(query);
    // LoadGen fills the object anew as soon as it may: take what is needed before answering.
    const { firstResponseId, sampleCount, responseIdStride } = query;
    const samples = Array.from(
      { length: sampleCount },
      (_, i) => query.sampleIndices[query.sampleOffset + i * responseIdStride] ?? -1,
    );
    this.queries.push({
      id: query.id,
      firstResponseId,
      responseIdStride,
      sampleIndices: samples,
      issuedAtNs: this.#clock.nowNs(),
    });
    this.outstanding += query.sampleCount;
    this.outstandingMax = Math.max(this.outstandingMax, this.outstanding);
    for (let i = 0; i < sampleCount; i += 1) {
      this.#answerLater(firstResponseId + i * responseIdStride, samples[i] ?? -1);
    }
    if (this.#sink !== null) this.#options.afterIssue?.(this.#sink, query);
    this.#depth -= 1;
  }

  flushQueries(): void {
    this.calls.push('flush');
  }

  async stop(): Promise<void> {
    this.calls.push('stop');
  }

  #check(query: Query): void {
    if (this.#sink === null) this.complaints.push('query before start');
    if (this.calls.includes('stop')) this.complaints.push('query after stop');
    if (query.responseIdStride === 1) this.#checkOrder(query);
    for (let i = 0; i < query.sampleCount; i += 1) {
      const responseId = query.firstResponseId + i * query.responseIdStride;
      if (query.responseIdStride > 1) this.#checkNew(responseId);
      const index = query.sampleIndices[query.sampleOffset + i * query.responseIdStride] ?? -1;
      if (this.#options.isLoaded?.(index) === false) this.complaints.push(`${index} is not loaded`);
    }
  }

  #checkOrder(query: Query): void {
    if (query.id < this.#nextQueryId) this.complaints.push(`query id ${query.id} again`);
    if (query.firstResponseId < this.#nextResponseId) {
      this.complaints.push(`response id ${query.firstResponseId} again`);
    }
    this.#nextQueryId = query.id + 1;
    this.#nextResponseId = query.firstResponseId + query.sampleCount;
  }

  /** Several issue threads do not keep the order. */
  #checkNew(responseId: number): void {
    if (this.#seenIds.has(responseId)) this.complaints.push(`response id ${responseId} again`);
    this.#seenIds.add(responseId);
  }

  #answerLater(responseId: number, sampleIndex: number): void {
    const serviceNs = this.#options.serviceNs(responseId);
    if (Number.isNaN(serviceNs)) return;
    if (this.#options.blocks) this.#clock.spend(serviceNs);
    if (this.#options.blocks || serviceNs === 0) {
      this.#answer(responseId, sampleIndex);
    } else {
      this.#clock.callAt(this.#clock.nowNs() + serviceNs, () =>
        this.#answer(responseId, sampleIndex),
      );
    }
  }

  #answer(responseId: number, sampleIndex: number): void {
    const sink = this.#sink;
    if (sink === null) return;
    this.outstanding -= 1;
    const atNs = sink.nowNs();
    if (this.#options.answer !== undefined) this.#options.answer(sink, responseId, atNs);
    else sink.complete(responseId, responseBytes(sampleIndex), 0, atNs);
  }
}

/** Response of a sample: its index in 8 bytes, low byte first. */
function responseBytes(sampleIndex: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, sampleIndex, true);
  return bytes;
}
