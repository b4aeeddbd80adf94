import { configInvalid, MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { Scenario } from '../../shared/domain/scenario.ts';
import type { QuerySampleLibrary, SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import type { Round } from '../../shared/rules/rounds/rounds.ts';
import type {
  CausedVerdict,
  RunProgress,
  TestOutcome,
  TestPhase,
  Verdict,
} from '../loadgen/engine/test-outcome.ts';
import type { ThresholdResult } from '../observe/figures/condition.ts';
import type { RunFigures } from '../observe/figures/figure-names.ts';
import type { NetworkAudit } from '../observe/network-audit.ts';
import type { SampleRecords } from '../observe/records/sample-records.ts';
import type { LoadTest, RunSummary } from '../observe/summary/run-summary.ts';
import { refuseUsedOutput } from '../run/keep/earlier-run.ts';
import { meetsThresholds, type RunReport } from '../run/keep/run-report.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { networkSut, programSut, type RunSut } from '../run/run-sut.ts';
import { measureSut, type RunSamples } from '../run/session.ts';
import { isMet } from '../samples/benchmarks/score-each.ts';
import { readableDataSet } from '../samples/data-set/wire-data-set.ts';
import { NetworkSut } from './create-qdl.ts';
import { checkOptions, namingOptions, planTest } from './options.ts';
import { foreignSource, type SampleSource, SourcedSamples } from './sample-library.ts';

/** Everything a test needs. */
export interface TestParts extends TestListeners {
  /** A {@link Qdl}, or your own SUT. */
  readonly sut: SystemUnderTest;
  /** With a QDL: the samples that it was made with. */
  readonly qsl: QuerySampleLibrary;
  readonly settings: TestOptions;
  /** Folder for LoadGen's logs; created if missing. A folder with an earlier result is refused. */
  readonly output: string;
  /** True: replaces an earlier result in the folder. Default: false. */
  readonly force?: boolean;
  /**
   * False: no records in the result and, with a QDL, no records file; they take 76 bytes per
   * sample, in memory and in the file. Default: true.
   */
  readonly keepRecords?: boolean;
}

/**
 * Runs one test like `longhaul run`: accuracy, performance, or both. Connecting, loading and logs
 * are untimed.
 * @throws MlperfError for problems before the first query (settings, nodes, data), or if the logs
 *   cannot be written; errors of the SUT's `name` and `start`, of the library, and of a listener.
 */
export async function startTest(parts: TestParts): Promise<TestResult> {
  const { sut, qsl, output } = parts;
  const said = checkOptions(parts.settings, TEST_OPTION_KEYS, 'settings');
  const source = qsl instanceof SourcedSamples ? qsl.source : foreignSource(qsl);
  const ofSut = sut instanceof NetworkSut ? sut.options : {};
  requireOneBenchmark(said.benchmark, ofSut.benchmark ?? source.options.benchmark);
  const { keepRecords = true } = parts;
  const plan = {
    ...planTest({ benchmark: 'custom', ...source.options, ...ofSut, ...said, output }),
    keepsRecords: keepRecords,
  };
  namingOptions(() => refuseUsedOutput(output, parts.force === true));
  if (sut instanceof NetworkSut && qsl !== (sut.samples as unknown)) {
    const message =
      'startTest: qsl is not the library that createQdl was given: its payloads would not be loaded';
    throw configInvalid(message);
  }
  const events = testEvents(parts);
  const test = { parts, plan, source, events };
  try {
    if (sut instanceof NetworkSut) return await measureNodes(test, sut);
    // An in-process SUT: LoadGen's logs, and records in memory.
    const samples = { dataSet: source.dataSet, dataSetCheck: source.check, store: qsl };
    return await measure(plan, samples, programSut(sut, samples), events);
  } finally {
    events.close();
  }
}

function requireOneBenchmark(said: unknown, own: unknown): void {
  if (said === undefined || own === undefined || said === own) return;
  throw configInvalid(
    `settings: benchmark: "${String(said)}" differs from the benchmark of the samples and the SUT, "${String(own)}"`,
  );
}

/** A test that was planned. */
interface PlannedTest {
  readonly parts: TestParts;
  readonly plan: RunPlan;
  readonly source: SampleSource;
  readonly events: TestEvents;
}

/** Measures SUT nodes; writes all files that `longhaul run` writes. */
async function measureNodes(
  { parts, plan: named, source, events }: PlannedTest,
  sut: NetworkSut,
): Promise<TestResult> {
  const { plan, library: qdl, given } = await sut.begin(named, events);
  const { responseTensor } = plan.rules;
  const dataSet =
    given === undefined
      ? source.dataSet
      : readableDataSet(source.dataSet, given.responseClass, responseTensor);
  const samples = { dataSet, dataSetCheck: source.check, store: parts.qsl };
  const checksPayloads = parts.qsl instanceof SourcedSamples;
  const { onWait } = events;
  const nodes = networkSut(samples, plan, { qdl, sut, onWait, checksPayloads });
  return await measure(plan, samples, nodes, events);
}

async function measure(
  plan: RunPlan,
  samples: RunSamples,
  sut: RunSut,
  events: TestEvents,
): Promise<TestResult> {
  try {
    return resultOf(await measureSut(plan, samples, sut, events, events.observers));
  } finally {
    events.rethrow(); // The listener's error takes precedence over its consequences.
  }
}

function resultOf(report: RunReport): TestResult {
  const { plan, outcome, records, figures, thresholds, loadTest, audit, notes } = report;
  const { verdicts, isInterrupted, peakTargetQps } = outcome;
  const { longhaul: verdict, loadgen: loadgenVerdict } = verdicts;
  const judged = verdict.isValid ? 'VALID' : 'INVALID';
  return {
    result: isInterrupted ? 'INTERRUPTED' : judged,
    verdict,
    loadgenVerdict,
    peakTargetQps,
    output: plan.output,
    outcome,
    meetsThresholds: meetsThresholds(report),
    figures,
    thresholds,
    loadTest,
    audit,
    notes,
    summary: report.summary,
    problem: report.problems[0] ?? null,
    records: plan.keepsRecords ? records : null,
    accuracy: accuracyOf(report),
  };
}

function accuracyOf({ accuracy, quality }: RunReport): AccuracyResult | null {
  const { report } = accuracy;
  if (report === undefined) return null;
  const { metric, value } = report;
  return { metric, value, target: quality.target, isMet: isMet(report, quality) };
}

/**
 * Callbacks during a test. An error thrown by one ends the test, and `startTest` rejects with it.
 */
export interface TestListeners {
  /** Called at the beginning of each phase, untimed. */
  readonly onPhase?: (phase: TestPhase) => void;
  /** Called about once a second while queries are issued. Timed, so keep it short. */
  readonly onProgress?: (progress: RunProgress) => void;
  /** Called while a SUT node is not ready yet. */
  readonly onWait?: (address: string, what: string) => void;
  /**
   * Ends the test: no more queries are issued, the logs are written and record it, the result is
   * INTERRUPTED.
   */
  readonly signal?: AbortSignal;
}

/**
 * The calling program as the host of a run: an error thrown by a listener ends the test. The
 * library prints nothing.
 */
function testEvents({ signal, onPhase, onProgress, onWait }: TestListeners) {
  const controller = new AbortController();
  /** Removes the listener from the program's signal, which may be used for many tests. */
  const closed = new AbortController();
  let thrown: { readonly error: unknown } | undefined;
  const abort = (why: string): void => controller.abort(new MlperfError('ERR_INTERRUPTED', why));
  const onAbort = (): void => abort('interrupted before the test began');
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true, signal: closed.signal });
  const call = (listener: () => void): void => {
    try {
      listener();
    } catch (error) {
      thrown ??= { error };
      abort('a listener of the test threw');
    }
  };
  return {
    signal: controller.signal,
    report: (): void => {},
    observers: {
      onPhase: (phase: TestPhase) => call(() => onPhase?.(phase)),
      onProgress: (progress: RunProgress) => call(() => onProgress?.(progress)),
    },
    onWait: (address: string, what: string) => call(() => onWait?.(address, what)),
    /** @throws the first error of a listener. */
    rethrow: (): void => {
      if (thrown !== undefined) throw thrown.error;
    },
    close: (): void => closed.abort(),
  };
}

