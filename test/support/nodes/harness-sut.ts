import type {
  Query,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import type { SimulatedClock } from '../../scenes/clock.ts';

/** A thread that sleeps takes longer than it is told to. */
const WAKE_UP_NS = 100_000;

/** One sample in flight. */
interface Sample {
  readonly responseId: number;
  readonly index: number;
}

/**
 * The SUT of the harness that made the golden logs, by the words of its command line: how long it takes,
 * what it answers, and the fault that it plays at one sample.
 */
export class HarnessSut implements SystemUnderTest {
  readonly #clock: SimulatedClock;
  readonly #args: Readonly<Record<string, string>>;
  readonly #name: string;
  #sink: ResponseSink | null = null;
  #issueCount = 0;

  constructor(clock: SimulatedClock, args: Readonly<Record<string, string>>, name: string) {
    this.#clock = clock;
    this.#args = args;
    this.#name = name;
  }

  async name(): Promise<string> {
    return this.#name;
  }

  async start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
  }

  issueQuery(query: Query): void {
    const samples = Array.from({ length: query.sampleCount }, (_, i) => ({
      responseId: query.firstResponseId + i * query.responseIdStride,
      index: query.sampleIndices[query.sampleOffset + i * query.responseIdStride] ?? -1,
    }));
    this.#issueCount += 1;
    const every = this.#number('issue_block_every', 0);
    if (every > 0 && this.#issueCount % every === 0) {
      this.#clock.spend(this.#number('issue_block_ns', 0));
    }
    if (this.#args['tokens'] === '1') for (const sample of samples) this.#answerInTokens(sample);
    else if (this.#args['per_sample'] === '1') for (const sample of samples) this.#answer([sample]);
    else this.#answer(samples);
  }

  flushQueries(): void {
    // Holds nothing back.
  }

  async stop(): Promise<void> {
    this.#sink = null;
  }

  #answer(samples: readonly Sample[]): void {
    const serviceNs = Math.max(...samples.map(({ responseId }) => this.#serviceNs(responseId)));
    const blocks = this.#args['sut'] === 'block';
    const isServer = this.#args['scenario'] === 'Server';
    if (blocks && isServer) this.#clock.spend(serviceNs);
    if (serviceNs === 0 || (blocks && isServer)) this.#complete(samples);
    else if (blocks) this.#later(serviceNs + WAKE_UP_NS, () => this.#complete(samples));
    else this.#later(serviceNs, () => this.#complete(samples));
  }

  #answerInTokens(sample: Sample): void {
    const firstNs = this.#number('ttft_ns', 0);
    const restNs = this.#number('tpot_ns', 0) * (this.#tokensOf(sample.index) - 1);
    const fault = this.#faultOf(sample);
    const firstCount = fault === 'nofirst' ? 0 : fault === 'dupfirst' ? 2 : 1;
    this.#later(firstNs, () => {
      for (let i = 0; i < firstCount; i += 1) {
        this.#sink?.firstToken(sample.responseId, uint32(sample.index + 1000), this.#clock.nowNs());
      }
    });
    this.#later(firstNs + restNs, () => this.#complete([sample]));
  }

  #complete(samples: readonly Sample[]): void {
    const atNs = this.#clock.nowNs();
    for (const sample of samples) {
      const fault = this.#faultOf(sample);
      const again = fault === 'dup' || fault === 'dup2' ? sample.responseId : sample.responseId + 1;
      const repeats = fault === 'dup' || fault === 'dup2' || fault === 'extra_unissued';
      // A fault beside the response: before it, since the next query may go out inside the call.
      const order =
        fault === 'extra_unissued' ? [again, sample.responseId] : [sample.responseId, again];
      for (const responseId of repeats ? order : [sample.responseId]) {
        this.#sink?.complete(
          responseId,
          this.#payloadOf(sample.index),
          this.#tokenCount(sample),
          atNs,
        );
      }
    }
  }

  #tokenCount(sample: Sample): number {
    const wrong = { zerotok: 0, onetok: 1, negtok: -1 }[this.#faultOf(sample)];
    return wrong ?? this.#tokensOf(sample.index);
  }

  #tokensOf(index: number): number {
    const base = this.#number('ntok_base', 0);
    return base + (index % this.#number('ntok_mod', 1));
  }

  #payloadOf(index: number): Uint8Array {
    const form = this.#args['data'] ?? 'idx8';
    if (form === 'none') return new Uint8Array(0);
    if (form !== 'idx8')
      return Uint8Array.from({ length: Number(form) }, (_, i) => index * 31 + 7 * i);
    const bytes = new Uint8Array(8);
    bytes.set(uint32(index));
    return bytes;
  }

  #serviceNs(responseId: number): number {
    const every = this.#number('slow_every', Number.POSITIVE_INFINITY);
    const isSlow = responseId % every === every - 1;
    if (this.#args['sut'] === 'null') return 0;
    return this.#number(isSlow ? 'slow_ns' : 'delay_ns', 0);
  }

  #faultOf({ responseId }: Sample): string {
    return responseId === this.#number('fault_seq', -1) ? (this.#args['fault'] ?? '') : '';
  }

  #later(ns: number, callback: () => void): void {
    this.#clock.callAt(this.#clock.nowNs() + ns, callback);
  }

  #number(key: string, fallback: number): number {
    const word = this.#args[key];
    return word === undefined ? fallback : Number(word);
  }
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}
