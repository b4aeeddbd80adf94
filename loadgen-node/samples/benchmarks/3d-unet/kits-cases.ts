import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { ensureArtifact } from '../../../../shared/base/cache/artifact-cache.ts';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  newVolume,
  type VolumeShape,
  volumeText,
  voxelCount,
  WINDOW_SIDE,
  WINDOW_STEP,
} from '../../../../shared/benchmarks/volume/volume.ts';
import { digestFiles } from '../../data-set/check-data-set.ts';
import { type PrepareProgress, readingFile } from '../../data-set/data-set.ts';
import { checkNpyFile, readNpyFile } from '../../tensors/npy/npy-file.ts';
import { readNifti, readNiftiHeader } from './nifti.ts';
import { prepareScan, SPACING } from './prepare-scan.ts';

/** Cases of KiTS19 used for inference. Source: 3d-unet-kits19, meta/inference_cases.json. */
export const INFERENCE_CASES: readonly string[] = [
  ...[0, 3, 5, 6, 12, 24, 34, 41, 44, 49, 52, 56, 61, 65, 66, 70, 76, 78, 80, 84, 86, 87, 92, 111],
  ...[
    112, 125, 128, 138, 157, 160, 161, 162, 169, 171, 176, 185, 187, 189, 198, 203, 206, 207, 400,
  ],
].map((number) => `case_${String(number).padStart(5, '0')}`);

/** A case missing in KiTS19: the reference copies another one. */
const COPIED_CASE = 'case_00400';
const COPIED_FROM = 'case_00185';

const CASE_NAME = /^case_\d{5}$/;

/** Folder of volumes and truth in preprocess.py's output. */
const NIFTI = 'nifti';
const IMAGE_FILE = 'imaging.nii.gz';
const LABEL_FILE = 'segmentation.nii.gz';

/** File extension of the arrays; pre-processed truths have another one before it. */
const NPY = '.npy';
const TRUTH_NPY = '.truth.npy';

/** A prepared case; files are relative to its folder. */
export interface KitsCase {
  readonly name: string;
  readonly shape: VolumeShape;
  /** Undefined if missing: the case can then only be scored. */
  readonly image: string | undefined;
  readonly truth: string;
}

/**
 * The prepared cases of a folder: `nifti/CASE/segmentation.nii.gz`, with the image in `CASE.npy` or
 * `nifti/CASE/imaging.nii.gz`; or KiTS19's original cases (`CASE/imaging.nii.gz`), which are
 * prepared once and cached.
 * @returns The 43 inference cases if all are there, otherwise all cases; and their folder.
 * @throws MlperfError `ERR_DATA_SET`, `ERR_CACHE`
 */
export async function findKitsCases(
  folder: string,
  cacheFolder: string,
  onProgress: PrepareProgress,
) {
  const names = await casesIn(join(folder, NIFTI), LABEL_FILE);
  if (names.length > 0) {
    const truthOf = (name: string): string => posix.join(NIFTI, name, LABEL_FILE);
    return { folder, cases: await openCases(folder, names, truthOf), isMade: false };
  }
  const raw = await casesIn(folder, IMAGE_FILE);
  if (raw.length === 0) throw noCases(folder);
  const prepared = await prepareCases(folder, raw, cacheFolder, onProgress);
  const cases = await openCases(prepared, raw, (name) => name + TRUTH_NPY);
  return { folder: prepared, cases, isMade: true };
}

/** Names of the cases that have a file, in order: the 43 inference cases if all are there. */
async function casesIn(folder: string, file: string): Promise<readonly string[]> {
  const entries = existsSync(folder) ? await readingFile(folder, () => readdir(folder)) : [];
  const names = new Set(
    entries.filter((name) => CASE_NAME.test(name) && existsSync(join(folder, name, file))),
  );
  if (names.has(COPIED_FROM) && file === IMAGE_FILE) names.add(COPIED_CASE);
  const isWhole = INFERENCE_CASES.every((name) => names.has(name));
  return isWhole ? INFERENCE_CASES : [...names].sort();
}

function noCases(folder: string) {
  if (!existsSync(folder)) return dataSetError(`${folder} does not exist`);
  const hint = existsSync(join(folder, 'data')) ? `; those of KiTS19 may be in ${folder}/data` : '';
  return dataSetError(
    `${folder} has no cases: neither ${NIFTI}/case_00000/${LABEL_FILE} and others, as the reference's preprocess.py leaves them, ` +
      `nor case_00000/${IMAGE_FILE} and others, as in KiTS19${hint}`,
  );
}

function openCases(
  folder: string,
  names: readonly string[],
  truthOf: (name: string) => string,
): Promise<KitsCase[]> {
  return Promise.all(
    names.map(async (name) => {
      const truth = truthOf(name);
      const images = [name + NPY, posix.join(NIFTI, name, IMAGE_FILE)];
      const image = images.find((file) => existsSync(join(folder, file)));
      const shape = await shapeOfFile(join(folder, truth), 'UINT8');
      if (image !== undefined) await requireShape(join(folder, image), shape);
      return { name, shape, image, truth };
    }),
  );
}

async function shapeOfFile(path: string, datatype: 'FP32' | 'UINT8'): Promise<VolumeShape> {
  if (!path.endsWith(NPY)) return (await readNiftiHeader(path)).shape;
  const shape = await checkNpyFile(path, { name: 'volume', datatype, shape: [-1, -1, -1] });
  return shape as unknown as VolumeShape; // Of three axes.
}

