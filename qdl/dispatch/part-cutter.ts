import assert from 'node:assert';
import type { Query, SamplePayloads } from '../../shared/domain/system-under-test.ts';
import {
  type DispatchChannel,
  NOT_OUTSTANDING,
  type OutgoingPart,
  type OutgoingSample,
} from './dispatch-channel.ts';

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

const INITIAL_CAPACITY = 1024; // A power of two: positions are masked.

/**
 * Queries that LoadGen issued and that are not, or not wholly, on the wire, in the order of issue.
 *
 * A ring of numbers: it holds ids, never bytes, so an overload of any length costs 36 B per
 * waiting query. It grows by doubling; issue and dispatch make no other allocation.
 */
export class WaitingQueries {
  #capacity = INITIAL_CAPACITY;
  #queryIds = new Float64Array(INITIAL_CAPACITY);
  #firstResponseIds = new Float64Array(INITIAL_CAPACITY);
  #sampleOffsets = new Float64Array(INITIAL_CAPACITY);
  #sampleCounts = new Uint32Array(INITIAL_CAPACITY);
  #strides = new Uint32Array(INITIAL_CAPACITY);
  #sampleIndices: (Uint32Array | undefined)[] = new Array<undefined>(INITIAL_CAPACITY).fill(
    undefined,
  );
  #head = 0;
  #size = 0;
  /** Samples of the first query that are on the wire already. */
  #sentOfHead = 0;

  /** Number of waiting queries. */
  get size(): number {
    return this.#size;
  }

  push(query: Query): void {
    if (this.#size === this.#capacity) this.#grow();
    const at = (this.#head + this.#size) & (this.#capacity - 1);
    this.#queryIds[at] = query.id;
    this.#firstResponseIds[at] = query.firstResponseId;
    this.#sampleOffsets[at] = query.sampleOffset;
    this.#sampleCounts[at] = query.sampleCount;
    this.#strides[at] = query.responseIdStride;
    this.#sampleIndices[at] = query.sampleIndices;
    this.#size += 1;
  }

  /** Number of the first waiting query. */
  get headQueryId(): number {
    return this.#queryIds[this.#head] as number;
  }

  /** Samples of the whole first query, sent ones included. */
  get headSampleCount(): number {
    return this.#sampleCounts[this.#head] as number;
  }

  /** Samples of the first query that are not on the wire. */
  get headRestCount(): number {
    return this.headSampleCount - this.#sentOfHead;
  }

  /** Index in the library of the i-th unsent sample of the first query. */
  headSampleIndex(i: number): number {
    const offset = (this.#sampleOffsets[this.#head] as number) + this.#distanceOf(i);
    const index = this.#sampleIndices[this.#head]?.[offset];
    assert(index !== undefined);
    return index;
  }

  /** Response id of the i-th unsent sample of the first query. */
  headResponseId(i: number): number {
    return (this.#firstResponseIds[this.#head] as number) + this.#distanceOf(i);
  }

  /** Distance between the response ids of neighbours in the first query. */
  get headResponseIdStride(): number {
    return this.#strides[this.#head] as number;
  }

  /** Moves on by `count` samples of the first query; drops the query when none is left. */
  advance(count: number): void {
    assert(count <= this.headRestCount);
    this.#sentOfHead += count;
    if (this.#sentOfHead < this.headSampleCount) return;
    this.#sampleIndices[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#capacity - 1);
    this.#size -= 1;
    this.#sentOfHead = 0;
  }

  /** Drops everything that waits, calling back with each response id. */
  drop(onResponseId: (responseId: number) => void): void {
    while (this.#size > 0) {
      const rest = this.headRestCount;
      const first = this.headResponseId(0);
      const stride = this.#strides[this.#head] as number;
      // Moved on before the callbacks: one of them may look at this queue.
      this.advance(rest);
      for (let i = 0; i < rest; i += 1) onResponseId(first + i * stride);
    }
  }

  /** How far the i-th unsent sample of the first query is from its first sample. */
  #distanceOf(i: number): number {
    return (this.#sentOfHead + i) * (this.#strides[this.#head] as number);
  }

  #grow(): void {
    const old = this.#capacity;
    this.#queryIds = doubled(this.#queryIds, this.#head);
    this.#firstResponseIds = doubled(this.#firstResponseIds, this.#head);
    this.#sampleOffsets = doubled(this.#sampleOffsets, this.#head);
    this.#sampleCounts = doubled(this.#sampleCounts, this.#head);
    this.#strides = doubled(this.#strides, this.#head);
    const indices = this.#sampleIndices;
    this.#sampleIndices = [
      ...indices.slice(this.#head),
      ...indices.slice(0, this.#head),
      ...new Array<undefined>(old).fill(undefined),
    ];
    this.#head = 0;
    this.#capacity = old * 2;
  }
}

/** The ring `old`, read from `head`, at the start of an array of twice its length. */
function doubled<T extends Float64Array | Uint32Array>(old: T, head: number): T {
  const bigger = new (old.constructor as new (length: number) => T)(old.length * 2);
  bigger.set(old.subarray(head), 0);
  bigger.set(old.subarray(0, head), old.length - head);
  return bigger;
}

/** Lengths of time in which queries waited in the QDL, in ns since the run began. */
export interface BackPressureTimes {
  /** A stream had credit for the next part, but its socket took no more. */
  readonly socketNs: number;
  /** No stream had credit for it (or was below its limit of outstanding samples). */
  readonly creditNs: number;
}

/** Reasons why the first waiting part waits. */
type Shortage = 'none' | 'socket' | 'credit';

/** Counts the time in which queries waited, by what they waited for. Hot path: two numbers and no clock of its own. */
export class BackPressure {
  #shortage: Shortage = 'none';
  #sinceNs = 0;
  #socketNs = 0;
  #creditNs = 0;

  /** Reason why the first query waits now. */
  get shortage(): Shortage {
    return this.#shortage;
  }

  /** From now on it is this that is waited for. */
  change(shortage: Shortage, nowNs: number): void {
    if (shortage === this.#shortage) return;
    this.#count(nowNs);
    this.#shortage = shortage;
  }

  /** The times up to now. */
  timesAt(nowNs: number): BackPressureTimes {
    this.#count(nowNs);
    return { socketNs: this.#socketNs, creditNs: this.#creditNs };
  }

  #count(nowNs: number): void {
    if (this.#shortage === 'socket') this.#socketNs += nowNs - this.#sinceNs;
    else if (this.#shortage === 'credit') this.#creditNs += nowNs - this.#sinceNs;
    this.#sinceNs = nowNs;
  }
}
