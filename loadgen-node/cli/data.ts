import { pick, text } from '../../shared/config/setting.ts';
import { CommandHost, orAbort, progressOf } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { verifyDataSet, writeChecksums } from '../samples/benchmarks/data-checksums.ts';
import { CHECKSUM_FILE } from '../samples/data-set/checksum-list.ts';
import type { PrepareProgress } from '../samples/data-set/data-set.ts';
import { verb } from './verb.ts';

const EXAMPLE = `
Examples:
  longhaul submission data checksums --benchmark resnet50 --data-dir imagenet \\
    --output imagenet/${CHECKSUM_FILE}
  longhaul submission data verify --benchmark resnet50 --data-dir imagenet

A list is what sha256sum writes, and "sha256sum -c" in the data set's folder reads it. Every run
compares its data set with ${CHECKSUM_FILE} in that folder, or with the list of --data-checksums. Both
compare the files that the data set consists of, and all that are listed; what else lies in the
folder is no part of it.

Exit codes: 0 unchanged, 5 a file of the data set is missing, changed or not in the list, 2 wrong
flag.`;

const DATA_SETTINGS = pick(
  RUN_SETTINGS,
  'benchmark',
  'dataDir',
  'dataSeed',
  'dataCount',
  'cacheDir',
);

const checksums = verb({
  settings: {
    ...DATA_SETTINGS,
    output: text('file', 'file to write the list to (default: stdout)'),
  },
  example: EXAMPLE,
  action: ({ values }) => withProgress((onProgress) => writeChecksums(values, onProgress)),
});

const verify = verb({
  settings: {
    ...DATA_SETTINGS,
    checksums: text(
      'file',
      `list to compare with (default: ${CHECKSUM_FILE} in the data set's folder)`,
    ),
  },
  example: EXAMPLE,
  action: ({ values }) => withProgress((onProgress) => verifyDataSet(values, onProgress)),
});

/** `longhaul submission data`: lists of checksums of data sets. */
export const dataVerb = verb({
  example: EXAMPLE,
  verbs: {
    checksums: ['write a list of the checksums of a data set', checksums],
    verify: ['compare a data set with a list of checksums', verify],
  },
});

async function withProgress<T>(work: (onProgress: PrepareProgress) => Promise<T>): Promise<T> {
  const host = new CommandHost('interrupted');
  try {
    return await orAbort(host, work(progressOf(host)));
  } finally {
    host.progress(null);
  }
}
