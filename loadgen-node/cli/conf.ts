import { type Command, Option } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import {
  DEFAULT_ROUND,
  mlperfConfOf,
  ROUNDS,
  type Round,
} from '../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../loadgen/settings/conf-grammar.ts';

const EXAMPLE = `
Example:
  longhaul conf --round v4.1 > mlperf.conf`;

/** `longhaul conf`: writes a round's mlperf.conf. */
export function confCommand(): Command {
  const command = createCommand('conf', "write a round's mlperf.conf to stdout")
    .addOption(new Option('--round <round>', 'the round').choices(ROUNDS).default(DEFAULT_ROUND))
    .addHelpText('after', EXAMPLE);
  return addJson(command).action(() => {
    const { round } = command.opts<{ round: Round }>();
    const text = mlperfConfOf(round);
    const entries = [...parseConf(text).entries];
    const lines = entries.map(([key, { text: value, line }]) => ({ key, value, line }));
    writeResult(command, { text, json: { round, lines } });
  });
}
