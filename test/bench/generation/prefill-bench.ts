import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import type { SequenceModel } from '../../../sut-node/inference/generation/cached-decoder.ts';
import { ContinuousGenerator } from '../../../sut-node/inference/generation/continuous-generator.ts';
import { head, row } from '../report.ts';
import { limitsOf, workOf } from './batches.ts';

/*
 * Goal: how many prompt tokens should enter between two steps of the sequences under way. Method:
 * the node's scheduler on simulated time, under an open load (Poisson) of OpenOrca-like answers.
 * Inferences take what the stand-in decoder of `bench -- generation` was seen to take, so the
 * figures depend on no machine.
 */

export interface PrefillBenchOptions {
  readonly promptTokensPerStep: readonly number[];
  /** Loads, in prompts per second. */
  readonly perS: readonly number[];
  readonly prompts: number;
  readonly places: number;
}

const ENTER_MS = 1;
const PROMPT_TOKEN_MS = 0.125;
const STEP_MS = 1.8;
const ROW_MS = 0.56;

/** Prints one table, as Markdown. */
export async function benchPrefill(options: PrefillBenchOptions): Promise<void> {
  const times = ['TTFT p50 ms', 'p90', 'p99', 'ITL p50 ms', 'p90', 'p99', 'max'];
  head(0, 'prompts/s', 'prompt tokens per step', ...times);
  for (const perS of options.perS) {
    for (const promptTokensPerStep of options.promptTokensPerStep) {
      const { ttftMs, itlMs } = await simulate(options, perS, promptTokensPerStep);
      const at = (values: readonly number[], share: number): string =>
        (values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0).toFixed(1);
      const ttft = [0.5, 0.9, 0.99].map((share) => at(ttftMs, share));
      row(
        perS,
        promptTokensPerStep,
        ...ttft,
        ...[0.5, 0.9, 0.99, 1].map((share) => at(itlMs, share)),
      );
    }
  }
}

/** @returns Times to the first token, and from token to token, sorted. */
async function simulate(options: PrefillBenchOptions, perS: number, promptTokensPerStep: number) {
  const { prompts, newTokens = [], ...work } = workOf('openorca', options.prompts);
  const random = new SeededRandom(1, 0);
  let dueMs = 0;
  const dues = prompts.map(() => {
    dueMs += (-1e3 / perS) * Math.log(1 - random.uniform(0, 1));
    return dueMs;
  });
  const ttftMs: number[] = [];
  const itlMs: number[] = [];
  let nowMs = 0;
  let issued = 0;
  let ended = 0;
  const issue = (i: number): void => {
    let lastMs = dues[i] as number;
    const tell = (times: number[]): void => {
      times.push(nowMs - lastMs);
      lastMs = nowMs;
    };
    generator.add({
      prompt: prompts[i] as readonly number[],
      newTokensMax: newTokens[i] as number,
      onFirstToken: () => tell(ttftMs),
      onTokens: () => tell(itlMs),
      onEnd: () => {
        tell(itlMs);
        ended += 1;
      },
      onFailed: (error) => {
        throw error;
      },
    });
  };
  const take = (ms: number): void => {
    nowMs += ms;
    for (; (dues[issued] as number) <= nowMs; issued += 1) issue(issued);
  };
  const scores = new Float32Array(2);
  const model: SequenceModel = {
    enter: async (prompt) => {
      take(ENTER_MS + PROMPT_TOKEN_MS * prompt.length);
      return scores;
    },
    step: async (tokens) => {
      take(STEP_MS + ROW_MS * tokens.length);
      return tokens.map(() => scores);
    },
    keep: () => {},
  };
  const limits = limitsOf({ prompts, newTokens, ...work });
  const generator = new ContinuousGenerator({
    ...{ model, limits, sequencesMax: options.places, promptTokensPerStep },
  });
  while (ended < prompts.length) {
    // Nothing is under way: the next one is issued.
    if (ended === issued) take((dues[issued] as number) - nowMs);
    await new Promise(setImmediate);
  }
  const sorted = (values: number[]): readonly number[] => values.sort((a, b) => a - b);
  return { ttftMs: sorted(ttftMs), itlMs: sorted(itlMs) };
}
