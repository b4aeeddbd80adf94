import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import { BeamTokenSearch } from './beam-search.ts';
import type { Scores, SequenceModel } from './cached-decoder.ts';
import { GreedyTokenSearch, type NextRow, type TokenSearch } from './token-search.ts';

/**
 * Prompt tokens that enter between two steps, unless a single prompt has more: so long the sequences under way are held up at
 * most. The longest prompt of llama2-70b has 1,024.
 */
const PROMPT_TOKENS_PER_STEP = 1024;

/** A prompt and what becomes of it. */
export interface Sequence {
  readonly prompt: readonly number[];
  /** Most new tokens; undefined: as the limits say. */
  readonly newTokensMax?: number;
  /** Called as soon as the first token is known. */
  onFirstToken(id: number): void;
  /** Called with further tokens as they are settled, but for those of the end. */
  onTokens?: ((ids: readonly number[]) => void) | undefined;
  /** All new tokens, the end token included. Called once, unless {@link onFailed} or a stop comes first. */
  onEnd(tokens: readonly number[]): void;
  onFailed(error: Error): void;
}

interface ContinuousGeneratorOptions {
  readonly model: SequenceModel;
  readonly limits: GenerationLimits;
  /** Most sequences side by side. */
  readonly sequencesMax: number;
  /** Prompt tokens that enter between two steps at most, unless a single prompt has more. */
  readonly promptTokensPerStep?: number;
  /** Called after each step, when all sequences have told its tokens. */
  readonly onStepped?: () => void;
}

/** A sequence under way. */
interface Active {
  readonly sequence: Sequence;
  readonly search: TokenSearch;
  /** Its rows of the model, which stand one behind the other: the tokens that they get in the next step. */
  tokens: readonly number[];
}

/**
 * Continuous batching at a token's border. Each round takes in waiting prompts, oldest first, while there is room for
 * them (one inference each: the first token), and then adds one token to all sequences (one inference). A sequence that ends
 * makes room at the next border; none waits for the end of another, as it would in a batch that stays together. In a beam search
 * a sequence is as many rows as it has beams, and its first token is settled with its last.
 *
 * A prompt that fails, or scores that are no numbers, fail one sequence. A step that fails fails those that were in it.
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

  /** Begins at the next border. Never throws. */
  add(sequence: Sequence): void {
    this.#waiting.push(sequence);
    if (!this.#isRunning) void this.#loop();
  }

  /** Nobody waits for it any more: it fails at the next border, unless it has ended. */
  cancel(sequence: Sequence): void {
    this.#cancelled.add(sequence);
  }

  /** No inference begins any more; what is under way gets no answer. */
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

  /** Gives a sequence its next token. @returns Its rows of the next step; none: it has ended, and its owner knows. */
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
    // Rule: LoadGen divides by the tokens behind the first, so there are 2 or more.
    const isShort = tokens.length === 1;
    sequence.onEnd(isShort ? [...tokens, this.#options.limits.endToken] : tokens);
    return next;
  }

  #leave(isLeft: (active: Active) => boolean): void {
    this.#rearrange(new Map(this.#active.filter(isLeft).map((one) => [one, []])));
  }

  /** @param next Rows of the next step, of sequences whose rows change. */
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

/** Stands for the token of a row that has only its prompt. */
const NONE = -1;

function searchOf({ beams, ...limits }: GenerationLimits, prompt: readonly number[]): TokenSearch {
  return beams === undefined
    ? new GreedyTokenSearch(limits, prompt)
    : new BeamTokenSearch({ ...limits, beams });
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
