import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError, outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/make-folder.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import type { PeakProbe } from './peak-search.ts';

/** File of a search in its folder. */
const NAME = 'longhaul_peak.json';
const FORMAT = 'longhaul-peak-2';

/** What must be the same when a search goes on: by name, as texts for people. */
export type SearchIdentity = Readonly<Record<string, string>>;

const count = z.int().min(0);
const number = z.number();
const probe: z.ZodType<PeakProbe> = z.strictObject({
  number: count,
  kind: z.enum(['unloaded', 'screening', 'full']),
  load: number.positive(),
  verdict: z.enum(['keeps', 'misses', 'undecided', 'lost', 'generator-bound', 'invalid']),
  why: z.string(),
  queries: count,
  overlatencyQueries: count,
  varianceFactor: number.min(1),
  shareLow: number.min(0).max(1),
  shareHigh: number.min(0).max(1),
  percentileNs: number,
  meanNs: number,
  samplesPerSecond: number.min(0),
  scheduledPerSecond: number.min(0).nullable(),
  growth: number.nullable(),
  durationNs: number.min(0),
  explanation: z.string().nullable(),
  folder: z.string().nullable(),
});
const schema = z.strictObject({
  format: z.literal(FORMAT),
  identity: z.record(z.string(), z.string()),
  probes: z.array(probe).refine((probes) => probes.every((one, i) => one.number === i), {
    error: 'the probes must be numbered from 0 in their order',
  }),
});

/** True when the folder holds a search. */
export function hasPeakFile(folder: string): boolean {
  return existsSync(join(folder, NAME));
}

/** A search that was written. */
export interface PeakFile {
  readonly identity: SearchIdentity;
  readonly probes: readonly PeakProbe[];
}

/**
 * An earlier search, to go on from.
 * @throws MlperfError `ERR_CONFIG_INVALID` where there is none; `ERR_CONFIG_FILE` where it cannot be read
 */
export function readPeakFile(folder: string): PeakFile {
  const path = join(folder, NAME);
  if (existsSync(path)) return parse(path);
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `--resume: ${path} is not there, so that there is no search to go on with; leave --resume away to begin one`,
  );
}

/** @throws MlperfError `ERR_CONFIG_INVALID` naming what differs between a search that was written and the one that was asked for */
export function requireSameSearch(folder: string, file: PeakFile, identity: SearchIdentity): void {
  const differences = differencesOf(file.identity, identity);
  if (differences.length === 0) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `--resume: the search in ${folder} was another one:\n${differences.join('\n')}`,
  );
}

function parse(path: string): PeakFile {
  let raw: unknown;
  try {
    raw = JSON.parse(readBoundedText(path, FILE_BYTES_MAX.document));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : describeSystemError(error);
    throw new MlperfError('ERR_CONFIG_FILE', `${path} cannot be read as a search: ${why}`, {
      cause: error,
    });
  }
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const at = issue?.path.join('.') ?? '';
  throw new MlperfError(
    'ERR_CONFIG_FILE',
    `${path} is no search of this longhaul: ${at === '' ? '' : `${at}: `}${issue?.message ?? ''}`,
  );
}

function differencesOf(was: SearchIdentity, is: SearchIdentity): string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names]
    .filter((name) => was[name] !== is[name])
    .map((name) => `  ${name} was ${was[name] ?? 'not set'}, is ${is[name] ?? 'not set'}`);
}

/**
 * Writes a search, all of it or nothing: the file of before stays whole when the process is killed in the middle.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writePeakFile(
  folder: string,
  identity: SearchIdentity,
  probes: readonly PeakProbe[],
): void {
  const path = join(folder, NAME);
  const text = `${JSON.stringify({ format: FORMAT, identity, probes }, null, 1)}\n`;
  try {
    makeFolder(folder);
    writeFileSync(`${path}.part`, text);
    renameSync(`${path}.part`, path);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}
