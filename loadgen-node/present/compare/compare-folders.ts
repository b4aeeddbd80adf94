import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { writeText } from '../../../shared/base/files/write-text.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { differencesOf } from '../../observe/summary/compare-summary.ts';
import { deriveRun } from '../../observe/summary/derive-run.ts';
import { CONFIDENCE, compareRuns, type RunComparison } from './compare-runs.ts';
import { checkComparable } from './differing-settings.ts';
import { type FailCondition, judgeConditions } from './fail-conditions.ts';
import { type ComparisonResult, METHOD } from './print-comparison.ts';
import { renderComparison } from './render-comparison.ts';
import type { ComparedRun } from './resampled-run.ts';

/** A run that was read, and what is to be said of its records. */
interface ReadMeasuredRun {
  readonly run: ComparedRun;
  readonly notes: readonly string[];
  /** Null: the records are whole, and the summary follows from them. */
  readonly damage: string | null;
}

/** How runs are compared. */
export interface CompareRequest {
  readonly conditions: readonly FailCondition[];
  /** Runs of different benchmarks or models are compared, too. */
  readonly isForced: boolean;
  /** Conditions are judged by figures of runs that are INVALID, too. */
  readonly allowsInvalid: boolean;
}

/**
 * Compares the runs of folders; the first is the base.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE`
 */
export async function compareFolders(
  folders: readonly string[],
  { conditions, isForced, allowsInvalid }: CompareRequest,
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
  const forced = checkComparable(runs, isForced);
  const comparison = compareRuns(runs);
  const isGate = conditions.length > 0 && !allowsInvalid;
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

/** Writes the comparison as a page. @throws MlperfError `ERR_OUTPUT` */
export function writeComparison(file: string, result: ComparisonResult): void {
  writeText(file, renderComparison(result));
}

/** True where a condition holds, or a run cannot be judged. */
export function hasFailed({ conditions, failures }: ComparisonResult): boolean {
  return failures.length > 0 || conditions.some(({ holds }) => holds);
}

/** The comparison for programs. JSON knows no infinity: a share of nothing is null. */
export function comparisonDocument(result: ComparisonResult): object {
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
