import assert from 'node:assert';
import type { SamplePayloads } from '../../shared/domain/system-under-test.ts';
import type { DispatchChannel, OutgoingPart, OutgoingSample } from './dispatch-channel.ts';
import { NOT_OUTSTANDING } from './outstanding-table.ts';
import type { WaitingQueries } from './waiting-queries.ts';

/** Largest part that every channel takes. */
export interface PartLimits {
  readonly bytesMax: number;
  readonly samplesMax: number;
  /** Largest sample, over all its pieces, that every node takes. */
  readonly sampleBytesMax: number;
}

/** A sample larger than a part, in the middle of its pieces. */
interface PieceState {
  readonly wireId: number;
  readonly channel: DispatchChannel;
  offset: number;
}

/**
 * Cuts the first waiting query into parts: at sample borders, inside a sample only if it is larger
 * than a part. A query that fits is one part. Never takes from two queries.
 *
 * `plan()` says how large the next part is; the router finds a channel for that; `cut()` makes it.
 */
export class PartCutter {
  readonly #waiting: WaitingQueries;
  readonly #payloads: SamplePayloads;
  #limits: PartLimits = { bytesMax: 0, samplesMax: 0, sampleBytesMax: 0 };
  #piece: PieceState | undefined;
  /** The plan holds until a part is cut: while credit is short, every response asks for it again. */
  #isPlanned = false;
  /** Samples and payload bytes of the next part, set by plan(). */
  sampleCount = 0;
  bytes = 0;

  constructor(waiting: WaitingQueries, payloads: SamplePayloads) {
    this.#waiting = waiting;
    this.#payloads = payloads;
  }

  setLimits(limits: PartLimits): void {
    assert(limits.bytesMax >= 1);
    assert(limits.samplesMax >= 1);
    // A query that was compressed as a whole is one payload, and no node could read a piece of it.
    const isWhole = this.#payloads.preparedQueryPayload !== undefined;
    const sampleBytesMax = Math.min(limits.sampleBytesMax, isWhole ? limits.bytesMax : Infinity);
    this.#limits = { ...limits, sampleBytesMax };
  }

  /** Forgets a half-sent sample: its query is given up. */
  reset(): void {
    this.#piece = undefined;
    this.#isPlanned = false;
  }

  /** Gives up a half-sent sample, which waits and is on the wire at once; frees its wire id. */
  giveUpPiece(): { readonly isOutstanding: boolean } {
    const piece = this.#piece;
    this.reset();
    const responseId = piece?.channel.outstanding.release(piece.wireId) ?? NOT_OUTSTANDING;
    return { isOutstanding: responseId !== NOT_OUTSTANDING };
  }

  /** True when no node takes the next sample, in however many pieces: it can only fail. */
  get isTooLarge(): boolean {
    return this.#piece === undefined && this.#payloadOf(0).length > this.#limits.sampleBytesMax;
  }

  /** The only channel that may take the next part: the one that has the sample's first pieces. */
  get boundChannel(): DispatchChannel | undefined {
    return this.#piece?.channel;
  }

  /** Sizes the next part of the first waiting query. There must be one. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const { bytesMax, samplesMax } = this.#limits;
    if (this.#piece !== undefined) {
      this.#planPiece(this.#piece.offset, 0);
      return;
    }
    const rest = Math.min(this.#waiting.headRestCount, samplesMax);
    let bytes = this.#payloadOf(0).length;
    if (bytes > bytesMax) {
      this.#planPiece(0, 1);
      return;
    }
    let count = 1;
    while (count < rest) {
      const next = this.#payloadOf(count).length;
      if (bytes + next > bytesMax) break;
      bytes += next;
      count += 1;
    }
    this.sampleCount = count;
    this.bytes = bytes;
  }

  /** Makes the planned part for a channel that can take it, and moves the waiting query on. */
  cut(channel: DispatchChannel): OutgoingPart {
    this.#isPlanned = false;
    const { sampleCount, bytes } = this;
    const query = this.#waiting.headQueryId;
    const querySampleCount = this.#waiting.headSampleCount;
    const isPiece = this.#piece !== undefined || bytes < this.#payloadOf(0).length;
    const samples = isPiece ? [this.#cutPiece(channel)] : this.#cutWhole(channel);
    return { query, querySampleCount, samples, sampleCount, bytes };
  }

  #cutWhole(channel: DispatchChannel): OutgoingSample[] {
    const samples: OutgoingSample[] = [];
    for (let i = 0; i < this.sampleCount; i += 1) {
      const id = channel.outstanding.acquire(this.#waiting.headResponseId(i));
      const sampleIndex = this.#waiting.headSampleIndex(i);
      const payload = this.#payloads.payloadOf(sampleIndex);
      samples.push({ id, payload, encoding: 0, offset: 0, total: 0, sampleIndex });
    }
    this.#waiting.advance(this.sampleCount);
    return samples;
  }

  #planPiece(offset: number, newSamples: number): void {
    this.sampleCount = newSamples;
    this.bytes = Math.min(this.#limits.bytesMax, this.#payloadOf(0).length - offset);
  }

  #cutPiece(channel: DispatchChannel): OutgoingSample {
    const sampleIndex = this.#waiting.headSampleIndex(0);
    const whole = this.#payloads.payloadOf(sampleIndex);
    const piece = this.#piece ?? {
      wireId: channel.outstanding.acquire(this.#waiting.headResponseId(0)),
      channel,
      offset: 0,
    };
    const { offset } = piece;
    const payload = whole.subarray(offset, offset + this.bytes);
    piece.offset += payload.length;
    const isLast = piece.offset === whole.length;
    this.#piece = isLast ? undefined : piece;
    if (isLast) this.#waiting.advance(1);
    return { id: piece.wireId, payload, encoding: 0, offset, total: whole.length, sampleIndex };
  }

  #payloadOf(i: number): Uint8Array {
    return this.#payloads.payloadOf(this.#waiting.headSampleIndex(i));
  }
}
