import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import { BeamTokenSearch } from './beam-search.ts';
import type { Scores, SequenceModel } from './cached-decoder.ts';
import { GreedyTokenSearch, type NextRow, type TokenSearch } from './token-search.ts';

/**
 * Most prompt tokens that enter between two steps, unless a single prompt has more: this bounds the
 * delay of running sequences. The longest prompt of llama2-70b has 1,024.
 */
const PROMPT_TOKENS_PER_STEP = 1024;

/** A prompt and the callbacks for its tokens. */
export interface Sequence {
  readonly prompt: readonly number[];
  /** Most new tokens; undefined: the model's limits apply. */
  readonly newTokensMax?: number;
  /** Called as soon as the first token is known. */
  onFirstToken(id: number): void;
  /** Called with further tokens as they are final, except those of the end. */
  onTokens?: ((ids: readonly number[]) => void) | undefined;
  /**
   * Called once with all new tokens, end token included, unless {@link onFailed} or a stop comes
   * first.
   */
  onEnd(tokens: readonly number[]): void;
  onFailed(error: Error): void;
}

interface ContinuousGeneratorOptions {
  readonly model: SequenceModel;
  readonly limits: GenerationLimits;
  /** Most concurrent sequences. */
  readonly sequencesMax: number;
  /** Most prompt tokens that enter between two steps, unless a single prompt has more. */
  readonly promptTokensPerStep?: number;
  /** Called after each step, when all sequences have reported their tokens. */
  readonly onStepped?: () => void;
}

/** A running sequence. */
interface Active {
  readonly sequence: Sequence;
  readonly search: TokenSearch;
  /** Its consecutive rows of the model: the tokens for the next step. */
  tokens: readonly number[];
}

/**
 * Continuous batching at token boundaries. Each round admits waiting prompts, oldest first, while
 * there is room (one inference each: the first token), and then adds one token to all sequences
 * (one inference). A sequence that ends makes room at the next boundary; unlike in a static batch,
 * none waits for another's end. A beam search uses one row per beam, and its first token is final
 * only with its last.
 *
 * A failing prompt, or scores with NaN, fail one sequence. A failing step fails all sequences in
 * it.
 */
export class ContinuousGenerator {
  readonly #options: ContinuousGeneratorOptions;
  #waiting: Sequence[] = [];
  #active: Active[] = [];
  readonly #cancelled = new Set<Sequence>();
  #isRunning = false;
  #isStopped = false;

  constructor(options: ContinuousGeneratorOptions) {
    this.#options = options;
  }

