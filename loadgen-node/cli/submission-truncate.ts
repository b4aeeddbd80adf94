import { choice, text, toggle } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { NOT_KNOWN, SUBMISSION_ROUNDS } from '../submission/rules/submission-rounds.ts';
import { truncateChecked } from '../submission/truncate/truncate-tree.ts';
import { verb } from './verb.ts';

/** `longhaul submission truncate`. */
export const truncateVerb = verb({
  takes: { '<tree>': 'root of the tree: the folder with closed/, network/, open/' },
  settings: {
    round: choice(
      SUBMISSION_ROUNDS,
      'round of the tree: where its logs lie (default: the one whose seeds the logs have)',
      { hints: NOT_KNOWN },
    ),
    backup: text('folder', 'folder for the originals, outside of the tree; keep it in house', {
      required: true,
    }),
    restore: toggle('put the originals back'),
  },
  example: `
Example:
  longhaul submission truncate tree --backup originals

The hash of each whole log goes to the accuracy.txt beside it; a log of 4096 bytes or more keeps its
first and its last 4096 bytes. Logs are changed only after every log was read to its end and every
original is in the backup folder, with SHA256SUMS. A second run has no effect; one after an
interruption goes on. compliance_checker_log.txt is written anew.

Exit codes: 0 done (or already done), 3 a log has errors and no log was changed,
2 wrong flag, no tree or one of another round, 6 a file cannot be read or written.`,
  action: async ({ values }, tree: string) => {
    const { isDone, ...result } = await truncateChecked(tree, values, new CommandHost());
    return { ...result, isGood: isDone };
  },
});
