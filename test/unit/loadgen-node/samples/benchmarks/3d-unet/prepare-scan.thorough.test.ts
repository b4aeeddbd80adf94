import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { prepareScan } from '../../../../../../loadgen-node/samples/benchmarks/3d-unet/prepare-scan.ts';
import { type VolumeShape, voxelCount } from '../../../../../../shared/benchmarks/volume/volume.ts';
import { casesOf } from '../../../../../scenes/host/thorough.ts';
import { readGolden } from '../../../../../scenes/simulated-run/golden.ts';

// Goal: a scan is prepared as the reference prepares it, to the last bit. Method: made-up scans of
// several shapes and spacings (resampled to more and to fewer voxels, filled up, cut, padded)
// against digests of what SciPy and NumPy make of them
// (test/golden/benchmarks/3d-unet/make-scans.py).

interface GoldenScan {
  readonly shape: VolumeShape;
  readonly spacing: readonly [number, number, number];
  readonly seed: number;
  readonly prepared: VolumeShape;
  readonly image_sha256: string;
  readonly label_sha256: string;
}

/** The formula of make-scans.py. */
function madeUpScan({ shape, spacing, seed }: GoldenScan) {
  const count = voxelCount(shape);
  const image = new Float32Array(count);
  const labels = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    let x = Math.imul(i + seed, 2_654_435_761) >>> 0;
    x = Math.imul(x ^ (x >>> 15), 0x85eb_ca6b) >>> 0;
    x = (x ^ (x >>> 13)) >>> 0;
    image[i] = (x >>> 8) / 8192 - 1024;
    labels[i] = x % 3;
  }
  // A file holds the sizes of voxels as float32.
  const [a, b, c] = spacing.map(Math.fround) as [number, number, number];
  return { shape, spacing: [a, b, c] as const, image, labels };
}

function sha256(data: Uint8Array | Float32Array): string {
  return createHash('sha256').update(data).digest('hex');
}

describe('a prepared scan', () => {
  const scans = readGolden<GoldenScan[]>('benchmarks/3d-unet/scans.json');
  it.each(casesOf(scans, 4))('is that of NumPy and SciPy: $shape voxels of $spacing mm', (scan) => {
    const prepared = prepareScan(madeUpScan(scan));
    expect(prepared.shape).toEqual(scan.prepared);
    expect(sha256(prepared.labels)).toBe(scan.label_sha256);
    expect(sha256(prepared.image)).toBe(scan.image_sha256);
  });
});