  /** Adds a sequence at the next token boundary. Never throws. */
  add(sequence: Sequence): void {
    this.#waiting.push(sequence);
    if (!this.#isRunning) void this.#loop();
  }

  /** Cancels a sequence: it fails at the next boundary, unless it has ended. */
  cancel(sequence: Sequence): void {
    this.#cancelled.add(sequence);
  }

  /** Starts no further inference; running sequences get no answer. */
  stop(): void {
    this.#isStopped = true;
  }

  async #loop(): Promise<void> {
    this.#isRunning = true;
    while (!this.#isStopped && this.#waiting.length + this.#active.length > 0) {
      this.#dropCancelled();
      await this.#takeIn();
      if (!this.#isStopped && this.#active.length > 0) await this.#step();
    }
    this.#isRunning = false;
  }

  #dropCancelled(): void {
    if (this.#cancelled.size === 0) return;
    const isCancelled = (sequence: Sequence): boolean => this.#cancelled.has(sequence);
    const gone = [...this.#waiting, ...this.#active.map(({ sequence }) => sequence)];
    this.#waiting = this.#waiting.filter((sequence) => !isCancelled(sequence));
    this.#leave(({ sequence }) => isCancelled(sequence));
    for (const sequence of gone.filter(isCancelled)) {
      sequence.onFailed(new Error('nobody waits for its answer any more'));
    }
    this.#cancelled.clear();
  }

  async #takeIn(): Promise<void> {
    const { model, limits, sequencesMax } = this.#options;
    const { promptTokensPerStep = PROMPT_TOKENS_PER_STEP } = this.#options;
    let promptTokens = 0;
    while (!this.#isStopped && this.#active.length < sequencesMax) {
      const [sequence] = this.#waiting;
      if (sequence === undefined) return;
      promptTokens += sequence.prompt.length;
      if (promptTokens > promptTokensPerStep && promptTokens > sequence.prompt.length) return;
      this.#waiting.shift();
      let scores: Scores;
      try {
        scores = await model.enter(sequence.prompt);
      } catch (error) {
        sequence.onFailed(errorOf(error));
        continue;
      }
      const { newTokensMax = limits.newTokensMax } = sequence;
      const one = {
        sequence,
        search: searchOf({ ...limits, newTokensMax }, sequence.prompt),
        tokens: [NONE],
      };
      this.#active.push(one);
      this.#rearrange(new Map([[one, this.#advance(one, [scores])]]));
    }
  }

  async #step(): Promise<void> {
    const active = this.#active;
    let scores: readonly Scores[];
    try {
      scores = await this.#options.model.step(active.flatMap(({ tokens }) => tokens));
    } catch (error) {
      this.#leave(() => true);
      for (const { sequence } of active) sequence.onFailed(errorOf(error));
      return;
    }
    const next = new Map<Active, readonly NextRow[]>();
    let row = 0;
    for (const one of active) {
      const end = row + one.tokens.length;
      next.set(one, this.#advance(one, scores.slice(row, end)));
      row = end;
    }
    this.#options.onStepped?.();
    this.#rearrange(next);
  }

  /**
   * Gives a sequence its next token. @returns Its rows of the next step; empty: it has ended and
   * its owner was notified.
   */
  #advance({ sequence, search }: Active, scores: readonly Scores[]): readonly NextRow[] {
    const settledCount = search.tokens.length;
    let next: readonly NextRow[];
    try {
      next = search.advance(scores);
    } catch (error) {
      sequence.onFailed(errorOf(error));
      return [];
    }
    const { tokens } = search;
    if (settledCount === 0 && tokens.length > 0) sequence.onFirstToken(tokens[0] as number);
    if (next.length > 0) {
      const toldCount = Math.max(settledCount, 1);
      if (tokens.length > toldCount) sequence.onTokens?.(tokens.slice(toldCount));
      return next;
    }
    // Rule: LoadGen divides by the number of tokens after the first, so 2 or more are needed.
    const isShort = tokens.length === 1;
    sequence.onEnd(isShort ? [...tokens, this.#options.limits.endToken] : tokens);
    return next;
  }

  #leave(isLeft: (active: Active) => boolean): void {
    this.#rearrange(new Map(this.#active.filter(isLeft).map((one) => [one, []])));
  }

  /** @param next Rows of the next step, for sequences whose rows change. */
  #rearrange(next: ReadonlyMap<Active, readonly NextRow[]>): void {
    const rows: number[] = [];
    let begin = 0;
    for (const one of this.#active) {
      const count = one.tokens.length;
      const own = next.get(one) ?? one.tokens.map((token, from) => ({ from, token }));
      for (const { from } of own) rows.push(begin + from);
      one.tokens = own.map(({ token }) => token);
      begin += count;
    }
    this.#active = this.#active.filter(({ tokens }) => tokens.length > 0);
    const isSame = rows.length === begin && rows.every((from, row) => from === row);
    if (!isSame) this.#options.model.keep(rows);
  }
}

/** Placeholder token of a row that has only its prompt. */
const NONE = -1;

function searchOf({ beams, ...limits }: GenerationLimits, prompt: readonly number[]): TokenSearch {
  return beams === undefined
    ? new GreedyTokenSearch(limits, prompt)
    : new BeamTokenSearch({ ...limits, beams });
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
