import { machineNowNs } from '../../../shared/base/clock.ts';
import { messageOf, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { type Codec, codecNamed } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import type { InputTensor, ModelPipeline, OutputTensor } from '../../model/model-facts.ts';
import type { ModelSession } from '../../model/onnx/ort-session.ts';
import type { BatchShape } from '../../pipeline/model-fit.ts';
import { type FreeLength, sampleTensorBytes } from '../../pipeline/sample-size.ts';
import { checkForm } from '../../pipeline/tensor-preprocessor.ts';
import { BatchTensors, type Chunk, cutIntoChunks, directTensor } from './batch-tensors.ts';
import { PayloadReader } from './payload-reader.ts';
import type { BadSample, BatchMessage, DoneMessage, WorkerStart } from './worker-thread.ts';

/** Bound of padded tensors in one inference, in samples of the largest size. */
const PADDED_SAMPLES_MAX = 4;
/** Bytes of padded tensors that are always allowed, however small samples must be. */
const PADDED_BYTES_FREE = 64 * 1024 ** 2;

/** Parts and settings of a runner. */
export interface BatchRunnerOptions
  extends Pick<
    WorkerStart,
    'batchSizeMax' | 'encodings' | 'sampleBytesMax' | 'queryBytesMax' | 'responseCompression'
  > {
  readonly pipeline: ModelPipeline;
  readonly session: ModelSession;
  readonly shape: BatchShape;
  /** Samples decoded concurrently: decoders have threads of their own. */
  readonly decodeCount: number;
}

/** A batch in progress. */
type BatchWork = ReturnType<typeof beginWork>;

/**
 * The work of a worker thread on one batch: decompress, decode and pre-process into the batch
 * tensors, run the model, post-process and compress. Independent of threads.
 *
 *   batch ─► chunks, one inference each ─► the batch's buffer is the tensor (directTensor) ─► model
 *   ─► responses
 *                                      └─► or samples are put into tensors one by one ─┘
 *
 * A batch is one chunk, unless its samples differ in length or are more than the model takes at
 * once.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #tensors: BatchTensors;
  readonly #payloads: PayloadReader;
  readonly #responseCodec: Codec;
  /** Most samples per inference. */
  readonly #sizeMax: number;

  constructor(options: BatchRunnerOptions) {
    const { shape, batchSizeMax, pipeline, responseCompression } = options;
    this.#options = options;
    this.#sizeMax = shape.sizeFixed ?? batchSizeMax;
    this.#tensors = new BatchTensors(
      pipeline.inputs,
      shape.hasAxis,
      paddedBytesMax(options.sampleBytesMax),
    );
    this.#payloads = new PayloadReader(options);
    this.#responseCodec = codecNamed(responseCompression);
  }

  /**
   * Runs the model on the benchmark's warm-up sample, alone and as a full batch: the runtime plans
   * its memory per batch size. Codecs initialise at their first payload.
   * @throws Error of the benchmark or of the model.
   */
  async warmUp(): Promise<void> {
    const { pipeline, shape } = this.#options;
    const { form, payload } = pipeline.warmUpPayload();
    const freeLength = pipeline.lengthOf?.(payload, form) ?? 1;
    this.#payloads.warmUp(payload);
    for (const count of new Set([shape.sizeFixed ?? 1, this.#sizeMax])) {
      this.#tensors.layOut(count, freeLength);
      for (let row = 0; row < count; row += 1) {
        await pipeline.preprocess(payload, form, this.#tensors.row(row));
      }
      const outputs = await this.#runWarmUp(count);
      this.#responseCodec.compress(pipeline.postprocess(outputs, count - 1));
    }
  }

  /** @throws MlperfError `ERR_MODEL` with the shapes on which the model failed. */
  async #runWarmUp(count: number): Promise<ReadonlyMap<string, OutputTensor>> {
    const inputs = this.#tensors.tensors;
    try {
      return await this.#runModel(inputs, count);
    } catch (error) {
      const shapes = inputs.map(({ name, dims }) => `${name} [${dims.join(', ')}]`);
      const advice =
        this.#options.pipeline.lengthOf === undefined
          ? ''
          : '; if it needs other lengths in its free axes, set them in its description';
      const what = `the model does not run on ${shapes.join(', ')}: ${messageOf(error)}${advice}`;
      throw modelError(what, error);
    }
  }

  /** Works on a batch. Never throws: failures are in the result. */
  async run(batch: BatchMessage): Promise<DoneMessage> {
    const beganAtNs = machineNowNs();
    const work = this.#begin(batch, beganAtNs);
    for (const chunk of this.#cut(work)) await this.#runChunk(work, chunk);
    const packed = packResponses(work.responses);
    endStep(work, 'postprocessNs');
    const { badSamples, failure, failedRows, preprocessNs, computeNs, postprocessNs } = work;
    return {
      kind: 'done',
      payloads: batch.payloads,
      ...packed,
      badSamples,
      failure: failure === undefined ? undefined : { text: failure, rows: failedRows },
      beganAtNs,
      preprocessNs,
      computeNs,
      postprocessNs,
      endedAtNs: work.lapAtNs,
    };
  }

  /** Determines the length of each sample, if an axis is free. */
  #begin(batch: BatchMessage, beganAtNs: number): BatchWork {
    const { pipeline, encodings } = this.#options;
    const count = batch.ends.length;
    const badSamples: BadSample[] = [];
    const lengthOfRow = (row: number): FreeLength | undefined => {
      if (pipeline.lengthOf === undefined) return 1;
      try {
        const { form } = encodings[batch.forms[row] as number] as PayloadEncoding;
        checkForm(form, pipeline.forms);
        return pipeline.lengthOf(this.#payloads.read(batch, row), form);
      } catch (error) {
        badSamples.push({ row, text: messageOf(error) });
        return undefined;
      }
    };
    const lengths = Array.from({ length: count }, (_, row) => lengthOfRow(row));
    return beginWork(batch, lengths, badSamples, beganAtNs);
  }

  #cut({ lengths }: BatchWork): Chunk[] {
    const rows = [...lengths.keys()].filter((row) => lengths[row] !== undefined);
    // Present: these rows have one.
    const lengthOf = (row: number): FreeLength => lengths[row] as FreeLength;
    const { freeAxes, sizeFixed } = this.#options.shape;
    const { pipeline, sampleBytesMax } = this.#options;
    return cutIntoChunks(rows, lengthOf, {
      sizeMax: this.#sizeMax,
      freeAxes,
      bytesOf: (length) => sampleTensorBytes(pipeline.inputs, length),
      // A model with a fixed batch pads a smaller one, which saves no time.
      paddedBytesMax:
        sizeFixed === undefined ? paddedBytesMax(sampleBytesMax) : Number.POSITIVE_INFINITY,
    });
  }

  async #runChunk(work: BatchWork, chunk: Chunk): Promise<void> {
    const { rows } = chunk;
    const rowCount = this.#options.shape.sizeFixed ?? rows.length;
    const badBefore = work.badSamples.length;
    try {
      const inputs = await this.#inputsOf(work, chunk, rowCount);
      endStep(work, 'preprocessNs');
      if (work.badSamples.length - badBefore === rows.length) return;
      const outputs = await this.#runModel(inputs, rowCount);
      endStep(work, 'computeNs');
      this.#postprocess(work, rows, outputs);
    } catch (error) {
      work.failure = messageOf(error);
      work.failedRows.push(...rows);
      endStep(work, 'computeNs');
    }
    endStep(work, 'postprocessNs');
  }

  /**
   * @throws RangeError if there is no memory for the tensors: padded ones may be far larger than
   * the payloads.
   */
  async #inputsOf(
    work: BatchWork,
    chunk: Chunk,
    rowCount: number,
  ): Promise<readonly InputTensor[]> {
    const { pipeline, encodings, shape } = this.#options;
    const direct =
      rowCount === chunk.rows.length
        ? directTensor(work.batch, chunk, { pipeline, encodings, hasBatchAxis: shape.hasAxis })
        : undefined;
    if (direct !== undefined) return [direct];
    await this.#fillTensors(work, chunk, rowCount);
    return this.#tensors.tensors;
  }

  /** @throws Error of the model; MlperfError `ERR_MODEL` for a wrong number of rows. */
  async #runModel(
    inputs: readonly InputTensor[],
    rowCount: number,
  ): Promise<ReadonlyMap<string, OutputTensor>> {
    const { session, pipeline, shape } = this.#options;
    const outputs = await session.run(inputs, pipeline.outputNames);
    for (const [name, { dims }] of outputs) {
      if (!shape.hasAxis || dims[0] === rowCount) continue;
      throw modelError(
        `output "${name}" of the model has the shape [${dims.join(', ')}], ` +
          `whose first axis is not the batch of ${rowCount}`,
      );
    }
    return outputs;
  }

  /** Pre-processes into the tensors, several samples concurrently; unused rows are zeros. */
  async #fillTensors(
    work: BatchWork,
    { rows, freeLength }: Chunk,
    rowCount: number,
  ): Promise<void> {
    this.#tensors.layOut(rowCount, freeLength);
    for (let row = rows.length; row < rowCount; row += 1) this.#tensors.clearRow(row);
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < rows.length) {
        const position = next;
        next += 1;
        const row = rows[position] as number; // In range: position < length.
        const text = await this.#preprocessSample(work, row, position, freeLength);
        if (text !== undefined) work.badSamples.push({ row, text });
      }
    };
    const laneCount = Math.min(this.#options.decodeCount, rows.length);
    await Promise.all(Array.from({ length: laneCount }, lane));
  }

  /** Fills a row of the tensors; returns the sample's fault, if any. */
  async #preprocessSample(
    { batch, lengths }: BatchWork,
    row: number,
    position: number,
    freeLength: FreeLength,
  ): Promise<string | undefined> {
    const { pipeline, encodings } = this.#options;
    const { form } = encodings[batch.forms[row] as number] as PayloadEncoding;
    const length = lengths[row] as FreeLength; // Present: rows without one are in no chunk.
    try {
      checkForm(form, pipeline.forms);
      const payload = this.#payloads.read(batch, row);
      if (length === freeLength) {
        await pipeline.preprocess(payload, form, this.#tensors.row(position));
      } else {
        const sample = this.#tensors.newSample(length);
        await pipeline.preprocess(payload, form, sample);
        this.#tensors.padRow(position, sample, length);
      }
      return undefined;
    } catch (error) {
      // A partial sample, or the previous one of this row, must not go through the model.
      this.#tensors.clearRow(position);
      return messageOf(error);
    }
  }

  /**
   * Fills in the responses of a chunk, except for bad samples. A row that fails here becomes a bad
   * sample.
   */
  #postprocess(
    { badSamples, responses }: BatchWork,
    rows: readonly number[],
    outputs: ReadonlyMap<string, OutputTensor>,
  ): void {
    const isBad = new Set(badSamples.map((bad) => bad.row));
    for (const [position, row] of rows.entries()) {
      if (isBad.has(row)) continue;
      try {
        const response = this.#options.pipeline.postprocess(outputs, position);
        responses[row] = this.#responseCodec.compress(response);
      } catch (error) {
        badSamples.push({ row, text: `post-processing failed: ${messageOf(error)}` });
      }
    }
  }
}

