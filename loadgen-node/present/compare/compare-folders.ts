import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { deriveRun, differencesOf } from '../../observe/summary/derive-run.ts';
import { checkComparable } from './comparability.ts';
import { CONFIDENCE, compareRuns, type RunComparison } from './compare-runs.ts';
import {
  type ComparisonResult,
  type FailCondition,
  judgeConditions,
  METHOD,
} from './print-comparison.ts';
import { renderComparison } from './render-comparison.ts';
import { orderBy, runSeries } from './run-series.ts';

/** How runs are compared. */
interface CompareRequest {
  readonly conditions: readonly FailCondition[];
  /** True: compares runs of different benchmarks or models. */
  readonly isForced: boolean;
  /** True: compares INVALID runs. */
  readonly allowsInvalid: boolean;
  /** Label that identifies runs in a series; null without one. */
  readonly by: string | null;
}

/**
 * Compares the runs of folders; the first is the base.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE`
 */
export async function compareFolders(
  folders: readonly string[],
  { conditions, isForced, allowsInvalid, by }: CompareRequest,
): Promise<ComparisonResult> {
  if (folders.length < 2) {
    throw configInvalid('compare needs two runs or more: a base and others');
  }
  const read: Awaited<ReturnType<typeof readMeasured>>[] = [];
  for (const folder of folders) read.push(await readMeasured(folder));
  const runs = read.map(({ run }) => run);
  const cautions = checkComparable(runs, isForced);
  // Report errors before the slow work.
  if (by !== null) orderBy(runs, by);
  const comparison = compareRuns(runs);
  const invalid = runs.filter(({ summary }) => summary.result !== 'VALID' && !allowsInvalid);
  const isSeries = runs.length > 2 || by !== null;
  return {
    comparison,
    cautions,
    notes: [...disturbanceNotes(comparison), ...notesOf(read)],
    conditions: invalid.length > 0 ? [] : judgeConditions(comparison, conditions),
    failures: [
      ...read.flatMap(({ damage }) => damage ?? []),
      // The cautions already name them.
      ...(invalid.length > 0
        ? ['only VALID runs are compared (--allow-invalid compares others, too)']
        : []),
    ],
    isRefused: invalid.length > 0,
    series: isSeries ? runSeries(comparison, by) : [],
    by,
  };
}

function disturbanceNotes({ runs, disturbedBy }: RunComparison): string[] {
  return disturbedBy.flatMap((by, i) =>
    by === null
      ? []
      : [`${runs[i]?.folder}: its figures are uncertain, since it was disturbed: ${by}`],
  );
}

/** @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE` */
async function readMeasured(folder: string) {
  const { summary, derived } = await deriveRun(folder);
  if (summary === null || (derived ?? summary.accuracy) === null) {
    const missing = summary === null ? RUN_FILES.runSummary : RUN_FILES.records;
    throw configInvalid(
      `${folder} has no ${missing}: only runs with their records can be compared, such as those of longhaul run, or runs of mode accuracy`,
    );
  }
  const { cut = null, figures, records = null } = derived ?? {};
  const differing = derived === null || cut !== null ? [] : differencesOf(summary, derived);
  const { accuracy } = summary;
  const all = { ...figures, ...(accuracy !== null && { accuracy: accuracy.value }) };
  return {
    /** Null if the records are complete and the summary follows from them. */
    damage: damageOf(folder, cut, differing.length),
    run: { folder, summary: { ...summary, figures: all }, records },
    notes: summary.notes,
  };
}

/** Same judgement as `longhaul report` of this folder. */
function damageOf(folder: string, cut: string | null, differingCount: number): string | null {
  if (cut !== null) return `${folder}: the records were ${cut}`;
  if (differingCount === 0) return null;
  return `${folder}: ${differingCount} figures of ${RUN_FILES.runSummary} do not follow from the records: see "longhaul report ${folder}"`;
}

/** Each note once, with the runs that it concerns. */
function notesOf(runs: readonly Awaited<ReturnType<typeof readMeasured>>[]): string[] {
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

/** True if a fail condition holds, or if a run cannot be compared. */
export function hasFailed({ conditions, failures }: ComparisonResult): boolean {
  return failures.length > 0 || conditions.some(({ holds }) => holds);
}

/** The comparison as JSON. JSON has no infinity: an infinite share becomes null. */
export function comparisonDocument(result: ComparisonResult): object {
  const { comparison, cautions, notes, conditions, failures, isRefused, series, by } = result;
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
      startedAt: summary.startedAt,
      labels: summary.labels,
    })),
    cautions,
    settings: comparison.settings,
    disturbedBy: comparison.disturbedBy,
    figures: isRefused ? [] : comparison.rows,
    by,
    series: isRefused ? [] : series,
    conditions,
    failures,
    hasFailed: hasFailed(result),
    notes,
  };
}
