import { formatFixed } from '../base/number-format.ts';
import { LoadableSets } from '../schedule/sample-order.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { isBrokenEnd } from './issue/issue-threads.ts';
import { type MeasuredSet, measureSet, writePerformance } from './performance-run.ts';
import { loadSet } from './run-set.ts';
import type { TestContext } from './test-context.ts';
import type { TestOutcome } from './test-outcome.ts';

/**
 * Queries per run above which the search looks for no upper bound: such a SUT is faster than
 * LoadGen.
 */
const BOUNDARY_QUERIES_MAX = 2 ** 25;

/** Result of a search; the rate is null if the search did not finish. */
type PeakPerformance = Pick<TestOutcome, 'performance' | 'peakTargetQps'>;

/**
 * Finds the highest target QPS that keeps Server's latency bound (LoadGen:
 * FindPeakPerformanceMode): raises the rate until a run fails, then bisects. Every run uses the
 * same seeds.
 * @param askNameAgain LoadGen asks the SUT for its name after every run.
 */
export async function findPeakPerformance(
  context: TestContext,
  sutName: string,
  askNameAgain: () => Promise<void>,
): Promise<PeakPerformance> {
  const { logs, effective } = context;
  logs.detail.message('Starting FindPeakPerformance mode');
  if (effective.scenario !== 'Server') {
    logs.detail.error(
      'error_invalid_config',
      'Finding peak performance is only supported in Server scenarios.',
    );
    return { performance: null, peakTargetQps: null };
  }
  return await new PeakFinder(context, sutName, askNameAgain).find();
}

/** One run of the search: its rate and its measurements. */
interface Probe extends MeasuredSet {
  readonly targetQps: number;
}

class PeakFinder {
  readonly #context: TestContext;
  readonly #sutName: string;
  readonly #askNameAgain: () => Promise<void>;
  readonly #setInput;

  constructor(context: TestContext, sutName: string, askNameAgain: () => Promise<void>) {
    const { parts, effective, loadgen } = context;
    this.#context = context;
    this.#sutName = sutName;
    this.#askNameAgain = askNameAgain;
    const set = new LoadableSets('performance', effective, parts.qsl, loadgen).at(0);
    this.#setInput = { phase: 'performance', set, setIndex: 0, setCount: 1 } as const;
  }

  async find(): Promise<PeakPerformance> {
    const { logs, effective } = this.#context;
    const baseQps = effective.targetQps;
    this.#say(`Check validity of the base settings field: ${text(baseQps)}`);
    const base = await this.#probeOnce(baseQps);
    if (base === null || isUnusable(base)) return this.#end(base);
    if (!keepsBound(base)) {
      const { recommendation } = base.outcome.summary.validity.performance;
      logs.detail.error(
        'error_runtime',
        'FindPeakPerformance: Initial lower bound does not satisfy performance constraints, ' +
          `msg: ${recommendation}`,
      );
      return this.#end(base);
    }
    return await this.#widen(base);
  }

  /** Raises the rate until a run misses the bound. */
  async #widen(base: Probe): Promise<PeakPerformance> {
    const { effective, logs } = this.#context;
    let lower = base;
    for (;;) {
      const upperQps = lower.targetQps * (1 + effective.serverFindPeakQpsBoundaryStepSize);
      if (upperQps * (effective.minDurationMs / 1000) > BOUNDARY_QUERIES_MAX) {
        logs.detail.error(
          'error_runtime',
          `FindPeakPerformance: No run missed the latency bound up to ${text(lower.targetQps)} ` +
            'queries per second; the search ends there.',
        );
        return this.#end(lower);
      }
      logs.detail.message(
        `FindBoundaries: Checking fields [${text(lower.targetQps)}, ${text(upperQps)})`,
      );
      const upper = await this.#probeOnce(upperQps);
      if (upper === null || isUnusable(upper)) return this.#end(upper ?? lower);
      if (!keepsBound(upper)) {
        this.#say(`Found boundaries: [${text(lower.targetQps)}, ${text(upperQps)})`);
        return await this.#halve(lower, upperQps);
      }
      lower = upper;
    }
  }

  /** Bisects until both ends agree in the requested decimals. */
  async #halve(passing: Probe, failingQps: number): Promise<PeakPerformance> {
    const { logs, effective, parts } = this.#context;
    const scale = 10 ** effective.serverFindPeakQpsDecimalsOfPrecision;
    let lower = passing;
    let upperQps = failingQps;
    await loadSet(this.#context, this.#setInput.set);
    while (Math.floor(lower.targetQps * scale) + 1 < Math.floor(upperQps * scale)) {
      const middleQps = lower.targetQps + (upperQps - lower.targetQps) / 2;
      logs.detail.message(
        'FindPeakPerformanceBinarySearch: Testing the mid value of bounds ' +
          `[${text(lower.targetQps)}, ${text(upperQps)}): ${text(middleQps)}`,
      );
      const middle = await this.#probe(middleQps, true);
      if (middle === null || isUnusable(middle)) return this.#end(middle ?? lower);
      if (keepsBound(middle)) lower = middle;
      else upperQps = middleQps;
    }
    this.#say(`Found peak performance field: ${text(lower.targetQps)}`);
    const { performance } = this.#end(lower);
    await parts.qsl.unloadSamplesFromRam(this.#setInput.set.sampleIndices);
    return { performance, peakTargetQps: lower.targetQps };
  }

  /**
   * Loads, runs and unloads one set. Null if the test was interrupted, or the SUT broke, before the
   * first query.
   */
  async #probeOnce(targetQps: number): Promise<Probe | null> {
    const probe = await this.#probe(targetQps, false);
    if (probe !== null) {
      await this.#context.parts.qsl.unloadSamplesFromRam(this.#setInput.set.sampleIndices);
    }
    return probe;
  }

  async #probe(targetQps: number, isLoaded: boolean): Promise<Probe | null> {
    const effective: EffectiveSettings = { ...this.#context.effective, targetQps };
    // A probe is never extended: it only checks whether the bound is kept.
    const parts = { ...this.#context.parts, extendsUntilDecided: false };
    const context: TestContext = { ...this.#context, parts, effective };
    const run = await measureSet(context, { ...this.#setInput, isLoaded }, this.#askNameAgain);
    return run === null ? null : { ...run, targetQps };
  }

  /** Writes the results of the last run of the search. */
  #end(last: Probe | null): PeakPerformance {
    if (last === null) return { performance: null, peakTargetQps: null };
    writePerformance(last.context, this.#sutName, last.outcome);
    return { performance: last.outcome, peakTargetQps: null };
  }

  #say(message: string): void {
    this.#context.logs.detail.message(`FindPeakPerformance: ${message}`);
  }
}

function keepsBound({ outcome }: Probe): boolean {
  return outcome.summary.keepsBounds;
}

/** True for a run that the C++ LoadGen would never have finished. */
function isUnusable({ outcome }: Probe): boolean {
  return isBrokenEnd(outcome.endCause) || outcome.counts.lostSamples > 0;
}

function text(targetQps: number): string {
  return formatFixed(targetQps, 6);
}
