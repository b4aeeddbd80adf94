import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { OtherWork, SutPart } from '../../../shared/domain/system-under-test.ts';
import type { LogFiles } from '../logs/write/test-logs.ts';
import type { FirstQueries } from '../results/first-queries.ts';
import type { GeneratorHealth } from '../results/generator-health.ts';
import type { LatencyStatistics } from '../results/latency-statistics.ts';
import type { KeepingUp } from '../results/queue-growth.ts';
import type { LateSamples, Standstill } from '../results/standstill.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { DriverEnd } from './issue/issue-driver.ts';
import type { EndCause } from './issue/issue-threads.ts';
import type { FailureCount } from './response-sink.ts';

/** Counts of one phase; always `issuedSamples = completedSamples + lostSamples`. */
export interface PhaseCounts {
  readonly issuedQueries: number;
  /** Queries with all samples completed. */
  readonly completedQueries: number;
  /** Other queries: `issuedQueries = completedQueries + lostQueries`. */
  readonly lostQueries: number;
  readonly issuedSamples: number;
  readonly completedSamples: number;
  /** Samples that the SUT failed or never answered. */
  readonly lostSamples: number;
  /** Responses that broke the contract: unknown id, second response, not yet issued, too late. */
  readonly contractErrors: number;
}

/** Time in which samples were waiting and none completed. */
export interface Silence {
  /**
   * Begin, in ns since the start of the first set: the last completion, or the next issue if no
   * sample was waiting then.
   */
  readonly fromNs: number;
  readonly lastedNs: number;
  /** Samples waiting at its end. */
  readonly waitingSamples: number;
}

/** Outcome of a phase of either kind. */
export interface PhaseOutcome {
  readonly counts: PhaseCounts;
  readonly endCause: EndCause;
  readonly failures: readonly FailureCount[];
  /** From the start of the first set to the last event, in ns. */
  readonly durationNs: number;
  /** Text of the fault that the SUT reported; null if none. */
  readonly faultText: string | null;
  /**
   * Time of that report, since the start of the first set; null if there was none, or if it came
   * between two sets.
   */
  readonly faultAtNs: number | null;
  /** Set for a phase that ended by a stall. */
  readonly silence: Silence | null;
}

/** The accuracy phase: all sets, one after the other. */
export interface AccuracyOutcome extends PhaseOutcome {
  /** Sets that were started, out of `setCount`. */
  readonly setsRun: number;
  readonly setCount: number;
}

/** Queries added to a run until early stopping decided; not a feature of LoadGen. */
export interface RunExtension {
  readonly count: number;
  readonly queries: number;
  readonly isDecided: boolean;
}

/** How late LoadGen was, and whether that decided the result. */
export interface DispatchFindings {
  /** Issued minus scheduled, by query: LoadGen's own lateness. */
  readonly dispatchLag: LatencyStatistics;
  /**
   * Taken by the SUT's transport - issued, by query: waiting for credit or for the socket. Part of
   * the latency. Null if the SUT has no transport.
   */
  readonly transportWait: LatencyStatistics | null;
  /**
   * True when LoadGen, not the SUT, decided the result. Server: the verdict flips when latency is
   * taken from the issue, or p99 of the dispatch lag is above 10 % of the latency bound. Elsewhere:
   * LoadGen's process was starved.
   */
  readonly isGeneratorBound: boolean;
  /** Health of LoadGen's process; null without a monitor. */
  readonly health: GeneratorHealth | null;
  /** Text; empty if not generator-bound. */
  readonly generatorBoundReason: string;
  /** The limit for LoadGen and the measured value, with units; null if not generator-bound. */
  readonly generatorLimit: { readonly needed: string; readonly seen: string } | null;
  /**
   * True if the latencies still describe the SUT although LoadGen was too slow: its lag is a small
   * part of them.
   */
  readonly isSutSlow: boolean;
}

/** How a Server run developed over time. */
export interface RunCourse {
  /** Null if the load had no single rate, or if no response took long. */
  readonly keepingUp: KeepingUp | null;
  /** Null if the bound was kept. */
  readonly late: LateSamples | null;
  /** If the bound was kept: a standstill that is long compared with the latencies. */
  readonly keptStandstill: Standstill | null;
}

