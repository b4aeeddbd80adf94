import { describe, expect, it } from 'vitest';
import { sutBenchmark } from '../../../../sut-node/benchmarks/registry.ts';

const KEYS = ['digits', 'custom'];

// Goal: every benchmark of the rules that has a model is there on the SUT node (null has none: see
// create-model.test.ts). Method: ask for each key, and for one that does not exist.
describe('sutBenchmark', () => {
  it.each(KEYS)('finds %s', async (key) => {
    expect((await sutBenchmark(key)).rules.key).toBe(key);
  });

  it('lists what there is when the key is unknown', async () => {
    await expect(sutBenchmark('resnet')).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_BENCHMARK_UNKNOWN',
        message: expect.stringContaining('digits'),
      }),
    );
  });
});
