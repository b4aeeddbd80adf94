import { rounded } from '../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { HeatMapCell, HeatMapInput } from '../../present/report/render-heat-map.ts';
import { alignedRows } from '../text-table.ts';
import {
  delayText,
  type LinkConditions,
  type LinkGrid,
  linkRateText,
  linkText,
  lossText,
} from './link-conditions.ts';
import { type CellResult, cellOf, type Sweep, type SweepCell } from './sweep-file.ts';

/** Rows: delays with losses. Columns: rates. */
interface GridView {
  readonly rowLabel: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** By row, then by column. */
  readonly links: readonly (readonly LinkConditions[])[];
}

function viewOf({ delaysNs, rates, lossShares }: LinkGrid): GridView {
  const hasLosses = lossShares.length > 1 || lossShares[0] !== 0;
  const rows = delaysNs.flatMap((delayNs) =>
    lossShares.map((lossShare) => ({
      text: hasLosses ? `${delayText(delayNs)}, ${lossText(lossShare)}` : delayText(delayNs),
      links: rates.map((bitsPerSecond) => ({ delayNs, bitsPerSecond, lossShare })),
    })),
  );
  return {
    rowLabel: hasLosses ? 'delay, loss' : 'delay',
    rows: rows.map(({ text }) => text),
    columns: rates.map(linkRateText),
    links: rows.map(({ links }) => links),
  };
}

/** What the heat map shows. Cells that are not done yet say so. */
export function heatMapOf(sweep: Sweep, grid: LinkGrid, title: string): HeatMapInput {
  const { rowLabel, rows, columns, links } = viewOf(grid);
  return {
    title,
    rowLabel,
    columnLabel: 'rate',
    rows,
    columns,
    cells: links.map((row) => row.map((link) => heatMapCell(cellOf(sweep, link)))),
    unit: sweep.question.unit,
    notes: sweep.notes,
  };
}

function heatMapCell(cell: SweepCell | undefined): HeatMapCell {
  if (cell === undefined) return { word: 'not measured', why: '' };
  const { result } = cell;
  if ('failure' in result) return { word: 'failed', why: result.failure };
  if (result.value === null) return { word: result.ending, why: result.limitText };
  const { low, high } = result.interval ?? { low: null, high: null };
  return {
    value: result.value,
    ...(low !== null && high !== null && { interval: [low, high] as const }),
    text: `${result.limitText}${linkSentences(result)}`,
  };
}

/** The link as it was: on a busy machine one in user space is slower than it was asked for. */
function linkSentences({ seen, tap }: CellResult): string {
  const sentences = [
    ...(seen === null ? [] : [`Seen before the search: ${seenText(seen)}.`]),
    ...(tap === null
      ? []
      : [
          `The link handed frames on late by ${formatNs(tap.lateP50Ns)} at p50, ${formatNs(tap.lateP99Ns)} at p99; its queue dropped ${tap.dropped} of ${tap.frames + tap.dropped}.`,
        ]),
  ];
  return sentences.map((sentence) => ` ${sentence}`).join('');
}

function seenText({ roundTripP50Ns, bitsPerSecond }: NonNullable<CellResult['seen']>): string {
  const rate =
    bitsPerSecond === null
      ? ''
      : `, ${linkRateText(Number(bitsPerSecond.toPrecision(3)))} to the SUT`;
  return `round trip ${formatNs(roundTripP50Ns)}${rate}`;
}

/** The table on the screen: a line per row of the grid, a column per rate; then what failed and why. */
export function sweepTable(sweep: Sweep, grid: LinkGrid): string {
  const { rowLabel, rows, columns, links } = viewOf(grid);
  const lines = links.map((row, i) => [
    rows[i] as string,
    ...row.map((link) => cellText(cellOf(sweep, link))),
  ]);
  const failures = sweep.cells.flatMap(({ link, result }) =>
    'failure' in result ? [`${linkText(link)}: ${result.failure}`] : [],
  );
  return [
    `${sweep.question.unit}, with the interval that holds the limit:`,
    ...alignedRows([[rowLabel, ...columns], ...lines]),
    ...failures.map((one) => `failed: ${one}`),
    ...sweep.notes.map((note) => `note: ${note}`),
    '',
  ].join('\n');
}

function cellText(cell: SweepCell | undefined): string {
  if (cell === undefined) return 'not measured';
  const { result } = cell;
  if ('failure' in result) return 'failed';
  const { value, ending } = result;
  return value === null ? ending : `${figure(value)}${intervalText(result)}`;
}

function intervalText({ interval }: CellResult): string {
  if (interval === null) return '';
  const { low, high } = interval;
  return high === null ? ` (${figure(low)} or more)` : ` (${figure(low)} to ${figure(high)})`;
}

/** One line about a cell that is done. */
export function cellLine({ link, seconds, result }: SweepCell): string {
  const took = `(${seconds.toFixed(0)} s)`;
  if ('failure' in result) return `${linkText(link)}: failed: ${result.failure} ${took}`;
  const { value, seen, probeCount } = result;
  const found = value === null ? result.ending : `${figure(value)}${intervalText(result)}`;
  const trip = seen === null ? '' : `, seen: ${seenText(seen)}`;
  return `${linkText(link)}: ${found}, ${probeCount} probes${trip} ${took}`;
}

function figure(value: number): string {
  return rounded(value, 4);
}