/** The performance phase. */
export interface PerformanceOutcome extends PhaseOutcome, DispatchFindings {
  /** Numbers of this outcome's sets among all sets of the phase: a search has others. */
  readonly parts: readonly number[];
  readonly summary: PerformanceSummary;
  readonly course: RunCourse;
  /** Server and SingleStream, with one sample per query; null elsewhere. */
  readonly firstQueries: FirstQueries | null;
  /** Work of SUT parts for other clients during the test; also empty if unknown. */
  readonly otherWork: readonly (OtherWork & Pick<SutPart, 'name'>)[];
  /** Queries added by the option `extendsUntilDecided`; null without it. */
  readonly extension: RunExtension | null;
}

/** One reason for INVALID, in plain words. */
export interface VerdictReason {
  /**
   * Stable identifier: `min-duration`, `min-queries`, `latency-bound`, `early-stopping`,
   * `lost-samples`, ...
   */
  readonly rule: string;
  /** A whole sentence. */
  readonly text: string;
  /** Required value, with its unit. */
  readonly needed: string;
  /** Measured value, with its unit. */
  readonly seen: string;
  /** Settings key that changes it (LoadGen's name); null if no setting does. */
  readonly key: string | null;
}

/** VALID, or INVALID with its reasons. */
export interface Verdict {
  readonly isValid: boolean;
  readonly reasons: readonly VerdictReason[];
}

/** Groups of reasons for INVALID, in the order of the search. */
export const CAUSE_KINDS = [
  'sut-broke',
  'errors',
  'loadgen',
  'shared',
  'standstill',
  'queue',
  'disturbed',
  'load',
] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

/** Why a performance run is INVALID. */
export interface Cause {
  readonly kind: CauseKind;
  /** Short text for the first line of a result; no full stop. */
  readonly text: string;
}

/**
 * A verdict with the cause of its reasons; null if it is VALID, or if the reasons have no common
 * cause.
 */
export interface CausedVerdict extends Verdict {
  readonly cause: Cause | null;
}

/** Everything that a test reports. */
export interface TestOutcome {
  readonly sutName: string;
  /** Duration of the first query of the SUT's name, in ns. */
  readonly sutNameDurationNs: number;
  readonly effectiveSettings: EffectiveSettings;
  /** Null if the phase was not requested, or never began. */
  readonly accuracy: AccuracyOutcome | null;
  readonly performance: PerformanceOutcome | null;
  /** FindPeakPerformance: the rate found, with `performance` as its run; else null. */
  readonly peakTargetQps: number | null;
  readonly verdicts: {
    /**
     * LoadGen's verdict: its rules exactly, ignoring logged errors. INVALID if the C++ LoadGen
     * would never have ended. LoadGen has no rules for an accuracy phase: it is valid if it ended
     * by itself.
     */
    readonly loadgen: Verdict;
    /**
     * longhaul's verdict: LoadGen's, plus no contract error, no lost sample, no fault, and an
     * unchanged SUT name.
     */
    readonly longhaul: CausedVerdict;
  };
  readonly logFiles: LogFiles;
  /** End of the other LoadGen's test; null without one, or if it never ends. */
  readonly driver: DriverEnd | null;
  /** True after the abort signal: the logs are complete files and say that the run is not. */
  readonly isInterrupted: boolean;
  /**
   * Errors outside the measurement that change no figure: an incomplete log (`ERR_OUTPUT`), a judge
   * that failed.
   */
  readonly failures: readonly MlperfError[];
}

/**
 * Step of a test. `name`: asks the SUT for its name; `start`: starts the SUT; `judge`: verdict and
 * logs.
 */
export type TestPhase = 'name' | 'start' | 'accuracy' | 'performance' | 'judge';

/** Queries that early stopping needs, as known so far. */
export interface StoppingGoal {
  /** Needed queries of the whole run, if no more are above the bound. */
  readonly neededQueries: number;
  /** Queries of earlier parts of the run. */
  readonly earlierQueries: number;
}

