import type { Scenario } from '../../../shared/domain/scenario.ts';
import {
  countAbove,
  latencyStatistics,
  percentileOf,
} from '../../loadgen/results/latency-statistics.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { type FigureName, finiteFigures, type RunFigures } from './figure-names.ts';
import { type SetTotals, totalsOfRecords } from './set-totals.ts';

/** What the figures need to know beside the records. */
export interface FigureContext {
  readonly scenario: Scenario;
  /** Server: bound of the latency in ns; null where there is none. */
  readonly latencyBoundNs: number | null;
  /** Responses that broke the contract; they are in no record. Default: 0. */
  readonly contractErrors?: number;
}

/**
 * All figures of a run from its records alone, by LoadGen's rules (loadgen-node/results): latencies, percentiles and rates are
 * to the bit those of the run's own summary; of a run in several parts those of all its parts together. A figure that the
 * scenario does not know, or that nothing completed for, is absent: no 0 stands for "not measured".
 *
 * `completed_qps`: Server and Offline as LoadGen says; SingleStream: "QPS w/ loadgen overhead"; MultiStream: samples by the
 * time until the last query was done.
 */
export function figuresOf(records: SampleRecords, context: FigureContext): RunFigures {
  const { scenario, latencyBoundNs, contractErrors = 0 } = context;
  const totals = totalsOfRecords(records);
  const latenciesNs = latenciesOf(records, scenario, totals);
  const figures: Partial<Record<FigureName, number>> = {
    ...latencyFigures(latenciesNs),
    ...lagFigures(records, totals),
    ...tokenFigures(records, scenario, totals),
    ...rateFigures(scenario, totals),
    queries: totals.queryCount,
    samples: records.rowCount,
    lost: records.rowCount - totals.completedSamples,
    errors: records.rowCount - totals.completedSamples + contractErrors,
  };
  if (scenario === 'Server' && latencyBoundNs !== null) {
    figures.overlatency = countAbove(latenciesNs, latencyBoundNs) / latenciesNs.length;
  }
  return finiteFigures(figures);
}

/** Sorted; MultiStream: of the queries whose samples all completed. */
function latenciesOf(
  records: SampleRecords,
  scenario: Scenario,
  { completedSamples, queryCount }: SetTotals,
): Float64Array {
  const perQuery = scenario === 'MultiStream';
  const { rowCount, part, query, scheduledNs, completedNs } = records;
  const latencies = new Float64Array(perQuery ? queryCount : completedSamples);
  let count = 0;
  for (let row = 0; row < rowCount; ) {
    let end = row + 1;
    let largest = latencyAt(scheduledNs, completedNs, row);
    if (perQuery) {
      for (; end < rowCount && query[end] === query[row] && part[end] === part[row]; end += 1) {
        // NaN of a lost sample stays NaN.
        largest = Math.max(largest, latencyAt(scheduledNs, completedNs, end));
      }
    }
    if (!Number.isNaN(largest)) {
      latencies[count] = largest;
      count += 1;
    }
    row = end;
  }
  return latencies.subarray(0, count).sort();
}

function latencyAt(scheduledNs: Float64Array, completedNs: Float64Array, row: number): number {
  return (completedNs[row] as number) - (scheduledNs[row] as number);
}

function latencyFigures(sortedNs: Float64Array): Partial<Record<FigureName, number>> {
  if (sortedNs.length === 0) return {};
  const { minNs, maxNs, meanNs } = latencyStatistics(sortedNs);
  return {
    min: minNs,
    mean: meanNs,
    p50: percentileOf(sortedNs, 0.5),
    p90: percentileOf(sortedNs, 0.9),
    p95: percentileOf(sortedNs, 0.95),
    p97: percentileOf(sortedNs, 0.97),
    p99: percentileOf(sortedNs, 0.99),
    'p99.9': percentileOf(sortedNs, 0.999),
    max: maxNs,
  };
}

/** Of queries, each once. */
function lagFigures(
  { rowCount, part, query, scheduledNs, issuedNs }: SampleRecords,
  { queryCount }: SetTotals,
): Partial<Record<FigureName, number>> {
  if (queryCount === 0) return {};
  const lags = new Float64Array(queryCount);
  let count = 0;
  for (let row = 0; row < rowCount; row += 1) {
    if (row > 0 && query[row] === query[row - 1] && part[row] === part[row - 1]) continue;
    lags[count] = (issuedNs[row] as number) - (scheduledNs[row] as number);
    count += 1;
  }
  lags.sort();
  return {
    lag_p50: percentileOf(lags, 0.5),
    lag_p99: percentileOf(lags, 0.99),
    lag_max: lags.at(-1) as number,
  };
}

function tokenFigures(
  records: SampleRecords,
  scenario: Scenario,
  { completedSamples, maxLatencyNs, doneS }: SetTotals,
): Partial<Record<FigureName, number>> {
  const { rowCount, scheduledNs, completedNs, tokenCount, firstTokenNs } = records;
  if (tokenCount === null || completedSamples === 0) return {};
  const isTimed = firstTokenNs !== null;
  const firsts = new Float64Array(isTimed ? completedSamples : 0);
  const perToken = new Float64Array(firsts.length);
  let tokens = 0;
  let count = 0;
  for (let row = 0; row < rowCount; row += 1) {
    const latencyNs = latencyAt(scheduledNs, completedNs, row);
    if (Number.isNaN(latencyNs)) continue;
    const tokensOfRow = tokenCount[row] as number;
    tokens += tokensOfRow;
    if (!isTimed) continue;
    const firstNs = latencyAt(scheduledNs, firstTokenNs, row);
    // As the recorder: a first token that never came counts as one that came at once.
    firsts[count] = Number.isNaN(firstNs) ? 0 : firstNs;
    perToken[count] = Math.trunc((latencyNs - (firsts[count] as number)) / (tokensOfRow - 1));
    count += 1;
  }
  const seconds = scenario === 'Offline' ? maxLatencyNs / 1e9 : doneS;
  const rate = { tokens_per_second: tokens / seconds };
  if (!isTimed) return rate;
  firsts.sort();
  perToken.sort();
  return {
    ttft_p50: percentileOf(firsts, 0.5),
    ttft_p99: percentileOf(firsts, 0.99),
    tpot_p50: percentileOf(perToken, 0.5),
    tpot_p99: percentileOf(perToken, 0.99),
    ...rate,
  };
}

function rateFigures(
  scenario: Scenario,
  { completedSamples: count, maxLatencyNs, scheduledS, issuedS, doneS }: SetTotals,
): Partial<Record<FigureName, number>> {
  if (count === 0) return {};
  switch (scenario) {
    case 'Server':
      return { scheduled_qps: (count - 1) / scheduledS, completed_qps: (count - 1) / doneS };
    case 'Offline':
      return { completed_qps: count / (maxLatencyNs / 1e9) };
    case 'SingleStream':
      return { completed_qps: (count - 1) / issuedS };
    case 'MultiStream':
      return { completed_qps: count / doneS };
  }
}
