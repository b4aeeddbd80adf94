import { describe, expect, it } from 'vitest';
import { Mt19937 } from '../../../../../../loadgen-node/loadgen/random/mt19937.ts';
import { DEVIATIONS_MAX } from '../../../../../../loadgen-node/submission/compliance/responses/answers-by-sight.ts';
import {
  rightLessOften,
  type TwoGroups,
} from '../../../../../../loadgen-node/submission/compliance/responses/proportions.ts';

/** The favoured group is right, and so many of others of one sample each are wrong. */
function wrongInOthers(samples: number, otherCount: number): TwoGroups[] {
  return Array.from({ length: samples }, () => ({
    ...{ count: otherCount + 1, rightCount: otherCount },
    ...{ favouredCount: 1, favouredRightCount: 1 },
  }));
}

describe('rightLessOften', () => {
  it('is the normal deviate of the exact chance', () => {
    // One of four is wrong, and it is none of the favoured: (3/4)^20 = 0.00317, which is 2.729
    // standard deviations.
    expect(rightLessOften(wrongInOthers(20, 3))).toBeCloseTo(2.729, 2);
    // Two favoured of five, one wrong: (3/5)^10 = 0.00605, 2.509.
    const two = { count: 5, rightCount: 4, favouredCount: 2, favouredRightCount: 2 };
    expect(rightLessOften(Array.from({ length: 10 }, () => two))).toBeCloseTo(2.509, 2);
  });

  it('is 0 where the favoured group is not right more often, or where nothing tells', () => {
    const worse = { count: 4, rightCount: 3, favouredCount: 1, favouredRightCount: 0 };
    expect(rightLessOften(Array.from({ length: 20 }, () => worse))).toBe(0);
    const alike = { count: 4, rightCount: 4, favouredCount: 1, favouredRightCount: 1 };
    expect(rightLessOften([alike, { ...alike, rightCount: 0, favouredRightCount: 0 }])).toBe(0);
    expect(rightLessOften([])).toBe(0);
  });

  it('stays finite where chance is below what a double holds', () => {
    const deviations = rightLessOften(wrongInOthers(3_000, 1));
    expect(deviations).toBeGreaterThan(30);
    expect(Number.isFinite(deviations)).toBe(true);
  });
});

/**
 * An honest system: are the accuracy run's response to a sample and those that the test logged
 * right?
 */
type Noise = (logged: number, random: () => number) => readonly [boolean, readonly boolean[]];

const many = (count: number, isRight: () => boolean): boolean[] =>
  Array.from({ length: count }, () => isRight());

const NOISES: Readonly<Record<string, Noise>> = {
  'one answer of 100 is wrong': (logged, random) => {
    const isRight = (): boolean => random() >= 0.01;
    return [isRight(), many(logged, isRight)];
  },
  'one sample of 20 is right half of the time': (logged, random) => {
    const share = random() < 0.05 ? 0.5 : 1;
    const isRight = (): boolean => random() < share;
    return [isRight(), many(logged, isRight)];
  },
  'the mode decides for one sample of 25': (logged, random) => {
    const varies = random() < 0.04;
    const mode = (): boolean => !varies || random() < 0.5;
    const [inAccuracy, inTest] = [mode(), mode()];
    return [inAccuracy, many(logged, () => inTest)];
  },
};

// Goal: an honest system whose answers vary fails in one test of 1,000 at most. Method: 300
// simulated tests of 1,024 samples and 3,072 logged responses for each kind of noise; with a fixed
// seed, so this either holds or not.
describe('of 300 tests of an honest system', () => {
  it.each(Object.entries(NOISES))('where %s, one fails at most', (_, noise) => {
    const generator = new Mt19937(11n);
    const random = (): number => generator.nextUint32() / 2 ** 32;
    let failed = 0;
    for (let test = 0; test < 300; test += 1) {
      const samples = Array.from({ length: 1_024 }, () => noise(3, random));
      const first = samples.map(([accuracy, logged]) => groups([accuracy], logged));
      const second = samples.map(([accuracy, [one, ...others]]) =>
        groups([accuracy, one === true], others),
      );
      const deviations = Math.max(rightLessOften(first), rightLessOften(second));
      if (deviations >= DEVIATIONS_MAX) failed += 1;
    }
    expect(failed).toBeLessThanOrEqual(1);
  });
});

function groups(favoured: readonly boolean[], others: readonly boolean[]): TwoGroups {
  const right = (answers: readonly boolean[]): number => answers.filter((one) => one).length;
  return {
    ...{ count: favoured.length + others.length, rightCount: right([...favoured, ...others]) },
    ...{ favouredCount: favoured.length, favouredRightCount: right(favoured) },
  };
}
