import {
  benchmark,
  INPUT_NAME,
  LABEL_OUTPUT_NAME,
  SAMPLE_SHAPE,
} from '../../../sut-node/benchmarks/digits/benchmark.ts';
import type {
  ModelContext,
  SampleAnswer,
  SampleOwner,
  SampleTokens,
  WaitingSample,
} from '../../../sut-node/inference/batcher/sut-model.ts';
import type { ModelPipeline, OpenedModel } from '../../../sut-node/model/model-facts.ts';

/** An owner that keeps the tokens and the answers it gets. */
export class RecordingOwner implements SampleOwner {
  takesTokens = false;
  readonly firsts: SampleTokens[] = [];
  /** As they came, one list per call. */
  readonly furthers: (readonly SampleTokens[])[] = [];
  readonly answers: SampleAnswer[] = [];
  /** Ids of the answers, one list per call. */
  readonly calls: number[][] = [];

  firstTokens(tokens: readonly SampleTokens[]): void {
    this.firsts.push(...tokens);
  }

  tokens(tokens: readonly SampleTokens[]): void {
    this.furthers.push(tokens);
  }

  answer(answers: readonly SampleAnswer[]): void {
    this.answers.push(...answers);
    this.calls.push(answers.map((answer) => answer.sample.id));
  }
}

/** A waiting sample of one byte. */
export function waitingSample(id: number, fields: Partial<WaitingSample> = {}): WaitingSample {
  const owner = new RecordingOwner();
  const pieces = [Uint8Array.of(id)];
  const times = { arrivedAtNs: 0, queuedAtNs: 0 };
  return { id, pieces, bytes: 1, form: 0, slice: undefined, owner, ...times, ...fields };
}

/** A model's context, for tests that do not look at it. */
export const NO_CONTEXT: ModelContext = {
  ...{ encodings: [], sampleBytesMax: 0, queryBytesMax: 0 },
  ...{ onProgress: () => {}, onRoom: () => {}, onFatal: () => {} },
};

/** The model of digits as ONNX Runtime describes it. */
export const DIGITS_MODEL: OpenedModel = {
  file: 'digits.onnx',
  inputs: [{ name: INPUT_NAME, elementType: 'float', shape: [-1, ...SAMPLE_SHAPE] }],
  outputs: [{ name: LABEL_OUTPUT_NAME, elementType: 'int64', shape: [-1] }],
};

/** Pre- and post-processing of digits, without a session. */
export function digitsPipeline(): ModelPipeline {
  return benchmark.openPipeline(DIGITS_MODEL, {});
}