/**
 * @throws MlperfError `ERR_DATA_SET` for an image whose size differs from its truth, or that no
 *   windows cover.
 */
async function requireShape(path: string, truth: VolumeShape): Promise<void> {
  const found = volumeText(await shapeOfFile(path, 'FP32'));
  if (found !== volumeText(truth)) {
    throw dataSetError(`${path}: has ${found} voxels, and its truth ${volumeText(truth)}`);
  }
  if (truth.every((length) => length >= WINDOW_SIDE && length % WINDOW_STEP === 0)) return;
  throw dataSetError(
    `${path}: has ${found} voxels; after pre-processing each axis is a multiple of ${WINDOW_STEP}, ${WINDOW_SIDE} at least`,
  );
}

/**
 * A case in its wire form: shared/benchmarks/volume/volume.ts.
 * @throws MlperfError `ERR_DATA_SET` naming the file
 */
export async function readImage(folder: string, { name, shape, image }: KitsCase) {
  if (image === undefined) {
    throw dataSetError(
      `${folder}: ${name} has no image: neither ${name}${NPY} nor ${NIFTI}/${name}/${IMAGE_FILE}`,
    );
  }
  const { payload, voxels } = newVolume(shape);
  await readInto(join(folder, image), shape, voxels);
  return payload;
}

/**
 * Labels of a case, with the last axis fastest. @throws MlperfError `ERR_DATA_SET` naming the file
 */
export async function readTruth(
  folder: string,
  { shape, truth }: Pick<KitsCase, 'shape' | 'truth'>,
) {
  const labels = new Uint8Array(voxelCount(shape));
  await readInto(join(folder, truth), shape, labels);
  return { shape, labels };
}

async function readInto(
  path: string,
  shape: VolumeShape,
  voxels: Float32Array | Uint8Array,
): Promise<void> {
  if (path.endsWith(NPY)) {
    const datatype = voxels instanceof Float32Array ? 'FP32' : 'UINT8';
    const { raw } = await readNpyFile(path, { name: 'volume', datatype, shape });
    new Uint8Array(voxels.buffer, voxels.byteOffset, voxels.byteLength).set(raw);
    return;
  }
  await readNifti(path, (found) => {
    if (volumeText(found) === volumeText(shape)) return voxels;
    throw dataSetError(`${path}: has changed since the data set was opened`);
  });
}

/** Prepares cases of KiTS19 one by one, unless they are in the cache. @returns Their folder. */
async function prepareCases(
  folder: string,
  names: readonly string[],
  cacheFolder: string,
  onProgress: PrepareProgress,
): Promise<string> {
  const isCopied = !existsSync(join(folder, COPIED_CASE, IMAGE_FILE));
  const sources = names.map((name) => (name === COPIED_CASE && isCopied ? COPIED_FROM : name));
  const files = [...new Set(sources)].flatMap((name) => [
    posix.join(name, IMAGE_FILE),
    posix.join(name, LABEL_FILE),
  ]);
  const checksums = await digestFiles(folder, files, onProgress);
  return ensureArtifact({
    cacheFolder,
    name: 'kits19-prepared',
    recipe: { names, files: [...checksums], revision: PREPARE_REVISION },
    build: async (building, onBuildProgress) => {
      for (const [i, name] of names.entries()) {
        onBuildProgress(i / names.length, `pre-processing ${name} of ${folder}`);
        await prepareCase(join(folder, sources[i] as string), building, name);
      }
    },
    onProgress,
  });
}

/** Increase with every change of the output. */
const PREPARE_REVISION = 1;

/** Writes `NAME.npy` and `NAME.truth.npy`. @param source Folder of the case. */
async function prepareCase(source: string, target: string, name: string): Promise<void> {
  const imagePath = join(source, IMAGE_FILE);
  const labelPath = join(source, LABEL_FILE);
  const scan = await readNifti(imagePath, (s) => new Float32Array(voxelCount(s)));
  const truth = await readNifti(labelPath, (s) => new Uint8Array(voxelCount(s)));
  const { shape, spacing } = scan;
  if (volumeText(shape) !== volumeText(truth.shape)) {
    throw dataSetError(
      `${labelPath}: has ${volumeText(truth.shape)} voxels, and the image ${volumeText(shape)}`,
    );
  }
  if (!spacing.every((size, axis) => size * (shape[axis] as number) >= (SPACING[axis] as number))) {
    throw dataSetError(`${imagePath}: has voxels of ${spacing.join(' x ')} mm, which cannot be`);
  }
  const prepared = prepareScan({ shape, spacing, image: scan.voxels, labels: truth.voxels });
  const { image, labels } = prepared;
  await writeFile(join(target, name + NPY), npyOf('<f4', prepared.shape, image));
  await writeFile(join(target, name + TRUTH_NPY), npyOf('|u1', prepared.shape, labels));
}

/** Header and elements of a .npy file, version 1.0. */
function* npyOf(
  descr: string,
  shape: VolumeShape,
  { buffer, byteOffset, byteLength }: Float32Array | Uint8Array,
): Generator<Uint8Array> {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  const line = `${text.padEnd(117)}\n`;
  yield Buffer.from(`\x93NUMPY\x01\0${String.fromCharCode(line.length, 0)}${line}`, 'latin1');
  yield new Uint8Array(buffer, byteOffset, byteLength);
}
