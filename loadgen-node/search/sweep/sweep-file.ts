import { join } from 'node:path';
import { z } from 'zod';
import { at } from '../../../shared/base/at.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { readVersionedFile } from '../../../shared/base/files/read-file.ts';
import { formatNs, grouped, rounded, tableLines } from '../../../shared/base/text.ts';
import type { HeatMapCell, HeatMapInput } from '../../present/report/render-heat-map.ts';
import { type Question, questionDifferences, requireKept, writeKept } from '../kept-file.ts';
import {
  delayText,
  type LinkConditions,
  type LinkGrid,
  linkRateText,
  linkText,
  lossText,
} from './link-conditions.ts';

/** File with the finished cells, in the folder of a sweep. */
export const SWEEP_FILE = 'longhaul_sweep.json';
/** Page of a sweep. */
export const SWEEP_PAGE = 'longhaul_sweep.html';

/** Version of {@link SWEEP_FILE}. */
export const SWEEP_VERSION = 3;

const ns = z.number().describe('ns');

/** Result of a cell's search. */
const result = z.strictObject({
  /** Value of the confirming run, in the sweep's unit; null if no load was confirmed. */
  value: z.number().nullable(),
  /**
   * Completed output tokens per second of the same run; null without tokens or a confirmed load.
   */
  tokensPerSecond: z.number().nullable(),
  /**
   * Interval of the limit; `high` null: no load missed the bound. Null: the probes show no limit.
   */
  interval: z.strictObject({ low: z.number(), high: z.number().nullable() }).nullable(),
  /** How the search ended, in `longhaul find-peak`'s terms. */
  ending: z.string(),
  /**
   * Cause of the limit, in `longhaul find-peak`'s terms: `generator` is LoadGen, independent of
   * the link.
   */
  limit: z.enum(['others', 'sut', 'lost-samples', 'generator', 'load-max', 'unloaded-latency']),
  /** The limit as whole sentences. */
  limitText: z.string(),
  probeCount: z.number(),
  /** The link as measured before the search; null if the node does not support it. */
  seen: z
    .strictObject({
      roundTripP50Ns: ns,
      roundTripMaxNs: ns,
      bitsPerSecond: z.number().nullable(),
    })
    .nullable(),
  /** The hook's last output line when it cleared the link; null if none. */
  hook: z.string().nullable(),
});

const cell = z.strictObject({
  link: z.strictObject({
    delayNs: ns.describe('one way, ns'),
    bitsPerSecond: z.number().nullable().describe('of each direction; null: not limited'),
    lossShare: z.number().describe('0 to 1'),
  }),
  /** Folder relative to the sweep's. */
  folder: z.string(),
  seconds: z.number(),
  result: z.union([result, z.strictObject({ failure: z.string() })]),
});

/** Subject of a sweep; cells with another subject do not belong to it. */
const question = z.strictObject({
  /** Settings of each cell by name, as text: nodes, benchmark, scenario, bound, ... */
  settings: z.record(z.string(), z.string()),
  linkHook: z.string(),
  unit: z.string(),
});

/** Content of {@link SWEEP_FILE}. */
const SWEEP = z.strictObject({
  schemaVersion: z.literal(SWEEP_VERSION),
  longhaul: z.string(),
  question,
  /** Limits of the figures. */
  notes: z.array(z.string()),
  cells: z.array(cell),
});

export type Sweep = z.infer<typeof SWEEP>;
type SweepQuestion = z.infer<typeof question>;
/** A finished cell: its result, or why it was not measured. */
export type SweepCell = z.infer<typeof cell>;
export type CellResult = z.infer<typeof result>;

/** Stores a sweep. @throws MlperfError `ERR_OUTPUT` */
export function writeSweep(folder: string, sweep: Sweep): void {
  writeKept(join(folder, SWEEP_FILE), sweep);
}

/**
 * Reads a sweep to resume.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the file is missing, not a sweep, of another
 *   version, or has other settings
 */
export function readSweepToResume(folder: string, asked: SweepQuestion): Sweep {
  const path = join(folder, SWEEP_FILE);
  requireKept(path, 'sweep');
  const sweep = readSweep(folder);
  const textsOf = ({ settings, linkHook, unit }: SweepQuestion): Question => {
    return { ...settings, linkHook, unit };
  };
  const [difference] = questionDifferences(
    textsOf(sweep.question),
    textsOf(asked),
    (name, was, is) => `${name} was ${was}, is ${is}`,
  );
  if (difference === undefined) return sweep;
  throw configInvalid(
    `--resume: ${path} is of another sweep (${difference}): choose another --output`,
  );
}

