import type { ModelStreamInferResponse__Output } from '../../../proto/gen/inference/ModelStreamInferResponse.ts';
import { timerClock } from '../../../shared/base/clock.ts';
import type { OipDataType } from '../../../shared/domain/tensors.ts';
import { DynamicBatcher } from '../../../sut-node/inference/batcher/dynamic-batcher.ts';
import type { Batch, BatchWorkers } from '../../../sut-node/inference/batcher/sut-model.ts';
import { deliverAnswers } from '../../../sut-node/inference/workers/batch-answers.ts';
import { CreditBook } from '../../../sut-node/server/ledger/credit-book.ts';
import type { ServerCallEnd } from '../../../sut-node/server/limits/call-end.ts';
import { OipInference } from '../../../sut-node/server/oip/oip-inference.ts';
import type { InputKind, OipModel } from '../../../sut-node/server/oip/oip-model.ts';
import { OipStream } from '../../../sut-node/server/oip/oip-stream.ts';
import { decodeStreamResponse, encodeRequest } from './oip-messages.ts';

/** An input of one kind. */
export function kind(datatype: OipDataType, shape: readonly number[]): InputKind {
  return { datatype, shape, form: 0, formName: 'raw' };
}

/** A model with one input and one output of bytes, by default. */
export function oipTestModel(parts: Partial<OipModel> = {}): OipModel {
  return {
    name: 'net',
    alias: 'custom',
    platform: 'onnxruntime_onnx',
    hasBatchAxis: true,
    batchSizeMax: 8,
    requestSamplesMax: undefined,
    isDecoupled: false,
    inputs: [{ name: 'input', kinds: [kind('UINT8', [-1])] }],
    outputs: [{ name: 'output', datatype: 'UINT8', shape: [-1] }],
    properties: {},
    refusal: undefined,
    ...parts,
  };
}

/**
 * The Open Inference Protocol on a real batcher and credit book. The model echoes, when the test
 * says so: of every sample comes back what it was.
 */
export class OipScene {
  readonly credits: CreditBook;
  readonly inference: OipInference;
  readonly ends: ServerCallEnd[] = [];
  readonly endReasons: string[] = [];
  readonly #batcher: DynamicBatcher;
  readonly #batches: Batch[] = [];
  #streamed: Buffer[] = [];
  isPaused = false;
  takesMore = true;
  /** False: samples stay in the queue. */
  hasWorker = true;
  refusal: string | undefined;

  constructor({
    samplesMax = 4_096,
    model = oipTestModel(),
    workers,
  }: {
    readonly samplesMax?: number;
    readonly model?: OipModel;
    readonly workers?: BatchWorkers;
  } = {}) {
    const bytesMax = 64 * 2 ** 20;
    const sampleBytesMax = 2 ** 20;
    this.credits = new CreditBook({ bytesMax, samplesMax, sampleBytesMax });
    this.#batcher = new DynamicBatcher({
      policy: { batchSizeMax: 16, batchDelayNsMax: 0, preferredSizes: [16] },
      queueSamplesMax: this.credits.samplesHeldMax,
      clock: timerClock,
      workers: workers ?? this.#ownWorkers(),
    });
    this.inference = new OipInference({
      names: [model.name, model.alias],
      limits: {
        messageBytesMax: 16 * 2 ** 20,
        receiveBytesMax: 16 * 2 ** 20,
        partBytesMax: 0,
        sampleBytesMax,
        querySamplesMax: 0,
      },
      queueSamplesMax: samplesMax,
      credits: this.credits,
      batcher: this.#batcher,
      clock: timerClock,
      observe: undefined,
      model: () => model,
      refusal: () => this.refusal,
      onBegin: () => {},
    });
  }

  /** Workers that do nothing before {@link answer}. */
  #ownWorkers(): BatchWorkers {
    const isFree = (): boolean => this.hasWorker;
    return {
      get hasIdle() {
        return isFree();
      },
      get hasRoom() {
        return isFree();
      },
      run: (batch) => {
        this.#batches.push(batch);
      },
    };
  }

  /** A stream of which this scene is the peer. */
  stream(): OipStream {
    return new OipStream(
      this.inference,
      {
        write: (message) => {
          this.#streamed.push(message);
          return this.takesMore;
        },
        pause: () => {
          this.isPaused = true;
        },
        resume: () => {
          this.isPaused = false;
        },
        end: (end) => this.ends.push(end),
      },
      () => timerClock.nowNs(),
      (_stream, reason) => this.endReasons.push(reason),
    );
  }

  /** An encoded request of so many samples of two bytes. */
  request({ id = '', rows = 1 } = {}): Buffer {
    return encodeRequest({
      modelName: 'net',
      id,
      inputs: [{ name: 'input', datatype: 'UINT8', shape: [rows, 2] }],
      rawInputContents: [Buffer.alloc(rows * 2, 1)],
    });
  }

  /** Messages that were written to the stream. */
  get written(): readonly ModelStreamInferResponse__Output[] {
    return this.#streamed.map((message) => decodeStreamResponse(message));
  }

  get ids(): readonly string[] {
    return this.written.map(({ inferResponse }) => inferResponse?.id ?? '');
  }

  get errors(): readonly string[] {
    return this.written.map(({ errorMessage }) => errorMessage).filter((text) => text !== '');
  }

  /** Samples in queue and workers. */
  get queueLength(): number {
    const { samples } = this.inference.room.used;
    return samples;
  }

  /** Answers all samples that a worker has. */
  answer(): void {
    for (const { samples, takenAtNs } of this.#batches.splice(0)) {
      const endedAtNs = timerClock.nowNs();
      const lengths = { preprocessNs: 1, computeNs: 2, postprocessNs: 3 };
      const times = { takenAtNs, beganAtNs: takenAtNs, ...lengths, endedAtNs };
      deliverAnswers(
        samples.map((sample) => ({
          sample,
          payload: Buffer.concat(sample.pieces),
          fault: undefined,
          times,
        })),
      );
    }
  }
}
