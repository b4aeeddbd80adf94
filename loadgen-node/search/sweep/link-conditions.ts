import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { parseDuration, rounded } from '../../../shared/base/text.ts';

/** Conditions of a link, equal in both directions. */
export interface LinkConditions {
  /** One-way delay, in ns. */
  readonly delayNs: number;
  /** Rate per direction; null: unlimited. */
  readonly bitsPerSecond: number | null;
  /** Share of segments lost, 0 to 1. */
  readonly lossShare: number;
}

/** Conditions by axis; a sweep measures each combination. Each list has at least one entry. */
export interface LinkGrid {
  readonly delaysNs: readonly number[];
  readonly rates: readonly (number | null)[];
  readonly lossShares: readonly number[];
}

/** Longest delay of a link. */
const DELAY_NS_MAX = 5e9;
/** Slowest link: below it, one segment takes more than ten seconds. */
const RATE_MIN = 1e3;
/** Most cells of a grid: each is a search of minutes. */
const CELLS_MAX = 1_000;
const LOSS_SHARE_MAX = 0.5;

const RATE_UNITS: Readonly<Record<string, number>> = { kbit: 1e3, mbit: 1e6, gbit: 1e9 };

/**
 * Parses the three lists of a sweep, such as `0,1,5,10ms`, `100mbit,1gbit,unlimited` and `0,0.1%`.
 * A unit also applies to preceding numbers without a unit; 0 needs none.
 * @throws MlperfError `ERR_CONFIG_INVALID` with flag and value
 */
export function parseLinkGrid(texts: {
  readonly delay: string;
  readonly rate: string;
  readonly loss: string;
}): LinkGrid {
  const grid = {
    delaysNs: parseList('--delay', texts.delay, parseDelay),
    rates: parseList('--rate', texts.rate, parseRate),
    lossShares: parseList('--loss', texts.loss, parseLoss),
  };
  const count = grid.delaysNs.length * grid.rates.length * grid.lossShares.length;
  if (count > CELLS_MAX) {
    throw configInvalid(`the grid has ${count} cells; a sweep takes ${CELLS_MAX} at most`);
  }
  return grid;
}

/** All combinations; delay changes slowest, then loss, then rate. */
export function cellsOf({ delaysNs, rates, lossShares }: LinkGrid): LinkConditions[] {
  return delaysNs.flatMap((delayNs) =>
    lossShares.flatMap((lossShare) =>
      rates.map((bitsPerSecond) => ({ delayNs, bitsPerSecond, lossShare })),
    ),
  );
}

/** Name of a cell in files and messages, such as `5ms 100mbit 0.1%`. */
export function linkText(link: LinkConditions): string {
  return [delayText(link.delayNs), linkRateText(link.bitsPerSecond), lossText(link.lossShare)].join(
    ' ',
  );
}

/** Such as `5ms`. */
export function delayText(delayNs: number): string {
  if (delayNs === 0) return '0ms';
  return delayNs < 1e6 ? `${round(delayNs / 1e3)}us` : `${round(delayNs / 1e6)}ms`;
}

/** Such as `100mbit`, `unlimited`. */
export function linkRateText(bitsPerSecond: number | null): string {
  if (bitsPerSecond === null) return 'unlimited';
  if (bitsPerSecond >= 1e9) return `${round(bitsPerSecond / 1e9)}gbit`;
  return bitsPerSecond >= 1e6
    ? `${round(bitsPerSecond / 1e6)}mbit`
    : `${round(bitsPerSecond / 1e3)}kbit`;
}

/** Such as `0.1%`. */
export function lossText(lossShare: number): string {
  return `${round(lossShare * 100)}%`;
}

function round(value: number): string {
  return rounded(value, 6);
}

/** A number and its unit. */
const ITEM = /^(\d+(?:\.\d+)?)([a-z%]*)$/;

function parseList<T>(flag: string, text: string, parse: (flag: string, item: string) => T): T[] {
  const items = text
    .toLowerCase()
    .split(',')
    .map((item) => item.trim());
  let unit = '';
  const withUnits = items
    .toReversed()
    .map((item) => {
      const match = ITEM.exec(item);
      if (match === null) return item;
      if (match[2] !== '') unit = match[2] as string;
      return `${match[1]}${match[2] === '' ? unit : match[2]}`;
    })
    .toReversed();
  const values = withUnits.map((item) => parse(flag, item));
  const repeated = values.findIndex((value, i) => values.indexOf(value) !== i);
  if (repeated >= 0) throw configInvalid(`${flag} "${text}" names ${items[repeated]} twice`);
  return values;
}

function parseDelay(flag: string, item: string): number {
  const ns = item === '0' ? 0 : parseDuration(item);
  if (ns === undefined) {
    throw configInvalid(`${flag} "${item}" must be one-way delays such as 0,1,5,10ms or 250us`);
  }
  if (ns > DELAY_NS_MAX)
    throw configInvalid(`${flag} "${item}" must be at most ${DELAY_NS_MAX / 1e9}s`);
  return ns;
}

function parseRate(flag: string, item: string): number | null {
  if (item === 'unlimited') return null;
  const match = ITEM.exec(item);
  const unit = RATE_UNITS[match?.[2] ?? ''];
  if (match === null || unit === undefined) {
    throw configInvalid(`${flag} "${item}" must be rates such as 100mbit,1gbit, or unlimited`);
  }
  const rate = Number(match[1]) * unit;
  if (rate < RATE_MIN)
    throw configInvalid(`${flag} "${item}" must be at least ${RATE_MIN / 1e3}kbit`);
  return rate;
}

function parseLoss(flag: string, item: string): number {
  if (item === '0') return 0;
  const match = ITEM.exec(item);
  const share = Number(match?.[1]) / 100;
  if (match === null || match[2] !== '%' || share > LOSS_SHARE_MAX) {
    throw configInvalid(
      `${flag} "${item}" must be percentages such as 0,0.1%, ${LOSS_SHARE_MAX * 100}% at most`,
    );
  }
  return share;
}
