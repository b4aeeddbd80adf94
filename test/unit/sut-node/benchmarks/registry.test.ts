import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BENCHMARK_KEYS, SYNTHETIC_BENCHMARKS } from '../../../../shared/rules/benchmark-rules.ts';
import { CARDS } from '../../../../shared/rules/cards.ts';
import { sutBenchmark } from '../../../../sut-node/benchmarks/registry.ts';

const FOLDER = new URL('../../../../sut-node/benchmarks/', import.meta.url);

const KEYS = [
  ...readdirSync(FOLDER).filter(
    (name) => name !== 'language' && existsSync(new URL(`${name}/benchmark.ts`, FOLDER)),
  ),
  ...CARDS.filter(({ language }) => language !== undefined).map(({ key }) => key),
];

// Goal: every benchmark of the rules has a SUT side: a folder here, a built-in model
// (create-model.test.ts), or all on its card. Method: the keys of the rules against the folders;
// ask for each key, and for one that does not exist.
describe('sutBenchmark', () => {
  it('has a side of every benchmark of the rules', () => {
    const found = [...KEYS, ...SYNTHETIC_BENCHMARKS];
    expect(found.sort()).toEqual([...BENCHMARK_KEYS].sort());
  });

  it.each(KEYS)('finds %s', async (key) => {
    expect((await sutBenchmark(key)).rules.key).toBe(key);
  });

  it('lists what there is when the key is unknown', async () => {
    await expect(sutBenchmark('nothing-like-it')).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_BENCHMARK_UNKNOWN',
        message: expect.stringContaining('digits'),
      }),
    );
  });
});
