import { askNames, checkDispatchSettings, resolveNodeAddresses } from '../../../qdl/index.ts';
import type { OpenedSamples, RunToPrepare, SampleInput } from '../../../qdl/protocols/index.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { benchmarkEncoding } from '../../../shared/rules/benchmark-rules.ts';
import { SYNTHETIC_SAMPLE_BYTES_DEFAULT } from '../../../shared/rules/cards/synthetic.ts';
import { checkLanes } from '../../loadgen/settings/lanes.ts';
import { loadOtel } from '../../observe/spans/otel-packages.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import { checkDataSet, type DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import type { DataSet, PrepareProgress } from '../../samples/data-set/data-set.ts';
import { wireDataSet } from '../../samples/data-set/wire-data-set.ts';
import { openTensorDataSet } from '../../samples/model-inputs/open-tensor-data-set.ts';
import { benchmarkTensors, fileTensors } from '../../samples/model-inputs/sample-tensors.ts';
import { SampleStore } from '../../samples/qsl/sample-store.ts';
import { orAbort, progressOf, type RunHost } from '../host/host.ts';
import { requireOutputRoom, requirePlanMemory } from '../keep/output-room.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import {
  onlyTarget,
  type PlannedTarget,
  targetsOf,
  withDispatch,
  withTargets,
} from '../plan/target.ts';
import { WarmUp } from './warm-up.ts';

/**
 * Asks the nodes for their names, and opens and checks the data set: everything needed only once
 * for several runs.
 * @throws MlperfError
 */
export async function prepareRun(named: RunPlan, host: RunHost) {
  requireSamples(named);
  requirePlanMemory(named);
  requireOutputRoom(named, 0);
  // Report missing packages before the nodes are asked.
  if (named.otel !== undefined) await loadOtel();
  const targets = targetsOf(named).map((target) => resolved(target, host));
  const plan = withTargets(named, await Promise.all(targets));
  for (const note of plan.configNotes) host.report(`longhaul: ${note}`);
  // Wrong addresses, names and benchmarks are reported before minutes are spent on the data set.
  for (const { dispatch } of targetsOf(plan)) await orAbort(host, askNames(dispatch));
  const { prepare } = onlyTarget(plan).preparation;
  if (prepare === null) return await prepareData(plan, host);
  const kind = plan.data?.source.kind;
  const prepared = await prepare({
    ...runToPrepare(plan, host),
    isSizeKnown: kind !== 'npy' && kind !== 'jsonl',
    open: (inputs, encodingName) => openSamples(plan, inputs, encodingName, progressOf(host)),
  });
  const { samples, settings, encodingName, payloadOf, responseClass } = prepared;
  const { responseTensor } = plan.rules;
  return await checkedRun(
    withEncoding(withDispatch(plan, settings), encodingName),
    wireDataSet(samples.dataSet, {
      tensors: samples.tensors,
      payloadOf,
      responseClass,
      responseTensor,
    }),
    host,
  );
}

/** The target with resolved addresses and matching settings. */
async function resolved(target: PlannedTarget, host: RunHost): Promise<PlannedTarget> {
  const nodes = await orAbort(host, resolveNodeAddresses(target.dispatch.nodes));
  const dispatch = { ...target.dispatch, nodes };
  checkDispatchSettings(dispatch);
  return { ...target, dispatch };
}

/**
 * Checked before a node is asked, since waiting for a node may take long.
 * @throws MlperfError `ERR_CONFIG_INVALID` if no setting describes the samples
 */
function requireSamples(plan: RunPlan): void {
  const { rules, dataFolder, data } = plan;
  const isPrepared = targetsOf(plan).some(({ preparation }) => preparation.prepare !== null);
  if (!isPrepared || data !== undefined) return;
  if (rules.sampleTensors !== undefined || dataFolder !== undefined) return;
  throw configInvalid(
    'samples are needed: --data random, zeros, npy:DIR or jsonl:FILE; --data-dir FOLDER of raw contents; or a --benchmark',
  );
}

