import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  type StandinTexts,
  standinText,
  standinTextsOf,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import type { GenerationLimits } from '../../../shared/rules/rows/benchmark-card.ts';
import type {
  Scores,
  SequenceModel,
} from '../../../sut-node/inference/generation/cached-decoder.ts';
import { ContinuousGenerator } from '../../../sut-node/inference/generation/continuous-generator.ts';

export const TEXTS: StandinTexts = standinTextsOf('llama2-70b');

/** Most new tokens: above every answer of the stand-in's texts. */
const NEW_TOKENS_MAX = 256;

/** Where answers come from: the stand-in's own texts, or as long as those of the real data set. */
export const MIXES = ['standin', 'openorca'] as const;
export type Mix = (typeof MIXES)[number];

/** Prompts and how they are answered. */
export interface Work {
  readonly prompts: readonly (readonly number[])[];
  /** New tokens of each, where not the model ends it. */
  readonly newTokens: readonly number[] | undefined;
}

/**
 * Answers of the reference model have 294.45 tokens on average, and 1,024 at most. Of all
 * distributions with that mean between those bounds the exponential one, cut off, has the most
 * entropy: no more is assumed. This is its scale as a share of the most.
 */
const OPENORCA_SCALE = 0.3467;

/**
 * Prompts of the stand-in's texts. Their answers have 3 to 130 tokens, many few and some many
 * (shared/benchmarks/standin/standin-text.ts); those of `openorca` are a quarter as long as the
 * data set's: what is published is their mean and the most.
 */
export function workOf(mix: Mix, count: number): Work {
  const prompts = Array.from({ length: count }, (_, i) => [
    ...standinText(TEXTS, TEXTS.set.seed, i).prompt,
  ]);
  if (mix === 'standin') return { prompts, newTokens: undefined };
  const random = new SeededRandom(1, 1);
  const drawn = (): number =>
    -OPENORCA_SCALE * Math.log(1 - random.uniform(0, 1) * (1 - Math.exp(-1 / OPENORCA_SCALE)));
  return {
    prompts,
    newTokens: prompts.map(() => Math.max(2, Math.round(drawn() * NEW_TOKENS_MAX))),
  };
}

/** Limits under which the answers of `work` are as long as it says. */
export function limitsOf({ newTokens }: Work): GenerationLimits {
  return {
    promptTokensMax: 1024,
    newTokensMin: newTokens === undefined ? 1 : NEW_TOKENS_MAX,
    newTokensMax: NEW_TOKENS_MAX,
    endToken: TEXTS.endId,
  };
}

/** A run of generation: its tokens, and how long they took. */
export interface Generation {
  readonly tokens: number;
  readonly ns: number;
}

/** All prompts at once, to a generator with so many places. */
export async function runContinuous(
  model: SequenceModel,
  work: Work,
  sequencesMax: number,
): Promise<Generation> {
  const generator = new ContinuousGenerator({ model, limits: limitsOf(work), sequencesMax });
  const beganNs = process.hrtime.bigint();
  const counts = await Promise.all(
    work.prompts.map(
      (prompt, i) =>
        new Promise<number>((resolve, reject) => {
          const newTokensMax = work.newTokens?.[i] ?? NEW_TOKENS_MAX;
          generator.add({
            ...{ prompt, newTokensMax },
            onFirstToken: () => {},
            onEnd: ({ length }) => resolve(length),
            onFailed: reject,
          });
        }),
    ),
  );
  return { tokens: sumOf(counts), ns: Number(process.hrtime.bigint() - beganNs) };
}

/** So many prompts at a time, which stay together until the longest of them has ended. */
export async function runStatic(
  model: SequenceModel,
  { prompts, newTokens }: Work,
  batchSize: number,
): Promise<Generation> {
  const beganNs = process.hrtime.bigint();
  let tokens = 0;
  for (let first = 0; first < prompts.length; first += batchSize) {
    const batch = prompts.slice(first, first + batchSize);
    let next: number[] = [];
    for (const prompt of batch) next.push(bestOf(await model.enter(prompt)));
    let count = 1;
    const isLast = (token: number, row: number): boolean =>
      newTokens === undefined ? token === TEXTS.endId : count >= (newTokens[first + row] as number);
    const isEnded = next.map(isLast);
    tokens += batch.length;
    while (isEnded.includes(false)) {
      next = (await model.step(next)).map(bestOf);
      count += 1;
      for (const [row, token] of next.entries()) {
        if (isEnded[row] === true) continue;
        tokens += 1;
        isEnded[row] = isLast(token, row);
      }
    }
    model.keep([]);
  }
  return { tokens, ns: Number(process.hrtime.bigint() - beganNs) };
}

function bestOf(scores: Scores): number {
  let best = 0;
  for (let id = 1; id < scores.length; id += 1) {
    if ((scores[id] as number) > (scores[best] as number)) best = id;
  }
  return best;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