type TestEvents = ReturnType<typeof testEvents>;

/** Accuracy against its target, both from 0 to 1. */
export interface AccuracyResult {
  /** Name, such as `top-1`. */
  readonly metric: string;
  readonly value: number;
  readonly target: number;
  readonly isMet: boolean;
}

/** Result of a test. INVALID is a result, not an error. */
export interface TestResult {
  readonly result: 'VALID' | 'INVALID' | 'INTERRUPTED';
  /** longhaul's verdict. */
  readonly verdict: CausedVerdict;
  /** LoadGen's own verdict, which ignores logged errors. */
  readonly loadgenVerdict: Verdict;
  /**
   * Figures of the performance phase by name; times in ns. Figures that the test lacks are absent.
   */
  readonly figures: RunFigures;
  /** Results of the steps of `arrivals`; null with LoadGen's arrivals. */
  readonly loadTest: LoadTest | null;
  /** Results of thresholds, in the order of the settings; separate from the verdicts. */
  readonly thresholds: readonly ThresholdResult[];
  /** True also without thresholds. */
  readonly meetsThresholds: boolean;
  /** Null without an accuracy phase, or if it has no accuracy. */
  readonly accuracy: AccuracyResult | null;
  /** Mode `find-peak`: rate found by LoadGen's own search. */
  readonly peakTargetQps: number | null;
  /**
   * One row per sample of the performance phase; null without one, after a search, or if records
   * were not kept.
   */
  readonly records: SampleRecords | null;
  /** Rules of the Network division; null for a SUT that is not a QDL. */
  readonly audit: NetworkAudit | null;
  /** Content of longhaul_summary.json; null for a SUT that is not a QDL. */
  readonly summary: RunSummary | null;
  /**
   * Why a log, the records or the summary could not be written; null if all were. Verdict and
   * figures are complete anyway.
   */
  readonly problem: MlperfError | null;
  /** Notes and marks that every display of the result must show. */
  readonly notes: readonly string[];
  /** Folder of the logs. */
  readonly output: string;
  /** Everything that LoadGen knows of the test. Less stable than the other fields. */
  readonly outcome: TestOutcome;
}

