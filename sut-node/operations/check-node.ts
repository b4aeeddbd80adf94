import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import { timerClock } from '../../shared/base/clock/timer-clock.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { upperMedian } from '../../shared/base/figures/median.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import { settingsAsText } from '../../shared/evidence/settings-text.ts';
import { componentVersions } from '../../shared/host/component-versions.ts';
import { batchPolicy } from '../inference/batcher/batch-policy.ts';
import { batchingInWords } from '../inference/batcher/batching-in-words.ts';
import type { SutModel } from '../inference/batcher/sut-model.ts';
import type {
  SampleAnswer,
  SampleOwner,
  WaitingSample,
} from '../inference/batcher/waiting-sample.ts';
import type { LoadedModel, ModelTensors } from '../model/model-facts.ts';
import { readServerSecurity } from '../server/connection/server-security.ts';
import { configurationName, providerOf } from '../server/describe/configuration-name.ts';
import { nodeOffer, readBy, servedName } from '../server/describe/node-offer.ts';
import { queryBytesMax } from '../server/infer/sample-intake.ts';
import { inferLimits } from '../server/limits/node-limits.ts';
import type { SutSettings } from '../settings/sut-settings.ts';

/** Inferences of each batch size whose median is told. */
const REPEATS = 5;

/** How long one batch took: medians of {@link REPEATS}, of each number by itself. */
export interface MeasuredBatch {
  readonly batchSize: number;
  /** The model alone, in ns. */
  readonly computeNs: number;
  /** From the batch's way to the worker to its answer: with pre-processing, model and post-processing, in ns. */
  readonly totalNs: number;
}

/** What `longhaul sut --check` found out. */
export interface NodeCheckReport {
  readonly configuration: string;
  readonly benchmark: string;
  /** True for a benchmark of MLPerf; false for an example of this project. */
  readonly isOfficial: boolean;
  readonly model: {
    readonly name: string;
    /** Null where the model is no file. */
    readonly file: string | null;
    readonly sha256: string;
    readonly isStandIn: boolean;
  } & ModelTensors;
  readonly provider: string;
  readonly workers: number;
  /** What a submission must tell: how the server batches. */
  readonly batching: string;
  /** What every sample of the inferences was; null where the model reads no payload. */
  readonly sample: { readonly form: string; readonly bytes: number } | null;
  readonly inferences: readonly MeasuredBatch[];
  /** Memory of this process with all its threads, in bytes. */
  readonly rssBytes: number;
  readonly longhaul: string;
  readonly components: readonly { readonly name?: string; readonly version?: string }[];
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Loads the model, warms it up and measures it as a node would use it; nothing is served. The files of TLS
 * and token are read as well. Stop the model afterwards, whatever happens.
 * @throws MlperfError as the start of a node; `ERR_MODEL` when the model fails on the benchmark's own sample.
 */
export async function checkNode(
  settings: SutSettings,
  model: SutModel,
  onProgress: BuildProgress,
): Promise<NodeCheckReport> {
  readServerSecurity(settings);
  servedName(settings, model);
  const offer = nodeOffer(settings, model);
  const limits = inferLimits(settings, model);
  const loaded = await model.load({
    encodings: offer.encodings,
    sampleBytesMax: limits.sampleBytesMax,
    queryBytesMax: queryBytesMax(limits),
    onProgress,
    onRoom: () => {},
    onFatal: () => {},
  });
  onProgress(0, `warming up ${model.name}`);
  await model.warmUp();
  const sample = model.samplePayload?.();
  const measured = {
    // A model that gives none reads none.
    payload: sample?.payload ?? new Uint8Array(4),
    form: formOf(sample?.form, offer.encodings, loaded),
  };
  const inferences: MeasuredBatch[] = [];
  const { batchSizeMax } = batchPolicy(settings, loaded);
  for (const batchSize of new Set([1, batchSizeMax])) {
    onProgress(0, `measuring batches of ${batchSize}`);
    inferences.push(await measure(model, { ...measured, batchSize }));
  }
  return {
    configuration: configurationName({ settings, offer }, loaded),
    benchmark: offer.benchmark,
    isOfficial: model.rules.isOfficial,
    model: describe(model.name, loaded),
    provider: providerOf(settings),
    workers: model.workerCounts?.count ?? 0,
    batching: batchingInWords(settings, loaded),
    sample: sample === undefined ? null : { form: sample.form, bytes: sample.payload.length },
    inferences,
    rssBytes: process.memoryUsage().rss,
    longhaul: packageVersion(),
    components: componentVersions(),
    settings: settingsAsText(settings),
  };
}

function describe(name: string, loaded: LoadedModel): NodeCheckReport['model'] {
  const { file = null, sha256, isStandIn, tensors } = loaded;
  return { name, file, sha256, isStandIn, inputs: tensors.inputs, outputs: tensors.outputs };
}

/**
 * The node's number of an encoding in which the sample can come: where the benchmark has no such form, a tensor goes by
 * another name (`raw`, `fp32`), which its pre-processor reads as well.
 */
function formOf(
  form: string | undefined,
  encodings: readonly PayloadEncoding[],
  loaded: LoadedModel,
): number {
  const plain = encodings.map((one) => one.compression === 'identity' && readBy(loaded)(one));
  const same = encodings.findIndex((one, i) => plain[i] && one.form === form);
  return same < 0 ? plain.indexOf(true) : same;
}

/** A batch of equal samples. */
interface TestBatch {
  readonly payload: Uint8Array;
  /** The node's number of the payload's encoding. */
  readonly form: number;
  readonly batchSize: number;
}

async function measure(model: SutModel, batch: TestBatch): Promise<MeasuredBatch> {
  const computeNs: number[] = [];
  const totalNs: number[] = [];
  for (let i = 0; i < REPEATS; i += 1) {
    const beganAtNs = timerClock.nowNs();
    const [answer] = await runBatch(model, batch);
    totalNs.push(timerClock.nowNs() - beganAtNs);
    computeNs.push(answer?.times?.computeNs ?? 0);
  }
  const { batchSize } = batch;
  return { batchSize, computeNs: upperMedian(computeNs) ?? 0, totalNs: upperMedian(totalNs) ?? 0 };
}

function runBatch(
  model: SutModel,
  { payload, form, batchSize }: TestBatch,
): Promise<readonly SampleAnswer[]> {
  return new Promise((resolve, reject) => {
    const owner: SampleOwner = {
      answer: (answers) => {
        const fault = answers.find((one) => one.fault !== undefined)?.fault;
        if (fault === undefined) resolve(answers);
        else reject(new MlperfError('ERR_MODEL', `a batch of ${batchSize}: ${fault.text}`));
      },
      firstTokens: () => {},
    };
    const takenAtNs = timerClock.nowNs();
    const samples = Array.from({ length: batchSize }, (_, id): WaitingSample => {
      const pieces = [payload];
      const times = { arrivedAtNs: takenAtNs, queuedAtNs: takenAtNs };
      return { id, pieces, bytes: payload.length, form, slice: undefined, owner, ...times };
    });
    model.run({ samples, takenAtNs });
  });
}
