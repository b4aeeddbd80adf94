import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../shared/base/errors/to-mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import { differencesOf } from '../observe/summary/compare-summary.ts';
import { deriveRun } from '../observe/summary/derive-run.ts';
import { parseCondition } from '../observe/thresholds/condition.ts';
import { checkComparable } from '../present/compare/check-comparable.ts';
import { CONFIDENCE, compareRuns, type RunComparison } from '../present/compare/compare-runs.ts';
import { type FailCondition, judgeConditions } from '../present/compare/fail-conditions.ts';
import {
  type ComparisonResult,
  METHOD,
  printComparison,
} from '../present/compare/print-comparison.ts';
import { renderComparison } from '../present/compare/render-comparison.ts';
import type { ComparedRun } from '../present/compare/resampled-run.ts';

const EXAMPLE = `
Examples:
  longhaul compare results/before results/after
  longhaul compare results/before results/after --html after.html --fail-if 'p99 > +5%' --fail-if 'errors > 0'
  longhaul compare results/before results/after --fail-if-sure 'completed_qps < -2%'

The first run is the base. A condition that holds for any of the others fails the comparison: --fail-if by the figures as they
were seen, so that no regression slips through as noise; --fail-if-sure only where the whole ${CONFIDENCE * 100} % interval is beyond it.

With a condition a run that is INVALID fails the comparison, too: its figures are no result (--allow-invalid lets it).

Exit codes: 0 compared, and no condition holds; 3 a condition holds, a run is INVALID where there are conditions, or figures do
not follow from the records, or these are cut; 2 a folder without records, runs that measured different
things, or a condition that cannot be read.`;

interface CompareOptions {
  readonly failIf?: readonly FailCondition[];
  readonly failIfSure?: readonly FailCondition[];
  readonly html?: string;
  readonly force?: boolean;
  readonly allowInvalid?: boolean;
}

/** A run that was read, and what is to be said of its records. */
interface ReadMeasuredRun {
  readonly run: ComparedRun;
  readonly notes: readonly string[];
  /** Null: the records are whole, and the summary follows from them. */
  readonly damage: string | null;
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
    .option('--allow-invalid', 'judge conditions by figures of runs that are INVALID, too')
    .option('--force', 'compare runs of different benchmarks or models')
    .addHelpText('after', EXAMPLE)
    .action(async (folders: string[]) => {
      const options = command.opts<CompareOptions>();
      const result = await compareFolders(folders, options);
      if (options.html !== undefined) writePage(options.html, renderComparison(result));
      writeResult(command, { text: printComparison(result), json: documentOf(result) });
      setExitCode(hasFailed(result) ? EXIT.invalid : EXIT.valid);
    });
}

function hasFailed({ conditions, failures }: ComparisonResult): boolean {
  return failures.length > 0 || conditions.some(({ holds }) => holds);
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
  { failIf = [], failIfSure = [], force, allowInvalid = false }: CompareOptions,
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
  const conditions = [...failIf, ...failIfSure];
  const isGate = conditions.length > 0 && !allowInvalid;
  return {
    comparison,
    notes: [...forced, ...disturbanceNotes(comparison), ...notesOf(read)],
    conditions: judgeConditions(comparison, conditions),
    failures: [
      ...read.flatMap(({ damage }) => damage ?? []),
      ...(isGate ? runs.filter(isNoResult).map(noResultText) : []),
    ],
  };
}

function isNoResult({ summary }: ComparedRun): boolean {
  return summary.result !== 'VALID';
}

function noResultText({ folder, summary }: ComparedRun): string {
  return `${folder} is ${summary.result}: its figures are no result that a condition could hold against (--allow-invalid lets it)`;
}

function disturbanceNotes({ runs, disturbedBy }: RunComparison): string[] {
  return disturbedBy.flatMap((by, i) =>
    by === null ? [] : [`${runs[i]?.folder}: nothing is sure of it, since it was disturbed: ${by}`],
  );
}

/** @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE` */
async function readMeasured(folder: string): Promise<ReadMeasuredRun> {
  const { summary, derived } = await deriveRun(folder);
  if (summary === null || derived === null) {
    const missing = summary === null ? RUN_FILES.runSummary : RUN_FILES.records;
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `${folder} has no ${missing}: only runs with their records can be compared, such as those of longhaul run in performance mode`,
    );
  }
  const notes = [...summary.notes];
  if (summary.result !== 'VALID') notes.unshift(`${summary.result}: the figures are no result`);
  const differing = derived.cut === null ? differencesOf(summary, derived) : [];
  return {
    damage: damageOf(folder, derived.cut, differing.length),
    run: { folder, summary: { ...summary, figures: derived.figures }, records: derived.records },
    notes,
  };
}

/** As `longhaul report` judges the same folder. */
function damageOf(folder: string, cut: string | null, differingCount: number): string | null {
  if (cut !== null) return `${folder}: the records were ${cut}`;
  if (differingCount === 0) return null;
  return `${folder}: ${differingCount} figures of ${RUN_FILES.runSummary} do not follow from the records: see "longhaul report ${folder}"`;
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
    throw outputError(`cannot write ${file}`, error);
  }
}

/** The same for programs. JSON knows no infinity: a share of nothing is null. */
function documentOf(result: ComparisonResult): object {
  const { comparison, notes, conditions, failures } = result;
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
    settings: comparison.settings,
    disturbedBy: comparison.disturbedBy,
    figures: comparison.rows,
    conditions,
    failures,
    hasFailed: hasFailed(result),
    notes,
  };
}
