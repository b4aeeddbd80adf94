import { monotonicClock } from '../../shared/clock/monotonic-clock.ts';
import type { QuerySampleLibrary } from '../../shared/domain/query-sample-library.ts';
import type { SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { thisHost } from '../../shared/process/host-facts.ts';
import { writeAudit } from '../audit/audit-file.ts';
import type { NetworkAudit } from '../audit/network-audit.ts';
import { isMet } from '../benchmarks/quality.ts';
import { writeAccuracyFile } from '../commands/accuracy-file.ts';
import { RunJudge } from '../commands/judge-run.ts';
import type { RunPlan } from '../commands/run-plan.ts';
import { writeRunRecord } from '../commands/run-record.ts';
import { startTest as runTest } from '../engine/start-test.ts';
import type { TestOutcome } from '../engine/test-outcome.ts';
import { figuresOfOutcome } from '../records/figures-of-outcome.ts';
import { figuresOf } from '../records/figures-of-records.ts';
import { joinRecords, recordsOfSet } from '../records/records-of-set.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { checkSelf, type SelfCheck } from '../self-check/self-check.ts';
import { judgeThresholds } from '../thresholds/judge-thresholds.ts';
import { NetworkSut } from './create-qdl.ts';
import { checkOptions } from './options.ts';
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
  /** Folder for LoadGen's logs; it is made. What an earlier test left there under the same names is replaced. */
  readonly output: string;
  /** False: no records in the result, which takes 74 bytes or more per sample of a performance phase. Default: true. */
  readonly keepRecords?: boolean;
}

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
  const plan = planTest({ benchmark: 'custom', ...source.options, ...ofSut, ...said, output });
  if (!(sut instanceof NetworkSut)) {
    const judge = new OwnSutJudge(plan, source);
    return await measure(plan, { parts, judge, events, selfCheck: checkSelf(), audit: undefined });
  }
  if (qsl !== (sut.samples as unknown)) {
    const message =
      'startTest: qsl is not the library that createQdl was given: its payloads would not be loaded';
    throw new MlperfError('ERR_CONFIG_INVALID', message);
  }
  return await measureNodes(plan, sut, { parts, source, events });
}

function requireOneBenchmark(said: unknown, own: unknown): void {
  if (said === undefined || own === undefined || said === own) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `settings: benchmark: "${String(said)}" is not that of the samples and the SUT, "${String(own)}"`,
  );
}

interface NodeTest {
  readonly parts: TestParts;
  readonly source: SampleSource;
  readonly events: TestEvents;
}

/** A test over the network leaves the evidence for it as well. */
async function measureNodes(
  named: RunPlan,
  sut: NetworkSut,
  { parts, source, events }: NodeTest,
): Promise<TestResult> {
  const { plan, library } = await events.orAbort(sut.begin(named));
  const { dataSet, check: dataSetCheck } = source;
  const selfCheck = checkSelf();
  const about = { plan, dataSet, dataSetCheck };
  const judge = new RunJudge({ ...about, qdl: library, selfCheck, host: thisHost });
  try {
    await events.orAbort(library.connect(events.onWait));
  } catch (error) {
    await sut.stop(); // Later on the engine sees to that.
    events.rethrow();
    throw error;
  }
  const audit = (): Promise<NetworkAudit> => judge.audit();
  const result = await measure(plan, { parts, judge, events, selfCheck, audit });
  writeRunRecord(plan.output, plan.record);
  writeAccuracyFile(plan.output, judge.accuracy.report, judge.standInMarks);
  return result;
}

interface Measured {
  readonly parts: TestParts;
  readonly judge: RunJudge | OwnSutJudge;
  readonly events: TestEvents;
  readonly selfCheck: SelfCheck;
  readonly audit: (() => Promise<NetworkAudit>) | undefined;
}

async function measure(plan: RunPlan, measured: Measured): Promise<TestResult> {
  const { parts, judge, events } = measured;
  const records: SampleRecords[] = [];
  // LoadGen's search has a set for each of its probes; its result is of one of them.
  const isKept = parts.keepRecords !== false && plan.settings.mode !== 'FindPeakPerformance';
  const outcome = await runTest({
    sut: parts.sut,
    qsl: parts.qsl,
    settings: plan.settings,
    loadgen: plan.loadgen,
    configEvents: plan.configEvents,
    usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
    clock: monotonicClock,
    log: { ...plan.log, outdir: plan.output },
    extendsUntilDecided: plan.extendsUntilDecided,
    selfCheck: measured.selfCheck,
    stallTimeoutNs: plan.stallTimeoutNs,
    drainTimeoutNs: plan.dispatch.onNodeLoss === 'drain' ? plan.stallTimeoutNs : DRAIN_TIMEOUT_NS,
    generatorLagShareMax: plan.generatorLagShareMax,
    judge: judge.judge,
    ...(isKept && {
      keepRecords: async (set) => {
        records.push(recordsOfSet(set));
      },
    }),
    ...events.testParts(),
  });
  const audit = (await measured.audit?.()) ?? null;
  if (audit !== null) writeAudit(plan.output, audit);
  events.rethrow();
  const kept = records.length === 0 ? null : joinRecords(records);
  return {
    ...resultOf(plan, outcome, kept),
    accuracy: accuracyOf(judge),
    audit,
    notes: judge.notes,
  };
}

function resultOf(
  plan: RunPlan,
  outcome: TestOutcome,
  records: SampleRecords | null,
): Omit<TestResult, 'accuracy' | 'audit' | 'notes'> {
  const { performance, verdicts, isInterrupted, peakTargetQps } = outcome;
  const { longhaul: verdict, loadgen: loadgenVerdict } = verdicts;
  const figures = figuresOfTest(outcome, records);
  const thresholds = judgeThresholds(plan.thresholds, performance === null ? {} : figures);
  return {
    result: isInterrupted ? 'INTERRUPTED' : verdict.isValid ? 'VALID' : 'INVALID',
    ...{ verdict, loadgenVerdict, figures, thresholds, peakTargetQps, records, outcome },
    meetsThresholds: thresholds.every((threshold) => threshold.isMet),
    output: plan.output,
  };
}

function figuresOfTest(
  { performance, effectiveSettings }: TestOutcome,
  records: SampleRecords | null,
): TestResult['figures'] {
  if (performance === null) return {};
  if (records === null) return figuresOfOutcome(performance);
  const { scenario, targetLatencyNs } = effectiveSettings;
  const latencyBoundNs = scenario === 'Server' ? targetLatencyNs : null;
  const { contractErrors } = performance.counts;
  return figuresOf(records, { scenario, latencyBoundNs, contractErrors });
}

function accuracyOf({ accuracy, quality }: RunJudge | OwnSutJudge): AccuracyResult | null {
  const { report } = accuracy;
  if (report === undefined) return null;
  const { metric, value } = report;
  return { metric, value, target: quality.target, isMet: isMet(report, quality) };
}
