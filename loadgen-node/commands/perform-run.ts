import {
  askNames,
  createQueryDispatchLibrary,
  type NetworkName,
  type QueryDispatchLibrary,
} from '../../qdl/index.ts';
import { monotonicClock } from '../../shared/clock/monotonic-clock.ts';
import { isNetworkDivisionScenario } from '../../shared/domain/scenario.ts';
import { bootId } from '../../shared/process/host-facts.ts';
import { percentOf, type Terminal } from '../../shared/process/terminal.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../benchmarks/loadgen-benchmark.ts';
import { loadgenBenchmark } from '../benchmarks/registry.ts';
import { startTest } from '../engine/start-test.ts';
import type { RunProgress, TestOutcome } from '../engine/test-outcome.ts';
import { readAccuracyLog } from '../logs/accuracy-log-reader.ts';
import { SampleStore } from '../qsl/sample-store.ts';
import { checkSelf, type SelfCheck } from '../self-check/self-check.ts';
import type { Interruption } from './interruption.ts';
import type { RunPlan } from './run-plan.ts';

/** Longest wait for outstanding samples once a node is lost. */
const DRAIN_TIMEOUT_NS = 2e9;

/** A run and everything that is said about it. */
export interface RunReport {
  readonly plan: RunPlan;
  readonly dataSetName: string;
  readonly totalSampleCount: number;
  readonly name: NetworkName | undefined;
  readonly outcome: TestOutcome;
  readonly accuracy: AccuracyReport | undefined;
  /** Reasons for INVALID beyond the engine's: ledgers that differ, a quality target that is missed. */
  readonly extraReasons: readonly string[];
  /** What the result is not, in words; nothing silences them. */
  readonly marks: readonly string[];
}

/**
 * Does a whole run: data set, SUT nodes, test, accuracy.
 * @throws MlperfError when something is wrong before the first query, or the logs cannot be written.
 */
export async function performRun(
  plan: RunPlan,
  terminal: Terminal,
  interruption: Interruption,
): Promise<RunReport> {
  for (const note of plan.configNotes) terminal.line(`longhaul: ${note}`);
  if (plan.auditConfig !== undefined) {
    terminal.line(`longhaul: settings of ${plan.auditConfig} win over all others`);
  }
  // Wrong addresses and names are told before minutes go into the data set.
  await interruption.orAbort(askNames(plan.dispatch));
  const preparation = loadgenBenchmark(plan.rules.key).openDataSet({
    dataFolder: plan.dataFolder,
    cacheFolder: plan.cacheFolder,
    onProgress: (fraction, what) => terminal.status(what, percentOf(fraction)),
  });
  const dataSet = await interruption.orAbort(preparation);
  const store = new SampleStore(dataSet, plan.encoding, plan.rules.performanceSampleCount);
  const qdl = createQueryDispatchLibrary(plan.dispatch, store);
  const onWait = (address: string, what: string): void =>
    terminal.status(`waiting for SUT node ${address}`, what);
  await interruption.orAbort(qdl.connect(onWait));
  const selfCheck = checkSelf();
  const outcome = await startTest({
    sut: qdl,
    qsl: store,
    settings: plan.settings,
    loadgen: plan.loadgen,
    configEvents: plan.configEvents,
    usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
    clock: monotonicClock,
    log: { outdir: plan.output, enableTrace: plan.writesTrace },
    extendsUntilDecided: plan.extendsUntilDecided,
    selfCheck,
    stallTimeoutNs: plan.stallTimeoutNs,
    drainTimeoutNs: DRAIN_TIMEOUT_NS,
    signal: interruption.signal,
    onProgress: (progress) => terminal.status(`${progress.phase} run`, progressText(progress)),
  });
  terminal.clear();
  const accuracy = await scoreAccuracy(dataSet, outcome);
  return {
    plan,
    dataSetName: dataSet.name,
    totalSampleCount: dataSet.totalSampleCount,
    name: qdl.lastName,
    outcome,
    accuracy,
    extraReasons: extraReasons(plan, qdl, accuracy),
    marks: [...marksOf(plan, qdl), ...selfCheckMarks(selfCheck)],
  };
}

/** True when the run is VALID by longhaul's rules. */
export function isValid(report: RunReport): boolean {
  return report.outcome.verdicts.longhaul.isValid && report.extraReasons.length === 0;
}

/** Scores what stands in the accuracy log, so that the number can be checked from the log alone. */
async function scoreAccuracy(
  dataSet: DataSet,
  outcome: TestOutcome,
): Promise<AccuracyReport | undefined> {
  const phase = outcome.accuracy;
  if (phase === null || phase.endCause !== 'all-issued' || phase.counts.lostSamples > 0) {
    return undefined;
  }
  const entries: AccuracyEntry[] = [];
  for await (const { sampleIndex, response } of readAccuracyLog(outcome.logFiles.accuracy)) {
    entries.push({ sampleIndex, response });
  }
  return dataSet.scoreAccuracy(entries);
}

function extraReasons(
  plan: RunPlan,
  qdl: QueryDispatchLibrary,
  accuracy: AccuracyReport | undefined,
): string[] {
  const reasons = qdl.ledgerReport.differences.map(
    (text) => `the two ends counted differently: ${text}`,
  );
  const { target, metric } = plan.rules.quality;
  if (accuracy !== undefined && accuracy.value < target) {
    reasons.push(
      `quality: ${metric} is ${accuracy.value.toPrecision(5)}, needed is ${target} or more`,
    );
  }
  return reasons;
}

function marksOf(plan: RunPlan, qdl: QueryDispatchLibrary): string[] {
  const marks = [
    'LoadGen of this run is longhaul, not the C++ LoadGen of an approved revision: not an MLPerf result',
  ];
  if (!plan.rules.isOfficial) {
    marks.push(
      `benchmark ${plan.rules.key} is an example of this project, not an MLPerf benchmark`,
    );
  }
  if (plan.auditConfig !== undefined) {
    marks.push(`settings of ${plan.auditConfig} are in force: a compliance test, not a result`);
  }
  const { scenario } = plan.settings;
  if (!isNetworkDivisionScenario(scenario)) {
    marks.push(`${scenario} is outside the Network division, which knows Server and Offline`);
  }
  const ours = bootId();
  const here = qdl.nodes.filter((node) => ours !== '' && node.description?.host?.bootId === ours);
  if (here.length > 0) {
    const nodes = here.map((node) => node.address).join(', ');
    marks.push(
      `LoadGen and SUT are on one machine (${nodes}): not a topology of the Network division`,
    );
  }
  for (const node of qdl.nodes) {
    if (node.model?.isStandIn) marks.push(`SUT node ${node.address} runs a stand-in model`);
  }
  return marks;
}

function selfCheckMarks({ state, differingFiles }: SelfCheck): string[] {
  if (state !== 'modified') return [];
  return [
    `${differingFiles.length} files of longhaul are not those that were built: see "longhaul self-check"`,
  ];
}

function progressText(progress: RunProgress): string {
  const { elapsedNs, issuedQueries, generatedQueries, completedSamples, lostSamples } = progress;
  const outstanding = progress.issuedSamples - completedSamples - lostSamples;
  const set = progress.setCount > 1 ? `set ${progress.setIndex + 1} of ${progress.setCount}, ` : '';
  const lost = lostSamples > 0 ? `, ${lostSamples} lost` : '';
  return (
    `${set}${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries} of ${generatedQueries} queries issued, ` +
    `${completedSamples} samples completed, ${outstanding} outstanding${lost}`
  );
}
