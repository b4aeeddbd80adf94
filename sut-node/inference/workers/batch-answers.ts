import { NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import type {
  Batch,
  BatchTimes,
  SampleAnswer,
  SampleFault,
  SampleOwner,
  SampleTokens,
  WaitingSample,
} from '../batcher/sut-model.ts';
import type { DoneMessage } from './worker-thread.ts';

/** Sends the results of a batch to its samples' owners, one call per owner. */
export function answerBatch(batch: Batch, done: DoneMessage): void {
  const { beganAtNs, preprocessNs, computeNs, postprocessNs, endedAtNs } = done;
  const steps = { preprocessNs, computeNs, postprocessNs };
  const times: BatchTimes = { takenAtNs: batch.takenAtNs, beganAtNs, ...steps, endedAtNs };
  const faults = faultsOf(done);
  const answers = batch.samples.map((sample, row): SampleAnswer => {
    const fault = faults?.get(row);
    if (fault !== undefined) return { sample, payload: NO_BYTES, fault, times };
    const begin = row === 0 ? 0 : (done.ends[row - 1] as number);
    const end = done.ends[row] as number;
    const payload = new Uint8Array(done.responses, begin, end - begin);
    const answer = { sample, payload, fault: undefined, times };
    const tokenCount = done.tokenCounts?.[row];
    return tokenCount === undefined ? answer : { ...answer, tokenCount };
  });
  deliverAnswers(answers);
}

/** Fails samples that will never be answered, for example because their worker ended. */
export function failSamples(samples: readonly WaitingSample[], fault: SampleFault): void {
  deliverAnswers(samples.map((sample) => ({ sample, payload: NO_BYTES, fault, times: undefined })));
}

/** Fails a batch whose worker is lost. */
export function failBatch(batch: Batch, error: MlperfError): void {
  const text = `the worker that had the sample ended: ${error.message}`;
  failSamples(batch.samples, { code: FAILURE_CODES.inference, text });
}

/** Faults by row; undefined if there is none, as in nearly every batch. */
function faultsOf(done: DoneMessage): ReadonlyMap<number, SampleFault> | undefined {
  if (done.failure === undefined && done.badSamples.length === 0) return undefined;
  const faults = new Map<number, SampleFault>();
  if (done.failure !== undefined) {
    const text = `the model failed: ${done.failure.text}`;
    for (const row of done.failure.rows) faults.set(row, { code: FAILURE_CODES.inference, text });
  }
  // A bad sample has its own error, even if the batch failed.
  for (const { row, text } of done.badSamples) {
    faults.set(row, { code: FAILURE_CODES['bad-sample'], text });
  }
  return faults;
}

/** Sends answers to the samples' owners, one call per owner. */
export function deliverAnswers(answers: readonly SampleAnswer[]): void {
  deliver(answers, (owner, own) => owner.answer(own));
}

/** Sends first tokens to the samples' owners, one call per owner. */
export function deliverFirstTokens(tokens: readonly SampleTokens[]): void {
  deliver(tokens, (owner, own) => owner.firstTokens(own));
}

/** Sends further tokens to the samples' owners, one call per owner. */
export function deliverTokens(tokens: readonly SampleTokens[]): void {
  deliver(tokens, (owner, own) => owner.tokens(own));
}

/** A batch nearly always has one owner; otherwise it is split into one list per owner. */
function deliver<T extends { readonly sample: WaitingSample }>(
  all: readonly T[],
  give: (owner: SampleOwner, own: readonly T[]) => void,
): void {
  const first = all[0]?.sample.owner;
  if (first === undefined) return;
  if (all.every(({ sample }) => sample.owner === first)) {
    give(first, all);
    return;
  }
  const byOwner = new Map<SampleOwner, T[]>();
  for (const one of all) {
    const list = byOwner.get(one.sample.owner);
    if (list === undefined) byOwner.set(one.sample.owner, [one]);
    else list.push(one);
  }
  for (const [owner, list] of byOwner) give(owner, list);
}
