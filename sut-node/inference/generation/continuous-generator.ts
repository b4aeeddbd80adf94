import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import type { GenerationLimits } from '../../model/model-facts.ts';
import type { Scores, SequenceModel } from './cached-decoder.ts';

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
  /** All new tokens, the end token included. Called once, unless {@link onFailed} or a stop comes first. */
  onEnd(tokens: readonly number[]): void;
  onFailed(error: Error): void;
}

interface ContinuousGeneratorOptions {
  readonly model: SequenceModel;
  readonly limits: GenerationLimits;
  /** Most sequences side by side. */
  readonly sequencesMax: number;
}

/** A sequence under way: a row of the model. */
interface Active {
  readonly sequence: Sequence;
  readonly tokens: number[];
}

/**
 * Continuous batching at a token's border, greedy. Each round takes in waiting prompts, oldest first, while there is room for
 * them (one inference each: the first token), and then adds one token to all sequences (one inference). A sequence that ends
 * makes room at the next border; none waits for the end of another, as it would in a batch that stays together.
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
    this.#keep(({ sequence }) => !isCancelled(sequence));
    for (const sequence of gone.filter(isCancelled)) {
      sequence.onFailed(new Error('nobody waits for its answer any more'));
    }
    this.#cancelled.clear();
  }

  async #takeIn(): Promise<void> {
    const { model, sequencesMax } = this.#options;
    let promptTokens = 0;
    while (!this.#isStopped && this.#active.length < sequencesMax) {
      const [sequence] = this.#waiting;
      if (sequence === undefined) return;
      promptTokens += sequence.prompt.length;
      if (promptTokens > PROMPT_TOKENS_PER_STEP && promptTokens > sequence.prompt.length) return;
      this.#waiting.shift();
      let scores: Scores;
      try {
        scores = await model.enter(sequence.prompt);
      } catch (error) {
        sequence.onFailed(errorOf(error));
        continue;
      }
      const active = { sequence, tokens: [] };
      this.#active.push(active);
      this.#advance([active], [scores]);
    }
  }

  async #step(): Promise<void> {
    const active = this.#active;
    let scores: readonly Scores[];
    try {
      scores = await this.#options.model.step(active.map(({ tokens }) => tokens.at(-1) as number));
    } catch (error) {
      this.#keep(() => false);
      for (const { sequence } of active) sequence.onFailed(errorOf(error));
      return;
    }
    this.#advance(active, scores);
  }

  /** Gives sequences their next tokens; those that end leave. */
  #advance(active: readonly Active[], scores: readonly Scores[]): void {
    const ended = new Set<Active>();
    const { endToken, newTokensMin, newTokensMax } = this.#options.limits;
    for (const [i, one] of active.entries()) {
      const { sequence, tokens } = one;
      const excluded = tokens.length < newTokensMin ? endToken : undefined;
      const token = bestToken(scores[i] as Scores, excluded);
      if (token === undefined) {
        ended.add(one);
        sequence.onFailed(new Error('the model gave no numbers as the scores of the next token'));
        continue;
      }
      tokens.push(token);
      if (tokens.length === 1) sequence.onFirstToken(token);
      if (token !== endToken && tokens.length < (sequence.newTokensMax ?? newTokensMax)) continue;
      ended.add(one);
      // Rule: LoadGen divides by the tokens behind the first, so there are 2 or more.
      if (tokens.length === 1) tokens.push(endToken);
      sequence.onEnd(tokens);
    }
    if (ended.size > 0) this.#keep((one) => !ended.has(one));
  }

  #keep(isKept: (active: Active) => boolean): void {
    const rows = [...this.#active.keys()].filter((row) => isKept(this.#active[row] as Active));
    if (rows.length === this.#active.length) return;
    this.#active = rows.map((row) => this.#active[row] as Active);
    this.#options.model.keep(rows);
  }
}

/** Id of the highest score, the lowest of equal ones; undefined where a score is NaN. */
function bestToken(scores: Scores, excluded: number | undefined): number | undefined {
  let best: number | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < scores.length; id += 1) {
    const score = scores[id] as number;
    if (Number.isNaN(score)) return undefined;
    if (score > highest && id !== excluded) {
      highest = score;
      best = id;
    }
  }
  return best;
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
