import { mlperfConfOf } from '../../../../shared/benchmarks/rounds.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../../rules/submission-rounds.ts';

/** LoadGen's seeds of a round as decimal texts: doubles would round them. */
export interface RoundSeeds {
  readonly qsl_rng_seed: string;
  readonly sample_index_rng_seed: string;
  readonly schedule_rng_seed: string;
}

/** Seeds of the runs of a round, from its mlperf.conf. */
export function seedsOf(round: SubmissionRound): RoundSeeds {
  return seedsWith(round, '');
}

/** Seeds of the compliance test TEST05. */
export function seedsOfTest05(round: SubmissionRound): RoundSeeds {
  return seedsWith(round, 'test05_');
}

/** The round that has these seeds, in the order of {@link RoundSeeds}. */
export function roundOfSeeds(seeds: readonly string[]): SubmissionRound | undefined {
  return SUBMISSION_ROUNDS.find((round) => Object.values(seedsOf(round)).join() === seeds.join());
}

function seedsWith(round: SubmissionRound, prefix: string): RoundSeeds {
  const text = mlperfConfOf(round);
  const seed = (key: string): string =>
    new RegExp(`^\\*\\.\\*\\.${prefix}${key} = (\\d+)$`, 'm').exec(text)?.[1] ?? '';
  return {
    qsl_rng_seed: seed('qsl_rng_seed'),
    sample_index_rng_seed: seed('sample_index_rng_seed'),
    schedule_rng_seed: seed('schedule_rng_seed'),
  };
}
