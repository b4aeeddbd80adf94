import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { errorCodeOf, outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { openRunFolder, RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../../loadgen/logs/read/summary-log.ts';
import { csvOf } from '../../observe/records/csv-records.ts';
import { differencesOf } from '../../observe/summary/compare-summary.ts';
import { deriveRun, openRecords, type ReadRun } from '../../observe/summary/derive-run.ts';
import type { DerivedReport } from '../text/report-text.ts';
import type { ReportInput } from './render-report.ts';

/** Name of a file that stands for stdout. */
export const STDOUT = '-';

/**
 * What the records of a run say, beside what the run said.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`
 */
export async function readReport(folder: string): Promise<DerivedReport> {
  const run = await deriveRun(folder);
  const { summary, derived } = run;
  const isComparable = summary !== null && derived !== null && derived.cut === null;
  return {
    run,
    differences: isComparable ? differencesOf(summary, derived) : null,
    loadgenLines: summary === null && derived === null ? await loadgenLines(run) : [],
  };
}

/** What LoadGen's summary says first: verdict and metric. */
async function loadgenLines({ folder }: ReadRun): Promise<string[]> {
  const { values } = await readSummaryLog(openRunFolder(folder).summary);
  return [...values].map(([label, value]) => `${label}: ${value}`);
}

/** The report for programs. */
export function reportDocument({
  run: { folder, summary, derived },
  differences,
}: DerivedReport): object {
  return {
    folder,
    summary,
    derived:
      derived === null
        ? null
        : {
            scenario: derived.scenario,
            rows: derived.rowCount,
            parts: derived.parts,
            cut: derived.cut,
            figures: derived.figures,
            split: derived.split,
            nodes: derived.nodes,
          },
    isEqual: differences === null ? null : differences.length === 0,
    differences: differences ?? [],
  };
}

/** True where every figure of the summary follows from the records, or there are none to derive from. */
export function followsFromRecords({ run: { derived }, differences }: DerivedReport): boolean {
  const isCut = derived !== null && derived.cut !== null;
  return !isCut && (differences === null || differences.length === 0);
}

/**
 * What the page of a run shows: what the summary says, with pictures of the records as they were read now.
 * @throws MlperfError `ERR_CONFIG_FILE` without a summary
 */
export function pageOf({ folder, summary, derived }: ReadRun): ReportInput {
  if (summary === null) {
    const text = `${folder} has no ${RUN_FILES.runSummary}: there is no result to make a page of`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  }
  return { summary, records: derived?.records ?? null };
}

/** Writes all records as CSV; a reader that wants no more (head) is no error. @throws MlperfError */
export async function writeCsv(folder: string, file: string): Promise<void> {
  const reader = await openRecords(folder);
  if (reader === null) {
    openRunFolder(folder);
    throw new MlperfError(
      'ERR_CONFIG_FILE',
      `${folder} has no ${RUN_FILES.records}: there is nothing to write as CSV`,
    );
  }
  const isStdout = file === STDOUT;
  try {
    const target = isStdout ? process.stdout : createWriteStream(file);
    await pipeline(Readable.from(csvOf(reader)), target, { end: !isStdout });
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    if (isStdout && errorCodeOf(error) === 'EPIPE') return;
    throw outputError(`cannot write ${isStdout ? 'CSV to stdout' : file}`, error);
  } finally {
    await reader.close();
  }
}
