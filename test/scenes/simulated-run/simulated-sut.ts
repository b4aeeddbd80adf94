import type {
  Query,
  ResponseSink,
  SutPart,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import type { SimulatedClock } from '../clock.ts';

/** One sample in flight. */
export interface IssuedSample {
  readonly responseId: number;
  readonly index: number;
}

const TOKEN_BYTES = 4;

/** How a {@link SimulatedSut} answers. */
export interface SutOptions {
  /**
   * Time from issue to completion in ns, by the number of the sample in the test and its index. 0
   * completes inside issueQuery. NaN: no answer ever. Default: 1 ms.
   */
  readonly serviceNs?: (sample: number, sampleIndex: number) => number;
  /** True: the call itself takes the time, as a SUT that computes on LoadGen's thread. */
  readonly blocks?: boolean;
  /** True: one worker takes one sample after the other; 0 completes no sample inside issueQuery. */
  readonly isQueue?: boolean;
  /** Default: the index in 8 bytes. */
  readonly responseOf?: ((sampleIndex: number) => Uint8Array) | undefined;
  /** True: a response is tokens of int32; the first one comes when half of the time is over. */
  readonly hasTokens?: boolean | undefined;
  /** Called instead of completing; for faults. */
  readonly answer?: (sink: ResponseSink, responseId: number, atNs: number) => void;
  /** Called with a whole query in place of all the above. */
  readonly serve?: (
    samples: readonly IssuedSample[],
    sink: ResponseSink,
    clock: SimulatedClock,
  ) => void;
  /** Called after a query was taken. */
  readonly afterIssue?: (sink: ResponseSink, query: Query) => void;
  /** Answers of name(), one call after the other; the last one stays. */
  readonly names?: readonly (string | Error)[];
  /** How long name() takes. Default: 12,345 ns. */
  readonly nameNs?: number;
  /** Its parts, and the number of the one that answers a sample. Default: nobody knows. */
  readonly parts?: readonly SutPart[];
  readonly partOf?: (sample: number) => number;
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
export class SimulatedSut implements SystemUnderTest {
  readonly complaints: string[] = [];
  readonly queries: SeenQuery[] = [];
  readonly calls: string[] = [];
  /** Deepest nesting of issueQuery: 1 if LoadGen never recurses. */
  depthMax = 0;
  outstandingMax = 0;
  readonly #clock: SimulatedClock;
  readonly #options: SutOptions;
  #sink: ResponseSink | null = null;
  #depth = 0;
  #outstanding = 0;
  #freeAtNs = 0;
  #nameCalls = 0;
  readonly #seenIds = new Set<number>();
  #nextQueryId = 0;
  #nextResponseId = 0;

  constructor(clock: SimulatedClock, options: SutOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  get flushCount(): number {
    return this.calls.filter((call) => call === 'flush').length;
  }

  async name(): Promise<string> {
    this.calls.push('name');
    const { names = ['Network SUT of the test'], nameNs = 12_345 } = this.#options;
    const name = names[Math.min(this.#nameCalls, names.length - 1)] ?? '';
    this.#nameCalls += 1;
    this.#clock.spend(nameNs);
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
    // LoadGen fills the object anew as soon as it may: take what is needed before answering.
    const { id, firstResponseId, sampleCount, responseIdStride } = query;
    const samples = Array.from({ length: sampleCount }, (_, i) => ({
      responseId: firstResponseId + i * responseIdStride,
      index: query.sampleIndices[query.sampleOffset + i * responseIdStride] ?? -1,
    }));
    this.#check(query, samples);
    const sampleIndices = samples.map(({ index }) => index);
    const issuedAtNs = this.#clock.nowNs();
    this.queries.push({ id, firstResponseId, responseIdStride, sampleIndices, issuedAtNs });
    this.#outstanding += sampleCount;
    this.outstandingMax = Math.max(this.outstandingMax, this.#outstanding);
    const { serve, afterIssue } = this.#options;
    if (serve === undefined) for (const sample of samples) this.#answerLater(sample);
    else if (this.#sink !== null) serve(samples, this.#sink, this.#clock);
    if (this.#sink !== null) afterIssue?.(this.#sink, query);
    this.#depth -= 1;
  }

  flushQueries(): void {
    this.calls.push('flush');
  }

  async stop(): Promise<void> {
    this.calls.push('stop');
  }

  /** What they did for others is known once it has stopped. */
  parts(): readonly SutPart[] {
    const { parts = [] } = this.#options;
    return this.calls.includes('stop')
      ? parts
      : parts.map(({ name }) => ({ name, otherWork: null }));
  }

  #check(query: Query, samples: readonly IssuedSample[]): void {
    if (this.#sink === null) this.complaints.push('query before start');
    if (this.calls.includes('stop')) this.complaints.push('query after stop');
    const isOneThread = query.responseIdStride === 1;
    if (isOneThread) this.#checkOrder(query);
    for (const { responseId, index } of samples) {
      // Several issue threads do not keep the order.
      if (!isOneThread && this.#seenIds.has(responseId)) {
        this.complaints.push(`response id ${responseId} again`);
      }
      if (!isOneThread) this.#seenIds.add(responseId);
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

  #answerLater(sample: IssuedSample): void {
    const { serviceNs = () => 1e6, blocks = false, isQueue = false } = this.#options;
    const timeNs = serviceNs(sample.responseId, sample.index);
    if (Number.isNaN(timeNs)) return;
    if (blocks) this.#clock.spend(timeNs);
    if (blocks || (timeNs === 0 && !isQueue)) {
      this.#answer(sample);
      return;
    }
    const nowNs = this.#clock.nowNs();
    this.#freeAtNs = (isQueue ? Math.max(nowNs, this.#freeAtNs) : nowNs) + timeNs;
    if (this.#options.hasTokens === true) {
      this.#clock.callAt(this.#freeAtNs - timeNs / 2, () => this.#firstToken(sample));
    }
    this.#clock.callAt(this.#freeAtNs, () => this.#answer(sample));
  }

  #firstToken({ responseId, index }: IssuedSample): void {
    const { responseOf = indexBytes } = this.#options;
    this.#sink?.firstToken(
      responseId,
      responseOf(index).subarray(0, TOKEN_BYTES),
      this.#sink.nowNs(),
    );
  }

  #answer({ responseId, index }: IssuedSample): void {
    const sink = this.#sink;
    if (sink === null) return;
    this.#outstanding -= 1;
    const { answer, responseOf = indexBytes, hasTokens = false } = this.#options;
    if (answer !== undefined) {
      answer(sink, responseId, sink.nowNs());
      return;
    }
    const part = this.#options.partOf?.(responseId);
    if (part !== undefined) sink.served(responseId, part, undefined, 0);
    const response = responseOf(index);
    const tokens = hasTokens ? response.length / TOKEN_BYTES : 0;
    sink.complete(responseId, response, tokens, sink.nowNs());
  }
}

/** The index in 8 bytes, low byte first. */
export function indexBytes(sampleIndex: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, sampleIndex, true);
  return bytes;
}