/** A stored sweep. @throws MlperfError as {@link readVersionedFile} */
export function readSweep(folder: string): Sweep {
  return readVersionedFile(join(folder, SWEEP_FILE), SWEEP, {
    version: SWEEP_VERSION,
    other: ': choose another --output',
    wrong: ' is no sweep',
  });
}

/** The grid of the finished cells. */
export function gridOf({ cells }: Sweep): LinkGrid {
  const values = <T extends number | null>(of: (link: LinkConditions) => T): T[] =>
    [...new Set(cells.map(({ link }) => of(link)))].sort((a, b) => (a ?? 0) - (b ?? 0));
  return {
    delaysNs: values(({ delayNs }) => delayNs),
    rates: values(({ bitsPerSecond }) => bitsPerSecond),
    lossShares: values(({ lossShare }) => lossShare),
  };
}

/** The cell with these conditions, if it is finished. */
export function cellOf(sweep: Sweep, wanted: LinkConditions): SweepCell | undefined {
  return sweep.cells.find(({ link }) => isSameLink(link, wanted));
}

function isSameLink(a: LinkConditions, b: LinkConditions): boolean {
  return (
    a.delayNs === b.delayNs && a.bitsPerSecond === b.bitsPerSecond && a.lossShare === b.lossShare
  );
}

/**
 * The grid as a table: rows are delays with losses, columns are rates; links by row, then by
 * column.
 */
function viewOf({ delaysNs, rates, lossShares }: LinkGrid) {
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

/** Input of the heat map; unfinished cells and the interrupted one are marked. */
export function heatMapOf(
  sweep: Sweep,
  grid: LinkGrid,
  {
    title,
    interrupted,
  }: { readonly title: string; readonly interrupted?: LinkConditions | undefined },
): HeatMapInput {
  const { links, ...labels } = viewOf(grid);
  return {
    title,
    columnLabel: 'rate',
    ...labels,
    cells: links.map((row) =>
      row.map((link) =>
        interrupted !== undefined && isSameLink(link, interrupted)
          ? { word: 'interrupted', why: 'the sweep was ended here: --resume measures it' }
          : heatMapCell(cellOf(sweep, link)),
      ),
    ),
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
  const { tokensPerSecond: tokens } = result;
  const ofTokens = tokens === null ? '' : `${grouped(Math.round(tokens))} tokens/s completed. `;
  return {
    value: result.value,
    ...(low !== null && high !== null && { interval: [low, high] as const }),
    text: `${ofTokens}${result.limitText}${linkSentences(result)}`,
  };
}

/** The measured link: on a busy machine a user-space link is slower than requested. */
function linkSentences({ seen, hook }: CellResult): string {
  const looked = seen === null ? '' : ` Seen before the search: ${seenText(seen)}.`;
  return hook === null ? looked : `${looked} The link hook: ${hook.replace(/\.$/, '')}.`;
}

export function seenText({
  roundTripP50Ns,
  bitsPerSecond,
}: NonNullable<CellResult['seen']>): string {
  const rate =
    bitsPerSecond === null
      ? ''
      : `, ${linkRateText(Number(bitsPerSecond.toPrecision(3)))} to the SUT`;
  return `round trip ${formatNs(roundTripP50Ns)}${rate}`;
}

/**
 * The table on the screen: one line per grid row, one column per rate; then failed cells with
 * reasons.
 */
export function sweepTable(sweep: Sweep, grid: LinkGrid): string {
  const { rowLabel, rows, columns, links } = viewOf(grid);
  const lines = links.map((row, i) => [
    at(rows, i),
    ...row.map((link) => cellText(cellOf(sweep, link))),
  ]);
  const failures = sweep.cells.flatMap(({ link, result }) =>
    'failure' in result ? [`${linkText(link)}: ${result.failure}`] : [],
  );
  return [
    `${sweep.question.unit}, with the interval that holds the limit:`,
    ...tableLines([[rowLabel, ...columns], ...lines]),
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

/** One line about a finished cell. */
export function cellLine(cell: SweepCell): string {
  const { link, seconds, result } = cell;
  const took = `(${seconds.toFixed(0)} s)`;
  if ('failure' in result) return `${linkText(link)}: failed: ${result.failure} ${took}`;
  const { seen, probeCount, tokensPerSecond } = result;
  const trip = seen === null ? '' : `, seen: ${seenText(seen)}`;
  const tokens =
    tokensPerSecond === null ? '' : `, ${grouped(Math.round(tokensPerSecond))} tokens/s`;
  return `${linkText(link)}: ${cellText(cell)}${tokens}, ${probeCount} probes${trip} ${took}`;
}

function figure(value: number): string {
  return rounded(value, 4);
}
