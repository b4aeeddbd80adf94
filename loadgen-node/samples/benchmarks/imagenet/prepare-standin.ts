import { cp, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hashFile } from '../../../../shared/base/cache/manifest.ts';
import { configInvalid, outputError } from '../../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../../shared/base/files/package-files.ts';
import { defaultCacheFolder, makeFolder } from '../../../../shared/base/files/read-file.ts';
import { WRONG_ONE_OF } from '../../../../shared/benchmarks/standin/planted-cells.ts';
import type { VerbResult } from '../../../../shared/config/command-line.ts';
import { STANDIN_EVALUATION_SET } from '../../../../shared/rules/cards/imagenet.ts';
import type { PrepareProgress } from '../../data-set/data-set.ts';
import { ensureDrawnDataSet } from '../drawn-data-set.ts';
import { generatedName, generatedSetOf, isStandardSet, STAND_IN_WORD } from '../generated-data.ts';
import { accuracyPercent } from '../score-each.ts';
import { STANDIN_IMAGES } from './draw-class.ts';

/** Argument of `longhaul prepare` → the benchmark whose stand-in it makes. */
export const PREPARED_STANDINS: Readonly<Record<string, 'resnet50'>> = {
  'resnet50-standin': 'resnet50',
};

/** A file per precision. */
interface Files {
  readonly fp32: string;
  readonly int8: string;
}

/** The part of the SUT half that this verb needs (sut-node/benchmarks/registry.ts). */
interface SutHalf {
  sutBenchmark(key: string): Promise<{
    prepareModel(options: {
      readonly model: string;
      readonly cacheFolder: string;
      readonly onProgress: PrepareProgress;
    }): Promise<string>;
  }>;
}

/** Where a stand-in goes, and which images it has. */
interface PrepareRequest {
  /** Folder for copies; undefined: in the cache only. */
  readonly output: string | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
  readonly cacheDir: string | undefined;
}

/**
 * Makes a stand-in for a model and its data set, once, and copies it where that is requested.
 * @param what Key of {@link PREPARED_STANDINS}.
 * @throws MlperfError `ERR_CONFIG_INVALID` for another key, `ERR_OUTPUT`; without ONNX Runtime
 */
export async function prepareStandin(
  what: string,
  request: PrepareRequest,
  onProgress: PrepareProgress,
): Promise<VerbResult> {
  const benchmark = Object.hasOwn(PREPARED_STANDINS, what) ? PREPARED_STANDINS[what] : undefined;
  if (benchmark === undefined) {
    const known = Object.keys(PREPARED_STANDINS).join(', ');
    throw configInvalid(`cannot prepare "${what}": use one of ${known}`);
  }
  return preparedResult(await makeStandin(benchmark, request, onProgress));
}

async function makeStandin(
  benchmark: 'resnet50',
  { output, dataSeed, dataCount, cacheDir }: PrepareRequest,
  onProgress: PrepareProgress,
): Promise<PreparedStandin> {
  const cacheFolder = cacheDir ?? defaultCacheFolder();
  const asked = { benchmark, dataDir: STAND_IN_WORD, dataSeed, dataCount };
  const set = generatedSetOf(asked) ?? STANDIN_EVALUATION_SET;
  // First, so that a folder that cannot be written is told before minutes of work.
  if (output !== undefined) await orOutputError(output, () => makeFolder(output));
  const dataFolder = await ensureDrawnDataSet(STANDIN_IMAGES, set, { cacheFolder, onProgress });
  // The other half by path: it need not be installed where the other verbs run.
  const registry = await import(compiledModule('sut-node/benchmarks/registry.js').href);
  const { prepareModel } = await (registry as SutHalf).sutBenchmark(benchmark);
  const models = {
    fp32: await prepareModel({ model: 'standin', cacheFolder, onProgress }),
    int8: await prepareModel({ model: 'standin-int8', cacheFolder, onProgress }),
  };
  const isCopy = output !== undefined;
  if (isCopy) onProgress(0, `copying to ${output}`);
  const name = generatedName('imagenet-standin', set, STANDIN_EVALUATION_SET);
  const made = { models, dataFolder };
  return {
    benchmark,
    /** Paths of the models, and the folder of the images and val_map.txt. */
    ...(isCopy ? await copyTo(output, models, { folder: dataFolder, name }) : made),
    imageCount: set.sampleCount,
    dataFlags: isStandardSet(set, STANDIN_EVALUATION_SET)
      ? ''
      : ` --data-seed ${set.seed} --data-count ${set.sampleCount}`,
    cacheDir,
    isCopy,
  };
}

