import { machineNowNs } from '../../shared/clock/timer-clock.ts';
import type { Codec, CompressionName } from '../../shared/compression/codec.ts';
import { codecNamed } from '../../shared/compression/codecs.ts';
import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import { messageOf } from '../../shared/errors/to-mlperf-error.ts';
import { ELEMENT_TYPES, type ElementType, type TensorElements } from '../pipeline/element-types.ts';
import type { ModelPipeline, OutputTensor, PipelineInput } from '../pipeline/model-pipeline.ts';
import type { ModelSession } from './ort-session.ts';
import { PayloadReader } from './payload-reader.ts';
import type { BatchMessage, DoneMessage } from './worker-messages.ts';

/** What a runner needs to know. */
export interface BatchRunnerOptions {
  readonly pipeline: ModelPipeline;
  readonly session: ModelSession;
  readonly batchSizeMax: number;
  /** Encodings of payloads by the number that stands in a batch message. */
  readonly encodings: readonly PayloadEncoding[];
  /** Bytes that a sample, and a query compressed as a whole, may have once they are decompressed. */
  readonly sampleBytesMax: number;
  readonly queryBytesMax: number;
  readonly responseCompression: CompressionName;
  /** Samples that are decoded at the same time: decoders have threads of their own. */
  readonly decodeCount: number;
}

/** Memory of one input for the largest batch. */
interface BatchTensor extends PipelineInput {
  readonly sampleElements: number;
  readonly data: TensorElements;
}

type BadSamples = { row: number; text: string }[];

/**
 * The work of a worker thread on one batch: decompress, decode and pre-process into the batch tensor,
 * run the model, post-process and compress. Nothing here knows of threads.
 *
 * The tensors are taken once for the largest batch; a smaller batch uses their beginning.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  /** One per input of the pipeline, for the largest batch. */
  readonly #tensors: readonly BatchTensor[];
  readonly #payloads: PayloadReader;
  readonly #responseCodec: Codec;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#tensors = options.pipeline.inputs.map(({ name, elementType, sampleShape }) => {
      const { bytes, view } = ELEMENT_TYPES.get(elementType) as ElementType; // Checked with the model.
      const sampleElements = sampleShape.reduce((a, b) => a * b, 1);
      const count = options.batchSizeMax * sampleElements;
      const data = view(new ArrayBuffer(count * bytes), 0, count);
      return { name, elementType, sampleShape, sampleElements, data };
    });
    this.#payloads = new PayloadReader(options);
    this.#responseCodec = codecNamed(options.responseCompression);
  }

  /**
   * Runs the model on the benchmark's warm-up sample, alone and as a full batch: the runtime plans its
   * memory per batch size. The codecs load what they need with their first payload.
   * @throws Error of the benchmark or of the model.
   */
  async warmUp(): Promise<void> {
    const { pipeline, batchSizeMax } = this.#options;
    const { form, payload } = pipeline.warmUpPayload();
    this.#payloads.warmUp(payload);
    for (let row = 0; row < batchSizeMax; row += 1) {
      await pipeline.preprocess(payload, form, this.#row(row));
    }
    for (const count of new Set([1, batchSizeMax])) {
      const outputs = await this.#runModel(count);
      this.#responseCodec.compress(pipeline.postprocess(outputs, count - 1));
    }
  }

  /** Works on a batch. Never throws: what failed stands in the result. */
  async run(batch: BatchMessage): Promise<DoneMessage> {
    const beganAtNs = machineNowNs();
    const count = batch.ends.length;
    const badSamples = await this.#preprocess(batch);
    const preprocessedAtNs = machineNowNs();
    let outputs: ReadonlyMap<string, OutputTensor> | undefined;
    let failure: string | undefined;
    if (badSamples.length < count) {
      try {
        outputs = await this.#runModel(count);
      } catch (error) {
        failure = messageOf(error);
      }
    }
    const computedAtNs = machineNowNs();
    const responses = outputs === undefined ? [] : this.#postprocess(outputs, count, badSamples);
    const packed = pack(responses, count);
    const endedAtNs = machineNowNs();
    return {
      kind: 'done',
      payloads: batch.payloads,
      ...packed,
      badSamples,
      failure,
      beganAtNs,
      preprocessNs: preprocessedAtNs - beganAtNs,
      computeNs: computedAtNs - preprocessedAtNs,
      postprocessNs: endedAtNs - computedAtNs,
      endedAtNs,
    };
  }

  /** The sample's elements of each tensor. */
  #row(row: number): TensorElements[] {
    return this.#tensors.map(({ data, sampleElements }) =>
      data.subarray(row * sampleElements, (row + 1) * sampleElements),
    );
  }

  #runModel(count: number): Promise<ReadonlyMap<string, OutputTensor>> {
    const { session, pipeline } = this.#options;
    const inputs = this.#tensors.map(
      ({ name, elementType, sampleShape, sampleElements, data }) => ({
        name,
        elementType,
        data: data.subarray(0, count * sampleElements),
        dims: [count, ...sampleShape],
      }),
    );
    return session.run(inputs, pipeline.outputNames);
  }

  /** Fills the batch tensor, several samples at a time; returns those that cannot be read. */
  async #preprocess(batch: BatchMessage): Promise<BadSamples> {
    const badSamples: BadSamples = [];
    const count = batch.ends.length;
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < count) {
        const row = next;
        next += 1;
        const text = await this.#preprocessSample(batch, row);
        if (text !== undefined) badSamples.push({ row, text });
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.#options.decodeCount, count) }, lane));
    return badSamples;
  }

  /** Returns what is wrong with the sample, if anything. */
  async #preprocessSample(batch: BatchMessage, row: number): Promise<string | undefined> {
    const { form } = this.#options.encodings[batch.forms[row] as number] as PayloadEncoding;
    const targets = this.#row(row);
    try {
      const payload = this.#payloads.read(batch, row);
      await this.#options.pipeline.preprocess(payload, form, targets);
      return undefined;
    } catch (error) {
      // Half a sample, or the one that had this row before, must not go through the model.
      for (const target of targets) clear(target);
      return messageOf(error);
    }
  }

  /** Response bytes per row; a bad sample has none. A row that fails here becomes a bad sample. */
  #postprocess(
    outputs: ReadonlyMap<string, OutputTensor>,
    count: number,
    badSamples: BadSamples,
  ): (Uint8Array | undefined)[] {
    const isBad = new Set(badSamples.map((bad) => bad.row));
    const responses = new Array<Uint8Array | undefined>(count);
    for (let row = 0; row < count; row += 1) {
      if (isBad.has(row)) continue;
      try {
        const response = this.#options.pipeline.postprocess(outputs, row);
        responses[row] = this.#responseCodec.compress(response);
      } catch (error) {
        badSamples.push({ row, text: `post-processing failed: ${messageOf(error)}` });
      }
    }
    return responses;
  }
}

function clear(elements: TensorElements): void {
  new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength).fill(0);
}

/** Puts the responses one behind the other into one buffer that can be transferred. */
function pack(
  responses: readonly (Uint8Array | undefined)[],
  count: number,
): { responses: ArrayBuffer; ends: Float64Array } {
  const ends = new Float64Array(count);
  let total = 0;
  for (let row = 0; row < count; row += 1) {
    total += responses[row]?.length ?? 0;
    ends[row] = total;
  }
  const bytes = new Uint8Array(total);
  responses.forEach((response, row) => {
    if (response !== undefined) bytes.set(response, (ends[row] as number) - response.length);
  });
  return { responses: bytes.buffer, ends };
}
