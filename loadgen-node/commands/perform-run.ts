import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  askNames,
  checkDispatchSettings,
  createQueryDispatchLibrary,
  type NetworkName,
  resolveNodeAddresses,
} from '../../qdl/index.ts';
import { monotonicClock } from '../../shared/clock/monotonic-clock.ts';
import { percentOf, type Terminal } from '../../shared/process/terminal.ts';
import type { AccuracyReport } from '../benchmarks/loadgen-benchmark.ts';
import { loadgenBenchmark } from '../benchmarks/registry.ts';
import { startTest } from '../engine/start-test.ts';
import type { RunProgress, TestOutcome } from '../engine/test-outcome.ts';
import { SampleStore } from '../qsl/sample-store.ts';
import { checkSelf } from '../self-check/self-check.ts';
import type { Interruption } from './interruption.ts';
import { RunJudge } from './judge-run.ts';
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
  /** What a reader of the result has to know; the same as in the logs. */
  readonly notes: readonly string[];
}

/**
 * Does a whole run: data set, SUT nodes, test, accuracy.
 * @throws MlperfError when something is wrong before the first query, or the logs cannot be written.
 */
export async function performRun(
  named: RunPlan,
  terminal: Terminal,
  interruption: Interruption,
): Promise<RunReport> {
  const nodes = await interruption.orAbort(resolveNodeAddresses(named.dispatch.nodes));
  const plan: RunPlan = { ...named, dispatch: { ...named.dispatch, nodes } };
  checkDispatchSettings(plan.dispatch);
  for (const note of plan.configNotes) terminal.line(`longhaul: ${note}`);
  if (plan.auditConfig !== undefined) {
    terminal.line(`longhaul: settings of ${plan.auditConfig} win over all others`);
  }
  // Wrong addresses and names are told before minutes go into the data set.
  await interruption.orAbort(askNames(plan.dispatch));
  const preparation = loadgenBenchmark(plan.rules.key).openDataSet({
    dataFolder: plan.dataFolder,
    cacheFolder: plan.cacheFolder,
    synthetic: plan.synthetic,
    onProgress: (fraction, what) => terminal.status(what, percentOf(fraction)),
  });
  const dataSet = await interruption.orAbort(preparation);
  const store = new SampleStore(dataSet, {
    encoding: plan.encoding,
    performanceSampleCount: plan.rules.performanceSampleCount,
    compressionScope: plan.compression.scope,
    isShared: plan.dispatch.channelThreads > 0,
  });
  const qdl = createQueryDispatchLibrary(plan.dispatch, store);
  if (existsSync(join(plan.output, 'mlperf_log_summary.txt'))) {
    terminal.line(`replacing the logs of an earlier run in ${plan.output}`);
  }
  const selfCheck = checkSelf();
  const judge = new RunJudge({ plan, dataSet, qdl, selfCheck });
  try {
    const onWait = (address: string, what: string): void =>
      terminal.status(`waiting for SUT node ${address}`, what);
    await interruption.orAbort(qdl.connect(onWait));
  } catch (error) {
    await qdl.stop(); // Later on the engine sees to that.
    throw error;
  }
  const outcome = await startTest({
    sut: qdl,
    qsl: store,
    settings: plan.settings,
    loadgen: plan.loadgen,
    configEvents: plan.configEvents,
    usesTokenLatenciesBeforeAudit: plan.usesTokenLatenciesBeforeAudit,
    clock: monotonicClock,
    log: { ...plan.log, outdir: plan.output },
    extendsUntilDecided: plan.extendsUntilDecided,
    selfCheck,
    stallTimeoutNs: plan.stallTimeoutNs,
    drainTimeoutNs: plan.dispatch.onNodeLoss === 'drain' ? plan.stallTimeoutNs : DRAIN_TIMEOUT_NS,
    generatorLagShareMax: plan.generatorLagShareMax,
    signal: interruption.signal,
    judge: judge.judge,
    onProgress: (progress) => terminal.status(`${progress.phase} run`, progressText(progress)),
  });
  terminal.clear();
  return {
    plan,
    dataSetName: dataSet.name,
    totalSampleCount: dataSet.totalSampleCount,
    name: qdl.lastName,
    outcome,
    accuracy: judge.accuracy,
    notes: judge.notes,
  };
}

/** True when the run is VALID by longhaul's rules. */
export function isValid(report: RunReport): boolean {
  return report.outcome.verdicts.longhaul.isValid;
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
