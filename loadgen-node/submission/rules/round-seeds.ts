import { mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../../loadgen/settings/conf-grammar.ts';
import { SUBMISSION_ROUNDS, type SubmissionRound } from './submission-rounds.ts';

/**
 * Names of the seeds of the sets of samples, of the samples within a set, and of the arrivals, as in mlperf.conf and
 * (behind `effective_`) in the detail log.
 */
export const SEED_NAMES = ['qsl_rng_seed', 'sample_index_rng_seed', 'schedule_rng_seed'] as const;

/** The three seeds that a round prescribes: 64 bits, so no numbers. */
export type RoundSeeds = Readonly<Record<(typeof SEED_NAMES)[number], bigint>>;

/** Seeds of a round's runs. Source: its mlperf.conf. */
export function seedsOfRound(round: SubmissionRound): RoundSeeds {
  const seeds = SEEDS[round];
  if (seeds === undefined) throw new Error(`mlperf.conf of ${round} has no seeds`);
  return seeds;
}

/** Seeds of a round's TEST05; undefined where the round has no such test. */
export function test05SeedsOfRound(round: SubmissionRound): RoundSeeds | undefined {
  return TEST05_SEEDS[round];
}

/** The round whose runs have these seeds; undefined where they are of none. */
export function roundOfSeeds(seeds: RoundSeeds): SubmissionRound | undefined {
  return SUBMISSION_ROUNDS.find((round) => areSameSeeds(seedsOfRound(round), seeds));
}

export function areSameSeeds(a: RoundSeeds, b: RoundSeeds): boolean {
  return SEED_NAMES.every((name) => a[name] === b[name]);
}

/** The seeds that `read` finds, by their names; undefined where it lacks one. */
export function readSeeds(
  read: (name: (typeof SEED_NAMES)[number]) => bigint | undefined,
): RoundSeeds | undefined {
  const seeds = SEED_NAMES.map((name) => [name, read(name)] as const);
  if (seeds.some(([, seed]) => seed === undefined)) return undefined;
  return Object.fromEntries(seeds) as RoundSeeds;
}

/** Read once: a self-check asks for every log of a tree. */
const SEEDS = seedsWith('');
const TEST05_SEEDS = seedsWith('test05_');

function seedsWith(prefix: string): Readonly<Partial<Record<SubmissionRound, RoundSeeds>>> {
  const found = SUBMISSION_ROUNDS.flatMap((round) => {
    const { entries } = parseConf(mlperfConfOf(round));
    const seeds = readSeeds((name) => {
      const text = entries.get(`*.*.${prefix}${name}`)?.text;
      return text === undefined ? undefined : BigInt(text);
    });
    return seeds === undefined ? [] : [[round, seeds]];
  });
  return Object.fromEntries(found);
}
