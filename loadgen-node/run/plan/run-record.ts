import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { configInvalid, withReason } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import { CONFIG_SECTIONS } from '../../../shared/config/command-line.ts';
import {
  EVIDENCE_SECTION,
  type FileValue,
  inspectSettings,
  type ResolvedSetting,
  readConfigFile,
  type SettingSources,
  saidKeys,
} from '../../../shared/config/resolve-settings.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { CppEngine } from '../../observe/network-audit.ts';
import { RUN_SETTINGS, type RunValues } from './run-settings.ts';

/** Settings that are not recorded: a repeated run opens no ports and replaces no files. */
const NOT_RECORDED: readonly string[] = [
  'dashboard',
  'metricsListen',
  'force',
] satisfies (keyof RunValues)[];

/** Settings of a run for its record. */
export function settingsOfRun(settings: readonly ResolvedSetting[]): ResolvedSetting[] {
  return settings.filter(({ key }) => !NOT_RECORDED.includes(key));
}

/**
 * Text of `longhaul_run.yaml`: a run's settings as a configuration file, each with its source, so
 * that the run can be repeated (`longhaul run --config`) and a compliance test uses the settings of
 * its submission run. Defaults are omitted: they would override LoadGen's own files.
 */
export function runRecord(settings: readonly ResolvedSetting[]): string {
  const given = saidKeys(settings);
  const said = settingsOfRun(settings).filter(({ key }) => given.has(key));
  return (
    `# Settings of a run by longhaul ${packageVersion()}, started in ${process.cwd()}.\n` +
    `# Again: longhaul run --config ${RUN_FILES.record} --output ANOTHER_FOLDER\n${printSettings('run', said)}`
  );
}

/**
 * Writes the record, if there is one, into the folder, which is created.
 * @param engine The C++ LoadGen that issued the queries, after its test ended.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeRunRecord(
  output: string,
  record: string | undefined,
  engine?: CppEngine,
): void {
  if (record === undefined) return;
  const path = join(output, RUN_FILES.record);
  withReason(`cannot write ${path}`, () => {
    makeFolder(output);
    const evidence =
      engine === undefined
        ? ''
        : `# LoadGen that issued the queries; no settings.\n${stringify({ [EVIDENCE_SECTION]: engine })}`;
    writeFileSync(path, record + evidence);
  });
}

/**
 * A section with its effective settings as YAML, itself a valid configuration file; a comment on
 * each line names the value's source. Unset settings are comments.
 */
export function printSettings(section: string, settings: readonly ResolvedSetting[]): string {
  const lines = settings.map(({ key, raw, source }) =>
    raw === undefined
      ? { text: `  # ${key}:`, source }
      : { text: `  ${key}: ${stringify(raw, { collectionStyle: 'flow' }).trim()}`, source },
  );
  const width = Math.max(...lines.map((line) => line.text.length));
  const body = lines.map((line) => `${line.text.padEnd(width)}  # ${line.source}\n`);
  return `${section}:\n${body.join('')}`;
}

/** Settings of an earlier run, and the flags that override them. */
export type RunSources = Pick<SettingSources, 'file' | 'flags'>;

/**
 * The settings in a run's `longhaul_run.yaml`, by key; empty for a run of another LoadGen.
 * @param record Path of the file, which may be missing.
 * @throws MlperfError `ERR_CONFIG_FILE` for a file that cannot be read
 */
export function recordedSettings(record: string): Map<string, FileValue> {
  const own = existsSync(record) ? readConfigFile(record, CONFIG_SECTIONS).get('run') : undefined;
  return new Map<string, FileValue>(own ?? []);
}

/**
 * Settings of an existing run; those that only a new run needs may be missing.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every problem.
 */
export function inspectRun(sources: RunSources): Partial<RunValues> {
  const { values, problems } = inspectSettings(RUN_SETTINGS, { section: 'run', ...sources });
  if (problems.length > 0) throw configInvalid(problems.join('\n'));
  return values;
}
