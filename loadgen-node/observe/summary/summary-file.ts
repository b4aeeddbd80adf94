import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { readJsonFile } from '../../../shared/base/files/read-json-file.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { RUN_SUMMARY, type RunSummary, SUMMARY_SCHEMA_VERSION } from './run-summary.ts';

/** Of any version, to say which it is before its form is looked at. */
const VERSIONED: z.ZodType<{ schemaVersion?: unknown }> = z.looseObject({
  schemaVersion: z.unknown(),
});

/** Writes `longhaul_summary.json`. @throws MlperfError `ERR_OUTPUT` */
export function writeSummary(folder: string, summary: RunSummary): void {
  const path = join(folder, RUN_FILES.runSummary);
  try {
    writeFileSync(path, `${JSON.stringify(summary, null, 2)}\n`);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}

/**
 * Reads the summary of a run.
 * @param folder Output folder of the run.
 * @returns Null where the folder has none.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not JSON), `ERR_CONFIG_INVALID` (another version, a wrong key)
 */
export function readSummary(folder: string): RunSummary | null {
  const path = join(folder, RUN_FILES.runSummary);
  if (!existsSync(path)) return null;
  const { schemaVersion } = readJsonFile(path, VERSIONED);
  if (schemaVersion !== SUMMARY_SCHEMA_VERSION) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `${path} has version ${JSON.stringify(schemaVersion) ?? 'none'}; this longhaul reads version ${SUMMARY_SCHEMA_VERSION}`,
    );
  }
  return readJsonFile(path, RUN_SUMMARY);
}

/** JSON Schema of `longhaul_summary.json`, published as docs/longhaul-summary.schema.json. */
export function summaryJsonSchema(): object {
  return { title: RUN_FILES.runSummary, ...z.toJSONSchema(RUN_SUMMARY) };
}
