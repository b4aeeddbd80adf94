import type { Command } from 'commander';
import { VERB_NAMES, verbCommand } from '../../../loadgen-node/cli/verbs.ts';

/** The command that the words end in: a verb, or one of its own verbs. */
function innermost(command: Command, words: readonly string[]): Command {
  const next = command.commands.find((one) => words.includes(one.name()));
  return next === undefined ? command : innermost(next, words);
}

const commands = new Map<string, Command>();

/** Flags of a command line that its verb does not have; of a verb that there is not, the verb. */
export async function unknownFlags(words: readonly string[]): Promise<string[]> {
  const verb = VERB_NAMES.find((name) => name === words[0]);
  if (verb === undefined) return words.slice(0, 1);
  const known = commands.get(verb) ?? (await verbCommand(verb, () => {}));
  commands.set(verb, known);
  const end = words.indexOf('--');
  const flags = (end < 0 ? words : words.slice(0, end))
    .filter((word) => word.startsWith('--'))
    .map((word) => word.replace(/=.*$/, ''));
  const { options } = innermost(known, words.slice(1));
  return flags.filter((flag) => flag !== '--help' && !options.some(({ long }) => long === flag));
}
