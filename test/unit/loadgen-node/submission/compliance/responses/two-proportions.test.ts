import { describe, expect, it } from 'vitest';
import { differenceInterval } from '../../../../../../loadgen-node/submission/compliance/responses/proportions.ts';
import { SeededRandom } from '../../../../../../shared/benchmarks/digits/seeded-random.ts';

// Goal: chance alone does not fail an honest system, and a real drop is told from chance.
// Method: ends of the intervals found by halving on |share - p| = z √(p (1 - p) / n), which is what defines Wilson's
// interval; then many pairs of honest runs.
describe('differenceInterval', () => {
  it.each([
    ['shares far from 1', [56, 70], [48, 80], [0.005371, 0.371808]],
    ['accuracies of 1,200 samples', [1172, 1200], [1168, 1200], [-0.013753, 0.020616]],
    ['all right against none', [10, 10], [0, 20], [0.529747, 1]],
    ['the whole of ImageNet', [38230, 50000], [37848, 50000], [0.00069, 0.014589]],
  ] as const)('spans what chance can do for %s', (_case, a, b, [low, high]) => {
    const of = ([correct, total]: readonly [number, number]) => ({ correct, total });
    const interval = differenceInterval(of(a), of(b));
    expect(interval.low).toBeCloseTo(low, 6);
    expect(interval.high).toBeCloseTo(high, 6);
  });

  it('lies above 0 for about one honest pair of runs in 200', () => {
    const random = new SeededRandom(41, 0);
    const total = 1200;
    const draw = (): number => {
      let correct = 0;
      for (let i = 0; i < total; i += 1) if (random.uniform(0, 1) < 0.97) correct += 1;
      return correct;
    };
    let falseAlarms = 0;
    for (let pair = 0; pair < 2000; pair += 1) {
      const [a, b] = [
        { correct: draw(), total },
        { correct: draw(), total },
      ];
      if (differenceInterval(a, b).low > 0) falseAlarms += 1;
    }
    // 10 are expected; 22 or more would come about once in a thousand such tests.
    expect(falseAlarms).toBeLessThan(22);
    expect(falseAlarms).toBeGreaterThan(1);
  });
});
