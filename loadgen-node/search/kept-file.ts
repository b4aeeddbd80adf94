import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { configInvalid, outputError } from '../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../shared/base/files/package-files.ts';
import { makeFolder } from '../../shared/base/files/read-file.ts';
import { jsonText } from '../../shared/base/text.ts';
import { SCENARIOS } from '../../shared/domain/scenario.ts';
import { confNameOf } from '../../shared/rules/benchmark-rules.ts';
import type { RunPlan } from '../run/plan/run-plan.ts';

/**
 * Writes a document atomically: the previous file stays if the process is killed while writing.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeKept(path: string, document: object, indent = 2): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(`${path}.part`, `${jsonText(document, indent)}\n`);
    renameSync(`${path}.part`, path);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}

/**
 * Requires a document for `--resume`.
 * @param what Content of the file, for the message: `search`, `sweep`.
 * @throws MlperfError `ERR_CONFIG_INVALID` if there is none
 */
export function requireKept(path: string, what: string): void {
  if (existsSync(path)) return;
  throw configInvalid(
    `--resume: ${path} is not there, so that there is no ${what} to go on with; leave --resume away to begin one`,
  );
}

/** Descriptive facts of a search, for lists of results and comparisons; they do not identify it. */
export const SEARCH_ABOUT = z.strictObject({
  startedAt: z.iso.datetime(),
  longhaul: z.string(),
  benchmark: z.string(),
  scenario: z.enum(SCENARIOS),
  labels: z.record(z.string(), z.string()),
});
export type SearchAbout = Readonly<z.infer<typeof SEARCH_ABOUT>>;

/** Facts of a search that starts now. */
export function aboutSearch({ rules, settings, labels }: RunPlan): SearchAbout {
  const { scenario } = settings;
  const startedAt = new Date().toISOString();
  return { startedAt, longhaul: packageVersion(), benchmark: confNameOf(rules), scenario, labels };
}

/** Settings that must be equal to continue or compare searches: texts by name. */
export type Question = Readonly<Record<string, string>>;

/**
 * One line per name with differing text.
 * @param lineOf Receives name and texts; a missing text is "not set".
 */
export function questionDifferences(
  one: Question,
  other: Question,
  lineOf: (name: string, one: string, other: string) => string,
): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names]
    .filter((name) => one[name] !== other[name])
    .map((name) => lineOf(name, one[name] ?? 'not set', other[name] ?? 'not set'));
}
