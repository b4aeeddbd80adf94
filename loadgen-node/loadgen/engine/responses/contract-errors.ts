/** What a SUT did wrong with a response. */
export type ContractErrorKind =
  | 'unknown-id'
  | 'not-issued'
  | 'second-response'
  | 'before-issue'
  | 'after-end'
  | 'second-first-token'
  | 'no-first-token'
  | 'zero-tokens'
  | 'one-token'
  | 'negative-tokens';

/** One response that broke the contract. */
export interface ContractError {
  readonly kind: ContractErrorKind;
  readonly responseId: number;
}

/** Errors that are named one by one; a SUT that floods is counted on without taking memory. */
const NAMED_MAX = 100;

const TEXTS: Readonly<Record<ContractErrorKind, string>> = {
  'unknown-id': 'Received a response for an id that was never given out.',
  'not-issued': 'Received a response for a sample that was not issued yet.',
  // LoadGen's own words.
  'second-response': 'Attempted to complete a sample twice.',
  'before-issue': 'Received a response that is older than the issue of its query.',
  'after-end': 'Received a response after the end of its set.',
  // LoadGen's own words, as the rest but for the last.
  'second-first-token': 'Attempted to complete a sample twice.',
  'no-first-token': "Attempted to record a sample latency before it's first token latency",
  'zero-tokens': 'n_tokens argument missing or attempted to record 0 as number of tokens',
  'one-token': 'Number of tokens need to be greater than 1',
  'negative-tokens': 'Attempted to record a negative number of tokens',
};

/** Counts responses that break the contract. Counting allocates nothing beyond the first hundred. */
export class ContractErrors {
  #count = 0;
  readonly #named: ContractError[] = [];
  #reportedCount = 0;
  #takenCount = 0;

  get count(): number {
    return this.#count;
  }

  add(kind: ContractErrorKind, responseId: number): void {
    this.#count += 1;
    if (this.#named.length < NAMED_MAX) this.#named.push({ kind, responseId });
  }

  /** Number of errors since the last call. */
  takeCount(): number {
    const count = this.#count - this.#takenCount;
    this.#takenCount = this.#count;
    return count;
  }

  /** One line for each error since the last call; those beyond the named ones in one line. */
  takeTexts(): string[] {
    const texts = this.#named
      .slice(this.#reportedCount)
      .map(({ kind, responseId }) => `${TEXTS[kind]} id ${responseId}`);
    const unnamedBefore = Math.max(0, this.#reportedCount - NAMED_MAX);
    const unnamed = Math.max(0, this.#count - NAMED_MAX) - unnamedBefore;
    if (unnamed > 0)
      texts.push(`${unnamed} more responses broke the contract; they are not named.`);
    this.#reportedCount = this.#count;
    return texts;
  }
}
