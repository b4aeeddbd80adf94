import { posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { DEFAULT_ROUND } from '../../../shared/rules/rounds/rounds.ts';
import type { ReadDetailLog } from '../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { SEED_NAMES, seedsOfRound } from '../rules/round-seeds.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../rules/submission-rounds.ts';
import { DetailLogs } from './read/run-log.ts';
import { TreeListing } from './read/tree-listing.ts';
import type { CheckReport } from './report/check-report.ts';

/** Detail log of a result's performance run, in every layout. */
const PERFORMANCE_LOG = /\/results\/[^/]+\/[^/]+\/[^/]+\/performance\/run_1$/;

/**
 * The round of a tree: the one whose seeds its performance logs have.
 * @throws MlperfError `ERR_CONFIG_INVALID` when the logs are of several rounds.
 */
export async function detectRound(
  listing: TreeListing,
  logs: DetailLogs,
): Promise<Pick<CheckReport, 'round' | 'roundFrom'>> {
  const found = await roundsOfLogs(listing, logs);
  const [only, ...others] = found.keys();
  if (only === undefined) {
    return { round: DEFAULT_ROUND as SubmissionRound, roundFrom: 'default' };
  }
  if (others.length === 0) return { round: only, roundFrom: 'seeds of the logs' };
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the tree has results of several rounds: ${wordsOf(found)}; a submission is of one round, say which with --round`,
  );
}

/**
 * The round of a tree that is about to be changed: nothing may be changed by the rules of another one.
 * @param said Undefined: the round is that of the logs.
 * @throws MlperfError `ERR_CONFIG_INVALID` when no log is of the round that was said, or they are of several rounds;
 *   `ERR_CONFIG_FILE` when there is no such folder.
 */
export async function roundOfTree(
  tree: string,
  said: SubmissionRound | undefined,
): Promise<SubmissionRound> {
  const listing = TreeListing.of(tree);
  const logs = new DetailLogs(listing);
  if (said === undefined) return (await detectRound(listing, logs)).round;
  const found = await roundsOfLogs(listing, logs);
  if (found.size === 0 || found.has(said)) return said;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the seeds of the logs are those of ${wordsOf(found)}, and --round says ${said}: leave it out`,
  );
}

/** Rounds of the performance logs, the oldest first, each with the first log that has its seeds. */
async function roundsOfLogs(
  listing: TreeListing,
  logs: DetailLogs,
): Promise<ReadonlyMap<SubmissionRound, string>> {
  const found = new Map<SubmissionRound, string>();
  for (const folder of listing.folderPaths()) {
    const file = posix.join(folder, RUN_FILES.detail);
    if (!PERFORMANCE_LOG.test(folder) || !listing.hasFile(file)) continue;
    // What cannot be read is found when the log is checked.
    const log = await logs.read(file).catch(() => undefined);
    const round = log === undefined ? undefined : roundOfLog(log);
    if (round !== undefined && !found.has(round)) found.set(round, file);
  }
  const ageOf = ([round]: readonly [SubmissionRound, string]) => SUBMISSION_ROUNDS.indexOf(round);
  return new Map([...found].sort((a, b) => ageOf(a) - ageOf(b)));
}

function wordsOf(found: ReadonlyMap<SubmissionRound, string>): string {
  return [...found].map(([round, file]) => `${round} (${file})`).join(', ');
}

/** The round of which a log has two seeds: the third may be wrong, and then a finding says so. */
function roundOfLog({ records }: ReadDetailLog): SubmissionRound | undefined {
  return SUBMISSION_ROUNDS.find((round) => {
    const seeds = seedsOfRound(round);
    const right = SEED_NAMES.filter(
      (name) => records.get(`effective_${name}`)?.value === seeds[name],
    );
    return right.length >= 2;
  });
}
