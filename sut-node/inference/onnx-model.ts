import assert from 'node:assert';
import { totalmem } from 'node:os';
import { timerClock } from '../../shared/base/clock.ts';
import { configInvalid, MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../../shared/base/process/logger.ts';
import { availableCodecs } from '../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../shared/domain/system-under-test.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-card.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';
import {
  type GeneratingPipeline,
  isGenerating,
  isStepwise,
  type LoadedModel,
  type ModelPipeline,
  type ModelTensors,
  type OpenedModel,
} from '../model/model-facts.ts';
import {
  checkModelFile,
  type DigestedModel,
  digestedModel,
  isReferenceFile,
  type ModelFiles,
} from '../model/model-file.ts';
import { type ModelSource, modelFiles, modelSource } from '../model/model-source.ts';
import { asFloats } from '../model/onnx/half-session.ts';
import { sequencesThatFit } from '../pipeline/decoder-fit.ts';
import {
  type BatchShape,
  batchShapeOf,
  checkBatchSize,
  checkForms,
  checkFreeAxes,
} from '../pipeline/model-fit.ts';
import { runtimeSettings } from '../settings/model-settings.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type {
  Batch,
  ModelContext,
  SampleOwner,
  SutModel,
  WaitingSample,
} from './batcher/sut-model.ts';
import {
  answerBatch,
  deliverFirstTokens,
  deliverTokens,
  failBatch,
} from './workers/batch-answers.ts';
import { WorkerPool } from './workers/worker-pool.ts';
import type { SpawnWorker } from './workers/worker-thread.ts';

/**
 * Share of the machine's memory for keys and values of running sequences. Slots, ONNX Runtime, and
 * full outputs of a model without outputs for new tokens may hold them up to four times.
 */
const CACHE_MEMORY_SHARE = 1 / 8;

/** Parts of an {@link OnnxModel}. */
interface OnnxModelParts {
  readonly settings: SutSettings;
  readonly benchmark: SutBenchmark;
  readonly spawn: SpawnWorker;
  readonly logger: Logger;
}

/** A benchmark's ONNX model in worker threads or processes of ONNX Runtime. */
export class OnnxModel implements SutModel {
  readonly rules: BenchmarkRules;
  readonly name: string;
  readonly compressions: SutModel['compressions'] = availableCodecs();
  readonly sampleElements: number | undefined;
  /** Also undefined until the model is loaded. */
  groupOf: SutModel['groupOf'];
  readonly #parts: OnnxModelParts;
  readonly #source: ModelSource;
  #pool: WorkerPool | undefined;
  #loaded: (LoadedModel & { readonly file: string }) | undefined;
  #isStopped = false;

  /** @throws MlperfError `ERR_MODEL` if no model is named and there is no default. */
  constructor(parts: OnnxModelParts) {
    this.#parts = parts;
    this.#source = modelSource(parts.benchmark, parts.settings.model);
    this.name = this.#source.name;
    this.rules = parts.benchmark.rules;
    this.sampleElements = parts.benchmark.sampleElements;
  }

