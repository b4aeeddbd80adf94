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

/** Counts of one phase. `issuedSamples = completedSamples + lostSamples`, always. */
export interface PhaseCounts {
  readonly issuedQueries: number;
  /** Queries whose samples all completed. */
  readonly completedQueries: number;
  /** The others: `issuedQueries = completedQueries + lostQueries`. */
  readonly lostQueries: number;
  readonly issuedSamples: number;
  readonly completedSamples: number;
  /** Failed by the SUT, or never answered. */
  readonly lostSamples: number;
  /** Responses that broke the contract: unknown id, second response, not yet issued, too late. */
  readonly contractErrors: number;
}

/** Time in which samples waited and none completed. */
export interface Silence {
  /** Since the start of the first set: when the last sample completed; where none waited then, when the next one was issued. */
  readonly fromNs: number;
  readonly lastedNs: number;
  /** Those that waited in its end. */
  readonly waitingSamples: number;
}

/** Outcome of a phase of either kind. */
export interface PhaseOutcome {
  readonly counts: PhaseCounts;
  readonly endCause: EndCause;
  readonly failures: readonly FailureCount[];
  /** From the start of the first set to the last event, in ns. */
  readonly durationNs: number;
  /** Text of the fault that the SUT reported, if it did. */
  readonly faultText: string | null;
  /** When it reported it, since the start of the first set; null: not, or between two sets. */
  readonly faultAtNs: number | null;
  /** Of a phase that ended by a stall. */
  readonly silence: Silence | null;
}

/** The accuracy phase: all sets, one after the other. */
export interface AccuracyOutcome extends PhaseOutcome {
  /** Sets that were begun, of `setCount`. */
  readonly setsRun: number;
  readonly setCount: number;
}

/** Queries that a run went on with until early stopping decided; LoadGen knows no such thing. */
export interface RunExtension {
  readonly count: number;
  readonly queries: number;
  readonly isDecided: boolean;
}

/** How late LoadGen itself was, and whether that decided the result. */
export interface DispatchFindings {
  /** Issued minus scheduled, by query: how late LoadGen itself was. */
  readonly dispatchLag: LatencyStatistics;
  /**
   * Taken by the SUT's transport - issued, by query: what waited for credit or for the socket. It is part of the
   * latency. Null for a SUT without a transport.
   */
  readonly transportWait: LatencyStatistics | null;
  /**
   * True when LoadGen, not the SUT, decided the result. Server: the verdict flips when latency is taken from the issue, or
   * p99 of the dispatch lag is above 10 % of the latency bound. Elsewhere: LoadGen's process was starved.
   */
  readonly isGeneratorBound: boolean;
  /** Health of LoadGen's process; null without a monitor. */
  readonly health: GeneratorHealth | null;
  /** In words, empty if not generator-bound. */
  readonly generatorBoundReason: string;
  /** The limit that LoadGen was to keep and its own value, with units; null if not generator-bound. */
  readonly generatorLimit: { readonly needed: string; readonly seen: string } | null;
  /** Beside a LoadGen that was too slow: its lag is a small part of the latencies, so that they say something of the SUT. */
  readonly isSutSlow: boolean;
}

/** How a performance run went over its time; Server. */
export interface RunCourse {
  /** Null where the load had no single rate, and where no answer took long. */
  readonly keepingUp: KeepingUp | null;
  /** Null where the bound was kept. */
  readonly late: LateSamples | null;
  /** Where the bound was kept: a standstill that is long beside the latencies. */
  readonly keptStandstill: Standstill | null;
}

/** The performance phase. */
export interface PerformanceOutcome extends PhaseOutcome, DispatchFindings {
  /** Numbers of the sets that this is the outcome of, among all sets of the phase: a search has others. */
  readonly parts: readonly number[];
  readonly summary: PerformanceSummary;
  readonly course: RunCourse;
  /** Server and SingleStream, where queries of one sample follow one another; null elsewhere. */
  readonly firstQueries: FirstQueries | null;
  /** Work of parts of the SUT for others while the test went on; empty also where nobody knows. */
  readonly otherWork: readonly (OtherWork & Pick<SutPart, 'name'>)[];
  /** Queries added by the option `extendsUntilDecided`; null without it. */
  readonly extension: RunExtension | null;
}

/** One reason for INVALID, in plain words. */
export interface VerdictReason {
  /** Stable word: `min-duration`, `min-queries`, `latency-bound`, `early-stopping`, `lost-samples`, ... */
  readonly rule: string;
  /** A whole sentence. */
  readonly text: string;
  /** Value that the rule asks for, with its unit. */
  readonly needed: string;
  /** Value of this run, with its unit. */
  readonly seen: string;
  /** Settings key that changes it (LoadGen's name), or null where no setting does. */
  readonly key: string | null;
}

/** Valid, or not with the reasons. */
export interface Verdict {
  readonly isValid: boolean;
  readonly reasons: readonly VerdictReason[];
}

/** Groups of reasons for INVALID, in the order in which they are looked for. */
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
  /** A few words for the first line of a result; no full stop. */
  readonly text: string;
}

/** A verdict with what is behind its reasons; null where it is VALID, and where its reasons have nothing in common. */
export interface CausedVerdict extends Verdict {
  readonly cause: Cause | null;
}

