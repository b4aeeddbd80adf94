import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../shared/base/errors/to-mlperf-error.ts';
import { defaultCacheFolder } from '../../shared/base/files/cache-folder.ts';
import { makeFolder } from '../../shared/base/files/make-folder.ts';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import { STANDIN_EVALUATION_SET } from '../../shared/benchmarks/standin/standin-sets.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { optional, type Setting, type SettingValues, text } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import {
  generatedName,
  generatedSetOf,
  isStandardSet,
  STAND_IN_WORD,
} from '../samples/benchmarks/generated-data.ts';
import {
  PREPARED_STANDINS,
  writeReferenceAccuracy,
} from '../samples/benchmarks/imagenet/reference-accuracy.ts';
import { ensureStandinDataSet } from '../samples/benchmarks/imagenet/standin-data-set.ts';
import { readValMap } from '../samples/benchmarks/imagenet/val-map.ts';
import {
  type PreparedStandin,
  preparedJson,
  preparedText,
} from '../samples/benchmarks/prepared-text.ts';

const PREPARE_SETTINGS: {
  readonly output: Setting<string | undefined>;
  readonly dataSeed: Setting<number | undefined>;
  readonly dataCount: Setting<number | undefined>;
  readonly cacheDir: Setting<string | undefined>;
} = {
  output: optional(text('folder', 'folder for copies of the files (default: in the cache only)')),
  dataSeed: RUN_SETTINGS.dataSeed,
  dataCount: RUN_SETTINGS.dataCount,
  cacheDir: RUN_SETTINGS.cacheDir,
};

const EXAMPLE = `
What it makes, once (it stays in the cache folder, where "sut --model standin" and "run --data-dir standin" find it):
  resnet50-standin-fp32.onnx  the inputs, outputs and cost of ResNet-50 v1.5 with random weights, and a small
                              fitted branch that reads digits: it is NOT ResNet-50, nor is its accuracy
  resnet50-standin-int8.onnx  the same in int8
  a data set                  JPEG images that longhaul draws, laid out as ImageNet's validation set, and
                              reference.json with the accuracy of the FP32 stand-in, of which a run asks 99 %

Example:
  longhaul prepare resnet50-standin --output standin`;

/** A file per precision. */
interface Files {
  readonly fp32: string;
  readonly int8: string;
}

/** What the SUT half exports to this verb (sut-node/prepare.ts). */
interface SutHalf {
  ensureStandinModels(request: {
    readonly benchmark: 'resnet50';
    readonly cacheFolder: string;
    readonly onProgress: Progress;
  }): Promise<Files>;
  ensureStandinAccuracy(request: {
    readonly benchmark: 'resnet50';
    readonly models: Files;
    readonly dataFolder: string;
    readonly images: readonly { readonly path: string; readonly label: number }[];
    readonly cacheFolder: string;
    readonly onProgress: Progress;
  }): Promise<Readonly<Record<keyof Files, number>>>;
}

type Progress = (fraction: number, what: string) => void;

/** `longhaul prepare`: makes what a machine without the real weights and images needs. */
export function prepareCommand(): Command {
  const command = createCommand('prepare', 'make a stand-in for a model and its data set').argument(
    '<what>',
    Object.keys(PREPARED_STANDINS).join(', '),
  );
  return addJson(addFlags(command, PREPARE_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (what: string) => {
      const { values } = settingsOf(command, undefined, PREPARE_SETTINGS);
      const benchmark = Object.hasOwn(PREPARED_STANDINS, what)
        ? PREPARED_STANDINS[what]
        : undefined;
      if (benchmark === undefined) {
        const known = Object.keys(PREPARED_STANDINS).join(', ');
        throw new MlperfError(
          'ERR_CONFIG_INVALID',
          `nothing to prepare "${what}"; there is: ${known}`,
        );
      }
      const prepared = await prepare(benchmark, values);
      const [text, json] = await Promise.all([preparedText(prepared), preparedJson(prepared)]);
      writeResult(command, { text, json });
    });
}

type PrepareValues = SettingValues<typeof PREPARE_SETTINGS>;

async function prepare(
  benchmark: 'resnet50',
  { output, dataSeed, dataCount, cacheDir }: PrepareValues,
): Promise<PreparedStandin> {
  const host = new CommandHost();
  const onProgress: Progress = (fraction, what) => host.progress(what, percentOf(fraction));
  const cacheFolder = cacheDir ?? defaultCacheFolder();
  const asked = { benchmark, dataDir: STAND_IN_WORD, dataSeed, dataCount };
  const set = generatedSetOf(asked) ?? STANDIN_EVALUATION_SET;
  // First, so that a folder that cannot be written is told before minutes of work.
  if (output !== undefined) makeOutputFolder(output);
  const sutHalf = (await import(compiledModule('sut-node/prepare.js').href)) as SutHalf;
  const dataFolder = await ensureStandinDataSet({ cacheFolder, onProgress, images: set });
  const models = await sutHalf.ensureStandinModels({ benchmark, cacheFolder, onProgress });
  const images = (await readValMap(dataFolder)).map(({ path, label }) => ({
    path: join(dataFolder, path),
    label,
  }));
  const request = { benchmark, models, dataFolder, images, cacheFolder, onProgress };
  const correct = await sutHalf.ensureStandinAccuracy(request);
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
  if (output === undefined) {
    host.progress(null);
    return { ...made, isCopy: false };
  }
  onProgress(0, `copying to ${output}`);
  const copied = await copyTo(output, models, {
    folder: dataFolder,
    name: generatedName('imagenet-standin', set, STANDIN_EVALUATION_SET),
  });
  host.progress(null);
  return { ...made, ...copied, isCopy: true };
}

function makeOutputFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw outputError(`--output ${folder}`, error);
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
    throw outputError(`--output ${output}`, error);
  }
  return copies;
}