/** Most bytes of padded tensors of several samples, from the limit of one. */
function paddedBytesMax(sampleBytesMax: number): number {
  return Math.max(PADDED_SAMPLES_MAX * sampleBytesMax, PADDED_BYTES_FREE);
}

/** @param lengths Length of the free axes per row; undefined for an unreadable row. */
function beginWork(
  batch: BatchMessage,
  lengths: readonly (FreeLength | undefined)[],
  badSamples: BadSample[],
  beganAtNs: number,
) {
  return {
    batch,
    lengths,
    badSamples,
    /** Response bytes per row; undefined without a response. */
    responses: new Array<Uint8Array | undefined>(lengths.length).fill(undefined),
    /** Rows with a failed inference, and the last reason. */
    failedRows: [] as number[],
    failure: undefined as string | undefined,
    /** End of the last step, ns. */
    lapAtNs: beganAtNs,
    preprocessNs: 0,
    computeNs: 0,
    postprocessNs: 0,
  };
}

/** Counts the time since the end of the last step. */
function endStep(work: BatchWork, step: 'preprocessNs' | 'computeNs' | 'postprocessNs'): void {
  const nowNs = machineNowNs();
  work[step] += nowNs - work.lapAtNs;
  work.lapAtNs = nowNs;
}

/** Concatenates the responses in one transferable buffer. */
export function packResponses(responses: readonly (Uint8Array | undefined)[]): {
  responses: ArrayBuffer;
  ends: Float64Array;
} {
  const ends = new Float64Array(responses.length);
  let total = 0;
  for (const [row, response] of responses.entries()) {
    total += response?.length ?? 0;
    ends[row] = total;
  }
  const bytes = new Uint8Array(total);
  responses.forEach((response, row) => {
    if (response !== undefined) bytes.set(response, (ends[row] as number) - response.length);
  });
  return { responses: bytes.buffer, ends };
}
