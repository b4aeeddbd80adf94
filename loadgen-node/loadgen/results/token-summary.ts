import { formatExactNs } from '../../../shared/base/text.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { RecordedTokens } from '../recorder/recording.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { type EarlyStopping, earlyStoppingOf, NO_EARLY_STOPPING } from './early-stopping.ts';
import { type LatencyStatistics, latencyStatistics, percentileOf } from './latency-statistics.ts';

/** Results of a token model. */
export interface TokenSummary {
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
  /** Tokens per second: Offline until the end, else until the final query was done. */
  readonly completed: number;
  readonly firstTokenEarlyStopping: EarlyStopping;
  readonly perOutputTokenEarlyStopping: EarlyStopping;
}

/** What {@link summarizeTokens} depends on. */
interface TokenInput {
  readonly tokens: RecordedTokens;
  readonly settings: EffectiveSettings;
  readonly labelDecimals: 0 | 1;
  readonly queryCount: number;
  readonly sampleCount: number;
  readonly meanLatencyNs: number;
  readonly maxLatencyS: number;
  readonly finalIssuedS: number;
  readonly finalDoneS: number;
  /** MultiStream: sorted latencies of the queries, which its early stopping takes. */
  readonly queriesNs: Float64Array;
}

/** Results of a token model, and what its bounds say (Server; always met elsewhere). Pure. */
export function summarizeTokens(input: TokenInput): {
  readonly summary: TokenSummary;
  readonly bounds: ValidityItem;
} {
  const { settings, sampleCount, meanLatencyNs } = input;
  const { tokenCount } = input.tokens;
  const firstNs = input.tokens.firstTokenNs.slice().sort();
  const perTokenNs = input.tokens.perOutputTokenNs.slice().sort();
  const isOffline = settings.scenario === 'Offline';
  const targetFirstTokenNs = percentileOf(firstNs, settings.targetLatencyPercentile);
  const targetPerTokenNs = percentileOf(perTokenNs, settings.targetLatencyPercentile);
  const stopping = evaluateEarlyStopping(input, firstNs, perTokenNs);
  const summary: TokenSummary = {
    tokenCount,
    firstToken: isOffline ? null : latencyStatistics(firstNs),
    perOutputToken: isOffline ? null : latencyStatistics(perTokenNs),
    targetFirstTokenNs,
    withOverhead: tokenCount / input.finalIssuedS,
    withoutOverhead: tokenCount / ((meanLatencyNs / 1e9) * sampleCount),
    perLatencyNs: tokenCount / (meanLatencyNs * sampleCount),
    completed: tokenCount / (isOffline ? input.maxLatencyS : input.finalDoneS),
    firstTokenEarlyStopping: stopping.firstToken,
    perOutputTokenEarlyStopping: stopping.perOutputToken,
  };
  return { summary, bounds: evaluateBounds(settings, targetFirstTokenNs, targetPerTokenNs) };
}

/** LoadGen's two passes: the first token is only looked at where the output tokens passed. */
function evaluateEarlyStopping(
  input: TokenInput,
  firstNs: Float64Array,
  perTokenNs: Float64Array,
): { firstToken: EarlyStopping; perOutputToken: EarlyStopping } {
  const { serverTtftLatencyNs, serverTpotLatencyNs } = input.settings;
  const perOutputToken = earlyStoppingOf(input, perTokenNs, serverTpotLatencyNs);
  const firstToken = perOutputToken.isMet
    ? earlyStoppingOf(input, firstNs, serverTtftLatencyNs)
    : { ...NO_EARLY_STOPPING, isMet: false };
  return { firstToken, perOutputToken };
}

/** Early stopping of both passes as one. The estimates are those of the first token. */
export function joinEarlyStopping({
  firstTokenEarlyStopping: first,
  perOutputTokenEarlyStopping: perToken,
}: TokenSummary): EarlyStopping {
  const isMet = perToken.isMet && first.isMet;
  const deciding = perToken.isMet ? first : perToken;
  return { ...deciding, isMet };
}

function evaluateBounds(
  settings: EffectiveSettings,
  firstNs: number,
  perTokenNs: number,
): ValidityItem {
  if (settings.scenario !== 'Server') {
    return ALWAYS_MET;
  }
  const { serverTtftLatencyNs, serverTpotLatencyNs } = settings;
  const advice: string[] = [];
  if (firstNs > serverTtftLatencyNs) advice.push(adviceFor('TTFT'));
  if (perTokenNs > serverTpotLatencyNs) advice.push(adviceFor('TPOT'));
  const label = percentileLabel(settings.targetLatencyPercentile, 2);
  return {
    isMet: advice.length === 0,
    needed:
      `${label}th percentile of ${formatExactNs(serverTtftLatencyNs)} or less to the first token and ` +
      `${formatExactNs(serverTpotLatencyNs)} or less per output token`,
    seen: `${formatExactNs(firstNs)} and ${formatExactNs(perTokenNs)}`,
    recommendation: advice.join('\n * '),
  };
}

function adviceFor(what: 'TTFT' | 'TPOT'): string {
  return `${what} constrain not met: Reduce target QPS to improve latency.`;
}

/** One of LoadGen's validity rules: met or not, with what it asks for and what it saw. */
export interface ValidityItem {
  readonly isMet: boolean;
  /** For people, with the unit. */
  readonly needed: string;
  /** For people, with the unit. */
  readonly seen: string;
  /** LoadGen's advice in the summary; empty when met. */
  readonly recommendation: string;
}

/** What a rule says where it asks for nothing. */
export const ALWAYS_MET: ValidityItem = { isMet: true, needed: '', seen: '', recommendation: '' };
