import { type BorrowedBytes, copyOf, NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';

/** A response that goes to the accuracy log. */
export interface LoggedResponse {
  /** Number of the sample over the whole test (`seq_id`). */
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
  /** Payload of the first token; null in Offline, which does not ask for it. */
  readonly firstToken: Uint8Array | null;
}

/** Held bytes above which an accuracy run hands its responses on; what one set may hold at most. */
const HELD_BYTES_MAX = 8 << 20;

/**
 * Keeps copies of the responses that go to the accuracy log. In an accuracy run, which is untimed,
 * they are handed on as soon as many are held; a performance run holds its few until the end.
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

  /** Keeps a first token until its sample completes. @param payload Copied. */
  keepFirstToken(responseId: number, payload: BorrowedBytes): void {
    this.#firstTokens.set(responseId, copyOf(payload));
  }

  /** The first token that was kept for a sample; empty if none came. */
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

  /** Hands all held responses on, in the order in which they came. */
  handOn(): void {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const response of held) this.#write(response);
  }
}
