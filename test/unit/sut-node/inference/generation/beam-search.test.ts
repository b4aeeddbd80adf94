import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BeamTokenSearch } from '../../../../../sut-node/inference/generation/beam-search.ts';
import {
  ContinuousGenerator,
  type Sequence,
} from '../../../../../sut-node/inference/generation/continuous-generator.ts';
import { goldenPath } from '../../../../scenes/simulated-run/golden.ts';
import { generated } from '../../../../scenes/sut-node/generation.ts';
import {
  HASH_END,
  HashModel,
  type HashScores,
  hashScores,
} from '../../../../scenes/sut-node/hash-model.ts';

// Goal: the beams and the answer are those of Hugging Face's transformers, and do not depend on
// what is generated beside them. Method: scores by a hash of all tokens so far, so that a beam that
// goes on from a wrong row is seen; what transformers gave with them.

interface Case extends HashScores {
  readonly beams: number;
  readonly newTokensMin: number;
  readonly newTokensMax: number;
}

function limitsOf({ beams, newTokensMin, newTokensMax }: Case) {
  return { promptTokensMax: 8, beams, newTokensMin, newTokensMax, endToken: HASH_END };
}

/** The search alone, without a generator. */
function searched(options: Case): readonly number[] {
  const search = new BeamTokenSearch(limitsOf(options));
  let rows: (readonly number[])[] = [[]];
  while (rows.length > 0) {
    const next = search.advance(rows.map((history) => hashScores(options, history)));
    rows = next.map(({ from, token }) => [...(rows[from] as number[]), token]);
  }
  return search.tokens;
}

describe('BeamTokenSearch', () => {
  const golden: (Case & { tokens: number[] })[] = JSON.parse(
    readFileSync(goldenPath('beam-search/transformers-5.17.0.json'), 'utf8'),
  );

  it('gives what transformers gives, with early stopping', () => {
    expect(golden).toHaveLength(60);
    for (const { tokens, ...options } of golden) {
      expect(searched(options), JSON.stringify(options)).toEqual(tokens);
    }
  });

  it('does not finish a beam that ends behind the best ones', () => {
    const END = 0;
    const search = new BeamTokenSearch({
      ...{ promptTokensMax: 8, beams: 2, newTokensMin: 0, newTokensMax: 4, endToken: END },
    });
    const logs = (...shares: readonly number[]) => Float32Array.from(shares, Math.log);
    search.advance([logs(0.02, 0.5, 0.48)]);
    // 0.3 for 1 and the end, 0.264 for 2 1; 0.216 for 2 and the end is third of two, 0.2 for 1 1
    // goes on.
    expect(search.advance([logs(0.6, 0.4, 0), logs(0.45, 0.55, 0)])).toEqual([
      expect.objectContaining({ from: 1, token: 1 }),
      expect.objectContaining({ from: 0, token: 1 }),
    ]);
    expect(search.advance([logs(0.99, 0.01, 0), logs(0.01, 0.99, 0)])).toEqual([]);
    expect(search.tokens).toEqual([2, 1, END]);
  });

  it('fails with scores that are no numbers', () => {
    const search = new BeamTokenSearch(limitsOf(golden[0] as Case));
    expect(() => search.advance([Float32Array.of(1, Number.NaN, 0)])).toThrow('no numbers');
    const none = new Float32Array(3).fill(Number.NEGATIVE_INFINITY);
    expect(() => search.advance([none])).toThrow('no numbers');
  });
});

describe('beam searches side by side', () => {
  const OPTIONS = { vocabulary: 14, spread: 4, endBonus: 1 };
  const LIMITS = { beams: 4, newTokensMin: 2, newTokensMax: 10 };
  const sequences = fc.array(
    fc.record({ seed: fc.nat(), waits: fc.nat(6), isCancelled: fc.boolean() }),
    { minLength: 1, maxLength: 8 },
  );

  it('give the same tokens as alone, whoever comes, ends or is cancelled meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, fc.integer({ min: 1, max: 4 }), async (all, slots) => {
        const model = new HashModel(OPTIONS);
        const limits = limitsOf({ ...OPTIONS, ...LIMITS, seed: 0 });
        const generator = new ContinuousGenerator({ model, limits, sequencesMax: slots });
        const outcomes = all.map(async ({ seed, waits, isCancelled }) => {
          for (let turn = 0; turn < waits; turn += 1) await Promise.resolve();
          let own: Sequence | undefined;
          const outcome = generated(generator, [seed], (sequence) => {
            own = sequence;
          });
          if (isCancelled) generator.cancel(own as Sequence);
          const { first, tokens } = await outcome;
          if (isCancelled && tokens instanceof Error) return;
          expect(tokens).toEqual(searched({ ...OPTIONS, ...LIMITS, seed }));
          expect(first).toEqual([(tokens as number[])[0]]);
        });
        await Promise.all(outcomes);
        expect(model.rowsMax).toBeLessThanOrEqual(slots * LIMITS.beams);
      }),
      { numRuns: 200 },
    );
  });
});
