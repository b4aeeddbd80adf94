import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readAccuracyLog } from '../../../../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import {
  type CaseDice,
  diceOfCase,
  diceSummary,
} from '../../../../../../loadgen-node/samples/benchmarks/3d-unet/dice.ts';
import { readNifti } from '../../../../../../loadgen-node/samples/benchmarks/3d-unet/nifti.ts';
import { SeededRandom } from '../../../../../../shared/benchmarks/digits/seeded-random.ts';
import { type VolumeShape, voxelCount } from '../../../../../../shared/benchmarks/volume/volume.ts';
import { readGolden, readGoldenText } from '../../../../../scenes/simulated-run/golden.ts';

// Goal: a log is scored as accuracy_kits.py scores it, to the last digit. Method: the golden log
// with its table and its line; then 1,000 random pairs of volumes against what every Dice score
// has.

const GOLDEN = 'benchmarks/3d-unet';

function goldenPath(path: string): string {
  return fileURLToPath(new URL(`../../../../../golden/${GOLDEN}/${path}`, import.meta.url));
}

describe('the golden log', () => {
  it('has the table and the line of the official script', async () => {
    const cases = readGolden<{ case: string }[]>(`${GOLDEN}/cases.json`);
    const scores: CaseDice[] = [];
    for await (const { sampleIndex, response } of readAccuracyLog(
      goldenPath('mlperf_log_accuracy.json'),
    )) {
      const name = cases[sampleIndex]?.case as string;
      const { shape, voxels: labels } = await readNifti(
        goldenPath(`pre/nifti/${name}/segmentation.nii.gz`),
        (s) => new Uint8Array(voxelCount(s)),
      );
      scores[sampleIndex] = diceOfCase(name, response, { shape, labels });
    }
    const { table, line, value } = diceSummary(scores);
    expect(`${table.join('\n')}\n`).toBe(readGoldenText(`${GOLDEN}/expected-summary.csv`));
    expect(readGoldenText(`${GOLDEN}/expected-stdout.txt`)).toContain(`\n${line}\n`);
    expect(value).toBe(0.43314);
  });
});

describe('the Dice score of random volumes', () => {
  it('is symmetric, does not see the order of voxels or their number, and is 1 for equal volumes only', () => {
    for (let seed = 0; seed < 1000; seed += 1) {
      const random = new SeededRandom(seed, 0);
      const shape: VolumeShape = [1 + random.integerBelow(9), 1 + random.integerBelow(9), 3];
      const volume = () =>
        Uint8Array.from({ length: voxelCount(shape) }, () => random.integerBelow(3));
      const [a, b] = [volume(), volume()];
      const dice = (response: Uint8Array, labels: Uint8Array, times = 1) => {
        const { kidney, tumour } = diceOfCase('a', response, {
          shape: [shape[0] * times, shape[1], shape[2]],
          labels,
        });
        return [kidney, tumour] as const;
      };
      const score = dice(a, b);
      expect(dice(b, a)).toEqual(score);
      expect(dice(a.toReversed(), b.toReversed())).toEqual(score);
      const twice = dice(Uint8Array.from([...a, ...a]), Uint8Array.from([...b, ...b]), 2);
      score.forEach((value, i) => {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        expect(twice[i]).toBeCloseTo(value, 5);
      });
      expect(dice(a, a)).toEqual([1, 1]);
    }
  });

  it('is 1 where neither volume has the class, and next to 0 where only one has it', () => {
    const shape: VolumeShape = [1, 1, 4];
    const score = diceOfCase('a', Uint8Array.of(0, 0, 1, 1), {
      shape,
      labels: new Uint8Array(4),
    });
    expect(score.tumour).toBe(1);
    expect(score.kidney).toBe(1e-6 / (2 + 1e-6));
  });
});

describe('what is no answer to a case', () => {
  const truth = { shape: [1, 1, 4] as VolumeShape, labels: Uint8Array.of(0, 1, 2, 0) };
  it.each([
    [
      'a wrong number of voxels',
      new Uint8Array(3),
      'the response to case_00001 has 3 bytes; its volume of 1 x 1 x 4 voxels needs 4',
    ],
    [
      'a label that there is not',
      Uint8Array.of(0, 7, 7, 1),
      'the response to case_00001 has 2 voxels of the label 7; labels are 0, 1 (kidney) and 2 (tumour)',
    ],
  ])('is refused: %s', (_what, response, message) => {
    expect(() => diceOfCase('case_00001', response, truth)).toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message }),
    );
  });
});
