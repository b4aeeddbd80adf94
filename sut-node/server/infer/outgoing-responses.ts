import type {
  SampleAnswer,
  SampleTokens,
  WaitingSample,
} from '../../inference/batcher/sut-model.ts';
import { cutByBytes, type KnownResponses } from './response-writer.ts';

const NOTHING: KnownResponses = { firstTokens: [], tokens: [], answers: [] };

/**
 * Responses that wait on a stream, in their order. Tokens that come while gRPC takes no messages are joined by sample, and a sample's answer
 * takes their place: a peer that reads slowly makes the node hold no more than the answers' own bytes.
 */
export class OutgoingResponses {
  #messages: KnownResponses[] = [];
  readonly #held = new Map<WaitingSample, Uint8Array[]>();

  addFirstTokens(tokens: readonly SampleTokens[]): void {
    for (const list of cutByBytes(tokens)) this.#messages.push({ ...NOTHING, firstTokens: list });
  }

  addTokens(tokens: readonly SampleTokens[]): void {
    for (const list of cutByBytes(tokens)) this.#messages.push({ ...NOTHING, tokens: list });
  }

  /** As {@link addTokens}, but behind all that is added until {@link release}. */
  holdTokens(tokens: readonly SampleTokens[]): void {
    for (const { sample, payload } of tokens) {
      const known = this.#held.get(sample);
      if (known === undefined) this.#held.set(sample, [payload]);
      else known.push(payload);
    }
  }

  release(): void {
    if (this.#held.size === 0) return;
    const tokens = [...this.#held].map(([sample, payloads]) => ({
      sample,
      payload: Buffer.concat(payloads),
    }));
    this.#held.clear();
    this.addTokens(tokens);
  }

  addAnswers(answers: readonly SampleAnswer[]): void {
    if (this.#held.size > 0) for (const { sample } of answers) this.#held.delete(sample);
    for (const list of cutByBytes(answers)) this.#messages.push({ ...NOTHING, answers: list });
  }

  /** Takes what one message will hold. */
  next(): KnownResponses | undefined {
    return this.#messages.shift();
  }

  clear(): void {
    this.#messages = [];
    this.#held.clear();
  }
}
