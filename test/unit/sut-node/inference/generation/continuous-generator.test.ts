import { describe, expect, it } from 'vitest';
import type { GenerationLimits } from '../../../../../shared/rules/rows/benchmark-card.ts';
import type { SequenceModel } from '../../../../../sut-node/inference/generation/cached-decoder.ts';
import {
  ContinuousGenerator,
  type Sequence,
} from '../../../../../sut-node/inference/generation/continuous-generator.ts';
import { generated } from '../../../../scenes/sut-node/generation.ts';

// Goal: sequences enter and leave at a token's border, in the order of their coming and within the
// limits; what fails or is cancelled takes nothing else with it. Method: a model that counts: the
// prompt [n, k] goes on with n tokens k, then the end.

const END = 9;
const VOCABULARY = 10;
const LIMITS: GenerationLimits = {
  ...{ promptTokensMax: 8, newTokensMin: 0, newTokensMax: 6, endToken: END },
};

interface Row {
  left: number;
  readonly token: number;
}

/** Tells what it was asked to do: `enter 5`, `step 5 6`. */
class CountingModel implements SequenceModel {
  readonly calls: string[] = [];
  /** Called before each step. */
  onStep: () => void = () => {};
  #rows: Row[] = [];

  async enter([left = 0, token = 0]: readonly number[]): Promise<Float32Array> {
    this.calls.push(`enter ${token}`);
    if (token === 0) throw new Error('a prompt of 0');
    const row = { left, token };
    this.#rows.push(row);
    return scoresOf(row);
  }

  async step(tokens: readonly number[]): Promise<Float32Array[]> {
    this.calls.push(`step ${tokens.join(' ')}`);
    this.onStep();
    return this.#rows.map(scoresOf);
  }

  keep(rows: readonly number[]): void {
    this.#rows = rows.map((row) => this.#rows[row] as Row);
  }
}

function scoresOf(row: Row): Float32Array {
  const scores = new Float32Array(VOCABULARY);
  scores[row.left > 0 ? row.token : END] = row.token === 8 ? Number.NaN : 1;
  row.left -= 1;
  return scores;
}

function start(sequencesMax = 2, limits: Partial<GenerationLimits> = {}) {
  const model = new CountingModel();
  const generator = new ContinuousGenerator({
    ...{ model, sequencesMax },
    limits: { ...LIMITS, ...limits },
  });
  return { model, generator };
}

