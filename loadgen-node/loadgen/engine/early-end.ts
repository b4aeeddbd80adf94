import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';
import type { RecordedColumns } from '../recorder/recording.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import type { EarlyEnd } from './test-context.ts';
import type { SetProgress } from './test-outcome.ts';

/** Time between two looks at a set. */
const LOOK_PERIOD_NS = 100_000_000;

/**
 * Looks at a set ten times a second while it is issued, and ends it as soon as it is decided, or a sample is lost. A look reads
 * the queries since the oldest one that is outstanding: as many as were issued since the last look, and those that wait.
 */
export class EarlyEndWatch {
  readonly #earlyEnd: EarlyEnd;
  readonly #clock: Clock;
  readonly #recorder: SampleRecorder;
  readonly #columns: RecordedColumns;
  readonly #end: () => void;
  #startNs = 0;
  /** All queries below are complete; so many of them are over. */
  #settledQueries = 0;
  #settledOver = 0;
  #planned: PlannedCall | null = null;

  /** @param end Ends the issuing of the set. */
  constructor(earlyEnd: EarlyEnd, clock: Clock, recorder: SampleRecorder, end: () => void) {
    this.#earlyEnd = earlyEnd;
    this.#clock = clock;
    this.#recorder = recorder;
    this.#columns = recorder.columns();
    this.#end = end;
  }

  /** Call when the clock of the set starts. */
  start(): void {
    this.#startNs = this.#clock.nowNs();
    this.#plan();
  }

  stop(): void {
    this.#planned?.cancel();
    this.#planned = null;
  }

  #plan(): void {
    this.#planned = this.#clock.callAt(this.#clock.nowNs() + LOOK_PERIOD_NS, this.#look);
  }

  readonly #look = (): void => {
    const seen = this.#progress(this.#clock.nowNs() - this.#startNs);
    if (this.#recorder.lostSamples > 0 || this.#earlyEnd.isDecided(seen)) this.#end();
    else this.#plan();
  };

  #progress(elapsedNs: number): SetProgress {
    const { issuedQueries } = this.#recorder;
    const { scheduledNs } = this.#columns;
    const { boundNs } = this.#earlyEnd;
    let completed = 0;
    let over = 0;
    let overdue = 0;
    let isSettled = true;
    for (let query = this.#settledQueries; query < issuedQueries; query += 1) {
      const latencyNs = this.#latencyOf(query);
      const isOpen = Number.isNaN(latencyNs);
      const waitedNs = isOpen ? elapsedNs - (scheduledNs[query] as number) : latencyNs;
      const isOver = waitedNs > boundNs ? 1 : 0;
      if (isOpen) isSettled = false;
      if (isSettled) {
        this.#settledQueries += 1;
        this.#settledOver += isOver;
      } else if (isOpen) {
        overdue += isOver;
      } else {
        over += isOver;
        completed += 1;
      }
    }
    return {
      elapsedNs,
      issuedQueries,
      completedQueries: this.#settledQueries + completed,
      overlatencyQueries: this.#settledOver + over,
      overdueQueries: overdue,
    };
  }

  /** That of its last sample; NaN while one is outstanding. */
  #latencyOf(query: number): number {
    const { samplesPerQuery, isCompleted, latencyNs } = this.#columns;
    let largestNs = 0;
    const end = (query + 1) * samplesPerQuery;
    for (let sample = end - samplesPerQuery; sample < end; sample += 1) {
      if (!isCompleted(sample)) return Number.NaN;
      largestNs = Math.max(largestNs, latencyNs[sample] as number);
    }
    return largestNs;
  }
}
