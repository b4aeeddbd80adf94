import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { errorCodeOf, outputError } from '../../shared/base/errors/to-mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, wantsJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { openRunFolder, RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../loadgen/logs/read/summary-log.ts';
import { csvOf } from '../observe/records/csv-records.ts';
import { differencesOf } from '../observe/summary/compare-summary.ts';
import { deriveRun, openRecords, type ReadRun } from '../observe/summary/derive-run.ts';
import { type DerivedReport, derivedReportText } from '../present/text/report-text.ts';
import { writeRunPage } from '../run/keep/run-page.ts';

const EXAMPLE = `
Examples:
  longhaul report results/first
  longhaul report results/first --html first.html --csv records.csv
  longhaul report results/first --csv - | head

Exit codes: 0 every figure of the summary follows from the records (or there are none to derive from, and it is said),
3 one does not, or the records are not whole, 2 no folder of a run, or files that are damaged or of another version.`;

/** Name of a file that stands for stdout. */
const STDOUT = '-';

interface ReportOptions {
  readonly csv?: string;
  readonly html?: string;
}

/** `longhaul report`: what the records of a run say, beside what the run said. */
export function reportCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    'report',
    'derive all figures of a run from its records again, and write its report',
  );
  return addJson(command)
    .argument('<run-dir>', 'output folder of a run')
    .option('--csv <file>', 'write all records as CSV; "-": to stdout')
    .option('--html <file>', 'write the report of the run as one page')
    .addHelpText('after', EXAMPLE)
    .action(async (folder: string) => {
      const { csv, html } = command.opts<ReportOptions>();
      if (csv === STDOUT && wantsJson(command)) {
        throw new MlperfError(
          'ERR_CONFIG_INVALID',
          '--csv - and --json both write to stdout: choose one',
        );
      }
      const parts = await reportParts(folder);
      if (csv !== undefined) await writeCsv(folder, csv);
      if (html !== undefined) writeHtml(parts.run, html);
      const text = derivedReportText(parts);
      if (csv === STDOUT) process.stderr.write(text);
      else writeResult(command, { text, json: reportDocument(parts) });
      setExitCode(exitCodeOfReport(parts));
    });
}

async function reportParts(folder: string): Promise<DerivedReport> {
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

/** The same for programs. */
function reportDocument({ run: { folder, summary, derived }, differences }: DerivedReport): object {
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

function exitCodeOfReport({ run: { derived }, differences }: DerivedReport): number {
  const isCut = derived !== null && derived.cut !== null;
  return isCut || (differences !== null && differences.length > 0) ? EXIT.invalid : EXIT.valid;
}

/** The page says what the summary says, with pictures of the records as they were read now. @throws MlperfError */
function writeHtml({ folder, summary, derived }: ReadRun, file: string): void {
  if (summary === null) {
    const text = `${folder} has no ${RUN_FILES.runSummary}: there is no result to make a page of`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  }
  writeRunPage(file, { summary, records: derived?.records ?? null });
}

/** Streams all records; a reader that wants no more (head) is no error. @throws MlperfError */
async function writeCsv(folder: string, file: string): Promise<void> {
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
