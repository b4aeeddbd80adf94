import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { configInvalid, MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { defaultCacheFolder } from '../../../../shared/base/files/cache-folder.ts';
import { makeFolder } from '../../../../shared/base/files/make-folder.ts';
import { compiledModule } from '../../../../shared/base/files/package-files.ts';
import type { VerbResult } from '../../../../shared/base/process/json-output.ts';
import { STANDIN_EVALUATION_SET } from '../../../../shared/benchmarks/standin/standin-sets.ts';
import type { PrepareProgress } from '../../data-set/data-set.ts';
import { ensureDrawnDataSet } from '../drawn-data-set.ts';
import { generatedName, generatedSetOf, isStandardSet, STAND_IN_WORD } from '../generated-data.ts';
import { type PreparedStandin, preparedJson, preparedText } from './prepared-text.ts';
import { PREPARED_STANDINS, writeReferenceAccuracy } from './reference-accuracy.ts';
import { STANDIN_DATA } from './standin-data.ts';
import { readValMap } from './val-map.ts';

/** A file per precision. */
interface Files {
  readonly fp32: string;
  readonly int8: string;
}

/** What the SUT half exports to this verb (sut-node/benchmarks/imagenet/). */
interface SutHalf {
  ensureStandinModels(request: {
    readonly benchmark: 'resnet50';
    readonly cacheFolder: string;
    readonly onProgress: PrepareProgress;
  }): Promise<Files>;
  ensureStandinAccuracy(request: {
    readonly benchmark: 'resnet50';
    readonly models: Files;
    readonly dataFolder: string;
    readonly images: readonly { readonly path: string; readonly label: number }[];
    readonly cacheFolder: string;
    readonly onProgress: PrepareProgress;
  }): Promise<Readonly<Record<keyof Files, number>>>;
}

/** Where a stand-in goes, and which images it has. */
export interface PrepareRequest {
  /** Folder for copies; undefined: in the cache only. */
  readonly output: string | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
  readonly cacheDir: string | undefined;
}

/**
 * Makes a stand-in for a model and its data set, once, and copies it where that is asked for.
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
    throw configInvalid(`nothing to prepare "${what}"; there is: ${known}`);
  }
  const prepared = await makeStandin(benchmark, request, onProgress);
  const [text, json] = await Promise.all([preparedText(prepared), preparedJson(prepared)]);
  return { text, json };
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
  if (output !== undefined) makeOutputFolder(output);
  const sutHalf = await loadSutHalf();
  const dataFolder = await ensureDrawnDataSet(STANDIN_DATA, set, { cacheFolder, onProgress });
  const models = await sutHalf.ensureStandinModels({ benchmark, cacheFolder, onProgress });
  const images = (await readValMap(dataFolder)).map(({ path, label }) => ({
    path: join(dataFolder, path),
    label,
  }));
  const asks = { benchmark, models, dataFolder, images, cacheFolder, onProgress };
  const correct = await sutHalf.ensureStandinAccuracy(asks);
  await writeReferenceAccuracy(dataFolder, {
    benchmark,
    model: basename(models.fp32, '.onnx'),
    accuracy: correct.fp32 / images.length,
  });
  const dataFlags = isStandardSet(set, STANDIN_EVALUATION_SET)
    ? ''
    : ` --data-seed ${set.seed} --data-count ${set.imageCount}`;
  const imageCount = images.length;
  const made = { benchmark, models, dataFolder, dataFlags, correct, imageCount, cacheDir };
  if (output === undefined) return { ...made, isCopy: false };
  onProgress(0, `copying to ${output}`);
  const copied = await copyTo(output, models, {
    folder: dataFolder,
    name: generatedName('imagenet-standin', set, STANDIN_EVALUATION_SET),
  });
  return { ...made, ...copied, isCopy: true };
}

/** Loads the other half by path: it need not be installed where the other verbs run. */
async function loadSutHalf(): Promise<SutHalf> {
  const [models, accuracy] = await Promise.all([
    import(compiledModule('sut-node/benchmarks/imagenet/standin-models.js').href),
    import(compiledModule('sut-node/benchmarks/imagenet/standin-accuracy.js').href),
  ]);
  return { ...models, ...accuracy } as SutHalf;
}

function makeOutputFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw outputError(folder, error);
  }
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
  try {
    await cp(models.fp32, copies.models.fp32);
    await cp(models.int8, copies.models.int8);
    await cp(data.folder, copies.dataFolder, { recursive: true });
  } catch (error) {
    throw outputError(output, error);
  }
  return copies;
}

function outputError(output: string, error: unknown): MlperfError {
  const reason = describeSystemError(error);
  return new MlperfError('ERR_OUTPUT', `--output ${output}: ${reason}`, { cause: error });
}
