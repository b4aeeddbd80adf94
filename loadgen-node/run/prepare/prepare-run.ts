import { askNames, checkDispatchSettings, resolveNodeAddresses } from '../../../qdl/index.ts';
import { percentOf, type Terminal } from '../../../shared/base/terminal.ts';
import type { RecordedSet } from '../../loadgen/engine/issue/issued-set.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import { checkDataSet, type DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { DataSet, PrepareProgress } from '../../samples/data-set/data-set.ts';
import { SampleDigests } from '../../samples/qsl/sample-digests.ts';
import { SampleStore } from '../../samples/qsl/sample-store.ts';
import type { Interruption } from '../interruption.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { prepareOip, requireSamples } from './prepare-oip.ts';

/** A run whose data is there; its nodes have told their names. */
export interface PreparedRun {
  /** With the addresses that the nodes' names stand for. */
  readonly plan: RunPlan;
  readonly dataSet: DataSet;
  readonly dataSetCheck: DataSetCheck;
  readonly store: SampleStore;
  /** Called with the records of each set of a performance run, untimed, before anybody else takes them. Default: nobody. */
  readonly onSet?: (set: RecordedSet) => void;
}

/**
 * Asks the nodes for their names, and opens and checks the data set: all that needs to be done only once for several runs.
 * @throws MlperfError
 */
export async function prepareRun(
  named: RunPlan,
  terminal: Terminal,
  interruption: Interruption,
): Promise<PreparedRun> {
  requireSamples(named);
  const nodes = await interruption.orAbort(resolveNodeAddresses(named.dispatch.nodes));
  const plan: RunPlan = { ...named, dispatch: { ...named.dispatch, nodes } };
  checkDispatchSettings(plan.dispatch);
  for (const note of plan.configNotes) terminal.line(`longhaul: ${note}`);
  // Wrong addresses, names and benchmarks are told before minutes go into the data set.
  await interruption.orAbort(askNames(plan.dispatch));
  if (plan.oip === undefined) return await prepareData(plan, terminal, interruption);
  const onProgress = progressOf(terminal);
  const orAbort = <T>(work: Promise<T>): Promise<T> => interruption.orAbort(work);
  const { plan: asked, dataSet } = await prepareOip(plan, plan.oip, {
    ...{ terminal, onProgress, orAbort },
  });
  return await checkedRun(asked, dataSet, onProgress, interruption);
}

/**
 * Opens and checks the data set alone: for a run whose SUT is in this process.
 * @throws MlperfError
 */
export async function prepareData(
  plan: RunPlan,
  terminal: Terminal,
  interruption: Interruption,
): Promise<PreparedRun> {
  const benchmark = await loadgenBenchmark(plan.rules.key);
  const onProgress = progressOf(terminal);
  const { dataFolder, cacheFolder, generated, synthetic } = plan;
  const dataSet = await interruption.orAbort(
    benchmark.openDataSet({ dataFolder, cacheFolder, generated, synthetic, onProgress }),
  );
  return await checkedRun(plan, dataSet, onProgress, interruption);
}

function progressOf(terminal: Terminal): PrepareProgress {
  return (fraction, what) => terminal.status(what, percentOf(fraction));
}

/** Compares the data set with its checksums; its payloads are read when they are loaded. */
async function checkedRun(
  plan: RunPlan,
  dataSet: DataSet,
  onProgress: PrepareProgress,
  interruption: Interruption,
): Promise<PreparedRun> {
  const dataSetCheck = await interruption.orAbort(
    checkDataSet(dataSet, plan.dataChecksums, onProgress),
  );
  const store = new SampleStore(dataSet, {
    encoding: plan.encoding,
    performanceSampleCount: plan.rules.performanceSampleCount,
    compressionScope: plan.compression.scope,
    isShared: plan.dispatch.channelThreads > 0,
    digests: plan.dispatch.digestPerMillion > 0 ? new SampleDigests() : undefined,
  });
  return { plan, dataSet, dataSetCheck, store };
}
