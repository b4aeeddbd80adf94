import { existsSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../shared/base/errors/to-mlperf-error.ts';
import { defaultCacheFolder } from '../../shared/base/files/cache-folder.ts';
import { addJson, type VerbResult, writeResult } from '../../shared/base/process/json-output.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { optional, type Setting, text } from '../../shared/config/setting.ts';
import { CommandHost, orAbort } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import {
  type DataRequest,
  generatedSetOf,
  isGeneratedData,
} from '../samples/benchmarks/generated-data.ts';
import { loadgenBenchmark } from '../samples/benchmarks/registry.ts';
import { findList } from '../samples/data-set/check-data-set.ts';
import {
  CHECKSUM_FILE,
  digestOfList,
  formatChecksumList,
} from '../samples/data-set/checksum-list.ts';
import { compareFiles, differenceError, differs } from '../samples/data-set/compare-files.ts';
import type { DataSet, PrepareProgress } from '../samples/data-set/data-set.ts';
import { hashFiles } from '../samples/data-set/hash-files.ts';

const EXAMPLE = `
Examples:
  longhaul data checksums --benchmark resnet50 --data-dir imagenet --output imagenet/${CHECKSUM_FILE}
  longhaul data verify --benchmark resnet50 --data-dir imagenet

A list is what sha256sum writes, and "sha256sum -c" in the data set's folder reads it. Every run compares its data
set with ${CHECKSUM_FILE} in that folder, or with the list of --data-checksums. Both compare the files that the data
set consists of, and all that are listed; what else lies in the folder is no part of it.

Exit codes: 0 unchanged, 5 a file of the data set is missing, changed or not in the list, 2 wrong flag.`;

const DATA_SETTINGS: {
  readonly benchmark: Setting<string>;
  readonly dataDir: Setting<string | undefined>;
  readonly dataSeed: Setting<number | undefined>;
  readonly dataCount: Setting<number | undefined>;
  readonly cacheDir: Setting<string | undefined>;
} = {
  benchmark: RUN_SETTINGS.benchmark,
  dataDir: RUN_SETTINGS.dataDir,
  dataSeed: RUN_SETTINGS.dataSeed,
  dataCount: RUN_SETTINGS.dataCount,
  cacheDir: RUN_SETTINGS.cacheDir,
};

const CHECKSUMS_SETTINGS: typeof DATA_SETTINGS & {
  readonly output: Setting<string | undefined>;
} = {
  ...DATA_SETTINGS,
  output: optional(text('file', 'file to write the list to (default: stdout)')),
};

const VERIFY_SETTINGS: typeof DATA_SETTINGS & {
  readonly checksums: Setting<string | undefined>;
} = {
  ...DATA_SETTINGS,
  checksums: optional(
    text('file', `list to compare with (default: ${CHECKSUM_FILE} in the data set's folder)`),
  ),
};

/** `longhaul data`: lists of checksums of data sets. */
export function dataCommand(): Command {
  const checksums = createCommand('checksums', 'write a list of the checksums of a data set');
  addJson(addFlags(checksums, CHECKSUMS_SETTINGS)).action(async () => {
    const { values } = settingsOf(checksums, undefined, CHECKSUMS_SETTINGS);
    writeResult(checksums, await writeChecksums(values));
  });
  const verify = createCommand('verify', 'compare a data set with a list of checksums');
  addJson(addFlags(verify, VERIFY_SETTINGS)).action(async () => {
    const { values } = settingsOf(verify, undefined, VERIFY_SETTINGS);
    writeResult(verify, await verifyDataSet(values));
  });
  return createCommand('data', 'write and check lists of the checksums of a data set')
    .addHelpText('after', EXAMPLE)
    .addCommand(checksums.addHelpText('after', EXAMPLE))
    .addCommand(verify.addHelpText('after', EXAMPLE));
}

interface DataValues extends DataRequest {
  readonly cacheDir: string | undefined;
}

async function writeChecksums(
  values: DataValues & { readonly output: string | undefined },
): Promise<VerbResult> {
  const { onProgress, orAbort, clear } = watch();
  const { folder, files } = await orAbort(openFiles(values, onProgress));
  const { checksums, missing } = await orAbort(hashFiles(folder, files, onProgress));
  clear();
  if (missing.length > 0) {
    const differences = { missing, changed: [], additional: [] };
    throw differenceError(folder, 'it was a moment ago', differences);
  }
  const list = formatChecksumList(checksums);
  const digest = digestOfList(checksums);
  const { output } = values;
  const json = {
    folder,
    output: output ?? null,
    listSha256: digest,
    files: [...checksums].map(([path, sha256]) => ({ path, sha256 })),
  };
  if (output === undefined) return { text: list, json };
  try {
    writeFileSync(output, list);
  } catch (error) {
    throw outputError(`cannot write ${output}`, error);
  }
  return { text: `${checksums.size} files of ${folder} in ${output}, SHA-256 ${digest}\n`, json };
}

async function verifyDataSet(
  values: DataValues & { readonly checksums: string | undefined },
): Promise<VerbResult> {
  const { benchmark, dataDir, checksums } = values;
  const { onProgress, orAbort, clear } = watch();
  const isFolder = dataDir !== undefined && !isGeneratedData(values) && existsSync(dataDir);
  const [opened] = await orAbort(Promise.allSettled([openFiles(values, onProgress)]));
  // A broken data set may not open: the list tells file by file what it lacks.
  if (opened.status === 'rejected' && !isFolder) throw opened.reason;
  const { folder, files } =
    opened.status === 'fulfilled' ? opened.value : { folder: dataDir as string, files: [] };
  const list = await findList(folder, checksums);
  if (list === undefined) {
    throw new MlperfError(
      'ERR_DATA_SET',
      `${folder} has no ${CHECKSUM_FILE}: name a list with --checksums, or write one with "longhaul data checksums"`,
    );
  }
  const differences = await orAbort(compareFiles(folder, list.checksums, files, onProgress));
  clear();
  if (differs(differences)) throw differenceError(folder, list.name, differences);
  if (opened.status === 'rejected') throw opened.reason;
  const digest = digestOfList(list.checksums);
  const { totalSampleCount: sampleCount } = opened.value;
  const fileCount = list.checksums.size;
  const text =
    `${fileCount} files of ${folder} are as ${list.name} has them (SHA-256 of the list ${digest}): ` +
    `${sampleCount} samples of ${benchmark}\n`;
  const json = { folder, benchmark, list: list.name, listSha256: digest, fileCount, sampleCount };
  return { text, json };
}

type OpenedFiles = Required<Pick<DataSet, 'folder' | 'files' | 'totalSampleCount'>>;

async function openFiles(values: DataValues, onProgress: PrepareProgress): Promise<OpenedFiles> {
  const { name, folder, files, totalSampleCount } = await openDataSet(values, onProgress);
  if (files !== undefined) return { folder, files, totalSampleCount };
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the samples of ${name} are made up: they have no files and no checksums`,
  );
}

async function openDataSet(values: DataValues, onProgress: PrepareProgress): Promise<DataSet> {
  const { benchmark, dataDir, cacheDir } = values;
  const { openDataSet: open } = await loadgenBenchmark(benchmark);
  const cacheFolder = cacheDir ?? defaultCacheFolder();
  return open({
    dataFolder: dataDir,
    cacheFolder,
    generated: generatedSetOf(values),
    onProgress,
  });
}

/** Progress on the host, and Ctrl-C. */
function watch(): {
  readonly onProgress: PrepareProgress;
  orAbort<T>(work: Promise<T>): Promise<T>;
  clear(): void;
} {
  const host = new CommandHost('interrupted');
  return {
    onProgress: (fraction, what) => host.progress(what, percentOf(fraction)),
    orAbort: (work) => orAbort(host, work),
    clear: () => host.progress(null),
  };
}