describe('ContinuousGenerator', () => {
  it('lets a prompt enter where a sequence has ended, in the order of their coming', async () => {
    const { model, generator } = start();
    const prompts = [
      [1, 5],
      [4, 6],
      [2, 7],
    ];
    const all = await Promise.all(prompts.map((prompt) => generated(generator, prompt)));
    expect(all.map(({ tokens }) => tokens)).toEqual([
      [5, END],
      [6, 6, 6, 6, END],
      [7, 7, END],
    ]);
    expect(all.map(({ first }) => first)).toEqual([[5], [6], [7]]);
    expect(model.calls).toEqual([
      ...['enter 5', 'enter 6', 'step 5 6', 'enter 7', 'step 6 7', 'step 6 7', 'step 6'],
    ]);
  });

  it('ends at the most tokens, gives two at least, and no end before the least', async () => {
    const { generator } = start();
    expect((await generated(generator, [99, 5])).tokens).toEqual([5, 5, 5, 5, 5, 5]);
    expect((await generated(generator, [0, 5])).tokens).toEqual([END, END]);
    const { generator: late } = start(2, { newTokensMin: 3 });
    const { tokens } = await generated(late, [0, 5]);
    expect((tokens as number[]).slice(0, 3)).not.toContain(END);
    expect(tokens).toHaveLength(4);
  });

  it('fails a prompt, and scores that are no numbers, alone', async () => {
    const { generator } = start(3);
    const prompts = [
      [2, 0],
      [2, 8],
      [2, 5],
    ];
    const [broken, noNumber, good] = await Promise.all(
      prompts.map((prompt) => generated(generator, prompt)),
    );
    expect(broken?.tokens).toMatchObject({ message: 'a prompt of 0' });
    expect(noNumber?.tokens).toMatchObject({ message: expect.stringContaining('no numbers') });
    expect(good?.tokens).toEqual([5, 5, END]);
  });

  it('fails with a step those that were in it, and goes on with the next ones', async () => {
    const { model, generator } = start(2);
    model.onStep = () => {
      model.onStep = () => {};
      throw new Error('out of memory');
    };
    const prompts = [
      [2, 5],
      [2, 6],
      [2, 7],
    ];
    const all = await Promise.all(prompts.map((prompt) => generated(generator, prompt)));
    expect(all[0]?.tokens).toMatchObject({ message: 'out of memory' });
    expect(all[1]?.tokens).toMatchObject({ message: 'out of memory' });
    expect(all[2]?.tokens).toEqual([7, 7, END]);
  });

  it('leaves out what nobody waits for, at the next border, waiting or under way', async () => {
    const { model, generator } = start(2);
    const sequences: Sequence[] = [];
    const prompts = [
      [4, 5],
      [4, 6],
      [4, 7],
    ];
    const outcomes = prompts.map((prompt) =>
      generated(generator, prompt, (sequence) => sequences.push(sequence)),
    );
    model.onStep = () => {
      model.onStep = () => {};
      generator.cancel(sequences[0] as Sequence);
      generator.cancel(sequences[2] as Sequence);
    };
    const [first, second, third] = await Promise.all(outcomes);
    expect(first?.tokens).toMatchObject({ message: expect.stringContaining('nobody waits') });
    expect(third?.tokens).toMatchObject({ message: expect.stringContaining('nobody waits') });
    expect(second?.tokens).toEqual([6, 6, 6, 6, END]);
    expect(model.calls).not.toContain('enter 7');
  });

  it('begins no inference once it is stopped', async () => {
    const { model, generator } = start(1);
    model.onStep = () => generator.stop();
    void generated(generator, [4, 5]);
    void generated(generator, [4, 6]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.calls).toEqual(['enter 5', 'step 5']);
  });

  it('tells further tokens of those who want them, step by step, but not those of the end', async () => {
    const told: string[] = [];
    const model = new CountingModel();
    const generator = new ContinuousGenerator({
      ...{ model, sequencesMax: 3, limits: LIMITS },
      onStepped: () => told.push('stepped'),
    });
    const follow = (left: number, token: number, isWanted: boolean): Promise<void> =>
      new Promise((resolve) => {
        generator.add({
          prompt: [left, token],
          onFirstToken: (id) => told.push(`first ${id}`),
          onTokens: isWanted ? (ids) => told.push(`then ${ids.join(' ')}`) : undefined,
          onEnd: (tokens) => {
            told.push(`end ${tokens.join(' ')}`);
            resolve();
          },
          onFailed: () => {},
        });
      });
    await Promise.all([follow(3, 5, true), follow(2, 6, false), follow(4, 7, true)]);
    expect(told).toEqual([
      ...['first 5', 'first 6', 'first 7'],
      ...['then 5', 'then 7', 'stepped'],
      ...['then 5', `end 6 6 ${END}`, 'then 7', 'stepped'],
      ...[`end 5 5 5 ${END}`, 'then 7', 'stepped'],
      ...[`end 7 7 7 7 ${END}`, 'stepped'],
    ]);
  });

  it('tells no more tokens of a sequence that was cancelled amid them', async () => {
    const { model, generator } = start(2);
    const told: string[] = [];
    const outcomes = [5, 6].map(
      (token) =>
        new Promise((resolve) => {
          const sequence: Sequence = {
            prompt: [4, token],
            onFirstToken: () => {},
            onTokens: (ids) => {
              told.push(`then ${ids.join(' ')}`);
              if (told.length === 1) generator.cancel(sequence);
            },
            onEnd: resolve,
            onFailed: resolve,
          };
          generator.add(sequence);
        }),
    );
    const [cancelled, other] = await Promise.all(outcomes);
    expect(cancelled).toMatchObject({ message: expect.stringContaining('nobody waits') });
    expect(other).toEqual([6, 6, 6, 6, END]);
    expect(told).toEqual(['then 5', 'then 6', 'then 6', 'then 6']);
    expect(model.calls).toEqual(['enter 5', 'enter 6', 'step 5 6', 'step 6', 'step 6', 'step 6']);
  });
});

describe('an end mark', () => {
  const endMark = { promptHead: [4, 5], ids: [5, 5, 5] };

  it.each([
    ['ends a sequence whose prompt has its head', [4, 5, 1], [5, 5, 5, END]],
    ['counts tokens of the prompt', [4, 5, 5], [5, END]],
    ['ends at once behind a prompt that has it', [4, 5, 5, 5], [END, END]],
    ['leaves a prompt with another head alone', [4, 6, 5, 5], [6, 6, 6, 6, END]],
    ['leaves a shorter prompt alone', [4], 'a prompt of 0'],
  ])('%s', async (_, prompt, expected) => {
    const { generator } = start(2, { endMark });
    const { tokens } = await generated(generator, prompt);
    if (typeof expected === 'string') expect(tokens).toMatchObject({ message: expected });
    else expect(tokens).toEqual(expected);
  });
});
