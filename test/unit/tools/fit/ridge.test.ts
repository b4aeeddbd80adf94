import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../shared/benchmarks/digits/seeded-random.ts';
import { fitRidge, type LabelledFeatures } from '../../../tools/fit/ridge.ts';

// Goal: the closed form is the solution of ridge regression, not something near it. Method: a case
// that can be solved on paper, and the gradient of the loss, which is 0 at its minimum.
function toExamples(rows: readonly (readonly number[])[], labels: number[]): LabelledFeatures {
  return {
    features: Float32Array.from(rows.flat()),
    featureCount: rows[0]?.length ?? 0,
    labels: Uint8Array.from(labels),
    classCount: 2,
  };
}

function scoresOf(
  { weights, biases }: ReturnType<typeof fitRidge>,
  row: readonly number[],
): number[] {
  return [...biases].map((bias, label) =>
    row.reduce(
      (sum, value, i) => sum + value * (weights[i * biases.length + label] as number),
      bias,
    ),
  );
}

describe('fitRidge', () => {
  it('finds the solution that can be worked out on paper', () => {
    // One feature, -1 for class 0 and +1 for class 1: mean 0, deviation 1, targets +-1/2, n = 4.
    // Class 1: Z'Z = 4, Z'T = 4 * 1/2 = 2, strength * n = 0.25 * 4 = 1: w = 2 / (4 + 1) = 0.4.
    const examples = toExamples([[-1], [-1], [1], [1]], [0, 0, 1, 1]);
    const { weights, biases } = fitRidge(examples, 0.25);
    expect(weights[0]).toBeCloseTo(-0.4, 5);
    expect(weights[1]).toBeCloseTo(0.4, 5);
    expect([...biases]).toEqual([expect.closeTo(0.5, 5), expect.closeTo(0.5, 5)]);
  });

  it('gives the same scores when a feature is stretched and shifted', () => {
    const rows = [[-1], [-1], [1], [1]];
    const stretched = rows.map(([value = 0]) => [value * 50 + 700]);
    const plain = fitRidge(toExamples(rows, [0, 0, 1, 1]), 0.25);
    const other = fitRidge(toExamples(stretched, [0, 0, 1, 1]), 0.25);
    const [first, second] = [scoresOf(plain, [1]), scoresOf(other, [750])];
    expect(second).toEqual(first.map((score) => expect.closeTo(score, 4)));
  });

  it('gives no weight to a feature that never changes', () => {
    const examples = toExamples(
      [
        [-1, 7],
        [-1, 7],
        [1, 7],
        [1, 7],
      ],
      [0, 0, 1, 1],
    );
    const { weights } = fitRidge(examples, 0.25);
    expect(weights[2]).toBeCloseTo(0, 6);
    expect(weights[3]).toBeCloseTo(0, 6);
  });

  it('stands at the minimum of the loss for any number of features', () => {
    const random = new SeededRandom(11, 0);
    const rows = Array.from({ length: 40 }, () =>
      Array.from({ length: 7 }, () => random.nearlyNormal()),
    );
    const labels = rows.map(([first = 0, second = 0]) => (first + second > 0 ? 1 : 0));
    const strength = 0.1;
    const classifier = fitRidge(toExamples(rows, labels), strength);
    for (let feature = 0; feature < 7; feature += 1) {
      const values = rows.map((row) => row[feature] as number);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
      // d/dw of |Zw - t|^2 + strength * n * |w|^2 with w in units of the feature's deviation.
      const weight = (classifier.weights[feature * 2 + 1] as number) * Math.sqrt(variance);
      const gradient = rows.reduce(
        (sum, row, i) => {
          const error = (scoresOf(classifier, row)[1] as number) - (labels[i] as number);
          return sum + (((row[feature] as number) - mean) / Math.sqrt(variance)) * error;
        },
        strength * rows.length * weight,
      );
      expect(gradient).toBeCloseTo(0, 3);
    }
  });
});
