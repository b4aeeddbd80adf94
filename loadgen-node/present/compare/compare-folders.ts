import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { latencyTable, sortedNumbers } from '../../observe/figures/figures-of-records.ts';
import { deriveRun, differencesOf } from '../../observe/summary/derive-run.ts';
import { drawPercentiles, renderFigure } from '../charts/percentile-chart.ts';
import { type Html, html, htmlTable, judged, noteBox, scroll, section } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { instantText, timeOrDash } from '../text/figure-text.ts';
import {
  CONFIDENCE,
  checkComparable,
  compareRuns,
  type FigureDifference,
  type RunComparison,
} from './compare-runs.ts';
import {
  COLUMNS,
  type ComparisonResult,
  type ConditionResult,
  cells,
  type FailCondition,
  judgeConditions,
  METHOD,
  settingTexts,
} from './print-comparison.ts';

/** How runs are compared. */
interface CompareRequest {
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
    throw configInvalid('compare needs two runs or more: a base and others');
  }
  const read: Awaited<ReturnType<typeof readMeasured>>[] = [];
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
      ...runs.flatMap(({ folder, summary: { result } }) =>
        isGate && result !== 'VALID'
          ? `${folder} is ${result}: its figures are no result that a condition could hold against (--allow-invalid lets it)`
          : [],
      ),
    ],
  };
}

function disturbanceNotes({ runs, disturbedBy }: RunComparison): string[] {
  return disturbedBy.flatMap((by, i) =>
    by === null ? [] : [`${runs[i]?.folder}: nothing is sure of it, since it was disturbed: ${by}`],
  );
}

/** @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE` */
async function readMeasured(folder: string) {
  const { summary, derived } = await deriveRun(folder);
  if (summary === null || derived === null) {
    const missing = summary === null ? RUN_FILES.runSummary : RUN_FILES.records;
    throw configInvalid(
      `${folder} has no ${missing}: only runs with their records can be compared, such as those of longhaul run in performance mode`,
    );
  }
  const notes = [...summary.notes];
  if (summary.result !== 'VALID') notes.unshift(`${summary.result}: the figures are no result`);
  const differing = derived.cut === null ? differencesOf(summary, derived) : [];
  return {
    /** Null: the records are whole, and the summary follows from them. */
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

/** The comparison as an HTML page of its own: distributions over one another, and the table. */
export function renderComparison(result: ComparisonResult): string {
  const { comparison, notes, conditions, failures } = result;
  const { runs } = comparison;
  const [base, ...others] = runs;
  const names = runs.map(({ folder }) => folder);
  const title = `${base?.summary.benchmark}, ${base?.summary.scenario}: ${names.join(' against ')}`;
  const body = html`<p class="kicker">longhaul compare</p>
<h1>${title}</h1>
${settingsTable(comparison)}
${noteBox(notes)}
${failures.map((text) => html`<p class="bad">FAILED: ${text}</p>`)}
${conditions.length === 0 ? null : section('conditions', 'Conditions', html`<ul class="plain">${conditions.map(conditionItem)}</ul>`)}
${section('runs', 'Runs', html`<div class="charts">${distributionFigure(comparison)}${runTable(comparison)}</div>`)}
${others.map(({ folder }, i) =>
  section(
    `against-${i}`,
    `${folder} against ${base?.folder ?? ''}`,
    differenceTable(comparison, i + 1),
  ),
)}
<p>${METHOD}</p>`;
  const footer = 'Made by longhaul compare. No figure of longhaul is an MLPerf result.';
  return renderPage({ title, body, footer });
}

function conditionItem({ text, isSure, folder, holds, seen }: ConditionResult): Html {
  const flag = isSure ? '--fail-if-sure' : '--fail-if';
  return html`<li>${judged(!holds, 'passed', 'FAILED')} <code>${flag} ${text}</code>: ${folder} has ${seen}</li>`;
}

function settingsTable({ settings, runs }: RunComparison): Html {
  if (settings.length === 0) return html`<p>No setting differs.</p>`;
  const all = htmlTable(
    ['Setting', ...runs.map(({ folder }) => folder)],
    settings.map(({ name, values }) => [html`<code>${name}</code>`, ...settingTexts(values)]),
  );
  const title = 'Settings that differ';
  return section(
    'settings',
    title,
    html`<p>A difference of the figures below may be theirs.</p>${scroll(title, all)}`,
  );
}

function runTable({ runs }: RunComparison): Html {
  const rows = runs.map(({ folder, summary }) => [
    folder,
    judged(summary.result === 'VALID', 'VALID', summary.result),
    instantText(summary.startedAt),
    summary.sutName,
    summary.longhaul,
  ]);
  return scroll('Runs', htmlTable(['Run', 'Result', 'Started', 'SUT', 'longhaul'], rows));
}

function distributionFigure({ runs }: RunComparison): Html {
  const distributions = runs.map(({ folder, summary, records }) => {
    const { latencyNs } = latencyTable(records, summary.scenario, summary.records?.parts ?? null);
    return { name: folder, sorted: sortedNumbers(latencyNs) };
  });
  const boundNs = runs[0]?.summary.latencyBoundNs ?? null;
  const p99s = runs.map(
    ({ folder, summary }) => `${folder}: p99 ${timeOrDash(summary.figures.p99)}`,
  );
  return renderFigure({
    title: 'Latency by percentile',
    alternative: `${p99s.join('; ')}. The tables below have all figures.`,
    ...drawPercentiles({ title: 'latency', distributions, boundNs, marked: [] }),
    caption:
      'Completed - scheduled: what share was no slower. The axis stretches the tail: each step to the right leaves a tenth.',
  });
}

const TONES = { better: 'good', worse: 'bad', other: 'warn', same: 'quiet' } as const;

function differenceTable({ rows }: RunComparison, index: number): Html {
  const body = rows.map(({ figure, about, runs }) => {
    const own = runs[index] as FigureDifference;
    const texts = cells(figure, runs[0] as FigureDifference, own);
    const tone = own.judgement === null ? 'quiet' : TONES[own.judgement];
    const judgement = html`<span class="${`nowrap ${tone}`}">${texts[5] as string}</span>`;
    return [html`<code title="${about}">${figure}</code>`, ...texts.slice(1, 5), judgement];
  });
  const all = htmlTable(['Figure', ...COLUMNS], body, (column) => column > 0 && column < 5);
  return scroll('Differences', all);
}
