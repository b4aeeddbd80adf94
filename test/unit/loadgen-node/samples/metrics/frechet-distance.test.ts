import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  featureStatistics,
  frechetDistance,
} from '../../../../../loadgen-node/samples/metrics/frechet-distance.ts';
import { symmetricEigenvalues } from '../../../../../loadgen-node/samples/metrics/symmetric-eigenvalues.ts';

// Goal: FID is that of the official script, also where a covariance is singular.
// Method: the script's own figures (test/golden), and matrices whose eigenvalues are known.

const GOLDEN = 'test/golden/benchmarks/sdxl-fid';
interface Expected {
  readonly dims: number;
  readonly frechet_distance: number;
}
const CASES = JSON.parse(readFileSync(join(GOLDEN, 'expected.json'), 'utf8')) as Readonly<
  Record<string, Expected>
>;

function numbersOf<T>(file: string, Numbers: new (buffer: ArrayBuffer) => T): T {
  return new Numbers(new Uint8Array(readFileSync(join(GOLDEN, file))).buffer);
}

describe('frechetDistance', () => {
  it.each(Object.entries(CASES))(
    'is that of the official script: %s',
    async (name, { dims, ...one }) => {
      const features = numbersOf(`${name}.generated.f32`, Float32Array);
      const rows = Array.from({ length: features.length / dims }, (_, i) =>
        features.subarray(i * dims, (i + 1) * dims),
      );
      const reference = numbersOf(`${name}.reference-mu-sigma.f64`, Float64Array);
      const other = { mean: reference.subarray(0, dims), covariance: reference.subarray(dims) };
      const own = await featureStatistics(rows);
      for (const distance of [
        await frechetDistance(other, own),
        await frechetDistance(own, other),
      ]) {
        expect(Math.abs(distance / one.frechet_distance - 1)).toBeLessThan(1e-8);
      }
    },
  );

  it('is 0 between equal distributions, and the square of the way between shifted ones', async () => {
    const rows = Array.from({ length: 9 }, (_, i) => Float32Array.of(i, i * i, Math.sin(i), 1));
    const own = await featureStatistics(rows);
    expect(await frechetDistance(own, own)).toBeCloseTo(0, 5);
    const shifted = { ...own, mean: own.mean.map((value, i) => value + (i === 1 ? 3 : 0)) };
    expect(await frechetDistance(own, shifted)).toBeCloseTo(9, 5);
  });
});

it('of features that take seconds lets the event loop turn in every step', async () => {
  const rows = Array.from({ length: 600 }, (_, row) =>
    Float32Array.from({ length: 16 }, (_unused, i) => Math.sin(row * (i + 1))),
  );
  const turns = countedTurns();
  const own = await featureStatistics(rows, turns);
  // Tiles below each other: 4 in each of the 4 strips of 512 rows, 4 in the rest.
  expect(turns.count).toBe(16 + 4);
  const before = turns.count;
  await frechetDistance(own, own, turns);
  expect(turns.count - before).toBe(16 + 4 + 4 + 15 + 16);
});

/** They are always due. */
function countedTurns() {
  const turns = {
    ...{ count: 0, isDue: true },
    take: async () => {
      turns.count += 1;
    },
  };
  return turns;
}

describe('featureStatistics', () => {
  it('are mean and covariance, also where neither count is a multiple of a tile', async () => {
    const [size, count] = [7, 601];
    const value = (row: number, i: number): number => Math.fround(Math.sin(row * (i + 1)) + i);
    const rows = Array.from({ length: count }, (_, row) =>
      Float32Array.from({ length: size }, (_unused, i) => value(row, i)),
    );
    const { mean, covariance } = await featureStatistics(rows);
    const sumOf = (of: (row: number) => number): number =>
      rows.reduce((sum, _row, index) => sum + of(index), 0);
    for (let i = 0; i < size; i += 1) {
      const own = sumOf((row) => value(row, i)) / count;
      expect(mean[i]).toBeCloseTo(own, 12);
      for (let j = 0; j < size; j += 1) {
        const other = sumOf((row) => value(row, j)) / count;
        const products = sumOf((row) => (value(row, i) - own) * (value(row, j) - other));
        expect(covariance[i * size + j]).toBeCloseTo(products / (count - 1), 12);
      }
    }
  });
});

describe('symmetricEigenvalues', () => {
  it('finds those of a chain of springs, 2 - 2 cos(k pi / (n + 1))', async () => {
    const size = 41;
    const matrix = new Float64Array(size * size);
    for (let i = 0; i < size; i += 1) {
      matrix[i * size + i] = 2;
      if (i > 0) matrix[i * size + i - 1] = -1;
    }
    const expected = Array.from({ length: size }, (_, k) => {
      return 2 - 2 * Math.cos(((k + 1) * Math.PI) / (size + 1));
    });
    const found = (await symmetricEigenvalues(matrix, size)).sort();
    for (const [i, value] of expected.entries()) expect(found[i]).toBeCloseTo(value, 12);
  });

  it('takes a matrix of zeros, and one of one number', async () => {
    expect([...(await symmetricEigenvalues(new Float64Array(9), 3))]).toEqual([0, 0, 0]);
    expect([...(await symmetricEigenvalues(Float64Array.of(7), 1))]).toEqual([7]);
  });
});
