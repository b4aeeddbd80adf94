import { posix } from 'node:path';
import { DEFAULT_ROUND } from '../../../shared/benchmarks/rounds.ts';
import { MlperfError } from '../../../shared/errors/mlperf-error.ts';
import type { DetailLog } from '../../run-folder/detail-log.ts';
import { RUN_FILES } from '../../run-folder/run-folder.ts';
import { type RoundSeeds, SEED_NAMES, seedsOfRound } from '../rules/round-seeds.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../rules/submission-rounds.ts';
import type { CheckReport } from './check-report.ts';
import type { DetailLogs } from './detail-logs.ts';
import type { TreeListing } from './tree-listing.ts';

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
  const found = new Map<SubmissionRound, string>();
  for (const folder of listing.folderPaths()) {
    const file = posix.join(folder, RUN_FILES.detail);
    if (!PERFORMANCE_LOG.test(folder) || !listing.hasFile(file)) continue;
    // What cannot be read is told when the log is checked.
    const log = await logs.read(file).catch(() => undefined);
    const round = log === undefined ? undefined : roundOfLog(log);
    if (round !== undefined && !found.has(round)) found.set(round, file);
  }
  const rounds = SUBMISSION_ROUNDS.filter((round) => found.has(round));
  const [only, ...others] = rounds;
  if (only === undefined) {
    return { round: DEFAULT_ROUND as SubmissionRound, roundFrom: 'default' };
  }
  if (others.length === 0) return { round: only, roundFrom: 'seeds of the logs' };
  const where = rounds.map((round) => `${round} (${found.get(round)})`).join(', ');
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the tree has results of several rounds: ${where}; a submission is of one round, say which with --round`,
  );
}

/** The round two of whose seeds a log has: one may be wrong, and then it is told. */
function roundOfLog(log: DetailLog): SubmissionRound | undefined {
  const isSeed = (seeds: RoundSeeds, name: (typeof SEED_NAMES)[number]): boolean =>
    log.records.get(`effective_${name}`)?.value === seeds[name];
  return SUBMISSION_ROUNDS.find((round) => {
    const seeds = seedsOfRound(round);
    return SEED_NAMES.filter((name) => isSeed(seeds, name)).length >= 2;
  });
}