  /** @throws MlperfError `ERR_MODEL` if the model file is missing. */
  async checkFile(): Promise<void> {
    const source = this.#source;
    if (source.file === undefined) return;
    for (const file of Object.values(source.parts ?? [source.file])) {
      await checkModelFile(file, Object.keys(this.#parts.benchmark.builtInModels));
    }
  }

  get hasIdle(): boolean {
    return this.#pool?.hasIdle === true;
  }

  get hasRoom(): boolean {
    return this.#pool?.hasRoom === true;
  }

  get workerCounts(): { readonly count: number; readonly replacedCount: number } {
    const { workerCountNow: count = 0, replacedCount = 0 } = this.#pool ?? {};
    return { count, replacedCount };
  }

  get workerPids(): readonly number[] {
    return this.#pool?.pids ?? [];
  }

  async load(context: ModelContext): Promise<LoadedModel> {
    const { benchmark } = this.#parts;
    const [found] = await Promise.all([
      this.#findFiles(context.onProgress),
      benchmark.prepareProcess?.(),
    ]);
    context.onProgress(0, `loading ${found.file}`);
    const files = await digestedModel(found);
    const { modelFile, sha256 } = files;
    // From here on there are threads, which stop() must know.
    if (this.#isStopped) {
      throw new MlperfError('ERR_INTERRUPTED', 'the start of the SUT node was interrupted');
    }
    const pool = this.#createPool(files, context);
    this.#pool = pool;
    const tensors = await pool.load();
    const model = this.#opened(modelFile, tensors);
    const { usage } = this.#source;
    const pipeline = benchmark.openPipeline(model, usage, this.#parts.settings.batchSizeAsked);
    const { forms } = pipeline;
    checkForms(forms, context.encodings);
    const rows = isGenerating(pipeline)
      ? this.#fitSequences(pipeline, pool)
      : isStepwise(pipeline)
        ? { batchSizeFixed: pipeline.samplesAtOnce }
        : this.#fitRows(pipeline, model, context.encodings);
    const isStandIn = await this.#isStandIn(modelFile, sha256);
    this.#loaded = { file: modelFile, tensors, sha256, isStandIn, usage, forms, ...rows };
    return this.#loaded;
  }

  /**
   * Samples go to workers one by one, and are batched there token by token. @throws MlperfError
   * `ERR_MODEL`
   */
  #fitSequences({ decoder, limits }: GeneratingPipeline, pool: WorkerPool) {
    const { batchSizeMax, batchSizeAsked, workerCount } = this.#parts.settings;
    // In a container its limit counts; otherwise Node.js returns 0 or more than the memory.
    const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
    const bytesMax = (memoryBytes * CACHE_MEMORY_SHARE) / workerCount;
    const places = { bytesMax, most: batchSizeMax, asked: batchSizeAsked };
    const sequencesMax = sequencesThatFit(decoder, limits, places);
    pool.batchesMax = sequencesMax;
    return { batchSizeFixed: 1, sequencesMax };
  }

  /** Batch layout of a model with one row per sample. @throws MlperfError `ERR_MODEL` */
  #fitRows(pipeline: ModelPipeline, model: OpenedModel, encodings: readonly PayloadEncoding[]) {
    const { usage } = this.#source;
    const shape = batchShapeOf(model, usage);
    checkBatchSize(model, shape, this.#parts.settings.batchSizeAsked);
    checkFreeAxes(pipeline, usage);
    this.groupOf = sampleGrouping(pipeline, shape, encodings);
    const { inputs, outputNames, responseNumber } = pipeline;
    const layout = { inputs, outputNames, responseNumber, hasBatchAxis: shape.hasAxis };
    const told = pipeline.isOwnResponse === true ? undefined : layout;
    return { batchSizeFixed: shape.sizeFixed, layout: told };
  }

  samplePayload(): { readonly form: string; readonly payload: Uint8Array } {
    assert(this.#loaded !== undefined, 'a model is loaded before it is used');
    const { file, tensors } = this.#loaded;
    const model = this.#opened(file, tensors);
    return this.#parts.benchmark.openPipeline(model, this.#source.usage).warmUpPayload();
  }

  /** The model as its benchmark sees it. */
  #opened(file: string, tensors: ModelTensors): OpenedModel {
    return { file, ...(this.#parts.benchmark.takesHalf === true ? asFloats(tensors) : tensors) };
  }

  async warmUp(): Promise<void> {
    await this.#loadedPool.warmUp();
  }

  run(batch: Batch): void {
    this.#loadedPool.run(batch);
  }

  leave(owner: SampleOwner): void {
    if (this.#loaded?.sequencesMax === undefined) return;
    this.#pool?.cancel(({ samples }) => samples.every((sample) => sample.owner === owner));
  }

  async stop(giveUp: AbortSignal): Promise<void> {
    this.#isStopped = true;
    await this.#pool?.stop(giveUp);
  }

  async #findFiles(onProgress: ModelContext['onProgress']): Promise<ModelFiles> {
    const { benchmark, settings } = this.#parts;
    const source = this.#source;
    const { cacheFolder, standinCost: cost } = settings;
    const takesCost = source.file === undefined && benchmark.standin !== undefined;
    if (cost !== undefined && !takesCost) {
      throw configInvalid(
        `--standin-cost ${cost} has no effect on the model ${source.file ?? source.builtIn}: it is for --model standin of an official benchmark`,
      );
    }
    if (source.file !== undefined) return source;
    const least = benchmark.standin?.costMin ?? 0.01;
    if (cost !== undefined && cost < least) {
      throw configInvalid(
        `--standin-cost ${cost}: the least for ${benchmark.rules.key} is ${least}`,
      );
    }
    const { builtIn: model } = source;
    const made = await benchmark.prepareModel({ model, cost, cacheFolder, onProgress });
    return modelFiles(made);
  }

  /**
   * A model named by the user is the benchmark's own if its checksum is known, or if the benchmark
   * has no model.
   */
  async #isStandIn(modelFile: string, sha256: string): Promise<boolean> {
    const { reference, builtInModels, rules } = this.#parts.benchmark;
    if (this.#source.file === undefined) return rules.isOfficial;
    if (reference === undefined) return Object.keys(builtInModels).length > 0;
    return !(await isReferenceFile(reference, modelFile, sha256));
  }

  get #loadedPool(): WorkerPool {
    assert(this.#pool !== undefined, 'a model is loaded before it is used');
    return this.#pool;
  }

  #createPool(files: DigestedModel, context: ModelContext): WorkerPool {
    const { settings, benchmark, spawn, logger } = this.#parts;
    return new WorkerPool({
      workerCount: settings.workerCount,
      start: {
        benchmark: benchmark.rules.key,
        ...files,
        usage: this.#source.usage,
        runtime: runtimeSettings(settings),
        batchSizeMax: settings.batchSizeMax,
        batchSizeAsked: settings.batchSizeAsked,
        encodings: context.encodings,
        sampleBytesMax: context.sampleBytesMax,
        queryBytesMax: context.queryBytesMax,
        responseCompression: settings.responseCompression,
      },
      spawn,
      clock: timerClock,
      startTimeoutNs: settings.workerStartTimeoutNs,
      logger,
      events: {
        onDone: answerBatch,
        onFirstToken: ({ samples: [sample] }, payload) => {
          if (sample !== undefined) deliverFirstTokens([{ sample, payload }]);
        },
        onTokens: (told) => {
          deliverTokens(
            told.flatMap(([{ samples }, payload]) =>
              samples.map((sample) => ({ sample, payload })),
            ),
          );
        },
        onLost: failBatch,
        onRoom: () => context.onRoom(),
        onFatal: (error) => context.onFatal(error),
      },
    });
  }
}

/** The worker reports the fault of a payload without a length. */
function lengthIn(
  { lengthOf, forms }: ModelPipeline,
  pieces: WaitingSample['pieces'],
  form: string,
): number {
  try {
    const payload = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
    return forms.includes(form) ? (lengthOf?.(payload, form) ?? UNKNOWN) : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Group of samples whose length is unknown before decompression. */
const UNKNOWN = 0;

/**
 * Groups samples of equal length, so that batches hold equal ones: a worker runs the model once per
 * length in a batch. Uncompressed tensors with equal bytes have equal length, unless the pipeline
 * reads it from the content. Undefined if any two samples may share an inference.
 */
export function sampleGrouping(
  pipeline: ModelPipeline,
  { freeAxes }: BatchShape,
  encodings: readonly PayloadEncoding[],
): ((sample: WaitingSample) => number) | undefined {
  if (pipeline.lengthOf === undefined || freeAxes === 'pad') return undefined;
  return ({ form, bytes, slice, pieces }) => {
    if (slice !== undefined) return slice.end - slice.begin;
    const encoding = encodings[form];
    if (encoding?.compression !== 'identity') return UNKNOWN;
    return pipeline.isLengthInContent === true ? lengthIn(pipeline, pieces, encoding.form) : bytes;
  };
}
