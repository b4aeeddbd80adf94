import {
  asOneLine,
  formatNs,
  percentage,
  sentencesOf,
  tableLines,
} from '../../../shared/base/text.ts';
import { divisionInWords } from '../../../shared/rules/rounds/rounds.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureName,
  type FigureUnit,
  type RunFigures,
} from '../../observe/figures/figure-names.ts';
import type { StepFigures } from '../../observe/figures/figures-of-records.ts';
import { whyInShort } from '../../observe/split/split-text.ts';
import type { DerivedRun, ReadRun, SummaryDifference } from '../../observe/summary/derive-run.ts';
import { labelText } from '../../observe/summary/run-labels.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { percentileName, timeOrDash } from './figure-text.ts';
import { serverLines } from './print-split.ts';

const LABEL_WIDTH = 14;
const NAME_WIDTH = 19;
const VALUE_WIDTH = 14;

/** A run that was read again, compared with its summary. */
export interface DerivedReport {
  readonly run: ReadRun;
  /** Null: there is no summary, or are no whole records, to compare. */
  readonly differences: readonly SummaryDifference[] | null;
  /** LoadGen's own summary, line by line; for a run with neither summary nor records. */
  readonly loadgenLines: readonly string[];
}

/** The report of a run for people, ending with a newline. */
export function derivedReportText(parts: DerivedReport): string {
  const { run } = parts;
  const { summary, derived } = run;
  const lines = [...(summary === null ? [] : shortLines(summary)), row('Run', runLine(run))];
  const servers = serverLines(summary?.nodes ?? []).map(([label, text]) => row(label, text));
  const ofServers = servers.length === 0 ? [] : ['', ...servers];
  if (derived === null) lines.push(...withoutRecords(parts), ...ofServers);
  else {
    lines.push(...recordsLines(derived), '', ...figureLines(derived), ...ofServers, '');
    lines.push(...checkLines(parts));
  }
  lines.push(...stepLines(run.summary));
  return `${lines.join('\n')}\n`;
}

function stepLines(summary: RunSummary | null): string[] {
  const steps = summary?.loadTest?.steps ?? null;
  return steps === null ? [] : ['', ...stepTable(steps), '', stepVerdict(steps)];
}

function runLine({ folder, summary, derived }: ReadRun): string {
  if (summary === null) return derived === null ? folder : `${folder}   (${derived.scenario})`;
  return `${folder}   (${summary.startedAt}, ${summary.mode}, round ${summary.round})`;
}

/** The verdict and what the run measured, as its summary has it, in the order of the run's own screen. */
function shortLines(summary: RunSummary): string[] {
  const { benchmark, scenario, result, verdict, loadTest, peakTargetQps } = summary;
  const division = divisionInWords(summary.round, summary.division);
  const { accuracy, thresholds, nodes, split, notes } = summary;
  const load = loadTest == null ? '' : `, arrivals ${loadTest.arrivals}`;
  const places = nodes.map(({ name, address, model }) =>
    row(
      'SUT',
      [`${name === '' ? 'a node' : name} at ${address}`, model].filter(Boolean).join(', '),
    ),
  );
  const labels = labelText(summary.labels);
  return [
    row(
      result,
      `${benchmark}, ${scenario}${load} (${division})${verdict.cause ? `: ${verdict.cause.text}` : ''}`,
    ),
    ...verdict.reasons.map(({ text }) => row('', `- ${text}`)),
    ...figureTexts(summary),
    ...(peakTargetQps === null ? [] : [row('Peak', `${peakTargetQps.toFixed(2)} queries/s`)]),
    ...(accuracy === null ? [] : [row('Accuracy', accuracyText(accuracy))]),
    ...thresholds.map(({ text, isMet, seenText }) =>
      row('Threshold', `${text}: ${isMet ? 'met' : 'not met'}, seen ${seenText}`),
    ),
    ...(split === null ? [] : [row('Why', whyInShort(split, scenario === 'Offline'))]),
    ...places,
    ...notes.map((note, i) => row(i === 0 ? 'Notes' : '', note)),
    ...(labels === '' ? [] : [row('Labels', labels)]),
  ];
}

function accuracyText({ text, isMet }: NonNullable<RunSummary['accuracy']>): string {
  return `${text}: target ${isMet ? 'met' : 'NOT met'}`;
}

