import type { VerbResult } from '../../../shared/base/process/json-output.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import type { RunHost } from '../../run/host/host.ts';
import { renewCheckerLogs } from '../check/checker-log.ts';
import { roundOfTree } from '../check/detect-round.ts';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { restoreTree } from './restore-tree.ts';
import { type TruncatedLog, type Truncation, truncateTree } from './truncate-tree.ts';

/** What is to be done with a tree's accuracy logs. */
interface TruncateValues {
  /** Undefined: the round whose seeds the logs have. */
  readonly round: SubmissionRound | undefined;
  /** Folder for the originals. */
  readonly backup: string;
  /** True: the originals are put back. */
  readonly restore: boolean;
}

/** What came of it; `isDone` is false where something is wrong with a log and nothing was changed. */
interface TruncatedOrNot extends VerbResult {
  readonly isDone: boolean;
}

/**
 * Truncates the accuracy logs of a tree, or puts the originals back, and writes the self-check's text anew where that changed
 * something.
 * @throws MlperfError `ERR_CONFIG_FILE` where there is no tree, `ERR_CONFIG_INVALID` for one of another round, `ERR_OUTPUT`
 */
export async function truncateChecked(
  tree: string,
  values: TruncateValues,
  host: Pick<RunHost, 'report' | 'progress'>,
): Promise<TruncatedOrNot> {
  const { backup, restore: isRestored } = values;
  const round = await roundOfTree(tree, values.round);
  const truncation: Truncation = {
    ...{ tree, round, backup },
    onProgress: (fraction, what) => host.progress?.(what, percentOf(fraction)),
  };
  const { logs, done, hasChanged, problems } = isRestored
    ? await restore(truncation)
    : await truncate(truncation);
  if (hasChanged) {
    host.progress?.('checking the tree');
    await renewCheckerLogs(tree, round);
  }
  host.progress?.(null);
  for (const problem of problems) host.report(problem);
  if (problems.length > 0) host.report('Nothing was changed.');
  return {
    isDone: problems.length === 0,
    text: done.map((line) => `${line}\n`).join(''),
    json: { tree, round, backup, isRestored, hasChanged, logs, problems },
  };
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
