import { monotonicClock } from '../../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { SampleRecorder } from '../../../loadgen-node/loadgen/recorder/sample-recorder.ts';
import type { QueryPlan } from '../../../loadgen-node/loadgen/schedule/query-plan.ts';
import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type {
  Query,
  ResponseSink,
  SampleFailure,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import { CpuMeter, type Measured, percentile } from './measured.ts';

export interface LoopOptions {
  readonly outstanding: number;
  readonly sampleCount: number;
  readonly warmUpNs: number;
  readonly measuredNs: number;
  /**
   * Most queries of the loop, which ends it before its time: memory of the recorder is taken for so
   * many.
   */
  readonly queriesMax: number;
  readonly serverPid: number;
}

/**
 * LoadGen's end of the contract with a fixed number of queries outstanding, which no scenario of
 * LoadGen has (SingleStream has one, Server as many as there are): each completion issues the next
 * query from inside the call, as SingleStream does. Real clock, recorder and query objects; one
 * sample per query.
 */
export class ClosedLoop implements ResponseSink {
  readonly #options: LoopOptions;
  readonly #sut: SystemUnderTest;
  readonly #recorder: SampleRecorder;
  readonly #query: { -readonly [K in keyof Query]: Query[K] };
  readonly #beginNs: number;
  readonly #endNs: number;
  #meter: CpuMeter | undefined;
  #firstMeasured = 0;
  #measuredSinceNs = 0;
  #isOver = false;
  #measured: Measured | undefined;
  #resolve: (measured: Measured) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(sut: SystemUnderTest, options: LoopOptions) {
    this.#sut = sut;
    this.#options = options;
    const plan = planOf(options.queriesMax, options.sampleCount);
    this.#recorder = new SampleRecorder(plan, 'issue');
    this.#query = {
      id: 0,
      firstResponseId: 0,
      sampleIndices: plan.sampleIndices,
      sampleOffset: 0,
      sampleCount: 1,
      responseIdStride: 1,
    };
    this.#beginNs = monotonicClock.nowNs() + options.warmUpNs;
    this.#endNs = this.#beginNs + options.measuredNs;
  }

  /** Runs to the end of the measurement and waits for what is outstanding. */
  run(): Promise<Measured> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#recorder.begin(monotonicClock.nowNs());
      for (let i = 0; i < this.#options.outstanding; i += 1) this.#issue(monotonicClock.nowNs());
    });
  }

  get completedCount(): number {
    return this.#recorder.completedSamples;
  }

  nowNs(): number {
    return monotonicClock.nowNs();
  }

  handedOver(responseId: number, atNs: number): void {
    this.#recorder.handOver(responseId, atNs);
  }

  served(): void {}

  firstToken(): void {}

  tokens(): void {}

  complete(responseId: number, _payload: BorrowedBytes, _tokenCount: number, atNs: number): void {
    const problem = this.#recorder.complete(responseId, atNs);
    if (problem !== 0) throw new Error(`response ${responseId} breaks the contract (${problem})`);
    if (this.#meter === undefined && atNs >= this.#beginNs) this.#begin(atNs);
    if (!this.#isOver && this.#isEnd(atNs)) this.#end(atNs);
    if (!this.#isOver) this.#issue(monotonicClock.nowNs());
    else if (this.#recorder.outstandingSamples === 0) this.#resolve(this.#measured as Measured);
  }

  fail(_responseId: number, failure: SampleFailure): void {
    this.#reject(new Error(`a sample failed: ${failure.text}`));
  }

  fault(error: Error): void {
    this.#reject(error);
  }

  #issue(nowNs: number): void {
    const query = this.#query;
    query.id = this.#recorder.issuedQueries;
    query.firstResponseId = query.id;
    query.sampleOffset = query.id;
    this.#recorder.issue(nowNs);
    this.#sut.issueQuery(query);
  }

  #begin(atNs: number): void {
    this.#meter = new CpuMeter(this.#options.serverPid);
    this.#firstMeasured = this.#recorder.completedSamples;
    this.#measuredSinceNs = atNs;
  }

  #isEnd(atNs: number): boolean {
    return atNs >= this.#endNs || this.#recorder.issuedQueries >= this.#options.queriesMax;
  }

  #end(atNs: number): void {
    this.#isOver = true;
    const queries = this.#recorder.completedSamples - this.#firstMeasured;
    const cpu = (this.#meter ?? new CpuMeter(this.#options.serverPid)).read();
    // In the order of issue: those of the warm-up come first.
    const latenciesNs = this.#recorder
      .completedLatenciesNs()
      .subarray(this.#firstMeasured)
      .toSorted();
    this.#measured = {
      queries,
      seconds: (atNs - this.#measuredSinceNs) / 1e9,
      ...cpu,
      p50Us: percentile(latenciesNs, 0.5) / 1e3,
      p99Us: percentile(latenciesNs, 0.99) / 1e3,
    };
  }
}

function planOf(queryCount: number, sampleCount: number): QueryPlan {
  return {
    queryCount,
    samplesPerQuery: 1,
    sampleIndices: Uint32Array.from({ length: queryCount }, (_, i) => i % sampleCount),
    scheduledDeltaNs: new Float64Array(0),
    periodNs: 0,
    generatedQueryCount: queryCount,
    generatedDurationNs: 0,
  };
}