/** All that a test says about itself. */
export interface TestOutcome {
  readonly sutName: string;
  /** How long the first call of the SUT's name took, in ns. */
  readonly sutNameDurationNs: number;
  readonly effectiveSettings: EffectiveSettings;
  /** Null when the phase was not asked for, or never began. */
  readonly accuracy: AccuracyOutcome | null;
  readonly performance: PerformanceOutcome | null;
  /** FindPeakPerformance: the rate that it found, whose run `performance` is; else null. */
  readonly peakTargetQps: number | null;
  readonly verdicts: {
    /**
     * LoadGen's: its rules to the bit, logged errors ignored. INVALID where the C++ LoadGen would
     * never have ended. An accuracy phase has no rules there: valid if it ended by itself.
     */
    readonly loadgen: Verdict;
    /** longhaul's: LoadGen's, and no contract error, no lost sample, no fault, one and the same name. */
    readonly longhaul: CausedVerdict;
  };
  readonly logFiles: LogFiles;
  /** How the test of another LoadGen ended that issued the queries; null where there was none, or where it never ends. */
  readonly driver: DriverEnd | null;
  /** True after the abort signal: the logs are complete files and say that the run is not. */
  readonly isInterrupted: boolean;
  /** Errors around the test that change no figure: a log that is not whole (`ERR_OUTPUT`), a judge that failed. */
  readonly failures: readonly MlperfError[];
}

/** Step of a test. `name`: asks the SUT for it; `start`: starts it; `judge`: verdict and logs. */
export type TestPhase = 'name' | 'start' | 'accuracy' | 'performance' | 'judge';

/** Queries that early stopping asks for, as far as it is known now. */
export interface StoppingGoal {
  /** Of the whole run, if no more of them are above the bound. */
  readonly neededQueries: number;
  /** Those of earlier parts of the run. */
  readonly earlierQueries: number;
}

/** Goal of a set, known before its first query. */
export interface SetGoal {
  readonly scenario: Scenario;
  /** Queries per second that the schedule asks for in the mean; 0 where the SUT decides how fast it goes. */
  readonly targetQps: number;
  /** Server's latency bound; 0 where there is none. */
  readonly latencyBoundNs: number;
  /** Largest p99 of the dispatch lag before LoadGen counts as too slow; 0: there is no such rule. */
  readonly lagNsMax: number;
  /** Whether the SUT keeps up with the load is judged. */
  readonly hasOneRate: boolean;
  /** Percentile that the verdict looks at, as a fraction. */
  readonly percentile: number;
  readonly samplesPerQuery: number;
  /** Server: when the last query is due, in ns since the start; 0 elsewhere. */
  readonly lastDueNs: number;
  /** Time and queries after which issuing ends by itself; 0 in an accuracy run and in Offline, where all goes out. */
  readonly minDurationNs: number;
  readonly minQueryCount: number;
  /** Limits that end issuing in any case; 0: none. */
  readonly maxDurationNs: number;
  readonly maxQueryCount: number;
  /** Of a run that goes on until early stopping decides; undefined: of no other. */
  readonly decision?: StoppingGoal | undefined;
}

/** A look at a running test, about once a second and at the end of each set. */
export interface RunProgress {
  readonly phase: 'accuracy' | 'performance';
  /** Goal of the set. */
  readonly goal: SetGoal;
  /** Set that is issued, from 0, of `setCount`. */
  readonly setIndex: number;
  readonly setCount: number;
  /** Samples of the sets before, and of all sets of an accuracy run; of a performance run 0 and those of the set. */
  readonly samplesBefore: number;
  readonly samplesOfAll: number;
  /** Since the first query of the set, in ns. */
  readonly elapsedNs: number;
  /** Queries per second that were due since the last look: the goal's, but of arrivals whose rate changes. */
  readonly dueQps: number;
  /** Queries that were generated for the set; a run may end before all are issued. */
  readonly generatedQueries: number;
  readonly issuedQueries: number;
  readonly issuedSamples: number;
  readonly completedSamples: number;
  readonly lostSamples: number;
  /** True in the last look at the set: it has ended. */
  readonly hasEnded: boolean;
}

/** How far a set is, for who may end it early. */
export interface SetProgress {
  /** Since the first query of the set, in ns. */
  readonly elapsedNs: number;
  readonly issuedQueries: number;
  /** Queries that wait for their answer; of a token model those that wait for their first token. */
  readonly waitingQueries: number;
  /** In the order of the bounds. */
  readonly bounds: readonly SeenBound[];
}

/** Queries of which it is known whether they keep a bound, and those that do not. */
export interface SeenBound {
  /** Complete, or outstanding for so long that they are above it. */
  readonly known: number;
  readonly over: number;
}

/** Runs that round v0.5 asks for in Server; the lowest counts (Rule: paper of the round, section 4). */
export const SERVER_RUNS_V05 = 5;

/** Several tests of one SUT as one result. */
interface RepeatedOutcome {
  /** In their order; fewer than asked for when one was interrupted. */
  readonly outcomes: readonly TestOutcome[];
  /** True when all runs were made and longhaul's verdict of each is VALID. */
  readonly isValid: boolean;
  /** The lowest completed samples per second of all runs; null unless they are valid. */
  readonly samplesPerSecond: number | null;
}

/**
 * Makes several runs one after the other and takes the lowest rate.
 * @param runOne Makes a run, from 0, with a SUT and a log folder of its own.
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
