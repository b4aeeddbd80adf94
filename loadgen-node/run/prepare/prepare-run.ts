import { askNames, checkDispatchSettings, resolveNodeAddresses } from '../../../qdl/index.ts';
import { loadOtel } from '../../observe/spans/otel-packages.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import { checkDataSet } from '../../samples/data-set/check-data-set.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import { SampleStore } from '../../samples/qsl/sample-store.ts';
import { orAbort, progressOf, type RunHost } from '../host/host.ts';
import { requireOutputRoom, requirePlanMemory } from '../keep/output-room.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { openNativeData } from './native-data.ts';
import { prepareOip, requireSamples } from './prepare-oip.ts';
import { WarmUp } from './warm-up.ts';

/**
 * Asks the nodes for their names, and opens and checks the data set: all that needs to be done only once for several runs.
 * @throws MlperfError
 */
export async function prepareRun(named: RunPlan, host: RunHost) {
  requireSamples(named);
  requirePlanMemory(named);
  requireOutputRoom(named, 0);
  // Missing packages are told before the nodes are asked.
  if (named.otel !== undefined) await loadOtel();
  const nodes = await orAbort(host, resolveNodeAddresses(named.dispatch.nodes));
  const plan: RunPlan = { ...named, dispatch: { ...named.dispatch, nodes } };
  checkDispatchSettings(plan.dispatch);
  for (const note of plan.configNotes) host.report(`longhaul: ${note}`);
  // Wrong addresses, names and benchmarks are reported before minutes go into the data set.
  await orAbort(host, askNames(plan.dispatch));
  if (plan.data !== undefined) {
    return await checkedRun(plan, await openNativeData(plan, plan.data, host), host);
  }
  if (plan.oip === undefined) return await prepareData(plan, host);
  const { plan: asked, dataSet } = await prepareOip(plan, plan.oip, host, progressOf(host));
  return await checkedRun(asked, dataSet, host);
}

/**
 * Opens and checks the data set alone: for a run whose SUT is in this process.
 * @throws MlperfError
 */
export async function prepareData(plan: RunPlan, host: RunHost) {
  const benchmark = await loadgenBenchmark(plan.rules.key);
  const opening = benchmark.openDataSet({ ...plan, onProgress: progressOf(host) });
  const dataSet = await orAbort(host, opening);
  return await checkedRun(plan, dataSet, host);
}

/** Note on a run with `--sample-store file`. */
const IN_FILE =
  'the loaded samples lie in a file, not in memory: each is read when it goes out, while the clock runs';

/** Compares the data set with its checksums; its payloads are read when they are loaded. */
async function checkedRun(plan: RunPlan, opened: DataSet, host: RunHost) {
  if (plan.settings.mode === 'AccuracyOnly' || plan.settings.mode === 'SubmissionRun') {
    requireOutputRoom(plan, opened.totalSampleCount);
  }
  const dataSet = plan.keepsSamplesInFile
    ? { ...opened, marks: [...(opened.marks ?? []), IN_FILE] }
    : opened;
  const store = new SampleStore(dataSet, {
    encoding: plan.encoding,
    performanceSampleCount: plan.rules.performanceSampleCount,
    compressionScope: plan.compression.scope,
    isDigested: plan.dispatch.digestPerMillion > 0,
    fileFolder: plan.keepsSamplesInFile ? plan.cacheFolder : undefined,
    ...{ signal: host.signal, onProgress: progressOf(host) },
  });
  // Before minutes go into checksums.
  await orAbort(
    host,
    store.requireRoom((text) => host.report(`longhaul: ${text}`)),
  );
  const dataSetCheck = await orAbort(
    host,
    checkDataSet(dataSet, plan.dataChecksums, progressOf(host)),
  );
  return { plan, dataSet, dataSetCheck, store, warmUp: new WarmUp(dataSet) };
}

/** A run whose data set is open. Its nodes have answered Name, and its plan has their addresses. */
export type PreparedRun = Readonly<Awaited<ReturnType<typeof checkedRun>>>;
