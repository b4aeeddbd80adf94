import { dirname, isAbsolute, join } from 'node:path';
import type { z } from 'zod';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { submissionSchema } from './config-schema.ts';
import type { SubmissionEntry } from './config-types.ts';
import { type PlacedYaml, parsePlacedYaml, type YamlPath } from './placed-yaml.ts';
import { readTextFile } from './read-text-file.ts';

/** A configuration file that was read: its values, and where they stand. */
export interface SubmissionConfig {
  readonly file: string;
  readonly entry: SubmissionEntry;
  /** Path of a file that the configuration names: relative ones lie beside it. */
  resolve(path: string): string;
  /** @param path Below `submission`. */
  placeOf(path: YamlPath): string;
}

/**
 * Reads the configuration of `longhaul submission build`. Only its form is checked here.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not YAML), `ERR_CONFIG_INVALID` with every
 * wrong value, one per line.
 */
export function readSubmissionConfig(file: string): SubmissionConfig {
  const yaml = parsePlacedYaml(file, readTextFile(file));
  if (yaml.problems.length > 0) {
    throw new MlperfError('ERR_CONFIG_FILE', yaml.problems.join('\n'));
  }
  const checked = submissionSchema.safeParse(yaml.value);
  if (!checked.success) {
    const lines = checked.error.issues.flatMap((issue) => linesOf(issue, yaml));
    throw new MlperfError('ERR_CONFIG_INVALID', lines.join('\n'));
  }
  const folder = dirname(file);
  return {
    file,
    entry: checked.data.submission,
    resolve: (path) => (isAbsolute(path) ? path : join(folder, path)),
    placeOf: (path) => yaml.placeOf(['submission', ...path]),
  };
}

function linesOf(issue: z.core.$ZodIssue, yaml: PlacedYaml): string[] {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const where = path.length === 0 ? 'the file' : path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) => `${yaml.placeOf([...path, key])}: unknown key "${key}" in ${where}`,
    );
  }
  if (issue.code === 'invalid_key') {
    const why = issue.issues[0]?.message ?? 'is wrong';
    return [`${yaml.placeOf(path)}: the name "${String(path.at(-1))}" ${why}`];
  }
  const isMissing = path.length > 0 && valueAt(yaml.value, path) === undefined;
  return [`${yaml.placeOf(path)}: ${where} ${isMissing ? 'is missing: it ' : ''}${issue.message}`];
}

function valueAt(root: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Record<string | number, unknown>)[key]
        : undefined,
    root,
  );
}
