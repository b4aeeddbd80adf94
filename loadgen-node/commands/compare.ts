import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';
import { addJson, writeResult } from '../../shared/config/json-output.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { checkComparable } from '../compare/check-comparable.ts';
import { CONFIDENCE, compareRuns } from '../compare/compare-runs.ts';
import { type FailCondition, judgeConditions } from '../compare/fail-conditions.ts';
import { type ComparisonResult, METHOD, printComparison } from '../compare/print-comparison.ts';
import { renderComparison } from '../compare/render-comparison.ts';
import type { MeasuredRun } from '../compare/resampled-run.ts';
import { readRun } from '../records/derive-run.ts';
import { RUN_FILES } from '../run-folder/run-folder.ts';
import { parseCondition } from '../thresholds/condition.ts';

const EXAMPLE = `
Examples:
  longhaul compare results/before results/after
  longhaul compare results/before results/after --html after.html --fail-if 'p99 > +5%' --fail-if 'errors > 0'
  longhaul compare results/before results/after --fail-if-sure 'completed_qps < -2%'

The first run is the base. A condition that holds for any of the others fails the comparison: --fail-if by the figures as they
were seen, so that no regression slips through as noise; --fail-if-sure only where the whole ${CONFIDENCE * 100} % interval is beyond it.

Exit codes: 0 compared, and no condition holds; 3 a condition holds; 2 a folder without records, runs that measured different
things, or a condition that cannot be read.`;

interface CompareOptions {
  readonly failIf?: readonly FailCondition[];
  readonly failIfSure?: readonly FailCondition[];
  readonly html?: string;
  readonly force?: boolean;
}

/** A run that was read, and what is to be said of its records. */
interface ReadMeasuredRun {
  readonly run: MeasuredRun;
  readonly notes: readonly string[];
}

/** `longhaul compare`: figures of runs side by side, with confidence intervals. */
export function compareCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('compare', 'compare runs, with confidence intervals');
  return addJson(command)
    .argument('<run-dirs...>', 'output folders of two runs or more; the first is the base')
    .option(
      '--fail-if <condition>',
      "fail where it holds for the figure seen: 'p99 > +5%', 'errors > 0', 'p99 > 15ms'; repeatable",
      conditionReader('--fail-if', false),
    )
    .option(
      '--fail-if-sure <condition>',
      'fail only where it holds over the whole interval; repeatable',
      conditionReader('--fail-if-sure', true),
    )
    .option('--html <file>', 'write the comparison as a page, with the distributions of latency')
    .option('--force', 'compare runs of different benchmarks or models')
    .addHelpText('after', EXAMPLE)
    .action(async (folders: string[]) => {
      const options = command.opts<CompareOptions>();
      const result = await compareFolders(folders, options);
      if (options.html !== undefined) writePage(options.html, renderComparison(result));
      writeResult(command, { text: printComparison(result), json: documentOf(result) });
      setExitCode(result.conditions.some(({ holds }) => holds) ? EXIT.invalid : EXIT.valid);
    });
}

function conditionReader(
  flag: string,
  isSure: boolean,
): (text: string, before?: readonly FailCondition[]) => FailCondition[] {
  return (text, before = []) => [...before, { condition: parseCondition(text, flag), isSure }];
}

/** @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE` */
async function compareFolders(
  folders: readonly string[],
  { failIf = [], failIfSure = [], force }: CompareOptions,
): Promise<ComparisonResult> {
  if (folders.length < 2) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      'compare needs two runs or more: a base and others',
    );
  }
  const read: ReadMeasuredRun[] = [];
  for (const folder of folders) read.push(await readMeasured(folder));
  const runs = read.map(({ run }) => run);
  const forced = checkComparable(runs, force === true);
  const comparison = compareRuns(runs);
  return {
    comparison,
    notes: [...forced, ...notesOf(read)],
    conditions: judgeConditions(comparison, [...failIf, ...failIfSure]),
  };
}

/** @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE` */
async function readMeasured(folder: string): Promise<ReadMeasuredRun> {
  const { summary, derived } = await readRun(folder);
  if (summary === null || derived === null) {
    const missing = summary === null ? RUN_FILES.runSummary : RUN_FILES.records;
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `${folder} has no ${missing}: only runs with their records can be compared, such as those of longhaul run in performance mode`,
    );
  }
  const notes = [...summary.notes];
  if (summary.result !== 'VALID') notes.unshift(`${summary.result}: the figures are no result`);
  if (derived.cut !== null) notes.unshift(`the records were ${derived.cut}`);
  return {
    run: { folder, summary: { ...summary, figures: derived.figures }, records: derived.records },
    notes,
  };
}

/** Each note once, with the runs that it is about. */
function notesOf(runs: readonly ReadMeasuredRun[]): string[] {
  const foldersOf = new Map<string, string[]>();
  for (const { run, notes } of runs) {
    for (const note of notes) foldersOf.set(note, [...(foldersOf.get(note) ?? []), run.folder]);
  }
  return [...foldersOf].map(([note, folders]) =>
    folders.length === runs.length ? `all runs: ${note}` : `${folders.join(', ')}: ${note}`,
  );
}

function writePage(file: string, page: string): void {
  try {
    writeFileSync(file, page);
  } catch (error) {
    const text = `cannot write ${file}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_OUTPUT', text, { cause: error });
  }
}

/** The same for programs. JSON knows no infinity: a share of nothing is null. */
function documentOf({ comparison, notes, conditions }: ComparisonResult): object {
  return {
    confidence: CONFIDENCE,
    method: METHOD,
    replicates: comparison.replicateCount,
    runs: comparison.runs.map(({ folder, summary }) => ({
      folder,
      runId: summary.runId,
      result: summary.result,
      benchmark: summary.benchmark,
      scenario: summary.scenario,
    })),
    figures: comparison.rows,
    conditions,
    hasFailed: conditions.some(({ holds }) => holds),
    notes,
  };
}
