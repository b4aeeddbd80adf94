import { randomUUID } from 'node:crypto';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import type { QuerySampleLibrary } from '../../shared/domain/query-sample-library.ts';
import type { SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import { thisHost } from '../../shared/host/host-facts.ts';
import { monotonicClock } from '../loadgen/engine/monotonic-clock.ts';
import { startTest as runTest } from '../loadgen/engine/start-test.ts';
import type { TestParts as EngineParts } from '../loadgen/engine/test-context.ts';
import type { TestOutcome } from '../loadgen/engine/test-outcome.ts';
import { readCeiling } from '../observe/health/ceiling-file.ts';
import { ProcessMonitor } from '../observe/health/process-monitor.ts';
import { RecordsKeeper } from '../observe/records/records-keeper.ts';
import { refuseUsedOutput, replaceEarlierRun } from '../run/earlier-run.ts';
import { RunJudge } from '../run/judge/judge-run.ts';
import { modelsInWords } from '../run/judge/model-notes.ts';
import { requirePayloadSize } from '../run/judge/payload-size.ts';
import { writeAccuracyFile } from '../run/keep/accuracy-file.ts';
import { figuresOfRun, loadTestOf } from '../run/keep/compose-summary.ts';
import type { RunKeeper } from '../run/keep/keep-run.ts';
import { beginFolder, runAudited } from '../run/perform-run.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { checkSelf } from '../run/self-check.ts';
import { isMet } from '../samples/benchmarks/quality.ts';
import { NetworkSut } from './create-qdl.ts';
import { checkOptions, namingOptions } from './options.ts';
import { OwnSutJudge } from './own-sut-judge.ts';
import { planTest } from './plan-test.ts';
import { foreignSource, type SampleSource, SourcedSamples } from './sample-library.ts';
import { TestEvents, type TestListeners } from './test-events.ts';
import type { AccuracyResult, TestResult } from './test-result.ts';
import { TEST_OPTION_KEYS, type TestOptions } from './test-settings.ts';

/** Everything a test needs. */
export interface TestParts extends TestListeners {
  /** A {@link Qdl}, or a SUT of your own. */
  readonly sut: SystemUnderTest;
  /** Of a QDL: the samples that it was made with. */
  readonly qsl: QuerySampleLibrary;
  readonly settings: TestOptions;
  /** Folder for LoadGen's logs; it is made. One that holds an earlier result is refused. */
  readonly output: string;
  /** True: an earlier result in the folder is replaced. Default: false. */
  readonly force?: boolean;
  /** False: no records in the result and, of a QDL, no file of them; they take 76 bytes per sample, in memory and in the file. Default: true. */
  readonly keepRecords?: boolean;
}

/** A library prints nothing. */
const SILENT = { line: (): void => {} };

/** Longest wait for outstanding samples once the SUT broke. */
const DRAIN_TIMEOUT_NS = 2e9;

/**
 * Runs one test as `longhaul run` does: accuracy, performance, or both. Connecting, loading and logs are untimed.
 * @throws MlperfError when something is wrong before the first query (settings, nodes, data), or the logs cannot be written;
 *   what the SUT's `name` and `start` and the library throw, and what a listener threw.
 */
export async function startTest(parts: TestParts): Promise<TestResult> {
  const { sut, qsl, output } = parts;
  const said = checkOptions(parts.settings, TEST_OPTION_KEYS, 'settings');
  const events = new TestEvents(parts);
  const source = qsl instanceof SourcedSamples ? qsl.source : foreignSource(qsl);
  const ofSut = sut instanceof NetworkSut ? sut.options : {};
  requireOneBenchmark(said.benchmark, ofSut.benchmark ?? source.options.benchmark);
  const { keepRecords = true } = parts;
  const plan = {
    ...planTest({ benchmark: 'custom', ...source.options, ...ofSut, ...said, output }),
    keepsRecords: keepRecords,
  };
  const test = { parts, plan, source, events };
  namingOptions(() => refuseUsedOutput(output, parts.force === true));
  if (!(sut instanceof NetworkSut)) return await measureOwn(test);
  if (qsl !== (sut.samples as unknown)) {
    const message =
      'startTest: qsl is not the library that createQdl was given: its payloads would not be loaded';
    throw new MlperfError('ERR_CONFIG_INVALID', message);
  }
  return await measureNodes(test, sut);
}

function requireOneBenchmark(said: unknown, own: unknown): void {
  if (said === undefined || own === undefined || said === own) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `settings: benchmark: "${String(said)}" is not that of the samples and the SUT, "${String(own)}"`,
  );
}

/** A test that was planned. */
interface PlannedTest {
  readonly parts: TestParts;
  readonly plan: RunPlan;
  readonly source: SampleSource;
  readonly events: TestEvents;
}

