import type {
  SampleAnswer,
  SampleTokens,
  WaitingSample,
} from '../../inference/batcher/sut-model.ts';
import { cutByBytes, type KnownResponses } from './response-writer.ts';

/** Initial buffer for a sample's held tokens: 16 tokens of 4 bytes. */
const HELD_BYTES_MIN = 64;

/** Waiting tokens of a sample: copies, since a token is a view of a whole step's memory. */
interface HeldTokens {
  /** Has room for more. */
  memory: Uint8Array;
  bytes: number;
}

const NOTHING: KnownResponses = { firstTokens: [], tokens: [], answers: [] };

/**
 * Responses that wait on a stream, in order. Tokens that come while gRPC takes no messages are
 * joined per sample, and replaced by the sample's answer: a slow reader makes the node hold at most
 * twice the answers' bytes.
 */
export class OutgoingResponses {
  #messages: KnownResponses[] = [];
  readonly #held = new Map<WaitingSample, HeldTokens>();

  addFirstTokens(tokens: readonly SampleTokens[]): void {
    for (const list of cutByBytes(tokens)) this.#messages.push({ ...NOTHING, firstTokens: list });
  }

  addTokens(tokens: readonly SampleTokens[]): void {
    for (const list of cutByBytes(tokens)) this.#messages.push({ ...NOTHING, tokens: list });
  }

  /** {@link addTokens}, but after everything added until {@link release}. */
  holdTokens(tokens: readonly SampleTokens[]): void {
    for (const { sample, payload } of tokens) {
      let held = this.#held.get(sample);
      if (held === undefined) {
        held = { memory: new Uint8Array(Math.max(HELD_BYTES_MIN, payload.length)), bytes: 0 };
        this.#held.set(sample, held);
      }
      append(held, payload);
    }
  }

  release(): void {
    if (this.#held.size === 0) return;
    const tokens = [...this.#held].map(([sample, { memory, bytes }]) => ({
      sample,
      payload: memory.subarray(0, bytes),
    }));
    this.#held.clear();
    this.addTokens(tokens);
  }

  addAnswers(answers: readonly SampleAnswer[]): void {
    if (this.#held.size > 0) for (const { sample } of answers) this.#held.delete(sample);
    for (const list of cutByBytes(answers)) this.#messages.push({ ...NOTHING, answers: list });
  }

  /** Takes the responses for one message. */
  next(): KnownResponses | undefined {
    return this.#messages.shift();
  }

  clear(): void {
    this.#messages = [];
    this.#held.clear();
  }
}

function append(held: HeldTokens, payload: Uint8Array): void {
  const end = held.bytes + payload.length;
  if (end > held.memory.length) {
    const larger = new Uint8Array(Math.max(end, 2 * held.memory.length));
    larger.set(held.memory);
    held.memory = larger;
  }
  held.memory.set(payload, held.bytes);
  held.bytes = end;
}
