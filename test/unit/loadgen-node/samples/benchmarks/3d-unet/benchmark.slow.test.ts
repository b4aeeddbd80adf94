import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/3d-unet/benchmark.ts';
import { INFERENCE_CASES } from '../../../../../../loadgen-node/samples/benchmarks/3d-unet/kits-cases.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import {
  openVolume,
  type VolumeShape,
  voxelCount,
} from '../../../../../../shared/benchmarks/volume/volume.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: the cases of KiTS19, as they are or pre-processed, become samples and scores; whatever is
// wrong with a file is one line that names it. Method: small cases in every form that a folder may
// have, opened as a user does; then folders with one fault each.

const SPACING = [1.6, 1.2, 1.2] as const;
const SHAPE: VolumeShape = [128, 128, 192];

interface NiftiParts {
  readonly shape: readonly number[];
  readonly spacing?: readonly number[];
  /** Number of the type and bytes of a voxel. */
  readonly type?: readonly [number, number];
  readonly slope?: number;
  readonly inter?: number;
  /** By place along the file's axes. */
  readonly value: (a: number, b: number, c: number) => number;
}

/** A NIfTI-1 file: voxels as they are stored, the first axis running fastest. */
function niftiFile(parts: NiftiParts): Buffer {
  const { shape, spacing = SPACING, type = [16, 4], value } = parts;
  const [number, bytes] = type;
  const [a = 1, b = 1, c = 1] = shape;
  const file = Buffer.alloc(352 + a * b * c * bytes);
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const little = true;
  view.setInt32(0, 348, little);
  for (const [i, length] of [shape.length, ...shape].entries()) {
    view.setInt16(40 + 2 * i, length, little);
  }
  view.setInt16(70, number, little);
  for (const [i, size] of [1, ...spacing].entries()) view.setFloat32(76 + 4 * i, size, little);
  view.setFloat32(108, 352, little);
  view.setFloat32(112, parts.slope ?? Number.NaN, little);
  view.setFloat32(116, parts.inter ?? Number.NaN, little);
  file.write('n+1\0', 344, 'latin1');
  const put = (at: number, voxel: number): void => {
    if (number === 16) view.setFloat32(at, voxel, little);
    else if (number === 64) view.setFloat64(at, voxel, little);
    else if (number === 4) view.setInt16(at, voxel, little);
    else view.setUint8(at, voxel);
  };
  let at = 352;
  for (let z = 0; z < c; z += 1) {
    for (let y = 0; y < b; y += 1) {
      for (let x = 0; x < a; x += 1, at += bytes) put(at, value(x, y, z));
    }
  }
  return file;
}

const UINT8 = [2, 1] as const;

/** Different for each voxel, nearly; whole numbers, so that every type has them. */
const intensity = (a: number, b: number, c: number): number => ((a * 131 + b * 17 + c) % 301) - 60;
const label = (a: number, b: number, c: number): number => (a + b + c) % 3;

function write(folder: string, files: Readonly<Record<string, Uint8Array>>): string {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

function open(dataFolder: string | undefined, cacheFolder = tempFolder()): Promise<DataSet> {
  return benchmark.openDataSet({ dataFolder, cacheFolder, onProgress: () => {} });
}

function npyFile(descr: string, shape: readonly number[], elements: Uint8Array): Buffer {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')},), }\n`;
  const begin = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0]);
  return Buffer.concat([begin, Buffer.from(header), elements]);
}

/** Voxels in the order of a payload. */
function voxelsOf([d, h, w]: VolumeShape): Float32Array {
  const voxels = new Float32Array(d * h * w);
  let at = 0;
  for (let a = 0; a < d; a += 1) {
    for (let b = 0; b < h; b += 1) {
      for (let c = 0; c < w; c += 1, at += 1) voxels[at] = intensity(a, b, c);
    }
  }
  return voxels;
}

const IMAGE = niftiFile({ shape: SHAPE, value: intensity });
const TRUTH = niftiFile({ shape: SHAPE, type: UINT8, value: label });

