import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  FORKED_TEXTS,
  generated,
  generatorOn,
  promptOf,
  smallDecoder,
  textLimits,
} from '../../../../scenes/sut-node/generation.ts';

// Goal: what a sequence gives does not depend on those beside it, on when it came, or on how caches
// are joined, filled up and cut. Method: the stand-in in ONNX Runtime, whose answers are known,
// with prompts that come at random steps.

let decoder: Awaited<ReturnType<typeof smallDecoder>>;
beforeAll(async () => {
  decoder = await smallDecoder();
});

describe('sequences side by side', () => {
  it('give the same tokens as alone, and the ones that are known', {
    timeout: 120_000,
  }, async () => {
    const prompts = fc.array(fc.record({ index: fc.nat(1000), waits: fc.nat(6) }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(prompts, fc.integer({ min: 1, max: 5 }), async (arrivals, slots) => {
        const generator = generatorOn(decoder, slots);
        const all = arrivals.map(async ({ index, waits }) => {
          const { prompt, answer } = promptOf(3, index);
          for (let turn = 0; turn < waits; turn += 1) {
            await new Promise((resolve) => setImmediate(resolve));
          }
          const { first, tokens } = await generated(generator, prompt);
          expect(tokens).toEqual(answer);
          expect(first).toEqual(answer.slice(0, 1));
        });
        await Promise.all(all);
      }),
      { numRuns: 12 },
    );
  });
});

describe('a model whose new keys and values are outputs only together with all others', () => {
  it('gives the same tokens', async () => {
    expect(decoder.session.addedOutputs).toHaveLength(4);
    const generator = generatorOn(
      { ...decoder, session: { ...decoder.session, addedOutputs: [] } },
      2,
    );
    const texts = [0, 1, 2, 3].map((index) => promptOf(3, index));
    const all = await Promise.all(texts.map(({ prompt }) => generated(generator, prompt)));
    expect(all.map(({ tokens }) => tokens)).toEqual(texts.map(({ answer }) => answer));
  });
});

describe('beam searches side by side', () => {
  it('find answers that one word after another does not', { timeout: 120_000 }, async () => {
    const forked = await smallDecoder(undefined, FORKED_TEXTS);
    const texts = [0, 1, 2, 3, 4].map((index) => promptOf(3, index, FORKED_TEXTS));
    const answers = texts.map(({ answer }) => answer);
    const foundBy = async (beams: number | undefined, slots: number) => {
      const generator = generatorOn(forked, slots, textLimits(FORKED_TEXTS, beams));
      const all = await Promise.all(texts.map(({ prompt }) => generated(generator, prompt)));
      return all.map(({ tokens }) => tokens);
    };
    expect(await foundBy(4, 3)).toEqual(answers);
    expect(await foundBy(4, 1)).toEqual(answers);
    const greedy = await foundBy(undefined, 5);
    expect(greedy.filter((tokens, i) => tokens.toString() === answers[i]?.toString()).length).toBe(
      0,
    );
  });
});

describe('the stand-in', () => {
  // A decoder that is fed wrongly must give wrong tokens, or the test above shows nothing.
  it.each(['attention_mask', 'position_ids', 'past_key_values.0.key', 'past_key_values.1.value'])(
    'gives wrong tokens with a wrong %s',
    async (wrong) => {
      const { session, layout } = decoder;
      const spoilt = {
        ...session,
        run: ((inputs, names) => {
          const changed = inputs.map((input) => {
            if (input.name !== wrong || input.dims[0] !== 2) return input;
            const { data } = input;
            if (data instanceof BigInt64Array) {
              return {
                ...input,
                data: data.map((value) => (wrong === 'attention_mask' ? 1n : value + 2n)),
              };
            }
            return { ...input, data: new Float32Array(data.length) };
          });
          return session.run(changed, names);
        }) as typeof session.run,
      };
      const generator = generatorOn({ session: spoilt, layout }, 2);
      const pair = [promptOf(3, 1), promptOf(3, 2)];
      const found = await Promise.all(pair.map(({ prompt }) => generated(generator, prompt)));
      expect(found.map(({ tokens }) => tokens)).not.toEqual(pair.map(({ answer }) => answer));
    },
  );
});
