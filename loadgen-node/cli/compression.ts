import { type Command, Option } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { DEFAULT_ROUND, ROUNDS } from '../../shared/rules/rounds/rounds.ts';
import { type CompressionRequest, compressionResult } from '../present/text/compression-table.ts';

const EXAMPLE = `
Examples:
  longhaul compression
  longhaul compression --round v6.1 --text

--compression and --response-compression of "longhaul run" are checked against this table; with
--division open they are not, and every log says so.`;

/** `longhaul compression`: what the rules of a round allow, and what this process can do. */
export function compressionCommand(): Command {
  const command = createCommand('compression', 'show what the rules allow to compress')
    .addOption(
      new Option('--round <round>', 'round whose rules hold')
        .choices(ROUNDS)
        .default(DEFAULT_ROUND),
    )
    .option('--text', "the rules' own words below the table")
    .addHelpText('after', EXAMPLE);
  return addJson(command).action(() => {
    writeResult(command, compressionResult(command.opts<CompressionRequest>()));
  });
}