/** A plan in the form that its protocol uses. */
export function runToPrepare(
  plan: RunPlan,
  host: Pick<RunHost, 'signal' | 'progress'>,
): RunToPrepare {
  const { rules, synthetic } = plan;
  return {
    settings: onlyTarget(plan).dispatch,
    rules,
    encodingName: plan.isEncodingSaid ? plan.encodingName : undefined,
    payloadBytes: rules.isSynthetic
      ? (synthetic.sampleBytes ?? SYNTHETIC_SAMPLE_BYTES_DEFAULT)
      : undefined,
    wantsHeaders: plan.otel !== undefined,
    host: {
      orAbort: (work) => orAbort(host, work),
      progress: (activity, detail) => host.progress?.(activity, detail),
    },
  };
}

/** The plan with the encoding that the model accepts; undefined: unchanged. */
function withEncoding(plan: RunPlan, encodingName: string | undefined): RunPlan {
  if (encodingName === undefined || encodingName === plan.encodingName) return plan;
  const encoding = benchmarkEncoding(plan.rules, encodingName);
  return {
    ...withDispatch(plan, { encoding }),
    encodingName,
    compression: { ...plan.compression, encoding },
  };
}

/** Samples before their encoding is known, and their data set. */
interface RunSamples extends OpenedSamples {
  readonly dataSet: DataSet;
}

async function openSamples(
  plan: RunPlan,
  inputs: readonly SampleInput[],
  encodingName: string | undefined,
  onProgress: PrepareProgress,
): Promise<RunSamples> {
  if (plan.data !== undefined) {
    const { source, ...others } = plan.data;
    const dataSet = await openTensorDataSet(source, inputs, { ...others, onProgress });
    const tensors = (index: number) => dataSet.sampleTensors(index);
    return { dataSet, isUniform: dataSet.isUniform, tensors };
  }
  const { openDataSet } = await loadgenBenchmark(plan.rules.key);
  const dataSet = await openDataSet({ ...plan, onProgress });
  const [input] = inputs;
  const sampleTensors =
    plan.rules.sampleTensors === undefined || input === undefined
      ? await fileTensors(dataSet, inputs)
      : benchmarkTensors(dataSet, input);
  const { form } = withEncoding(plan, encodingName).compression.encoding;
  return {
    dataSet,
    isUniform: inputs.every(({ sampleBytes }) => sampleBytes !== undefined),
    tensors: (index: number) => sampleTensors(index, form),
  };
}

/**
 * Opens and checks only the data set, for a run with an in-process SUT.
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

/** Compares the data set with its checksums; payloads are read later, when they are loaded. */
async function checkedRun(plan: RunPlan, opened: DataSet, host: RunHost): Promise<PreparedRun> {
  checkLanes(plan.lanes, opened.totalSampleCount);
  if (plan.settings.mode === 'AccuracyOnly' || plan.settings.mode === 'SubmissionRun') {
    requireOutputRoom(plan, opened.totalSampleCount);
  }
  const dataSet = plan.keepsSamplesInFile
    ? { ...opened, marks: [...(opened.marks ?? []), IN_FILE] }
    : opened;
  const store = new SampleStore(dataSet, {
    encoding: plan.compression.encoding,
    performanceSampleCount: plan.rules.performanceSampleCount,
    compressionScope: plan.compression.scope,
    isDigested: targetsOf(plan).some(({ dispatch }) => dispatch.digestPerMillion > 0),
    fileFolder: plan.keepsSamplesInFile ? plan.cacheFolder : undefined,
    signal: host.signal,
    onProgress: progressOf(host),
  });
  // Checked before minutes are spent on checksums.
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

/**
 * A run with an open data set. Its nodes have answered Name, and its plan has their resolved
 * addresses.
 */
export interface PreparedRun {
  readonly plan: RunPlan;
  readonly dataSet: DataSet;
  readonly dataSetCheck: DataSetCheck;
  readonly store: SampleStore;
  readonly warmUp: WarmUp;
}
