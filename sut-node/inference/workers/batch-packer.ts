import assert from 'node:assert';
import { ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { Batch, WaitingSample } from '../batcher/sut-model.ts';
import type { BatchMessage } from './worker-thread.ts';

/** Makes the messages that carry batches to workers, in reusable memory. */
export class BatchPacker {
  readonly #buffers: ReusedBuffers;

  constructor(workerCount: number) {
    // Per worker: a running batch, and a waiting one.
    this.#buffers = new ReusedBuffers(2 * workerCount);
  }

  /** The only copy of the payloads: from their messages into the transferred buffer. */
  pack(batch: Batch): BatchMessage {
    const { samples } = batch;
    const lent = lentMessage(samples);
    if (lent !== undefined) return lent;
    const count = samples.length;
    let total = 0;
    samples.forEach((sample, i) => {
      if (!sharesPayload(sample, samples[i - 1])) total += piecesBytes(sample);
    });
    const payloads = this.#buffers.take(total);
    const bytes = new Uint8Array(payloads);
    const begins = new Float64Array(count);
    const ends = new Float64Array(count);
    const forms = new Uint8Array(count);
    let hasSlices = false;
    let begin = 0;
    let position = 0;
    for (let i = 0; i < count; i += 1) {
      const sample = samples[i] as WaitingSample; // In range: i < count.
      if (!sharesPayload(sample, samples[i - 1])) {
        begin = position;
        for (const piece of sample.pieces) {
          bytes.set(piece, position);
          position += piece.length;
        }
      }
      begins[i] = begin;
      ends[i] = position;
      forms[i] = sample.form;
      hasSlices ||= sample.slice !== undefined;
    }
    assert.equal(position, total);
    const takesTokens = samples.some(({ owner }) => owner.takesTokens);
    const message = { kind: 'batch', payloads, begins, ends, forms, takesTokens } as const;
    return hasSlices ? { ...message, slices: samples.map((sample) => sample.slice) } : message;
  }

  /** Takes back the memory of a finished batch. */
  takeBack(batch: Batch, payloads: ArrayBuffer): void {
    const { memory } = batch.samples[0] as WaitingSample; // A batch has one.
    if (memory?.isLent === true) memory.restore(payloads);
    else this.#buffers.giveBack(payloads);
  }
}

/**
 * A sample alone in its message: the message's memory is transferred uncopied. Undefined if it must
 * be copied.
 */
function lentMessage([sample, ...others]: readonly WaitingSample[]): BatchMessage | undefined {
  const piece = sample?.pieces[0];
  if (sample === undefined || piece === undefined || sample.pieces.length > 1) return undefined;
  if (others.length > 0 || sample.slice !== undefined) return undefined;
  const begin = piece.byteOffset;
  const end = begin + piece.length;
  const payloads = sample.memory?.lend();
  if (payloads === undefined) return undefined;
  const forms = Uint8Array.of(sample.form);
  return {
    kind: 'batch',
    payloads,
    begins: Float64Array.of(begin),
    ends: Float64Array.of(end),
    forms,
    takesTokens: sample.owner.takesTokens,
  };
}

/** True if both are samples of one query that was compressed as a whole. */
function sharesPayload(sample: WaitingSample, before: WaitingSample | undefined): boolean {
  return sample.slice !== undefined && sample.pieces[0] === before?.pieces[0];
}

function piecesBytes(sample: WaitingSample): number {
  let bytes = 0;
  for (const piece of sample.pieces) bytes += piece.length;
  return bytes;
}