/** Result of {@link prepareStandin}, for its text. */
export interface PreparedStandin {
  readonly benchmark: string;
  readonly imageCount: number;
  /**
   * Flags of a run that ask for these images, with a blank before them; empty for the standard
   * ones.
   */
  readonly dataFlags: string;
  /** The cache folder that was named, if one was. */
  readonly cacheDir: string | undefined;
  /** True where the paths are copies outside of the cache: then the commands name them. */
  readonly isCopy: boolean;
  readonly models: Files;
  readonly dataFolder: string;
}

async function copyTo(
  output: string,
  models: Files,
  data: { readonly folder: string; readonly name: string },
): Promise<{ models: Files; dataFolder: string }> {
  const copies = {
    models: {
      fp32: join(output, basename(models.fp32)),
      int8: join(output, basename(models.int8)),
    },
    dataFolder: join(output, data.name),
  };
  await orOutputError(output, async () => {
    await cp(models.fp32, copies.models.fp32);
    await cp(models.int8, copies.models.int8);
    await cp(data.folder, copies.dataFolder, { recursive: true });
  });
  return copies;
}

async function orOutputError(output: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw outputError(`--output ${output}`, error);
  }
}

const MEGABYTE = 1e6;

/** Paths, accuracy (in JSON a share from 0 to 1) and the next commands. */
export async function preparedResult(prepared: PreparedStandin): Promise<VerbResult> {
  const { benchmark, models, dataFolder, imageCount } = prepared;
  const rightCount = imageCount - Math.floor(imageCount / WRONG_ONE_OF);
  const [fp32, int8, dataBytes] = await Promise.all([
    fileFacts(models.fp32),
    fileFacts(models.int8),
    folderBytes(dataFolder),
  ]);
  const lines = [
    `Stand-in for the model and the data of ${benchmark}. Neither is MLPerf's: no figure of a run with them is a result of it.`,
    '',
    modelLine('FP32', fp32),
    modelLine('int8', int8),
    `  images  ${dataFolder}`,
    `          ${imageCount} JPEG files, ${megabytes(dataBytes)} MB, val_map.txt`,
    '',
    `Top-1 of both on these images: ${accuracyPercent(rightCount / imageCount)}  (${rightCount} of ${imageCount}; the others carry a wrong answer)`,
    '',
    'Go on with:',
    ...commandLines(prepared),
    '',
  ];
  const json = {
    benchmark,
    models: { fp32, int8 },
    top1: rightCount / imageCount,
    data: { path: dataFolder, imageCount, bytes: dataBytes },
  };
  return { text: lines.join('\n'), json };
}

async function fileFacts(path: string) {
  return { path, bytes: (await stat(path)).size, sha256: await hashFile(path) };
}

function modelLine(
  precision: string,
  { path, bytes, sha256 }: Awaited<ReturnType<typeof fileFacts>>,
): string {
  return `  ${precision.padEnd(6)}  ${path}\n          ${megabytes(bytes)} MB, sha256 ${sha256}`;
}

function commandLines({
  benchmark,
  models,
  dataFolder,
  dataFlags,
  cacheDir,
  isCopy,
}: PreparedStandin): string[] {
  const cache = cacheDir === undefined || isCopy ? '' : ` --cache-dir ${quoted(cacheDir)}`;
  const [fp32, int8] = isCopy
    ? [quoted(models.fp32), quoted(models.int8)]
    : ['standin', 'standin-int8'];
  const data = isCopy ? quoted(dataFolder) : `standin${dataFlags}`;
  return [
    `  longhaul sut --benchmark ${benchmark} --model ${fp32} --node sut-a${cache}`,
    `      (in int8: --model ${int8})`,
    `  longhaul run --sut 127.0.0.1:50051 --benchmark ${benchmark} --data-dir ${data} --scenario Offline --target-qps 10${cache}`,
  ];
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./:~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function folderBytes(folder: string): Promise<number> {
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}
