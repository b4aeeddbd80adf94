import { formatNs, grouped } from '../../../shared/base/text.ts';
import type { LatencyStatistics } from '../../loadgen/results/latency-statistics.ts';
import type { TokenSummary } from '../../loadgen/results/token-summary.ts';
import { boundsOfLanes } from '../../loadgen/settings/lanes.ts';
import type { BoundName } from '../../loadgen/settings/query-bounds.ts';
import { GAP_PERCENTILES } from '../../observe/figures/figure-names.ts';
import { hasLatency } from '../../observe/figures/figures-of-outcome.ts';
import { distributionOf } from '../../observe/figures/latency-histogram.ts';
import { boundInWords, isCarried, percentileName } from '../../present/text/figure-text.ts';
import { resultTables, tableText } from '../../present/text/result-tables.ts';
import { type LabelledText as Row, rowsUnder } from '../../present/text/result-text.ts';
import type { EndedReport } from './run-report.ts';

/** Width of `p50 10.6 ms`; the last one, p99.9, may be two characters longer. */
const PERCENTILE_WIDTH = 11;

/** Rows of a token model; Server's bounds apply to these. */
export function tokenRows({ outcome: { performance } }: EndedReport): Row[] {
  if (performance === null || !hasLatency(performance)) return [];
  const { tokens, lanes, target, completedSampleCount } = performance.summary;
  if (tokens === null) return [];
  const { firstToken, perOutputToken, gaps } = tokens;
  const total = `${grouped(tokens.tokenCount)} output tokens, ${rateText(tokens.completed)} per second`;
  const times = (name: BoundName, statistics: LatencyStatistics): string =>
    [
      percentiles(statistics, completedSampleCount, target.percentile),
      ...boundsOfLanes(lanes)
        .filter((bound) => bound.name === name)
        .map((bound) => `(bound ${boundInWords(bound)})`),
    ].join('   ');
  const rows: Row[] = [['Tokens', total]];
  if (firstToken !== null && perOutputToken !== null) {
    // LoadGen counts a missing first token as 0.
    const came = firstToken.percentiles.map(({ valueNs, ...of }) => ({
      ...of,
      valueNs: valueNs > 0 ? valueNs : Number.NaN,
    }));
    const first = { ...firstToken, percentiles: came };
    rows.push(['First token', times('ttft', first)]);
    rows.push(['Per token', times('tpot', perOutputToken)]);
    if (perOutputToken.meanNs < 0) {
      const what = "The sum of these times is negative: LoadGen's mean in its logs is meaningless";
      rows.push(['', what]);
    }
  }
  if (gaps !== null && gaps.histogram.count > 0) rows.push(['Between', gapsText(gaps)]);
  return rows;
}

/** Inter-token latency: all gaps, and the longest of each sample. */
function gapsText({ histogram, longest }: NonNullable<TokenSummary['gaps']>): string {
  const all = distributionOf(histogram);
  const shown = GAP_PERCENTILES.map(
    ([, percentile]) => `${percentileName(percentile)} ${formatNs(all.percentileNs(percentile))}`,
  );
  const worst = longest.percentiles.find(({ percentile }) => percentile === 0.99)?.valueNs ?? 0;
  const texts = [...shown, `max ${formatNs(all.maxNs)} from token to token`];
  return `${texts.join(', ')}; longest of a sample p99 ${formatNs(worst)}`;
}

/** Result of LoadGen's own search for the peak. */
export function peakRows({ outcome: { peakTargetQps } }: EndedReport): Row[] {
  if (peakTargetQps === null) return [];
  return [['Peak', `${peakTargetQps.toFixed(2)} queries/s keep the latency bound`]];
}

/** The tables of a run. */
export function tableRows(report: EndedReport): Row[] {
  return resultTables(report).flatMap((table) => rowsUnder(table.label, tableText(table)));
}

/**
 * p50, p90 and p99, and p99.9 if there are enough values.
 * @param count Number of values.
 * @param target Percentile to add, if LoadGen's statistics have it.
 */
export function percentiles(statistics: LatencyStatistics, count: number, target = 0.5): string {
  const shown = statistics.percentiles.filter(
    ({ percentile }) =>
      [0.5, 0.9, 0.99, target].includes(percentile) ||
      (percentile === 0.999 && isCarried(count, 0.999)),
  );
  // Results stand below each other: each is padded to the widest.
  return shown
    .map(({ percentile, valueNs }) => `${percentileName(percentile)} ${formatNs(valueNs)}`)
    .map((text, i) => text.padEnd(i === 3 ? PERCENTILE_WIDTH + 2 : PERCENTILE_WIDTH))
    .join('   ')
    .trimEnd();
}

/** Text of a rate; a run with one query has no duration to compute it from. */
export function rateText(perSecond: number): string {
  return Number.isFinite(perSecond) ? perSecond.toFixed(2) : '-';
}
