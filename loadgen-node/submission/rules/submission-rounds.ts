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

/** Rounds whose submissions can be checked. Only runnable rounds can be built. */
export type SubmissionRound = KnownRound;

/** {@link SubmissionRound}, the oldest first. */
export const SUBMISSION_ROUNDS: typeof KNOWN_ROUNDS = KNOWN_ROUNDS;

/** Rounds from v2.1 up to a given one: v0.5 has its own rules. */
export function roundsUpTo(last: SubmissionRound): readonly SubmissionRound[] {
  return SUBMISSION_ROUNDS.slice(1, SUBMISSION_ROUNDS.indexOf(last) + 1);
}

/**
 * Minimum min_duration of a performance run, in ms. Source: inference_rules v4.1, "Scenarios", and
 * the official checkers; for v0.5 its paper, section 4.6.
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
 * Seed names for sample sets, samples within a set, and arrivals, as in mlperf.conf and (after
 * `effective_`) in the detail log.
 */
export const SEED_NAMES = ['qsl_rng_seed', 'sample_index_rng_seed', 'schedule_rng_seed'] as const;

/** The three seeds that a round prescribes; 64 bits, so bigint. */
export type RoundSeeds = Readonly<Record<(typeof SEED_NAMES)[number], bigint>>;

/** Seeds of a round's runs. Source: its mlperf.conf. */
export function seedsOfRound(round: SubmissionRound): RoundSeeds {
  const seeds = SEEDS[round];
  if (seeds === undefined) throw new Error(`mlperf.conf of ${round} has no seeds`);
  return seeds;
}

/** Performance sample count of a benchmark in the round's mlperf.conf; 0: all. */
export function performanceSamplesInConf(round: SubmissionRound, benchmark: string): number {
  const { entries } = parseConf(mlperfConfOf(round));
  const text = entries.get(`${benchmark}.*.performance_sample_count_override`)?.text;
  return Number(text ?? 0);
}

/** TEST05 seeds of a round; undefined if the round lacks that test. */
export function test05SeedsOfRound(round: SubmissionRound): RoundSeeds | undefined {
  return TEST05_SEEDS[round];
}

/** The round with these seeds; undefined if there is none. */
export function roundOfSeeds(seeds: RoundSeeds): SubmissionRound | undefined {
  return SUBMISSION_ROUNDS.find((round) => areSameSeeds(seedsOfRound(round), seeds));
}

export function areSameSeeds(a: RoundSeeds, b: RoundSeeds): boolean {
  return SEED_NAMES.every((name) => a[name] === b[name]);
}

/** The seeds found by `read`; undefined if one is missing. */
export function readSeeds(read: (name: (typeof SEED_NAMES)[number]) => bigint | undefined) {
  const seeds = SEED_NAMES.map((name) => [name, read(name)] as const);
  if (seeds.some(([, seed]) => seed === undefined)) return undefined;
  return Object.fromEntries(seeds) as RoundSeeds;
}

/**
 * Seeds of rounds otherwise unknown here, in the order of {@link SEED_NAMES}: their LoadGen does
 * not report its round. Source: submission_checker.py of the tag v4.0.
 */
export const OTHER_ROUNDS: Readonly<Record<string, readonly [bigint, bigint, bigint]>> = {
  'v0.7': [12786827339337101903n, 12640797754436136668n, 3135815929913719677n],
  'v1.0': [7322528924094909334n, 1570999273408051088n, 3507442325620259414n],
  'v1.1': [1624344308455410291n, 517984244576520566n, 10051496985653635065n],
  'v2.0': [6655344265603136530n, 15863379492028895792n, 12662793979680847247n],
};

/** Advice for a round that the check does not know, by round. */
export const NOT_KNOWN: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(OTHER_ROUNDS).map((round) => [
    round,
    `a tree of ${round} is judged by the rules of ${roundsUpTo('v4.1')[0]}, without its seeds: leave --round out`,
  ]),
);

/** Cached: a self-check looks them up for every log of a tree. */
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
 * Lines of user.conf or mlperf.conf that an official checker cannot split: it requires one "=" and
 * a key of three parts. Source: submission_checker.py of v4.1, for models with equal issue.
 */
export function brokenConfLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => {
    if (line === '' || line.startsWith('#')) return false;
    const [key, ...values] = line.split('=');
    return values.length !== 1 || key?.split('.').length !== 3;
  });
}
