import { Option } from 'commander';
import {
  DEFAULT_ROUND,
  mlperfConfOf,
  ROUNDS,
  type Round,
} from '../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../loadgen/settings/conf-grammar.ts';
import { type CompressionRequest, compressionResult } from '../present/text/compression-table.ts';
import { verb } from './verb.ts';

function roundOption(about: string): Option {
  return new Option('--round <round>', about).choices(ROUNDS).default(DEFAULT_ROUND);
}

/** `longhaul conf`: writes a round's mlperf.conf. */
export const confVerb = verb({
  flags: (command) => command.addOption(roundOption('the round')),
  example: `
Example:
  longhaul conf --round v4.1 > mlperf.conf`,
  action: ({ command }) => {
    const { round } = command.opts<{ round: Round }>();
    const text = mlperfConfOf(round);
    const entries = [...parseConf(text).entries];
    const lines = entries.map(([key, { text: value, line }]) => ({ key, value, line }));
    return { text, json: { round, lines } };
  },
});

/** `longhaul compression`: what the rules of a round allow, and what this process can do. */
export const compressionVerb = verb({
  flags: (command) =>
    command
      .addOption(roundOption('round whose rules hold'))
      .option('--text', "the rules' own words below the table"),
  example: `
Examples:
  longhaul compression
  longhaul compression --round v6.1 --text

--compression and --response-compression of "longhaul run" are checked against this table; with
--division open they are not, and every log says so.`,
  action: ({ command }) => compressionResult(command.opts<CompressionRequest>()),
});