/** Goal of a set, known before its first query. */
export interface SetGoal {
  readonly scenario: Scenario;
  /** Mean queries per second of the schedule; 0 if the SUT sets the pace. */
  readonly targetQps: number;
  /** Server's latency bound; 0 without one. */
  readonly latencyBoundNs: number;
  /**
   * Largest p99 of the dispatch lag before LoadGen counts as too slow; 0 if there is no such limit.
   */
  readonly lagNsMax: number;
  /** True if the run is judged on whether the SUT keeps up with the load. */
  readonly hasOneRate: boolean;
  /** Percentile that the verdict uses, as a fraction. */
  readonly percentile: number;
  readonly samplesPerQuery: number;
  /** Server: when the last query is due, in ns since the start; 0 elsewhere. */
  readonly lastDueNs: number;
  /**
   * Time and queries after which issuing ends by itself; 0 in an accuracy run and in Offline, which
   * issue everything.
   */
  readonly minDurationNs: number;
  readonly minQueryCount: number;
  /** Limits that always end issuing; 0 = no limit. */
  readonly maxDurationNs: number;
  readonly maxQueryCount: number;
  /** Goal of a run that is extended until early stopping decides; else undefined. */
  readonly decision?: StoppingGoal | undefined;
}

/** State of a running test, about once a second and at the end of each set. */
export interface RunProgress {
  readonly phase: 'accuracy' | 'performance';
  /** Goal of the set. */
  readonly goal: SetGoal;
  /** Set being issued, from 0, out of `setCount`. */
  readonly setIndex: number;
  readonly setCount: number;
  /** Samples before this set, and the total; for a performance run 0 and the samples of the set. */
  readonly samplesBefore: number;
  readonly samplesOfAll: number;
  /** In ns, since the first query of the set. */
  readonly elapsedNs: number;
  /**
   * Due queries per second since the last report: the goal's rate, unless arrivals change their
   * rate.
   */
  readonly dueQps: number;
  /** Queries that were generated for the set; a run may end before all are issued. */
  readonly generatedQueries: number;
  readonly issuedQueries: number;
  readonly issuedSamples: number;
  readonly completedSamples: number;
  readonly lostSamples: number;
  /** True in the last report of the set. */
  readonly hasEnded: boolean;
}

/** Progress of a set, for deciding whether to end it early. */
export interface SetProgress {
  /** In ns, since the first query of the set. */
  readonly elapsedNs: number;
  readonly issuedQueries: number;
  /** Queries waiting for their response; for a token model, for their first token. */
  readonly waitingQueries: number;
  /** In the order of `EarlyEnd.bounds`. */
  readonly bounds: readonly SeenBound[];
}

/** Queries decided for a bound, and those that miss it. */
export interface SeenBound {
  /** Complete, or outstanding for longer than the bound. */
  readonly known: number;
  readonly over: number;
}

/**
 * Number of runs that round v0.5 requires in Server; the lowest counts (Rule: paper of the round,
 * section 4).
 */
export const SERVER_RUNS_V05 = 5;

/** Several tests of one SUT, combined into one result. */
interface RepeatedOutcome {
  /** In order of the runs; fewer than requested after an interrupt. */
  readonly outcomes: readonly TestOutcome[];
  /** True when all runs were made and longhaul's verdict of each is VALID. */
  readonly isValid: boolean;
  /** Lowest completed samples per second of all runs; null unless all are valid. */
  readonly samplesPerSecond: number | null;
}

/**
 * Makes several runs one after the other and takes the lowest rate.
 * @param runOne Makes one run (numbered from 0) with its own SUT and log folder.
 * @throws whatever `runOne` does.
 */
export async function repeatTest(
  runCount: number,
  runOne: (run: number) => Promise<TestOutcome>,
): Promise<RepeatedOutcome> {
  const outcomes: TestOutcome[] = [];
  for (let run = 0; run < runCount; run += 1) {
    const outcome = await runOne(run);
    outcomes.push(outcome);
    if (outcome.isInterrupted) break;
  }
  const isValid =
    outcomes.length === runCount && outcomes.every(({ verdicts }) => verdicts.longhaul.isValid);
  const rates = outcomes.map(({ performance }) => performance?.summary.rates.completed ?? 0);
  return { outcomes, isValid, samplesPerSecond: isValid ? Math.min(...rates) : null };
}
