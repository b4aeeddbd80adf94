import type {
  SampleAnswer,
  SampleFirstToken,
  SampleOwner,
  WaitingSample,
} from '../../../sut-node/inference/batcher/sut-model.ts';

/** An owner that keeps the first tokens and the answers it gets. */
export class RecordingOwner implements SampleOwner {
  readonly tokens: SampleFirstToken[] = [];
  readonly answers: SampleAnswer[] = [];
  /** Ids of the answers, one list per call. */
  readonly calls: number[][] = [];

  firstTokens(tokens: readonly SampleFirstToken[]): void {
    this.tokens.push(...tokens);
  }

  answer(answers: readonly SampleAnswer[]): void {
    this.answers.push(...answers);
    this.calls.push(answers.map((answer) => answer.sample.id));
  }
}

/** A waiting sample of one byte. */
export function waitingSample(id: number, fields: Partial<WaitingSample> = {}): WaitingSample {
  return {
    id,
    pieces: [Uint8Array.of(id)],
    bytes: 1,
    form: 0,
    slice: undefined,
    owner: new RecordingOwner(),
    arrivedAtNs: 0,
    queuedAtNs: 0,
    ...fields,
  };
}
