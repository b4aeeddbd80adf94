import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { wantsJson, writeResult } from '../../shared/config/command-line.ts';
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
import { readSearch, searchVerbOf, writeSearchPage } from '../search/results/kept-searches.ts';
import { verb } from './verb.ts';

/**
 * `longhaul report`: figures recomputed from the records of a run, beside those that the run
 * printed.
 */
export const reportVerb = verb({
  takes: { '<run-dir>': 'output folder of a run, or of a search: its result again' },
  json: 'first',
  flags: (command) =>
    command
      .option('--csv <file>', 'write all records as CSV; "-": to stdout')
      .option('--html <file>', 'write the report of the run as one page'),
  example: `
Examples:
  longhaul report results/first
  longhaul report results/first --html first.html --csv records.csv
  longhaul report results/first --csv - | head
  longhaul report results/peak                 of find-peak, curve, sweep or efficiency

Exit codes: 0 every figure of the summary follows from the records (or there are no records, as the
report then says), 3 one does not, or the records are incomplete, 2 no folder of a run, or files
that are damaged or of another version.`,
  action: async ({ command }, folder: string) => {
    const { csv, html } = command.opts<{ csv?: string; html?: string }>();
    if (csv === STDOUT && wantsJson(command)) {
      throw configInvalid('--csv - and --json both write to stdout: choose one');
    }
    const searchVerb = searchVerbOf(folder);
    if (searchVerb !== null) {
      if (csv !== undefined)
        throw configInvalid(`--csv is for runs: ${folder} has none of its own`);
      const search = readSearch(folder, searchVerb);
      if (html !== undefined) writeSearchPage(folder, search, html);
      return { text: search.text, json: search.json };
    }
    const parts = await readReport(folder);
    if (csv !== undefined) await writeCsv(folder, csv);
    if (html !== undefined) writeRunPage(html, pageOf(parts.run));
    const text = derivedReportText(parts);
    if (csv === STDOUT) printText(process.stderr, text);
    else writeResult(command, { text, json: reportDocument(parts) });
    return { isGood: followsFromRecords(parts) };
  },
});
