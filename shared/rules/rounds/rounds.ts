import { MLPERF_CONF_V05 } from './v0-5.ts';
import { MLPERF_CONF_V41 } from './v4-1.ts';
import { MLPERF_CONF_V50 } from './v5-0.ts';
import { MLPERF_CONF_V51 } from './v5-1.ts';
import { MLPERF_CONF_V60 } from './v6-0.ts';
import { MLPERF_CONF_V61 } from './v6-1.ts';

/** Rounds whose values this project holds, the oldest first. */
export const ROUNDS = ['v0.5', 'v4.1', 'v5.0', 'v5.1', 'v6.0', 'v6.1'] as const;

/** One of {@link ROUNDS}. */
export type Round = (typeof ROUNDS)[number];

/** The round whose rules bind where nothing else is said. */
export const DEFAULT_ROUND: Round = 'v4.1';

const VALUES: Readonly<Record<Round, string>> = {
  'v0.5': MLPERF_CONF_V05,
  'v4.1': MLPERF_CONF_V41,
  'v5.0': MLPERF_CONF_V50,
  'v5.1': MLPERF_CONF_V51,
  'v6.0': MLPERF_CONF_V60,
  'v6.1': MLPERF_CONF_V61,
};

/**
 * The round's mlperf.conf: seeds, seeds of TEST05, and per benchmark the sample counts, bounds and
 * percentiles. Text, so that 64-bit seeds stay what they are; line numbers in messages count in it.
 */
export function mlperfConfOf(round: Round): string {
  return (
    `# mlperf.conf of MLPerf Inference ${round}: its keys and values, written by longhaul.\n` +
    '# The key has the form model.scenario.key; "*" stands for every model or scenario.\n' +
    '# Times are in ms, percentiles in percent.\n' +
    VALUES[round]
  );
}
