import { mlperfConfOf } from '../../../shared/benchmarks/rounds.ts';
import { parseConf } from '../../settings/conf-grammar.ts';
import type { SubmissionRound } from './submission-rounds.ts';

/** The three seeds that a round prescribes: 64 bits, so no numbers. */
export interface RoundSeeds {
  readonly qsl_rng_seed: bigint;
  readonly sample_index_rng_seed: bigint;
  readonly schedule_rng_seed: bigint;
}

/** Names of the seeds, as in mlperf.conf and (behind `effective_`) in the detail log. */
export const SEED_NAMES = ['qsl_rng_seed', 'sample_index_rng_seed', 'schedule_rng_seed'] as const;

/** Seeds of a round's runs. Source: its mlperf.conf. */
export function seedsOfRound(round: SubmissionRound): RoundSeeds {
  const seeds = seedsIn(round, '');
  if (seeds === undefined) throw new Error(`mlperf.conf of ${round} has no seeds`);
  return seeds;
}

/** Seeds of a round's TEST05; undefined where the round has no such test. */
export function test05SeedsOfRound(round: SubmissionRound): RoundSeeds | undefined {
  return seedsIn(round, 'test05_');
}

function seedsIn(round: SubmissionRound, prefix: string): RoundSeeds | undefined {
  const { entries } = parseConf(mlperfConfOf(round));
  const texts = SEED_NAMES.map((name) => entries.get(`*.*.${prefix}${name}`)?.text);
  const [qsl, sampleIndex, schedule] = texts;
  if (qsl === undefined || sampleIndex === undefined || schedule === undefined) return undefined;
  return {
    qsl_rng_seed: BigInt(qsl),
    sample_index_rng_seed: BigInt(sampleIndex),
    schedule_rng_seed: BigInt(schedule),
  };
}
