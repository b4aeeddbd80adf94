import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { choice, optional, type Setting, text, toggle } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { renewCheckerLogs } from '../submission/check/checker-log.ts';
import { roundOfTree } from '../submission/check/detect-round.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../submission/rules/submission-rounds.ts';
import { restoreTree } from '../submission/truncate/restore-tree.ts';
import {
  type TruncatedLog,
  type Truncation,
  truncateTree,
} from '../submission/truncate/truncate-tree.ts';

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
SHA256SUMS. A second run changes nothing; one after an host goes on. compliance_checker_log.txt is written anew.

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
      const host = new CommandHost();
      const { backup } = values;
      const round = await roundOfTree(tree, values.round);
      const truncation: Truncation = {
        ...{ tree, round, backup },
        onProgress: (fraction, what) => host.progress(what, percentOf(fraction)),
      };
      const lines = values.restore ? await restore(truncation) : await truncate(truncation);
      if (lines.hasChanged) {
        host.progress('checking the tree');
        await renewCheckerLogs(tree, round);
      }
      host.progress(null);
      for (const problem of lines.problems) host.report(problem);
      if (lines.problems.length > 0) host.report('Nothing was changed.');
      const { logs, problems, hasChanged } = lines;
      writeResult(command, {
        text: lines.done.map((line) => `${line}\n`).join(''),
        json: { tree, round, backup, isRestored: values.restore, hasChanged, logs, problems },
      });
      setExitCode(lines.problems.length === 0 ? EXIT.valid : EXIT.invalid);
    });
}

interface Lines {
  readonly logs: readonly object[];
  readonly done: readonly string[];
  readonly hasChanged: boolean;
  readonly problems: readonly string[];
}

async function truncate(truncation: Truncation): Promise<Lines> {
  const { logs, problems } = await truncateTree(truncation);
  if (problems.length > 0) return { logs: [], done: [], hasChanged: false, problems };
  const countOf = (outcome: TruncatedLog['outcome']): number =>
    logs.filter((log) => log.outcome === outcome).length;
  const changed = countOf('cut') + countOf('whole');
  const summary =
    logs.length === 0
      ? `${truncation.tree} has no accuracy log: nothing to truncate`
      : changed === 0
        ? `Accuracy logs: all ${logs.length} were truncated before: nothing was changed`
        : `Accuracy logs: ${countOf('cut')} cut, ${countOf('whole')} left whole, ${countOf('done')} done before; ` +
          `the originals are in ${truncation.backup}: keep them in house`;
  return { logs, done: [...logs.map(lineOf), summary], hasChanged: changed > 0, problems };
}

function lineOf({ log, outcome, bytes, sha256 }: TruncatedLog): string {
  const what = {
    cut: `${bytes} bytes, cut`,
    whole: `${bytes} bytes, left whole`,
    done: 'done before',
  }[outcome];
  return `${log}: ${what}, hash ${sha256}`;
}

async function restore(truncation: Truncation): Promise<Lines> {
  const { logs, problems } = await restoreTree(truncation);
  if (problems.length > 0) return { logs: [], done: [], hasChanged: false, problems };
  const summary =
    logs.length === 0
      ? `No accuracy log of ${truncation.tree} is truncated: nothing was changed`
      : `Accuracy logs: ${logs.length} are whole again`;
  const done = [...logs.map((log) => `${log}: the original is back`), summary];
  const restored = logs.map((log) => ({ log, outcome: 'restored' }));
  return { logs: restored, done, hasChanged: logs.length > 0, problems };
}
