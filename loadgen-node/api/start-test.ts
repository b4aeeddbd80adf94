import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import type { QuerySampleLibrary, SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import { refuseUsedOutput } from '../run/keep/earlier-run.ts';
import { meetsThresholds, type RunReport } from '../run/keep/run-report.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';
import { networkSut, programSut, type RunSut } from '../run/run-sut.ts';
import { measureSut, type RunSamples } from '../run/session.ts';
import { isMet } from '../samples/benchmarks/score-each.ts';
import { NetworkSut } from './create-qdl.ts';
import { checkOptions, namingOptions, planTest } from './options.ts';
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

/**
 * Runs one test as `longhaul run` does: accuracy, performance, or both. Connecting, loading and logs are untimed.
 * @throws MlperfError when something is wrong before the first query (settings, nodes, data), or the logs cannot be written;
 *   what the SUT's `name` and `start` and the library throw, and what a listener threw.
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
  const events = new TestEvents(parts);
  const test = { parts, plan, source, events };
  try {
    return sut instanceof NetworkSut ? await measureNodes(test, sut) : await measureOwn(test);
  } finally {
    events.close();
  }
}

function requireOneBenchmark(said: unknown, own: unknown): void {
  if (said === undefined || own === undefined || said === own) return;
  throw configInvalid(
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
async function measureOwn({ parts, plan, source, events }: PlannedTest): Promise<TestResult> {
  const samples = { dataSet: source.dataSet, dataSetCheck: source.check, store: parts.qsl };
  return await measure(plan, samples, programSut(parts.sut, samples), events);
}

/** SUT nodes: all that `longhaul run` leaves. */
async function measureNodes(
  { parts, plan: named, source, events }: PlannedTest,
  sut: NetworkSut,
): Promise<TestResult> {
  const { plan, library: qdl, given } = await sut.begin(named, events);
  const dataSet = given?.readable(source.dataSet) ?? source.dataSet;
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
    return resultOf(await measureSut(plan, samples, sut, events, events.observers()));
  } finally {
    events.rethrow(); // It weighs more than what it led to.
  }
}

function resultOf(report: RunReport): TestResult {
  const { plan, outcome, records, figures, thresholds, loadTest, audit, notes } = report;
  const { verdicts, isInterrupted, peakTargetQps } = outcome;
  const { longhaul: verdict, loadgen: loadgenVerdict } = verdicts;
  const judged = verdict.isValid ? 'VALID' : 'INVALID';
  return {
    result: isInterrupted ? 'INTERRUPTED' : judged,
    ...{ verdict, loadgenVerdict, peakTargetQps, output: plan.output, outcome },
    meetsThresholds: meetsThresholds(report),
    ...{ figures, thresholds, loadTest, audit, notes },
    ...{ summary: report.summary, problem: report.problem },
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
