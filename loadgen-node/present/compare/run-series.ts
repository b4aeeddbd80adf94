import { at } from '../../../shared/base/at.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { tableLines } from '../../../shared/base/text.ts';
import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { figureText, instantText } from '../text/figure-text.ts';
import { headMetric } from '../text/headline.ts';
import {
  CONFIDENCE,
  type FigureDifference,
  type NamedRun,
  type RunComparison,
} from './compare-runs.ts';
import { changeText, JUDGEMENTS } from './difference-text.ts';

/** A figure of one run in a series. */
interface SeriesRow {
  readonly folder: string;
  /** Value of the series' label; without a label, the folder. */
  readonly name: string;
  readonly startedAt: string;
  readonly result: string;
  readonly isBase: boolean;
  readonly own: FigureDifference;
}

/** A figure over several runs. */
export interface RunSeries {
  readonly figure: FigureName;
  readonly rows: readonly SeriesRow[];
}

/** Figures of a series, after the scenario's metric. */
const SHOWN: readonly FigureName[] = ['p50', 'p99', 'ttft_p99', 'tpot_p99', 'errors'];

/**
 * Main figures over several runs, each with its interval and its change from the base.
 * @param by Label that names the runs: they are in time order, with equal values together. Null:
 *   in the given order.
 */
export function runSeries({ runs, rows }: RunComparison, by: string | null): RunSeries[] {
  const order = by === null ? runs.map((_, i) => i) : orderBy(runs, by);
  const [base] = runs;
  if (base === undefined) return [];
  const figures = new Set([headMetric(base.summary), ...SHOWN]);
  return [...figures].flatMap((figure) => {
    const row = rows.find((one) => one.figure === figure);
    if (row === undefined) return [];
    const ofRuns = order.map((i): SeriesRow => {
      const { folder, summary } = at(runs, i);
      return {
        folder,
        name: by === null ? folder : (summary.labels[by] ?? '(none)'),
        startedAt: summary.startedAt,
        result: summary.result,
        isBase: i === 0,
        own: at(row.runs, i),
      };
    });
    return [{ figure, rows: ofRuns }];
  });
}

/**
 * Run indices, ordered by the first time of their label's value, then by their own time.
 * @throws MlperfError `ERR_CONFIG_INVALID` if no run has that label
 */
export function orderBy(runs: readonly NamedRun[], by: string): number[] {
  const labelOf = (i: number): string => runs[i]?.summary.labels[by] ?? '';
  const atMs = (i: number): number => Date.parse(runs[i]?.summary.startedAt ?? '');
  const all = runs.map((_, i) => i);
  if (all.every((i) => labelOf(i) === '')) {
    const keys = new Set(runs.flatMap(({ summary }) => Object.keys(summary.labels)));
    const known = keys.size === 0 ? 'they have none' : `they have ${[...keys].join(', ')}`;
    throw configInvalid(`--by ${by}: no run has that label; ${known} (longhaul run --label)`);
  }
  const first = new Map<string, number>();
  for (const i of all) {
    first.set(labelOf(i), Math.min(first.get(labelOf(i)) ?? Number.POSITIVE_INFINITY, atMs(i)));
  }
  const firstOf = (i: number): number => first.get(labelOf(i)) ?? 0;
  return all.sort(
    (a, b) => firstOf(a) - firstOf(b) || labelOf(a).localeCompare(labelOf(b)) || atMs(a) - atMs(b),
  );
}

/** Columns of a series. */
export function seriesTitles(by: string | null): string[] {
  const ends = ['value', `${CONFIDENCE * 100} % interval`, 'against the base', ''];
  return by === null ? ['run', 'started', ...ends] : [by, 'started', 'run', ...ends];
}

/** Cells of a row, in the order of {@link seriesTitles}. */
export function seriesCells(figure: FigureName, row: SeriesRow, by: string | null): string[] {
  const { folder, name, startedAt, result, isBase, own } = row;
  const mark = result === 'VALID' ? '' : ` (${result})`;
  const started = instantText(startedAt).replace(/:\d\d UTC$/, ' UTC');
  const judged = own.judgement === null ? '' : JUDGEMENTS[own.judgement];
  return [
    ...(by === null ? [`${folder}${mark}`, started] : [name, started, `${folder}${mark}`]),
    own.value === null ? '-' : figureText(figure, own.value),
    own.interval === null ? '' : own.interval.map((end) => figureText(figure, end)).join(' to '),
    isBase ? 'base' : changeText(figure, own),
    isBase ? '' : judged,
  ];
}

/** A table for each figure, for a terminal. */
export function seriesLines(series: readonly RunSeries[], by: string | null): string[] {
  const firstNumber = by === null ? 2 : 3;
  return series.flatMap(({ figure, rows }) => {
    const cells = rows.map((row) => seriesCells(figure, row, by));
    const isRight = (column: number): boolean => column === firstNumber;
    return [
      `${figure}: ${FIGURES[figure].about}`,
      ...tableLines([seriesTitles(by), ...cells], '  ', isRight).map((line) => `  ${line}`),
      '',
    ];
  });
}
