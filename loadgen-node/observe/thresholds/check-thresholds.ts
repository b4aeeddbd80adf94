import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import type { FigureName } from '../figures/figure-names.ts';
import type { Threshold } from './condition.ts';

const SERVER_ONLY: readonly FigureName[] = ['scheduled_qps', 'overlatency'];

/** 0 in SingleStream: such a threshold would always be met, or never. */
const LAG_FIGURES: readonly FigureName[] = ['lag_p50', 'lag_p99', 'lag_max'];

const TOKEN_FIGURES: readonly FigureName[] = [
  'ttft_p50',
  'ttft_p99',
  'tpot_p50',
  'tpot_p99',
  'tokens_per_second',
];

/** Offline asks for no first token. */
const TIMED_TOKEN_FIGURES: readonly FigureName[] = TOKEN_FIGURES.filter(
  (figure) => figure !== 'tokens_per_second',
);

/**
 * Refuses thresholds on figures that a run with these settings cannot have, before minutes go into it.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the first of them, and why.
 */
export function checkThresholds(thresholds: readonly Threshold[], settings: TestSettings): void {
  for (const { text, figure } of thresholds) {
    const why = whyAbsent(figure, settings);
    if (why === undefined) continue;
    throw new MlperfError('ERR_CONFIG_INVALID', `--threshold "${text}": ${why}`);
  }
}

function whyAbsent(figure: FigureName, settings: TestSettings): string | undefined {
  const { mode, scenario, useTokenLatencies } = settings;
  if (mode === 'AccuracyOnly') return 'a run of mode accuracy has no figures of performance';
  if (scenario !== 'Server' && SERVER_ONLY.includes(figure)) {
    return `${figure} is a figure of scenario Server, and this run is ${scenario}`;
  }
  if (scenario === 'SingleStream' && LAG_FIGURES.includes(figure)) {
    return `${figure} is always 0 in ${scenario}, where a query is due when it is issued`;
  }
  if (!useTokenLatencies && TOKEN_FIGURES.includes(figure)) {
    return `${figure} needs token latencies, which the settings of this run do not measure (use_token_latencies)`;
  }
  if (scenario === 'Offline' && TIMED_TOKEN_FIGURES.includes(figure)) {
    return `${figure} needs the time of the first token, which Offline does not ask for`;
  }
  return undefined;
}
