import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { type ComplianceRun, numberOf, sampleCountOf } from './read-compliance-run.ts';

/** Two-sided 95 % of a normal distribution. */
const Z_95 = 1.959964;

/** How the test's rate relates to the submission run's. */
export interface RateStatistic {
  /** Test run / submission run. */
  readonly ratio: number;
  /** Bounds between which the ratio lies by chance in 95 of 100 cases, if samples completed independently. */
  readonly low: number;
  readonly high: number;
}

/**
 * Ratio of two rates with its interval by Poisson counting: n samples vary by √n, so the logarithm of the ratio by
 * √(1/n₁ + 1/n₂). It tells what counting alone can do; drift of the machines comes on top.
 * @returns undefined where a count or a rate is missing or 0.
 */
export function rateStatistic(
  reference: { readonly rate: number; readonly samples: number },
  tested: { readonly rate: number; readonly samples: number },
): RateStatistic | undefined {
  if (reference.rate <= 0 || reference.samples <= 0 || tested.samples <= 0) return undefined;
  const ratio = tested.rate / reference.rate;
  const spread = Math.exp(Z_95 * Math.sqrt(1 / reference.samples + 1 / tested.samples));
  return { ratio, low: ratio / spread, high: ratio * spread };
}

/** The rates with one sample and with samples as they come, with their statistic, for people; undefined in scenarios scored by latency. */
export function ratesInWords(reference: ComplianceRun, tested: ComplianceRun): string | undefined {
  const [a, b] = [countsOf(reference), countsOf(tested)];
  const statistic = a && b ? rateStatistic(a, b) : undefined;
  if (a === undefined || b === undefined || statistic === undefined) return undefined;
  const { ratio, low, high } = statistic;
  const meaning =
    low > 1
      ? 'faster than chance explains'
      : high < 1
        ? 'slower than chance explains'
        : 'no difference that chance does not explain';
  return (
    `the same sample against samples as they come: ${b.rate.toFixed(2)} against ${a.rate.toFixed(2)} samples/s, ratio ${ratio.toFixed(4)} ` +
    `(95 % interval by Poisson counting of ${b.samples} and ${a.samples} samples: ${low.toFixed(4)} to ${high.toFixed(4)}: ${meaning}; drift of the machines is not in it)${SCENARIO_NOTE[reference.scenario] ?? ''}`
  );
}

const SCENARIO_NOTE: Partial<Readonly<Record<Scenario, string>>> = {
  Server: '; in Server the arrivals decide both rates, so that latencies say more',
};

function countsOf(run: ComplianceRun): { rate: number; samples: number } | undefined {
  const rate =
    numberOf(run, 'result_samples_per_second') ?? numberOf(run, 'result_completed_samples_per_sec');
  const samples = sampleCountOf(run);
  return rate === undefined || samples === undefined ? undefined : { rate, samples };
}