describe('pre-processed cases', () => {
  it('are the same sample as .npy and as the NIfTI of the reference', async () => {
    const elements = voxelsOf(SHAPE);
    const folder = write(tempFolder(), {
      'case_00007.npy': npyFile('<f4', [1, ...SHAPE], new Uint8Array(elements.buffer)),
      'nifti/case_00007/segmentation.nii.gz': gzipSync(TRUTH, { level: 1 }),
      'nifti/case_00003/imaging.nii.gz': gzipSync(IMAGE, { level: 1 }),
      'nifti/case_00003/segmentation.nii.gz': TRUTH,
      'preprocessed_files.pkl': Buffer.from('never read'),
    });
    const dataSet = await open(folder);
    expect(dataSet).toMatchObject({
      name: 'kits19-own-cases',
      totalSampleCount: 2,
      files: [
        'nifti/case_00003/imaging.nii.gz',
        'nifti/case_00003/segmentation.nii.gz',
        'case_00007.npy',
        'nifti/case_00007/segmentation.nii.gz',
      ],
      marks: [expect.stringContaining('2 cases, 1 of them among the 43 of KiTS19')],
    });
    for (const index of [0, 1]) {
      const { shape, voxels } = openVolume(await dataSet.readPayload(index, 'volume'));
      expect(shape).toEqual(SHAPE);
      expect(Buffer.compare(Buffer.from(voxels.buffer, 12), Buffer.from(elements.buffer))).toBe(0);
    }
  });

  it('are the 43 of the benchmark where all of these are there, in its order', async () => {
    const segmentation = TRUTH.subarray(0, 352);
    const others = ['case_00001', 'case_00299'];
    const folder = write(
      tempFolder(),
      Object.fromEntries(
        [...others, ...INFERENCE_CASES].map((name) => [
          `nifti/${name}/segmentation.nii.gz`,
          segmentation,
        ]),
      ),
    );
    const dataSet = await open(folder);
    expect(dataSet).toMatchObject({ name: 'kits19-inference', totalSampleCount: 43, marks: [] });
    expect(dataSet.files?.at(-1)).toBe('nifti/case_00400/segmentation.nii.gz');
    // Enough to score, not to measure.
    await expect(dataSet.readPayload(2, 'volume')).rejects.toThrow(
      'case_00005 has no image: neither case_00005.npy nor nifti/case_00005/imaging.nii.gz',
    );
  });
});

describe('cases of KiTS19 as they are', () => {
  it('are pre-processed once, whatever the type of their voxels, and the copied case is there', async () => {
    const scan = { shape: [40, 50, 60], spacing: [4, 3, 3], value: intensity };
    const labels = gzipSync(niftiFile({ ...scan, type: UINT8, value: label }));
    // The same intensities: doubles, and whole numbers with a scale.
    const doubles = niftiFile({ ...scan, type: [64, 8] });
    const scaled = niftiFile({
      ...scan,
      ...{ type: [4, 2], slope: 0.5, inter: -10 },
      value: (a, b, c) => (intensity(a, b, c) + 10) * 2,
    });
    const folder = write(tempFolder(), {
      'case_00005/imaging.nii.gz': gzipSync(doubles),
      'case_00005/segmentation.nii.gz': labels,
      'case_00185/imaging.nii.gz': gzipSync(scaled),
      'case_00185/segmentation.nii.gz': labels,
      LICENSE: Buffer.from(''),
    });
    const cacheFolder = tempFolder();
    const dataSet = await open(folder, cacheFolder);
    expect(dataSet.totalSampleCount).toBe(3);
    expect(dataSet.isManifestChecked).toBe(true);
    const payloads = await Promise.all([0, 1, 2].map((i) => dataSet.readPayload(i, 'volume')));
    expect(openVolume(payloads[0] as Uint8Array).shape).toEqual([128, 128, 128]);
    expect(Buffer.compare(payloads[0] as Uint8Array, payloads[1] as Uint8Array)).toBe(0);
    expect(Buffer.compare(payloads[1] as Uint8Array, payloads[2] as Uint8Array)).toBe(0);
    const nothing = { sampleIndex: 2, response: new Uint8Array(128 ** 3) };
    expect((await dataSet.scoreAccuracy([nothing])).value).toBe(0);
    expect((await open(folder, cacheFolder)).folder).toBe(dataSet.folder);
    const other = { ...scan, value: () => 0 };
    write(folder, { 'case_00005/imaging.nii.gz': gzipSync(niftiFile(other)) });
    expect((await open(folder, cacheFolder)).folder).not.toBe(dataSet.folder);
  });
});

