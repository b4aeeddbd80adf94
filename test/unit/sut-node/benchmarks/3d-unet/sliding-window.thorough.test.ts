import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { VolumeShape } from '../../../../../shared/benchmarks/volume/volume.ts';
import {
  copyWindow,
  WINDOW_VOXELS,
  WindowBlend,
  windowCorners,
  windowWeights,
} from '../../../../../sut-node/benchmarks/3d-unet/sliding-window.ts';
import { casesOf } from '../../../../scenes/host/thorough.ts';
import { readGolden } from '../../../../scenes/simulated-run/golden.ts';

// Goal: windows become labels as in the reference, to the last bit. Method: made-up scores of all
// windows, in batches of several sizes, against digests of what SciPy and NumPy make of them with
// the reference's arithmetic (test/golden/benchmarks/3d-unet/make-blend.py).

interface GoldenBlend {
  readonly weights_sha256: string;
  readonly cases: readonly {
    readonly shape: VolumeShape;
    readonly windows: number;
    readonly labels_sha256: string;
  }[];
}

const golden = readGolden<GoldenBlend>('benchmarks/3d-unet/blend.json');

function sha256(data: Uint8Array | Float32Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The formula of make-blend.py. */
function fillScores(target: Float32Array, at: number, seed: number): void {
  for (let i = 0; i < WINDOW_VOXELS; i += 1) {
    let x = Math.imul(i + seed, 2_654_435_761) >>> 0;
    x = Math.imul(x ^ (x >>> 15), 0x85eb_ca6b) >>> 0;
    target[at + i] = (x >>> 16) / 65_536;
  }
}

describe('blending', () => {
  const weights = windowWeights();

  it('has the weights of the reference', () => {
    expect(sha256(weights)).toBe(golden.weights_sha256);
  });

  it.each(casesOf(golden.cases, 1))(
    'labels a volume of $shape voxels',
    ({ shape, ...expected }) => {
      const corners = windowCorners(shape);
      expect(corners).toHaveLength(expected.windows);
      const blend = new WindowBlend(shape, weights);
      const scores = new Float32Array(2 * 3 * WINDOW_VOXELS);
      for (const [number, corner] of corners.entries()) {
        const row = number % 2;
        for (let label = 0; label < 3; label += 1) {
          fillScores(scores, (row * 3 + label) * WINDOW_VOXELS, number * 3 + label);
        }
        blend.add(corner, scores, row);
      }
      expect(sha256(blend.finish())).toBe(expected.labels_sha256);
    },
  );
});

it('a window is the voxels from its corner on', () => {
  const shape: VolumeShape = [192, 128, 192];
  const voxels = Float32Array.from({ length: 192 * 128 * 192 }, (_, i) => i % 65_521);
  const target = new Float32Array(2 * WINDOW_VOXELS);
  copyWindow(voxels, shape, [64, 0, 64], target, WINDOW_VOXELS);
  expect(target[WINDOW_VOXELS - 1]).toBe(0);
  expect(target[WINDOW_VOXELS]).toBe((64 * 128 * 192 + 64) % 65_521);
  expect(target.at(-1)).toBe((192 * 128 * 192 - 1) % 65_521);
});
