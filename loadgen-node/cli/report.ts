import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, wantsJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import {
  followsFromRecords,
  pageOf,
  readReport,
  reportDocument,
  STDOUT,
  writeCsv,
  writeRunPage,
} from '../present/report/report-folder.ts';
import { derivedReportText } from '../present/text/report-text.ts';

const EXAMPLE = `
Examples:
  longhaul report results/first
  longhaul report results/first --html first.html --csv records.csv
  longhaul report results/first --csv - | head

Exit codes: 0 every figure of the summary follows from the records (or there are none to derive from, and it is said),
3 one does not, or the records are not whole, 2 no folder of a run, or files that are damaged or of another version.`;

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
      const parts = await readReport(folder);
      if (csv !== undefined) await writeCsv(folder, csv);
      if (html !== undefined) writeRunPage(html, pageOf(parts.run));
      const text = derivedReportText(parts);
      if (csv === STDOUT) process.stderr.write(text);
      else writeResult(command, { text, json: reportDocument(parts) });
      setExitCode(followsFromRecords(parts) ? EXIT.valid : EXIT.invalid);
    });
}
