import {
  KNOWN_ROUNDS,
  type KnownRound,
  mlperfConfOf,
} from '../../../shared/rules/rounds/rounds.ts';
import {
  type RunnableTestId,
  TEST_IDS,
  type TestId,
} from '../../../shared/rules/rows/model-row.ts';
import { parseConf } from '../../loadgen/settings/conf-grammar.ts';

/** Rounds of which a submission can be checked. One can be built of those that can be run. */
export type SubmissionRound = KnownRound;

/** {@link SubmissionRound}, the oldest first. */
export const SUBMISSION_ROUNDS: typeof KNOWN_ROUNDS = KNOWN_ROUNDS;

/** Rounds from v2.1 on to one of them: v0.5 has rules of its own. */
export function roundsUpTo(last: SubmissionRound): readonly SubmissionRound[] {
  return SUBMISSION_ROUNDS.slice(1, SUBMISSION_ROUNDS.indexOf(last) + 1);
}

/**
 * Least min_duration of a performance run, in ms. Source: inference_rules v4.1, "Scenarios", and the official checkers; of
 * v0.5 its paper, section 4.6.
 */
export function minDurationMs(round: SubmissionRound): number {
  return round === 'v0.5' ? 60_000 : 600_000;
}

/** Divisions of a submission. */
export const SUBMISSION_DIVISIONS = ['closed', 'network', 'open'] as const;

/** One of {@link SUBMISSION_DIVISIONS}. */
export type SubmissionDivision = (typeof SUBMISSION_DIVISIONS)[number];

export function isRunnableTest(test: TestId): test is RunnableTestId {
  return (TEST_IDS as readonly string[]).includes(test);
}

/**
 * Names of the seeds of the sets of samples, of the samples within a set, and of the arrivals, as
 * in mlperf.conf and (behind `effective_`) in the detail log.
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

/** Samples of the performance set of a benchmark, as the round's mlperf.conf has them; 0: all. */
export function performanceSamplesInConf(round: SubmissionRound, benchmark: string): number {
  const { entries } = parseConf(mlperfConfOf(round));
  const text = entries.get(`${benchmark}.*.performance_sample_count_override`)?.text;
  return Number(text ?? 0);
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
export function readSeeds(read: (name: (typeof SEED_NAMES)[number]) => bigint | undefined) {
  const seeds = SEED_NAMES.map((name) => [name, read(name)] as const);
  if (seeds.some(([, seed]) => seed === undefined)) return undefined;
  return Object.fromEntries(seeds) as RoundSeeds;
}

/**
 * Seeds of rounds of which no more is known here, in the order of {@link SEED_NAMES}: their LoadGen does not tell its round.
 * Source: submission_checker.py of the tag v4.0.
 */
export const OTHER_ROUNDS: Readonly<Record<string, readonly [bigint, bigint, bigint]>> = {
  'v0.7': [12786827339337101903n, 12640797754436136668n, 3135815929913719677n],
  'v1.0': [7322528924094909334n, 1570999273408051088n, 3507442325620259414n],
  'v1.1': [1624344308455410291n, 517984244576520566n, 10051496985653635065n],
  'v2.0': [6655344265603136530n, 15863379492028895792n, 12662793979680847247n],
};

/** Advice on a round that a check does not know, by the round. */
export const NOT_KNOWN: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(OTHER_ROUNDS).map((round) => [
    round,
    `a tree of ${round} is judged by the rules of ${roundsUpTo('v4.1')[0]}, without its seeds: leave --round out`,
  ]),
);

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

/**
 * Lines of user.conf or mlperf.conf that an official checker cannot split: it wants one "=" and a
 * key of three parts.
 * Source: submission_checker.py of v4.1, where a model needs equal issue.
 */
export function brokenConfLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => {
    if (line === '' || line.startsWith('#')) return false;
    const [key, ...values] = line.split('=');
    return values.length !== 1 || key?.split('.').length !== 3;
  });
}
