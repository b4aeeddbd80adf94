import { asOneLine, formatNs, percentage, sentencesOf } from '../../../shared/base/text.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureUnit,
  type RunFigures,
} from '../../observe/figures/figure-names.ts';
import type { DerivedRun, ReadRun, SummaryDifference } from '../../observe/summary/derive-run.ts';
import { labelText } from '../../observe/summary/run-labels.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { serverLines } from './print-split.ts';
import { resultLines, row, rowsBelow } from './result-text.ts';

const NAME_WIDTH = 19;
const VALUE_WIDTH = 14;

/** A run recomputed from its records, compared with its summary. */
export interface DerivedReport {
  readonly run: ReadRun;
  /** Null if there is no summary, or no complete records, to compare. */
  readonly differences: readonly SummaryDifference[] | null;
  /** LoadGen's own summary by label; null if the run has a summary or records of longhaul. */
  readonly loadgen: ReadonlyMap<string, string> | null;
}

/** The report of a run for people, ending with a newline. */
export function derivedReportText(parts: DerivedReport): string {
  const { run } = parts;
  const { summary, derived } = run;
  const lines = [...(summary === null ? [] : resultOf(summary)), row('Run', runLine(run))];
  const labels = labelText(summary?.labels);
  if (labels !== '') lines.push(row('Labels', labels));
  const servers = serverLines(summary?.nodes ?? []).map(([label, text]) => row(label, text));
  const ofServers = servers.length === 0 ? [] : ['', ...servers];
  if (derived === null) lines.push(...withoutRecords(parts), ...ofServers);
  else {
    lines.push(...recordsLines(derived), '', ...figureLines(derived), ...ofServers, '');
    lines.push(...checkLines(parts));
  }
  if (summary !== null) lines.push('', ...rowsBelow('All notes', summary.notes));
  return `${lines.join('\n')}\n`;
}

function runLine({ folder, summary, derived }: ReadRun): string {
  if (summary === null) return derived === null ? folder : `${folder}   (${derived.scenario})`;
  return `${folder}   (${summary.startedAt}, ${summary.mode}, round ${summary.round})`;
}

/** The same lines as on the run's screen. */
function resultOf(summary: RunSummary): string[] {
  const { result, verdict, loadgenVerdict, thresholds, notes, keyNotes, rows } = summary;
  return resultLines(
    {
      result,
      thresholds,
      notes,
      keyNotes,
      reasons: verdict.reasons,
      rows,
      isValidForLoadgen: loadgenVerdict.isValid,
    },
    'below',
  );
}

function withoutRecords({ run: { summary }, loadgen }: DerivedReport): string[] {
  if (summary === null) {
    const why = `only LoadGen's logs are there: it has neither ${RUN_FILES.records} nor ${RUN_FILES.runSummary}`;
    // Another program wrote these: control characters would otherwise reach the terminal.
    const lines = [...(loadgen ?? [])].map(([label, text]) => asOneLine(`${label}: ${text}`));
    return [row('Records', `none; ${why}`), '', ...lines];
  }
  if (summary.mode === 'AccuracyOnly')
    return [row('Records', 'none: the run had no performance phase')];
  const why = `there is no ${RUN_FILES.records}: these figures are the summary's, not derived again`;
  return [row('Records', `none; ${why}`), '', ...figureRows(summary.figures)];
}

function recordsLines({ rowCount, parts, cut, nodes, records }: DerivedRun): string[] {
  const of =
    parts.length === 1 ? '' : ` in ${parts.length} parts; the figures are of ${records.rowCount}`;
  const lines = [row('Records', `${rowCount} samples${of}`)];
  if (cut !== null) {
    lines.push(row('', `${cut}: the figures below are those of what is there, not of the run`));
  }
  return [
    ...lines,
    ...nodes.map(({ name, completedSamples }, i) =>
      row(i === 0 ? 'Nodes' : '', `${name}: ${completedSamples} samples completed`),
    ),
  ];
}

function figureLines({ figures, split }: DerivedRun): string[] {
  const lines = figureRows(figures);
  if (split === null) return lines;
  const what = split.tokens === undefined ? 'part of latency' : 'to first token';
  const header = `${what.padEnd(NAME_WIDTH)}${['mean', 'typical', 'slowest 1 %']
    .map((text) => text.padStart(VALUE_WIDTH))
    .join('')}`;
  const parts = (split.tokens ?? split).parts.map(({ part, meanNs, typicalNs, tailNs }) => {
    const values = [meanNs, typicalNs, tailNs].map((ns) => formatNs(ns).padStart(VALUE_WIDTH));
    return `${part.padEnd(NAME_WIDTH)}${values.join('')}`;
  });
  return [...lines, '', header, ...parts, '', ...sentencesOf(asOneLine(split.text))];
}

function figureRows(figures: RunFigures): string[] {
  return FIGURE_NAMES.flatMap((name) => {
    const value = figures[name];
    if (value === undefined) return [];
    const { unit, about } = FIGURES[name];
    const text = formatFigure(value, unit).padStart(VALUE_WIDTH);
    return `${name.padEnd(NAME_WIDTH)}${text}   ${about}`;
  });
}

/** A figure with its unit. */
function formatFigure(value: number, unit: FigureUnit): string {
  switch (unit) {
    case 'ns':
      return formatNs(value);
    case '1/s':
      return `${value.toFixed(2)}/s`;
    case 'share':
      return percentage(value, 4);
    case 'count':
      return String(value);
  }
}

function checkLines({ run: { summary, derived }, differences }: DerivedReport): string[] {
  if (derived !== null && derived.cut !== null) {
    return [row('Check', 'the records are not whole: their figures are not those of the run')];
  }
  if (summary === null || differences === null) {
    return [row('Check', `there is no ${RUN_FILES.runSummary} to compare with`)];
  }
  if (differences.length === 0) {
    const count = Object.keys(summary.figures).length;
    const split = summary.split === null ? '' : ' and the split';
    return [
      row(
        'Check',
        `all ${count} figures of ${RUN_FILES.runSummary}${split} follow from the records`,
      ),
    ];
  }
  return [
    row('Check', `not all of ${RUN_FILES.runSummary} follows from the records:`),
    ...differences.map(({ what, unit, inSummary, derived: seen }) =>
      row(
        '',
        `- ${what}: ${exact(inSummary, unit)} in the summary, ${exact(seen, unit)} derived${apart(inSummary, seen, unit)}`,
      ),
    ),
  ];
}

/** With all digits: a difference of one ns must be visible. */
function exact(value: number | null, unit: FigureUnit): string {
  if (value === null) return 'none';
  return unit === 'ns' || unit === '1/s' ? `${value} ${unit}` : String(value);
}

function apart(said: number | null, seen: number | null, unit: FigureUnit): string {
  return said === null || seen === null ? '' : `, ${exact(seen - said, unit)} apart`;
}
