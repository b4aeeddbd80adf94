import type { VerbResult } from '../../../shared/config/command-line.ts';
import { progressOf, type RunHost } from '../../run/host/host.ts';
import { roundOfTree } from '../check/check-tree.ts';
import { renewCheckerLogs } from '../check/checker-log.ts';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { restoreTree } from './restore-tree.ts';
import { type TruncatedLog, type Truncation, truncateTree } from './truncate-tree.ts';

/** Flags of `longhaul submission truncate`. */
interface TruncateValues {
  /** Undefined: the round whose seeds the logs have. */
  readonly round: SubmissionRound | undefined;
  /** Folder for the originals. */
  readonly backup: string;
  /** True: the originals are put back. */
  readonly restore: boolean;
}

/**
 * Truncates the accuracy logs of a tree, or puts the originals back, and writes the self-check's text anew where that changed
 * something.
 * @returns `isDone` is false where something is wrong with a log, and nothing was changed.
 * @throws MlperfError `ERR_CONFIG_FILE` where there is no tree, `ERR_CONFIG_INVALID` for one of another round, `ERR_OUTPUT`
 */
export async function truncateChecked(
  tree: string,
  values: TruncateValues,
  host: Pick<RunHost, 'report' | 'progress'>,
): Promise<VerbResult & { readonly isDone: boolean }> {
  const { backup, restore: isRestored } = values;
  const round = await roundOfTree(tree, values.round);
  const truncation: Truncation = {
    ...{ tree, round, backup },
    onProgress: progressOf(host),
  };
  const changes = await (isRestored ? restore : truncate)(truncation);
  const { logs, hasChanged, problems } = changes;
  const summary = problems.length > 0 ? [] : [changes.summary];
  if (hasChanged) {
    host.progress?.('checking the tree');
    await renewCheckerLogs(tree, round);
  }
  host.progress?.(null);
  for (const problem of problems) host.report(problem);
  if (problems.length > 0) host.report('Nothing was changed.');
  return {
    isDone: problems.length === 0,
    text: [...logs.map(lineOf), ...summary].map((line) => `${line}\n`).join(''),
    json: { tree, round, backup, isRestored, hasChanged, logs, problems },
  };
}

/** A log that was truncated or, with the name alone, restored. */
type ChangedLog = TruncatedLog | { readonly log: string; readonly outcome: 'restored' };

async function truncate(truncation: Truncation) {
  const { logs, problems } = await truncateTree(truncation);
  const countOf = (outcome: TruncatedLog['outcome']): number =>
    logs.filter((log) => log.outcome === outcome).length;
  const hasChanged = countOf('done') < logs.length;
  const counts = `${countOf('cut')} cut, ${countOf('whole')} left whole, ${countOf('done')} done before`;
  const summary =
    logs.length === 0
      ? `${truncation.tree} has no accuracy log: nothing to truncate`
      : hasChanged
        ? `Accuracy logs: ${counts}; the originals are in ${truncation.backup}: keep them in house`
        : `Accuracy logs: all ${logs.length} were truncated before: nothing was changed`;
  return { logs, summary, hasChanged, problems };
}

async function restore(truncation: Truncation) {
  const { logs, problems } = await restoreTree(truncation);
  const summary =
    logs.length === 0
      ? `No accuracy log of ${truncation.tree} is truncated: nothing was changed`
      : `Accuracy logs: ${logs.length} are whole again`;
  const restored = logs.map((log) => ({ log, outcome: 'restored' as const }));
  return { logs: restored, summary, hasChanged: logs.length > 0, problems };
}

function lineOf(changed: ChangedLog): string {
  const { log, outcome } = changed;
  if (outcome === 'restored') return `${log}: the original is back`;
  const { bytes, sha256 } = changed;
  const what = {
    cut: `${bytes} bytes, cut`,
    whole: `${bytes} bytes, left whole`,
    done: 'done before',
  };
  return `${log}: ${what[outcome]}, hash ${sha256}`;
}
