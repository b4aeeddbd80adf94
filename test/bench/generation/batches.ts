import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  type StandinTexts,
  standinText,
  standinTextsOf,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import type {
  Scores,
  SequenceModel,
} from '../../../sut-node/inference/generation/cached-decoder.ts';
import { ContinuousGenerator } from '../../../sut-node/inference/generation/continuous-generator.ts';
import type { GenerationLimits } from '../../../sut-node/model/model-facts.ts';

export const TEXTS: StandinTexts = standinTextsOf('llama2-70b');

/** Most new tokens: above every answer of the stand-in's texts. */
const LIMITS: GenerationLimits = {
  promptTokensMax: 1024,
  newTokensMin: 1,
  newTokensMax: 256,
  endToken: TEXTS.endId,
};

/** Prompts of the stand-in's texts; answers have 3 to 130 tokens, many few and some many (shared/benchmarks/standin/standin-text.ts). */
export function standinPrompts(count: number): readonly (readonly number[])[] {
  return Array.from({ length: count }, (_, i) => [...standinText(TEXTS, TEXTS.set.seed, i).prompt]);
}

/** A run of generation: its tokens, and how long they took. */
export interface Generation {
  readonly tokens: number;
  readonly ns: number;
}

/** All prompts at once, to a generator with so many places. */
export async function runContinuous(
  model: SequenceModel,
  prompts: readonly (readonly number[])[],
  sequencesMax: number,
): Promise<Generation> {
  const generator = new ContinuousGenerator({ model, limits: LIMITS, sequencesMax });
  const beganNs = process.hrtime.bigint();
  const counts = await Promise.all(
    prompts.map(
      (prompt) =>
        new Promise<number>((resolve, reject) => {
          generator.add({
            prompt,
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
  prompts: readonly (readonly number[])[],
  batchSize: number,
): Promise<Generation> {
  const beganNs = process.hrtime.bigint();
  let tokens = 0;
  for (let first = 0; first < prompts.length; first += batchSize) {
    const batch = prompts.slice(first, first + batchSize);
    let next: number[] = [];
    for (const prompt of batch) next.push(bestOf(await model.enter(prompt)));
    const isEnded = next.map((token) => token === LIMITS.endToken);
    tokens += batch.length;
    while (isEnded.includes(false)) {
      next = (await model.step(next)).map(bestOf);
      for (const [row, token] of next.entries()) {
        if (isEnded[row] === true) continue;
        tokens += 1;
        isEnded[row] = token === LIMITS.endToken;
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

/** Times of an open load, in ns, sorted. */
export interface OpenLoad {
  readonly firstNs: readonly number[];
  readonly gapNs: readonly number[];
}

/** Prompts that come at random, so many per second on average, whatever becomes of those before. */
export async function runOpenLoad(
  model: SequenceModel,
  prompts: readonly (readonly number[])[],
  options: { readonly places: number; readonly perS: number; readonly promptTokensPerStep: number },
): Promise<OpenLoad> {
  const { places: sequencesMax, perS, promptTokensPerStep } = options;
  const generator = new ContinuousGenerator({
    ...{ model, limits: LIMITS, sequencesMax, promptTokensPerStep },
  });
  const random = new SeededRandom(1, 0);
  const firstNs: number[] = [];
  const gapNs: number[] = [];
  let dueMs = performance.now();
  const all = prompts.map((prompt) => {
    dueMs += (-1e3 / perS) * Math.log(1 - random.uniform(0, 1));
    const ownMs = dueMs;
    return new Promise<void>((resolve, reject) => {
      setTimeout(() => {
        let lastMs = ownMs;
        const tell = (times: number[]): void => {
          const nowMs = performance.now();
          times.push((nowMs - lastMs) * 1e6);
          lastMs = nowMs;
        };
        generator.add({
          prompt,
          onFirstToken: () => tell(firstNs),
          onTokens: () => tell(gapNs),
          onEnd: () => {
            tell(gapNs);
            resolve();
          },
          onFailed: reject,
        });
      }, ownMs - performance.now());
    });
  });
  await Promise.all(all);
  const sorted = (values: number[]): number[] => values.sort((a, b) => a - b);
  return { firstNs: sorted(firstNs), gapNs: sorted(gapNs) };
}
