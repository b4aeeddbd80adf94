import { describe, expect, it } from 'vitest';
import { loadgenBenchmark } from '../../../../../loadgen-node/samples/benchmarks/registry.ts';
import { BENCHMARK_KEYS } from '../../../../../shared/rules/benchmark-rules.ts';

// Goal: every benchmark of the rules that can be chosen is there on the LoadGen node.
// Method: ask for each key, and for one that does not exist.
describe('loadgenBenchmark', () => {
  it.each(BENCHMARK_KEYS)('finds %s', async (key) => {
    expect((await loadgenBenchmark(key)).rules.key).toBe(key);
  });

  it('lists what there is when the key is unknown', async () => {
    await expect(loadgenBenchmark('nothing-like-it')).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_BENCHMARK_UNKNOWN',
        message: expect.stringContaining('digits'),
      }),
    );
  });
});
