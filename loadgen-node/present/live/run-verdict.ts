import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { isSutLost } from '../../loadgen/engine/issue/issue-threads.ts';
import type { PerformanceOutcome, TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import { withoutRates } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import type { RunVerdict } from './live-state.ts';

/** Most reasons shown. */
const REASONS_MAX = 20;
const SHOWN_PERCENTILES = ['p50', 'p90', 'p99', 'p99.9'] as const;

/** The result of a run for the live page: exact figures in place of the live estimates. */
export function runVerdict(outcome: TestOutcome): RunVerdict {
  const { longhaul } = outcome.verdicts;
  const state = longhaul.isValid ? 'VALID' : 'INVALID';
  return {
    state: outcome.isInterrupted ? 'INTERRUPTED' : state,
    cause: longhaul.cause?.text ?? null,
    reasons: longhaul.reasons.slice(0, REASONS_MAX).map(({ text }) => text),
    figures: outcome.performance === null ? [] : figuresOf(outcome.performance),
  };
}

/** A run that ended without a result. */
export function brokenVerdict(error: unknown): RunVerdict {
  return { state: 'BROKEN', cause: null, reasons: [messageOf(error)], figures: [] };
}

function figuresOf(performance: PerformanceOutcome): RunVerdict['figures'] {
  const { scenario } = performance.summary;
  const measured = figuresOfOutcome(performance);
  const figures = isSutLost(performance.endCause) ? withoutRates(measured) : measured;
  const rate = (perSecond: number): string => perSecond.toFixed(2);
  const { scheduled_qps: scheduled, completed_qps: completed } = figures;
  const isStream = scenario === 'SingleStream' || scenario === 'MultiStream';
  const rows: (readonly [string, number | undefined, (value: number) => string])[] = [
    ['Samples per second, scheduled', above0(scheduled), rate],
    ['Samples per second, completed', isStream ? undefined : above0(completed), rate],
    ['Queries per second', scenario === 'SingleStream' ? above0(completed) : undefined, rate],
    ...SHOWN_PERCENTILES.map((name) => [`Latency ${name}`, figures[name], formatNs] as const),
    ['Latency max', figures.max, formatNs],
    ['Dispatch lag max', scenario === 'Server' ? figures.lag_max : undefined, formatNs],
    ['Queries', figures.queries, String],
    ['Lost samples', figures.lost, String],
  ];
  return rows.flatMap(([label, value, text]) =>
    value === undefined ? [] : [{ label, value: text(value) }],
  );
}

/** The rate if it is above 0: a run with one query has no duration for a rate. */
function above0(perSecond: number | undefined): number | undefined {
  return perSecond !== undefined && perSecond > 0 ? perSecond : undefined;
}
