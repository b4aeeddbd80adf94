import type { LogHistogram } from '../recorder/log-histogram.ts';
import type { RecordedTokens } from '../recorder/recording.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { keepsBounds } from '../settings/query-bounds.ts';
import { type EarlyStopping, earlyStoppingOf, NO_EARLY_STOPPING } from './early-stopping.ts';
import { type LatencyStatistics, latencyStatistics, percentileOf } from './latency-statistics.ts';
import type { Measurements } from './measurements.ts';

interface TokenInput {
  readonly measured: Measurements;
  readonly tokens: RecordedTokens;
  readonly settings: EffectiveSettings;
  readonly labelDecimals: 0 | 1;
  readonly queryCount: number;
  readonly meanLatencyNs: number;
  /** MultiStream: sorted query latencies, which its early stopping uses. */
  readonly queriesNs: Float64Array;
}

/** Results of a token model, and its sorted times. Pure. */
export function summarizeTokens(input: TokenInput) {
  const { measured, settings, meanLatencyNs } = input;
  const { tokenCount, gaps } = input.tokens;
  const sampleCount = measured.sampleLatenciesNs.length;
  const firstNs = input.tokens.firstTokenNs.slice().sort();
  const perTokenNs = input.tokens.perOutputTokenNs.slice().sort();
  const isOffline = settings.scenario === 'Offline';
  const targetFirstTokenNs = percentileOf(firstNs, settings.targetLatencyPercentile);
  const goodOfLanes = settings.scenario === 'Server' ? countGood(input) : null;
  const summary: TokenSummary = {
    tokenCount,
    firstToken: isOffline ? null : latencyStatistics(firstNs),
    perOutputToken: isOffline ? null : latencyStatistics(perTokenNs),
    targetFirstTokenNs,
    withOverhead: tokenCount / measured.finalQuery.issuedS,
    withoutOverhead: tokenCount / ((meanLatencyNs / 1e9) * sampleCount),
    perLatencyNs: tokenCount / (meanLatencyNs * sampleCount),
    completed: tokenCount / (isOffline ? measured.maxLatencyS : measured.finalQuery.allDoneS),
    good:
      goodOfLanes?.reduce((sum, one) => ({
        samples: sum.samples + one.samples,
        tokenCount: sum.tokenCount + one.tokenCount,
      })) ?? null,
    gaps: gaps && {
      histogram: gaps.histogram,
      longest: latencyStatistics(gaps.longestNs.slice().sort()),
      sampleCount: gaps.longestNs.length,
    },
    ...evaluateEarlyStopping(input, firstNs, perTokenNs),
  };
  return { summary, goodOfLanes, times: { ttft: firstNs, tpot: perTokenNs } };
}

/** Results of a token model. */
export interface TokenSummary extends TokenEarlyStopping {
  readonly tokenCount: number;
  /** Time to first token; null in Offline. */
  readonly firstToken: LatencyStatistics | null;
  /** Time per output token; null in Offline. */
  readonly perOutputToken: LatencyStatistics | null;
  /** Time to first token at the target percentile; 0 in Offline. */
  readonly targetFirstTokenNs: number;
  /** Tokens per second until the issue of the final query. */
  readonly withOverhead: number;
  /** Tokens per second of latency. */
  readonly withoutOverhead: number;
  /** Tokens per nanosecond of latency: LoadGen's unit in the detail log. */
  readonly perLatencyNs: number;
  /** Tokens per second: in Offline until the end, else until completion of the final query. */
  readonly completed: number;
  /** Server: samples that keep both token bounds; null elsewhere. Not a figure of LoadGen's. */
  readonly good: { readonly samples: number; readonly tokenCount: number } | null;
  /**
   * Times between tokens: all, and the longest of each sample; null if not measured. Not a figure
   * of LoadGen's.
   */
  readonly gaps: {
    readonly histogram: LogHistogram;
    readonly longest: LatencyStatistics;
    readonly sampleCount: number;
  } | null;
}

/** Samples that keep both bounds of their lane, and their tokens. */
function countGood({ measured, tokens, settings }: TokenInput) {
  const whole = { ...tokens, ttft: tokens.firstTokenNs, tpot: tokens.perOutputTokenNs };
  return settings.lanes.map(({ bounds }, lane) => {
    const good = { samples: 0, tokenCount: 0 };
    const times = measured.ofLanes?.[lane] ?? whole;
    times.ttft.forEach((ttft, i) => {
      const tpot = times.tpot[i] as number;
      if (!keepsBounds(bounds, { latency: Number.NaN, ttft, tpot })) return;
      good.samples += 1;
      good.tokenCount += times.counts[i] as number;
    });
    return good;
  });
}

/**
 * LoadGen's two passes, of which its logs show the first token only where the output tokens passed,
 * and both as one.
 */
/** Early stopping verdicts: per bound, and combined; the estimates are those of the first token. */
interface TokenEarlyStopping {
  readonly firstTokenEarlyStopping: EarlyStopping;
  readonly perOutputTokenEarlyStopping: EarlyStopping;
  readonly earlyStopping: EarlyStopping;
}

function evaluateEarlyStopping(
  input: TokenInput,
  firstNs: Float64Array,
  perTokenNs: Float64Array,
): TokenEarlyStopping {
  const { serverTtftLatencyNs, serverTpotLatencyNs } = input.settings;
  const perToken = earlyStoppingOf(input, perTokenNs, serverTpotLatencyNs, 'TPOT bound');
  const first = earlyStoppingOf(input, firstNs, serverTtftLatencyNs, 'TTFT bound');
  // The larger missing count decides.
  const deciding = perToken.missingQueries > first.missingQueries ? perToken : first;
  return {
    firstTokenEarlyStopping: perToken.isMet ? first : { ...NO_EARLY_STOPPING, isMet: false },
    perOutputTokenEarlyStopping: perToken,
    earlyStopping: { ...deciding, isMet: perToken.isMet && first.isMet },
  };
}