/** A SUT in this process: LoadGen's logs, and records in memory. */
async function measureOwn(test: PlannedTest): Promise<TestResult> {
  const { plan, source, events } = test;
  const judge = new OwnSutJudge(plan, source);
  const { rules, settings, keepsRecords } = plan;
  const startedAt = new Date().toISOString();
  replaceEarlierRun(plan.output, SILENT);
  const keeper = await RecordsKeeper.open(null, () => ({
    ...{ longhaul: packageVersion(), runId: randomUUID(), startedAt },
    ...{ benchmark: rules.key, scenario: settings.scenario, nodes: [] },
  }));
  const outcome = await runTest({
    ...engineParts(test),
    selfCheck: checkSelf(),
    judge: judge.judge,
    generatorMonitor: new ProcessMonitor(null),
    ...(keepsRecords && { keepRecords: keeper.keep }),
  });
  events.rethrow();
  const { records } = await keeper.end(outcome.performance?.parts ?? []);
  const { figures, thresholds } = figuresOfRun({ outcome, plan }, records);
  return resultOf(plan, outcome, {
    ...{ figures, thresholds, records, notes: judge.notes },
    loadTest: loadTestOf({ plan }, keepsRecords ? records : null),
    ...{ accuracy: accuracyOf(judge), audit: null, summary: null, problem: null },
  });
}

/** SUT nodes: all that `longhaul run` leaves. */
async function measureNodes(named: PlannedTest, sut: NetworkSut): Promise<TestResult> {
  const { source, events, parts } = named;
  const begun = await sut.begin(named.plan, (work) => events.orAbort(work));
  const { plan, library, given } = begun;
  const { check: dataSetCheck } = source;
  const dataSet = given?.readable(source.dataSet) ?? source.dataSet;
  const selfCheck = checkSelf();
  const about = { plan, dataSet, dataSetCheck };
  const judge = new RunJudge({ ...about, qdl: library, selfCheck, host: thisHost });
  let keeper: RunKeeper;
  try {
    await events.orAbort(library.connect(events.onWait));
    if (parts.qsl instanceof SourcedSamples) await requirePayloadSize(plan, dataSet, library);
    keeper = await beginFolder(plan, library, SILENT);
  } catch (error) {
    await sut.stop(); // Later on the engine sees to that.
    events.rethrow();
    throw error;
  }
  const testParts = {
    ...engineParts({ ...named, plan }),
    selfCheck,
    judge: judge.judge,
    generatorMonitor: new ProcessMonitor(() => library.backPressure),
    keepRecords: keeper.records.keep,
  };
  const outcome = await runAudited(testParts, judge, keeper);
  const audit = await judge.audit();
  const { accuracy, quality, notes, standInMarks } = judge;
  writeAccuracyFile(plan.output, accuracy.report, standInMarks);
  const models = modelsInWords(audit.nodes);
  const { nameCalls } = audit;
  const report = { plan, dataSetCheck, models, quality, nameCalls, outcome, accuracy, notes };
  const kept = await keeper.end({ report, audit, ceiling: readCeiling(plan.cacheFolder) });
  events.rethrow();
  const { summary, records, problem } = kept;
  return resultOf(plan, outcome, {
    ...{ figures: summary.figures, thresholds: summary.thresholds, summary, problem, audit, notes },
    loadTest: loadTestOf({ plan }, records),
    records: plan.keepsRecords ? records : null,
    accuracy: accuracyOf(judge),
  });
}

/** What every test gives to the engine. */
function engineParts({
  parts,
  plan,
  events,
}: PlannedTest): Omit<EngineParts, 'judge' | 'keepRecords' | 'generatorMonitor'> {
  return {
    sut: parts.sut,
    qsl: parts.qsl,
    settings: plan.settings,
    loadgen: plan.loadgen,
    configEvents: plan.configEvents,
    usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
    clock: monotonicClock,
    log: { ...plan.log, outdir: plan.output },
    extendsUntilDecided: plan.extendsUntilDecided,
    arrivals: plan.arrivals,
    stallTimeoutNs: plan.stallTimeoutNs,
    drainTimeoutNs: plan.dispatch.onNodeLoss === 'drain' ? plan.stallTimeoutNs : DRAIN_TIMEOUT_NS,
    generatorLagShareMax: plan.generatorLagShareMax,
    ...events.testParts(),
  };
}

type FromOutcome =
  | 'result'
  | 'verdict'
  | 'loadgenVerdict'
  | 'peakTargetQps'
  | 'meetsThresholds'
  | 'output'
  | 'outcome';

function resultOf(
  { output }: RunPlan,
  outcome: TestOutcome,
  others: Omit<TestResult, FromOutcome>,
): TestResult {
  const { verdicts, isInterrupted, peakTargetQps } = outcome;
  const { longhaul: verdict, loadgen: loadgenVerdict } = verdicts;
  const judged = verdict.isValid ? 'VALID' : 'INVALID';
  return {
    result: isInterrupted ? 'INTERRUPTED' : judged,
    ...{ verdict, loadgenVerdict, peakTargetQps, output, outcome },
    meetsThresholds: others.thresholds.every(({ isMet: met }) => met),
    ...others,
  };
}

function accuracyOf({ accuracy, quality }: RunJudge | OwnSutJudge): AccuracyResult | null {
  const { report } = accuracy;
  if (report === undefined) return null;
  const { metric, value } = report;
  return { metric, value, target: quality.target, isMet: isMet(report, quality) };
}
