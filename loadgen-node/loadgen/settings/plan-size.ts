import type { LibraryCounts } from './effective-settings.ts';
import type { TestSettings } from './test-settings.ts';

/** Most samples of one plan: 4 bytes each there, up to 17 in the recorder. */
export const PLAN_SAMPLES_MAX: number = 2 ** 28;

/** Most samples of a library: a run shuffles all of them before it begins. */
const LIBRARY_SAMPLES_MAX: number = PLAN_SAMPLES_MAX;

/** Longest plan: doubles hold every whole ns up to here, 104 days. */
const PLAN_NS_MAX: number = Number.MAX_SAFE_INTEGER;

/** Number of samples required by the settings, and what would lower it. */
interface Demand {
  readonly samples: number;
  /** The settings and their values, by LoadGen's names and those of `run`. */
  readonly asked: readonly string[];
  readonly remedy: string;
}

/**
 * Checks before planning whether the settings require more than a plan can hold. @returns At most
 * one problem.
 */
export function planSizeProblems(settings: TestSettings): string[] {
  const [largest] = demandsOf(settings).sort((a, b) => b.samples - a.samples);
  if (largest === undefined || !(largest.samples > PLAN_SAMPLES_MAX))
    return lengthProblems(settings);
  const { samples, asked, remedy } = largest;
  return [
    `${asked.join(' and ')} ${asked.length > 1 ? 'ask' : 'asks'} for ${Math.round(samples)} samples in one run; ` +
      `${PLAN_SAMPLES_MAX} are the most: ${remedy}`,
  ];
}

/**
 * Problem of a rate at which the minimum query count (in a closed loop, one query) takes longer
 * than a run can.
 */
function lengthProblems(settings: TestSettings): string[] {
  const { scenario, mode, minQueryCount } = settings;
  if (scenario === 'Offline' || mode === 'AccuracyOnly') return [];
  const { queriesPerSecond, asked, faster } = rateOf(settings);
  const isServer = scenario === 'Server';
  const intervals = isServer ? minQueryCount - 1 : 2;
  const lengthNs = (intervals / queriesPerSecond) * 1e9;
  // A rate of 0, or NaN, has its own error.
  if (!(queriesPerSecond >= 0 && lengthNs > PLAN_NS_MAX) || (isServer && queriesPerSecond === 0))
    return [];
  const count = isServer
    ? ` and min_query_count ${minQueryCount} (--min-query-count) ask`
    : ' asks';
  const fewer = isServer ? ', or lower min_query_count' : '';
  return [`${asked}${count} for a run of more than 104 days, the most: ${faster}${fewer}`];
}

/** Checks whether a library is too large to draw from. @returns At most one problem. */
export function librarySizeProblems({ totalSampleCount }: LibraryCounts): string[] {
  if (!(totalSampleCount > LIBRARY_SAMPLES_MAX)) return [];
  return [
    `the sample library has ${totalSampleCount} samples (--qsl-total of a trace); ` +
      `${LIBRARY_SAMPLES_MAX} are the most`,
  ];
}

function demandsOf(settings: TestSettings): Demand[] {
  const { minQueryCount, minDurationMs } = settings;
  const isMulti = settings.scenario === 'MultiStream';
  const perQuery = isMulti ? settings.multiStreamSamplesPerQuery : 1;
  const size = isMulti ? [`multi_stream_samples_per_query ${perQuery}`] : [];
  const sizeRemedy = isMulti ? ' or multi_stream_samples_per_query' : '';
  const one = { samples: perQuery, asked: size, remedy: 'lower multi_stream_samples_per_query' };
  // Every sample once: the library size decides.
  if (settings.mode === 'AccuracyOnly' || settings.performanceIssueUnique) return [one];
  const least = {
    samples: minQueryCount * perQuery,
    asked: [`min_query_count ${minQueryCount} (--min-query-count)`, ...size],
    remedy: `lower min_query_count${sizeRemedy}`,
  };
  const rate = rateOf(settings);
  const queries = (rate.queriesPerSecond * minDurationMs) / 1000;
  // A rate that is not finite has its own error.
  if (!Number.isFinite(queries)) return [least];
  const timed = {
    samples: queries * perQuery,
    asked: [rate.asked, `min_duration_ms ${minDurationMs} (--min-duration)`, ...size],
    remedy: `${rate.remedy}, or lower min_duration_ms${sizeRemedy}`,
  };
  return [least, timed];
}

/** Queries per second for the plan; a closed loop may be twice as fast as expected. */
function rateOf(settings: TestSettings): {
  readonly queriesPerSecond: number;
  readonly asked: string;
  readonly remedy: string;
  /** Opposite of `remedy`: what makes a run shorter. */
  readonly faster: string;
} {
  const open = (name: string, qps: number, factor: number): ReturnType<typeof rateOf> => ({
    queriesPerSecond: factor * qps,
    asked: `${name} ${qps} (--target-qps)`,
    remedy: `lower ${name}`,
    faster: `raise ${name}`,
  });
  const closed = (name: string, latencyNs: number): ReturnType<typeof rateOf> => ({
    queriesPerSecond: 2e9 / latencyNs,
    asked: `${name} ${latencyNs} (--target-qps)`,
    remedy: `raise ${name}`,
    faster: `lower ${name}`,
  });
  switch (settings.scenario) {
    case 'Server':
      return open('server_target_qps', settings.serverTargetQps, 1);
    case 'Offline':
      return open('offline_expected_qps', settings.offlineExpectedQps, 1.1);
    case 'SingleStream':
      return closed('single_stream_expected_latency_ns', settings.singleStreamExpectedLatencyNs);
    case 'MultiStream':
      return closed('multi_stream_expected_latency_ns', settings.multiStreamExpectedLatencyNs);
  }
}
