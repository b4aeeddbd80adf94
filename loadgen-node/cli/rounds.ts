import { choice, toggle } from '../../shared/config/setting.ts';
import {
  DEFAULT_ROUND,
  KNOWN_ROUNDS,
  mlperfConfOf,
  ONLY_JUDGED,
  ROUNDS,
} from '../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../loadgen/settings/conf-grammar.ts';
import { compressionResult } from '../present/text/compression-table.ts';
import { verb } from './verb.ts';

/** `longhaul loadgen conf`: writes a round's mlperf.conf. */
export const confVerb = verb({
  settings: { round: choice(KNOWN_ROUNDS, 'the round', { fallback: DEFAULT_ROUND }) },
  example: `
Example:
  longhaul loadgen conf --round v4.1 > mlperf.conf`,
  action: ({ values: { round } }) => {
    const text = mlperfConfOf(round);
    const entries = [...parseConf(text).entries];
    const lines = entries.map(([key, { text: value, line }]) => ({ key, value, line }));
    return { text, json: { round, lines } };
  },
});

/**
 * `longhaul loadgen compression`: what the rules of a round allow, and what this process can do.
 */
export const compressionVerb = verb({
  settings: {
    round: choice(ROUNDS, 'round whose rules hold', {
      fallback: DEFAULT_ROUND,
      hints: ONLY_JUDGED,
    }),
    text: toggle("the rules' own words below the table"),
  },
  example: `
Example:
  longhaul loadgen compression --round v6.1 --text

--compression and --response-compression of "longhaul run" are checked against this table; with
--division open they are not, and every log says so.`,
  action: ({ values }) => compressionResult(values),
});