/**
 * Settings of a test: the keys, forms and defaults of a configuration file's section `run`. Times
 * are texts with their unit (`10s`, `15ms`), percentiles are percentages.
 */
export interface TestOptions {
  /** Benchmark whose rules apply. Default: that of the QDL or of the samples, else `custom`. */
  readonly benchmark?: string;
  /** Default: `Server`. */
  readonly scenario?: Scenario;
  /** Default: `performance`. */
  readonly mode?: 'performance' | 'accuracy' | 'submission' | 'find-peak';
  /** Queries per second; Server and Offline need it. */
  readonly targetQps?: number;
  /**
   * Server, with nodes only in `division: 'open'`: `constant`, `burst:SIZE[@PERIOD]`,
   * `step:RATE@DURATION,...` or `trace:FILE`. A load test, not an MLPerf scenario. Default:
   * `poisson`, LoadGen's own.
   */
  readonly arrivals?: string;
  /**
   * Server: number of concurrent queries; each completion issues the next (closed loop). A load
   * test, not an MLPerf scenario. Default: none.
   */
  readonly concurrency?: number;
  /** Server: latency bound. Default: the benchmark's. */
  readonly targetLatency?: string;
  /** 0 to 100. Default: the benchmark's, or LoadGen's. */
  readonly targetLatencyPercentile?: number;
  /** MultiStream. Default: 8. */
  readonly samplesPerQuery?: number;
  /** Default: `10s`. */
  readonly minDuration?: string;
  readonly maxDuration?: string;
  /** Default: 100. */
  readonly minQueryCount?: number;
  readonly maxQueryCount?: number;
  /**
   * Server: largest p99 of LoadGen's own lag, in percent of the bound, before the run is INVALID.
   * Default: 10.
   */
  readonly generatorLagMax?: number;
  /**
   * Round whose LoadGen and mlperf.conf apply. Default: v4.1's LoadGen and seeds, and the defaults
   * listed here.
   */
  readonly round?: Round;
  /** Paths of LoadGen's own files. */
  readonly mlperfConf?: string;
  readonly userConf?: string;
  /**
   * True: a performance run is extended until early stopping decides. Default: true without
   * `minDuration`, `maxDuration`, counts, `round` and files of LoadGen, for at most 10 min.
   */
  readonly extendUntilDecided?: boolean;
  /** True: writes mlperf_log_trace.json. */
  readonly trace?: boolean;
  /** The test ends if no sample completes for this long. Default: `60s`. */
  readonly stallTimeout?: string;
  /** Conditions on figures: `['p99 < 15ms', 'errors == 0']`. */
  readonly thresholds?: readonly string[];
}

/** Keys of {@link TestOptions}. */
const TEST_OPTION_KEYS: readonly (keyof TestOptions)[] = [
  'benchmark',
  'scenario',
  'mode',
  'targetQps',
  'arrivals',
  'concurrency',
  'targetLatency',
  'targetLatencyPercentile',
  'samplesPerQuery',
  'minDuration',
  'maxDuration',
  'minQueryCount',
  'maxQueryCount',
  'generatorLagMax',
  'round',
  'mlperfConf',
  'userConf',
  'extendUntilDecided',
  'trace',
  'stallTimeout',
  'thresholds',
];
