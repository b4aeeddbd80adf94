import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { choice, optional, type Setting, text, toggle } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../submission/rules/submission-rounds.ts';
import { truncateChecked } from '../submission/truncate/truncate-checked.ts';

const TRUNCATE_SETTINGS: {
  readonly round: Setting<SubmissionRound | undefined>;
  readonly backup: Setting<string>;
  readonly restore: Setting<boolean>;
} = {
  round: optional(
    choice(
      SUBMISSION_ROUNDS,
      'round of the tree: where its logs lie (default: the one whose seeds the logs have)',
    ),
  ),
  backup: text('folder', 'folder for the originals, outside of the tree; keep it in house', {
    required: true,
  }),
  restore: toggle('put the originals back'),
};

const EXAMPLE = `
Example:
  longhaul submission truncate tree --backup originals

The hash of each whole log goes to the accuracy.txt beside it; a log of 4096 bytes or more keeps its first and its last
4096 bytes. Nothing is changed before every log was read to its end and every original is in the backup folder, with
SHA256SUMS. A second run changes nothing; one after an interruption goes on. compliance_checker_log.txt is written anew.

Exit codes: 0 done (or nothing to do), 3 something is wrong with a log and nothing was changed, 2 wrong flag, no tree or
one of another round, 6 a file cannot be read or written.`;

/** `longhaul submission truncate`. */
export function submissionTruncateCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    'truncate',
    'cut the accuracy logs of a tree as the rules want, and keep the originals',
  ).argument('<tree>', 'root of the tree: the folder with closed/, network/, open/');
  return addJson(addFlags(command, TRUNCATE_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (tree: string) => {
      const { values } = settingsOf(command, undefined, TRUNCATE_SETTINGS);
      const { isDone, ...result } = await truncateChecked(tree, values, new CommandHost());
      writeResult(command, result);
      setExitCode(isDone ? EXIT.valid : EXIT.invalid);
    });
}
