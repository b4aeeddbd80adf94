import assert from 'node:assert';
import { STREAMS_MAX } from '../limits/node-limits.ts';

/** Limits of the node's queue and of a sample. */
export interface CreditLimits {
  readonly bytesMax: number;
  readonly samplesMax: number;
  readonly sampleBytesMax: number;
}

/**
 * Shares the node's queue among the open streams by credit.
 *
 * - *Held* by a stream is what it was granted and has not been given back: what it may still send
 *   plus what it sent and has no answer yet. Held bytes and samples are the node's only queue
 *   limit.
 * - *First grant*: enough for one sample of the largest size, and a 32nd of the samples. It is a
 *   stream's for as long as it lives, whatever the others hold: a peer may cut its parts to the
 *   first grant and will never be stuck. The queue may thus pass its limit by one first grant per
 *   stream, no more.
 * - *Share*: an equal part of the queue per open stream, at least the first grant. A stream grows
 *   to it as far as the queue has room; when streams come, shares shrink, and a stream that holds
 *   more than its share gets no credit back until it holds less.
 * - A grant is told when it is a quarter of the share, so that not every answer costs a message;
 *   at once when the stream holds less than its first grant and none of its samples is in work, for
 *   then no later answer would bring it.
 */
export class CreditBook {
  readonly #limits: CreditLimits;
  readonly #streams = new Set<StreamCredit>();
  readonly firstBytes: number;
  readonly firstSamples: number;
  heldBytes = 0;
  heldSamples = 0;

  constructor(limits: CreditLimits) {
    assert(limits.samplesMax >= 1);
    assert(limits.sampleBytesMax <= limits.bytesMax);
    this.#limits = limits;
    this.firstBytes = limits.sampleBytesMax;
    this.firstSamples = Math.max(1, Math.floor(limits.samplesMax / STREAMS_MAX));
  }

  /**
   * Opens an account with the first grant.
   * @param onGrant Called after further grants; never from inside `open`.
   */
  open(onGrant: () => void): StreamCredit | undefined {
    if (this.#streams.size >= STREAMS_MAX) return undefined;
    const stream = new StreamCredit(this, onGrant);
    this.#streams.add(stream);
    return stream;
  }

  /** Most samples that can be in the node at once. */
  get samplesHeldMax(): number {
    return this.#limits.samplesMax + STREAMS_MAX * this.firstSamples;
  }

  get shareBytes(): number {
    return this.#share(this.#limits.bytesMax, this.firstBytes);
  }

  get shareSamples(): number {
    return this.#share(this.#limits.samplesMax, this.firstSamples);
  }

  get freeBytes(): number {
    return Math.max(0, this.#limits.bytesMax - this.heldBytes);
  }

  get freeSamples(): number {
    return Math.max(0, this.#limits.samplesMax - this.heldSamples);
  }

  /** Samples and bytes in the node: received and not given back. */
  get used(): { readonly samples: number; readonly bytes: number } {
    let samples = 0;
    let bytes = 0;
    for (const stream of this.#streams) {
      samples += stream.usedSamples;
      bytes += stream.usedBytes;
    }
    return { samples, bytes };
  }

  /** Offers the room of a closed stream to the others. @internal Called by the accounts. */
  offer(from: StreamCredit): void {
    for (const stream of this.#streams) {
      if (stream !== from) stream.grow();
    }
  }

  /** @internal Called by the accounts. */
  remove(stream: StreamCredit): void {
    this.#streams.delete(stream);
  }

  #share(max: number, first: number): number {
    return Math.max(first, Math.floor(max / Math.max(1, this.#streams.size)));
  }
}

/** One of the two quantities of credit, as totals since the stream's opening. */
interface Account {
  granted: number;
  used: number;
  returned: number;
}

/** The account of one stream. */
export class StreamCredit {
  readonly #book: CreditBook;
  readonly #onGrant: () => void;
  readonly #samples: Account;
  readonly #bytes: Account;
  /** Complete samples of the stream that wait for an answer. */
  #inWork = 0;

  constructor(book: CreditBook, onGrant: () => void) {
    this.#book = book;
    this.#onGrant = onGrant;
    this.#samples = { granted: book.firstSamples, used: 0, returned: 0 };
    this.#bytes = { granted: book.firstBytes, used: 0, returned: 0 };
    book.heldSamples += book.firstSamples;
    book.heldBytes += book.firstBytes;
  }

  /** Totals as on the wire. */
  get grantedSamples(): number {
    return this.#samples.granted;
  }

  get grantedBytes(): number {
    return this.#bytes.granted;
  }

  /** Samples and bytes received and not given back. */
  get usedSamples(): number {
    return this.#samples.used - this.#samples.returned;
  }

  get usedBytes(): number {
    return this.#bytes.used - this.#bytes.returned;
  }

  /** Samples that the peer may still send. */
  get freeSamples(): number {
    return Math.max(0, this.#samples.granted - this.#samples.used);
  }

  /** Payload bytes that the peer may still send. */
  get freeBytes(): number {
    return Math.max(0, this.#bytes.granted - this.#bytes.used);
  }

  /** Counts received data; false if the peer exceeded its credit. */
  take(samples: number, bytes: number): boolean {
    this.#samples.used += samples;
    this.#bytes.used += bytes;
    return this.#samples.used <= this.#samples.granted && this.#bytes.used <= this.#bytes.granted;
  }

  /** A sample is complete: from now on it needs an answer. */
  begin(): void {
    this.#inWork += 1;
  }

  /** Answers were sent: so many samples and bytes left the node. */
  finish(samples: number, bytes: number): void {
    this.#inWork -= samples;
    assert(this.#inWork >= 0);
    this.giveBack(samples, bytes);
  }

  /** Frees room without an answer (bytes of a sample refused before it was complete). */
  giveBack(samples: number, bytes: number): void {
    this.#samples.returned += samples;
    this.#bytes.returned += bytes;
    this.#book.heldSamples -= samples;
    this.#book.heldBytes -= bytes;
    this.grow();
    this.#book.offer(this);
  }

  /** Grants what the stream may have by now, if it is worth a message. */
  grow(): void {
    const book = this.#book;
    const samples = growth(this.#samples, book.shareSamples, book.firstSamples, book.freeSamples);
    const bytes = growth(this.#bytes, book.shareBytes, book.firstBytes, book.freeBytes);
    const isLarge = samples * 4 >= book.shareSamples || bytes * 4 >= book.shareBytes;
    const isWorth = isLarge || (this.#inWork === 0 && this.#isShort() && samples + bytes > 0);
    if (!isWorth) return;
    this.#samples.granted += samples;
    this.#bytes.granted += bytes;
    book.heldSamples += samples;
    book.heldBytes += bytes;
    this.#onGrant();
  }

  /** True if the peer could not send its largest part. */
  #isShort(): boolean {
    const heldSamples = this.#samples.granted - this.#samples.returned;
    const heldBytes = this.#bytes.granted - this.#bytes.returned;
    return heldSamples < this.#book.firstSamples || heldBytes < this.#book.firstBytes;
  }

  /** Closes the account: its room goes to the others. */
  close(): void {
    const book = this.#book;
    book.heldSamples -= this.#samples.granted - this.#samples.returned;
    book.heldBytes -= this.#bytes.granted - this.#bytes.returned;
    book.remove(this);
    book.offer(this);
  }
}

/** How much more the account may be granted now. */
function growth(account: Account, share: number, first: number, free: number): number {
  const held = account.granted - account.returned;
  // The first grant is due even if the queue is full.
  return Math.max(0, Math.min(share - held, Math.max(free, first - held)));
}