/** Answers, throughput and latency, as far as the run has them. */
function figureTexts(summary: RunSummary): string[] {
  const { figures, scenario, latencyBoundNs, targetPercentile, contractErrors } = summary;
  const { samples, lost = 0, max } = figures;
  const completed = figures.answered_qps ?? figures.completed_qps;
  const lines: string[] = [];
  if (samples !== undefined) {
    const missing = lost === 0 ? 'none lost' : `${lost} lost`;
    const broken = contractErrors === 0 ? '' : `, ${contractErrors} broke the contract`;
    lines.push(row('Answered', `${samples - lost} of ${samples} samples, ${missing}${broken}`));
  }
  const { tokens_per_second: tokens } = figures;
  const ofTokens = tokens === undefined ? '' : `, ${tokens.toFixed(2)} tokens/s`;
  if (completed !== undefined) {
    lines.push(row('Throughput', `${completed.toFixed(2)} samples/s${ofTokens}`));
  }
  if (max === undefined) return lines;
  const shown = percentileTexts(figures, '', ['p50', 'p90', 'p99'], targetPercentile);
  const isBound = scenario === 'Server' && latencyBoundNs !== null && targetPercentile !== null;
  const bound = isBound
    ? `; bound ${formatNs(latencyBoundNs)} at ${percentileName(targetPercentile)}`
    : '';
  const latency = row('Latency', `${[...shown, `max ${formatNs(max)}`].join(', ')}${bound}`);
  return [...lines, latency, ...tokenTexts(summary)];
}

/** Both times of a token model, as far as the run has them. */
function tokenTexts({ figures, tokenBounds, targetPercentile }: RunSummary): string[] {
  const times = [
    ['First token', 'ttft_', tokenBounds?.ttftNs],
    ['Per token', 'tpot_', tokenBounds?.tpotNs],
  ] as const;
  return times.flatMap(([label, prefix, boundNs]) => {
    const shown = percentileTexts(figures, prefix, ['p50', 'p99'], targetPercentile);
    if (shown.length === 0) return [];
    const bound =
      boundNs === undefined || targetPercentile === null
        ? ''
        : `; bound ${formatNs(boundNs)} at ${percentileName(targetPercentile)}`;
    return [row(label, `${shown.join(', ')}${bound}`)];
  });
}

/** Percentiles as far as the run has them, that of its bound among them. @param prefix Of the names of the figures. */
function percentileTexts(
  figures: RunFigures,
  prefix: '' | 'ttft_' | 'tpot_',
  names: readonly string[],
  target: number | null,
): string[] {
  const all = target === null ? names : [...new Set([...names, percentileName(target)])];
  return [...all]
    .sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
    .flatMap((name) => {
      const value = figures[`${prefix}${name}` as FigureName];
      return value === undefined ? [] : [`${name} ${formatNs(value)}`];
    });
}

function withoutRecords({ run: { summary }, loadgenLines }: DerivedReport): string[] {
  if (summary === null) {
    const why = `only LoadGen's logs are there: it has neither ${RUN_FILES.records} nor ${RUN_FILES.runSummary}`;
    return [row('Records', `none; ${why}`), '', ...loadgenLines];
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

/** In full: a difference of one ns must be seen. */
function exact(value: number | null, unit: FigureUnit): string {
  if (value === null) return 'none';
  return unit === 'ns' || unit === '1/s' ? `${value} ${unit}` : String(value);
}

function apart(said: number | null, seen: number | null, unit: FigureUnit): string {
  return said === null || seen === null ? '' : `, ${exact(seen - said, unit)} apart`;
}

/** Texts may come from a SUT node: a line of it must stay a line, whatever it holds. */
function row(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH)}${asOneLine(text)}`;
}

/** Columns of the table of steps. */
export const STEP_TITLES = [
  ...['from', 'offered /s', 'due /s', 'completed /s'],
  ...['p50', 'p99', 'largest', 'dispatch lag p99', 'lost'],
];

/** One step as cells of a table, in the order of {@link STEP_TITLES}. */
export function stepCells(step: StepFigures): string[] {
  const { rate, fromNs, dueQps, completedQps, p50Ns, p99Ns, maxNs, lagP99Ns, lost } = step;
  return [
    `${Number((fromNs / 1e9).toFixed(3))} s`,
    rate,
    dueQps.toFixed(2),
    completedQps.toFixed(2),
    ...[p50Ns, p99Ns, maxNs, lagP99Ns].map(timeOrDash),
    String(lost),
  ];
}

/** The table of steps for people: a header and a line per step. */
export function stepTable(steps: readonly StepFigures[]): string[] {
  return tableLines([STEP_TITLES, ...steps.map(stepCells)], '   ', () => true);
}

/** How far the SUT kept up, in a sentence. */
export function stepVerdict(steps: readonly StepFigures[]): string {
  const first = steps.findIndex(({ isKeptUp }) => isKeptUp === false);
  const step = steps[first];
  if (step === undefined) {
    const isWhole = steps.every(({ isKeptUp }) => isKeptUp === true);
    return `The SUT kept up in every step${isWhole ? '' : ' in which queries were due'}.`;
  }
  const what =
    step.lost > 0
      ? `${step.lost} of ${step.dueQueries} queries were lost`
      : `${step.dueQps.toFixed(2)} queries/s were due and ${step.completedQps.toFixed(2)} were completed while it lasted`;
  return `Step ${first + 1} (${step.rate} queries/s) is the first that the SUT did not keep up with: ${what}.`;
}
