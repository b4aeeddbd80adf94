import { type BorrowedBytes, copyOf, NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';

/** A response for the accuracy log. */
export interface LoggedResponse {
  /** Number of the sample in the whole test (`seq_id`). */
  readonly responseId: number;
  /** Index in the sample library (`qsl_idx`). */
  readonly sampleIndex: number;
  readonly bytes: Uint8Array;
  /** Null unless the model's tokens are counted. */
  readonly tokens: LoggedTokens | null;
}

/** Tokens of a sample in the accuracy log. */
export interface LoggedTokens {
  readonly count: number;
  /** Payload of the first token; null in Offline, which does not time it. */
  readonly firstToken: Uint8Array | null;
}

/**
 * Buffered bytes above which an accuracy run passes its responses on; the most that one set may
 * buffer.
 */
const HELD_BYTES_MAX = 8 << 20;

/**
 * Copies the responses for the accuracy log. An accuracy run (untimed) passes them on when many are
 * buffered; a performance run buffers its few until the end.
 */
export class ResponseRecorder {
  readonly #write: (response: LoggedResponse) => void;
  readonly #heldBytesMax: number;
  #held: LoggedResponse[] = [];
  #heldBytes = 0;
  /** By response id, until the sample completes. */
  readonly #firstTokens = new Map<number, Uint8Array>();

  constructor(isTimed: boolean, write: (response: LoggedResponse) => void) {
    this.#write = write;
    this.#heldBytesMax = isTimed ? Number.POSITIVE_INFINITY : HELD_BYTES_MAX;
  }

  /** Stores a first token until its sample completes. @param payload Copied. */
  keepFirstToken(responseId: number, payload: BorrowedBytes): void {
    this.#firstTokens.set(responseId, copyOf(payload));
  }

  /** Takes the stored first token of a sample; empty if none came. */
  takeFirstToken(responseId: number): Uint8Array {
    const bytes = this.#firstTokens.get(responseId) ?? NO_BYTES;
    this.#firstTokens.delete(responseId);
    return bytes;
  }

  /** @param payload Copied. */
  add(
    responseId: number,
    sampleIndex: number,
    payload: BorrowedBytes,
    tokens: LoggedTokens | null,
  ): void {
    this.#held.push({ responseId, sampleIndex, bytes: copyOf(payload), tokens });
    this.#heldBytes += payload.length;
    if (this.#heldBytes > this.#heldBytesMax) this.handOn();
  }

  /** Passes all buffered responses on, in order of arrival. */
  handOn(): void {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const response of held) this.#write(response);
  }
}
