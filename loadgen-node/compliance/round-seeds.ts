import type { Round } from '../../shared/benchmarks/rounds.ts';
import { readConfFiles } from '../settings/read-conf-files.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from '../submission/rules/submission-rounds.ts';
import { areSameSeeds, type ComplianceRun, type Seeds, seedsOf } from './compliance-run.ts';

/** Seeds of a round: of its submission runs, and of TEST05. */
export interface RoundSeeds {
  readonly submission: Seeds;
  readonly test05: Seeds;
}

/** Seeds as the round's mlperf.conf has them. */
export function seedsOfRound(round: Round): RoundSeeds {
  const { settings } = readConfFiles({ round, model: '*', scenario: 'Server' });
  const seed = (field: Parameters<typeof settings.get>[0]): bigint =>
    BigInt(settings.get(field).value as bigint);
  return {
    submission: {
      qsl: seed('qslRngSeed'),
      sampleIndex: seed('sampleIndexRngSeed'),
      schedule: seed('scheduleRngSeed'),
    },
    test05: {
      qsl: seed('test05QslRngSeed'),
      sampleIndex: seed('test05SampleIndexRngSeed'),
      schedule: seed('test05ScheduleRngSeed'),
    },
  };
}

/** The round whose seeds a run was asked to use; undefined where they are of none. */
export function roundOfRun(run: ComplianceRun): SubmissionRound | undefined {
  const seeds = seedsOf(run, 'requested') ?? seedsOf(run, 'effective');
  if (seeds === undefined) return undefined;
  return SUBMISSION_ROUNDS.find((round) => areSameSeeds(seedsOfRound(round).submission, seeds));
}
