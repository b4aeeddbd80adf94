import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { optional, pick, text } from '../../shared/config/setting.ts';
import { CommandHost, orAbort } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { verifyDataSet, writeChecksums } from '../samples/benchmarks/data-checksums.ts';
import { CHECKSUM_FILE } from '../samples/data-set/checksum-list.ts';
import type { PrepareProgress } from '../samples/data-set/data-set.ts';

const EXAMPLE = `
Examples:
  longhaul data checksums --benchmark resnet50 --data-dir imagenet --output imagenet/${CHECKSUM_FILE}
  longhaul data verify --benchmark resnet50 --data-dir imagenet

A list is what sha256sum writes, and "sha256sum -c" in the data set's folder reads it. Every run compares its data
set with ${CHECKSUM_FILE} in that folder, or with the list of --data-checksums. Both compare the files that the data
set consists of, and all that are listed; what else lies in the folder is no part of it.

Exit codes: 0 unchanged, 5 a file of the data set is missing, changed or not in the list, 2 wrong flag.`;

const DATA_SETTINGS = pick(
  RUN_SETTINGS,
  'benchmark',
  'dataDir',
  'dataSeed',
  'dataCount',
  'cacheDir',
);

const CHECKSUMS_SETTINGS = {
  ...DATA_SETTINGS,
  output: optional(text('file', 'file to write the list to (default: stdout)')),
};

const VERIFY_SETTINGS = {
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
    writeResult(checksums, await withProgress((onProgress) => writeChecksums(values, onProgress)));
  });
  const verify = createCommand('verify', 'compare a data set with a list of checksums');
  addJson(addFlags(verify, VERIFY_SETTINGS)).action(async () => {
    const { values } = settingsOf(verify, undefined, VERIFY_SETTINGS);
    writeResult(verify, await withProgress((onProgress) => verifyDataSet(values, onProgress)));
  });
  return createCommand('data', 'write and check lists of the checksums of a data set')
    .addHelpText('after', EXAMPLE)
    .addCommand(checksums.addHelpText('after', EXAMPLE))
    .addCommand(verify.addHelpText('after', EXAMPLE));
}

async function withProgress<T>(work: (onProgress: PrepareProgress) => Promise<T>): Promise<T> {
  const host = new CommandHost('interrupted');
  try {
    return await orAbort(
      host,
      work((fraction, what) => host.progress(what, percentOf(fraction))),
    );
  } finally {
    host.progress(null);
  }
}