describe('a wrong file', () => {
  const good = (files: Readonly<Record<string, Uint8Array>> = {}) =>
    write(tempFolder(), {
      'nifti/case_00003/imaging.nii.gz': IMAGE,
      'nifti/case_00003/segmentation.nii.gz': TRUTH,
      ...files,
    });
  const image = 'nifti/case_00003/imaging.nii.gz';
  const segmentation = 'nifti/case_00003/segmentation.nii.gz';
  const header = (at: number, bytes: readonly number[]): Buffer => {
    const file = Buffer.from(TRUTH);
    file.set(bytes, at);
    return file;
  };
  const cases: readonly [string, Readonly<Record<string, Uint8Array>>, string][] = [
    ['no NIfTI', { [segmentation]: Buffer.from('hello') }, 'is not a little-endian NIfTI-1 file'],
    ['broken gzip', { [segmentation]: Buffer.from([0x1f, 0x8b, 1, 2, 3]) }, 'unknown compression'],
    [
      'four axes',
      { [segmentation]: header(40, [4, 0, 9, 0, 9, 0, 9, 0, 2, 0]) },
      '9 x 9 x 9 x 2; three are read',
    ],
    ['an axis of no length', { [segmentation]: header(42, [0, 0]) }, 'has the axes 0 x 128 x 192'],
    [
      'complex voxels',
      { [segmentation]: header(70, [32, 0]) },
      'has voxels of type 32; read are 2, 4',
    ],
    ['voxels nowhere', { [segmentation]: header(108, [0, 0, 0, 0]) }, 'first voxel at byte 0'],
    [
      'another size than the truth',
      { [image]: niftiFile({ shape: [128, 128, 128], value: intensity }) },
      'has 128 x 128 x 128 voxels, and its truth 128 x 128 x 192',
    ],
    [
      'a size that no windows cover',
      {
        [image]: niftiFile({ shape: [100, 128, 128], value: intensity }),
        [segmentation]: niftiFile({ shape: [100, 128, 128], type: UINT8, value: label }),
      },
      'each axis is a multiple of 64, 128 at least',
    ],
    [
      'an array of doubles',
      { 'case_00003.npy': npyFile('<f8', SHAPE, new Uint8Array(8 * voxelCount(SHAPE))) },
      'np.float32',
    ],
  ];
  it.each(cases)('is told when the folder is opened: %s', async (_what, files, message) => {
    await expect(open(good(files))).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringContaining(message) }),
    );
  });

  it('is told when it is read: a file that is cut off', async () => {
    const dataSet = await open(good({ [image]: IMAGE.subarray(0, IMAGE.length - 1) }));
    await expect(dataSet.readPayload(0, 'volume')).rejects.toThrow(
      /imaging\.nii\.gz: is cut off: it has not all of its 128 x 128 x 192 voxels$/,
    );
    const zipped = await open(good({ [image]: gzipSync(IMAGE, { level: 1 }).subarray(0, 5_000) }));
    await expect(zipped.readPayload(0, 'volume')).rejects.toThrow(
      /imaging\.nii\.gz: unexpected end/,
    );
  });

  it('is told before anything is pre-processed: labels of another size, voxels without a size', async () => {
    const raw = (parts: Partial<NiftiParts>): string =>
      write(tempFolder(), {
        'case_00003/imaging.nii.gz': niftiFile({ shape: [20, 20, 20], value: intensity, ...parts }),
        'case_00003/segmentation.nii.gz': niftiFile({
          shape: [20, 20, 20],
          type: UINT8,
          value: label,
        }),
      });
    await expect(open(raw({ shape: [20, 20, 21] }))).rejects.toThrow(
      'has 20 x 20 x 20 voxels, and the image 20 x 20 x 21',
    );
    await expect(open(raw({ spacing: [0, 1, 1] }))).rejects.toThrow(
      'has voxels of 0 x 1 x 1 mm, which cannot be',
    );
  });

  it('is no case at all', async () => {
    const folder = write(tempFolder(), { 'data/case_00000/imaging.nii.gz': Buffer.from('') });
    await expect(open(folder)).rejects.toThrow(`those of KiTS19 may be in ${folder}/data`);
    await expect(open(undefined)).rejects.toThrow('benchmark 3d-unet needs --data-dir FOLDER');
  });
});

describe('generated volumes', () => {
  it('are the same in every run, and a perfect answer scores 1', async () => {
    const generated = { seed: 5, sampleCount: 2 };
    const request = { dataFolder: 'standin', cacheFolder: '', generated, onProgress: () => {} };
    const [one, two] = await Promise.all([
      benchmark.openDataSet(request),
      benchmark.openDataSet(request),
    ]);
    const payload = await one.readPayload(1, 'volume');
    expect(Buffer.compare(payload, await two.readPayload(1, 'volume'))).toBe(0);
    expect(one.name).toBe('kits19-standin-seed-5-count-2');
    expect(one.marks?.[0]).toBe(
      'the data set is a stand-in: 2 volumes drawn by longhaul, not KiTS19',
    );
    const { voxels } = openVolume(payload);
    const empty = { sampleIndex: 1, response: new Uint8Array(voxels.length) };
    const report = await one.scoreAccuracy([empty]);
    // A part of the data set has a score, and no line of the script, which refuses it.
    expect(report).toEqual({ metric: 'DICE', value: 0, sampleCount: 1 });
  });
});
