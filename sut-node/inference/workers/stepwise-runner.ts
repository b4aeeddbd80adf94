import { machineNowNs } from '../../../shared/base/clock.ts';
import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { type Codec, codecNamed } from '../../../shared/compression/codec.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import type { RunModel, SamplePayload, StepwisePipeline } from '../../model/model-facts.ts';
import type { ModelSession } from '../../model/onnx/ort-session.ts';
import { checkForm } from '../../pipeline/tensor-preprocessor.ts';
import { packResponses } from './batch-runner.ts';
import { PayloadReader } from './payload-reader.ts';
import type { BadSample, BatchMessage, DoneMessage, WorkerStart } from './worker-thread.ts';

interface StepwiseRunnerOptions
  extends Pick<
    WorkerStart,
    'encodings' | 'sampleBytesMax' | 'queryBytesMax' | 'responseCompression'
  > {
  readonly pipeline: StepwisePipeline;
  readonly session: ModelSession;
}

/**
 * A worker's processing of batches whose samples are no rows of the model's batch axis: the
 * pipeline answers them and runs the model as often as needed. Time inside the model counts as
 * compute, time before its first run as pre-processing, and all other time as post-processing.
 */
export class StepwiseRunner {
  readonly #options: StepwiseRunnerOptions;
  readonly #payloads: PayloadReader;
  readonly #responseCodec: Codec;

  constructor(options: StepwiseRunnerOptions) {
    this.#options = options;
    this.#payloads = new PayloadReader(options);
    this.#responseCodec = codecNamed(options.responseCompression);
  }

  /** @throws Error of the pipeline or of the model. */
  async warmUp(): Promise<void> {
    const { pipeline, session } = this.#options;
    const sample = pipeline.warmUpPayload();
    this.#payloads.warmUp(sample.payload);
    const run: RunModel = (inputs, outputNames) => session.run(inputs, outputNames);
    const [response] = await pipeline.answer([sample], run);
    if (!(response instanceof Uint8Array))
      throw response ?? new Error('the pipeline gave no response');
    this.#responseCodec.compress(response);
  }

  /** Works on a batch. Never throws: failures are in the result. */
  async run(batch: BatchMessage): Promise<DoneMessage> {
    const beganAtNs = machineNowNs();
    const badSamples: BadSample[] = [];
    const rows: number[] = [];
    const samples: SamplePayload[] = [];
    for (let row = 0; row < batch.ends.length; row += 1) {
      try {
        samples.push(this.#sampleOf(batch, row));
        rows.push(row);
      } catch (error) {
        badSamples.push({ row, text: messageOf(error) });
      }
    }
    let firstRunAtNs: number | undefined;
    let computeNs = 0;
    const run: RunModel = async (inputs, outputNames) => {
      const startNs = machineNowNs();
      firstRunAtNs ??= startNs;
      try {
        return await this.#options.session.run(inputs, outputNames);
      } finally {
        computeNs += machineNowNs() - startNs;
      }
    };
    const responses = new Array<Uint8Array | undefined>(batch.ends.length).fill(undefined);
    let failure: DoneMessage['failure'];
    try {
      const answers = samples.length === 0 ? [] : await this.#options.pipeline.answer(samples, run);
      for (const [i, row] of rows.entries()) {
        const answer = answers[i];
        if (answer instanceof Uint8Array) responses[row] = this.#responseCodec.compress(answer);
        else badSamples.push({ row, text: messageOf(answer ?? 'the pipeline gave no response') });
      }
    } catch (error) {
      failure = {
        text: messageOf(error),
        rows: rows.filter((row) => responses[row] === undefined),
      };
    }
    const packed = packResponses(responses);
    const endedAtNs = machineNowNs();
    const preprocessNs = (firstRunAtNs ?? endedAtNs) - beganAtNs;
    const postprocessNs = endedAtNs - beganAtNs - preprocessNs - computeNs;
    return {
      kind: 'done',
      payloads: batch.payloads,
      ...packed,
      badSamples,
      failure,
      beganAtNs,
      preprocessNs,
      computeNs,
      postprocessNs,
      endedAtNs,
    };
  }

  #sampleOf(batch: BatchMessage, row: number): SamplePayload {
    const { encodings, pipeline } = this.#options;
    const { form } = encodings[batch.forms[row] as number] as PayloadEncoding;
    checkForm(form, pipeline.forms);
    return { form, payload: this.#payloads.read(batch, row) };
  }
}
