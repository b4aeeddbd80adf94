import assert from 'node:assert';
import { benchmarkUnknown } from '../base/errors/mlperf-error.ts';
import { meantHint } from '../base/text.ts';
import type { PayloadEncoding } from '../domain/system-under-test.ts';
import { SYNTHETIC_SAMPLE_COUNT_MAX } from './cards/synthetic.ts';
import { CARDS, cardOf } from './cards.ts';
import { DEFAULT_ROUND, numberOfRound, ROUNDS, type Round } from './rounds/rounds.ts';
import type {
  BenchmarkCard,
  BenchmarkDefault,
  BenchmarkRules,
  Quality,
} from './rows/benchmark-card.ts';
import { type AccuracyTarget, type ModelRow, rowAt } from './rows/model-row.ts';

/** The benchmarks, in the order of lists for people. */
const BENCHMARKS: readonly BenchmarkRules[] = CARDS.map(rulesOf);

function rulesOf(card: BenchmarkCard): BenchmarkRules {
  const { key, own, models = [] } = card;
  if (own !== undefined) {
    const bounds = { serverTargetLatencyNs: 100_000_000, serverTargetLatencyPercentile: 0.99 };
    return { ...card, ...own, ...bounds, isOfficial: false };
  }
  const rounds = ROUNDS.filter((round) => models.some((row) => isMeasured(row, round)));
  const round = rounds.includes(DEFAULT_ROUND) ? DEFAULT_ROUND : rounds[0];
  assert(round !== undefined, key);
  const qualities = rounds.map((one) => [one, qualityIn(card, one)]);
  return {
    ...card,
    isOfficial: true,
    rounds,
    // To LoadGen, 0 means the whole data set.
    performanceSampleCount:
      numberOfRound(round, `${key}.*.performance_sample_count_override`) ||
      SYNTHETIC_SAMPLE_COUNT_MAX,
    hasServer: numberOfRound(round, `${key}.Server.target_latency`) !== undefined,
    serverTargetLatencyNs: serverNumber(round, key, 'target_latency') * 1e6,
    serverTargetLatencyPercentile: serverNumber(round, key, 'target_latency_percentile') / 100,
    quality: qualityIn(card, round),
    qualityOfRound: Object.fromEntries(qualities),
  };
}

/** True if a round has a model in a division that a SUT over a network can be in. */
function isMeasured(model: ModelRow, round: Round): boolean {
  const row = rowAt(model, round);
  return row?.scenarios?.datacenter !== undefined || row?.everySystem !== undefined;
}

/** A value of the Server scenario: the benchmark's own, or else that of every benchmark. */
function serverNumber(round: Round, benchmark: string, key: string): number {
  const found =
    numberOfRound(round, `${benchmark}.Server.${key}`) ?? numberOfRound(round, `*.Server.${key}`);
  assert(found !== undefined, key);
  return found;
}

/**
 * Targets of a benchmark's first model in a round, the first one as the quality's own metric, from
 * 0 to 1.
 */
function qualityIn(card: BenchmarkCard, round: Round): Quality {
  const { models = [], stricter, isInShares } = card;
  const row = models.map((model) => rowAt(model, round)).find((one) => one !== undefined);
  const { references = {}, bounds = [], share = 0.99 } = { ...row, ...stricter?.[round] };
  // The decimal point is shifted in the text: a division by 100 makes errors in the last bit.
  const toShare = (figure: number) => (isInShares === true ? figure : Number(`${figure}e-2`));
  const targets: readonly AccuracyTarget[] = [
    ...Object.entries(references).map(([metric, value]) => ({ metric, lower: value * share })),
    ...bounds,
  ];
  const [first, ...others] = targets;
  assert(first !== undefined, card.key);
  const { metric, lower = 0, upper } = first;
  const reference = references[metric];
  const value = reference === undefined ? undefined : toShare(reference);
  return {
    metric: card.metric ?? metric,
    target: value === undefined ? toShare(lower) : value * share,
    max: upper && toShare(upper),
    ...(value !== undefined && { reference: { value, share } }),
    ...(others.length > 0 && {
      more: others.map((one) => ({ metric: one.metric, target: one.lower, max: one.upper })),
    }),
  };
}

/** Keys of all benchmarks, in the order of lists for people. */
export const BENCHMARK_KEYS: readonly string[] = BENCHMARKS.map((benchmark) => benchmark.key);

/**
 * {@link BENCHMARK_KEYS} and the other names that `longhaul run` accepts, see
 * {@link benchmarkOfRun}: each name follows the benchmark that its SUT nodes serve.
 */
export const RUN_BENCHMARKS: readonly string[] = CARDS.flatMap(({ key, interactiveName }) =>
  interactiveName === undefined ? [key] : [key, interactiveName],
);

/** Keys of the benchmarks without a model; see {@link BenchmarkRules.isSynthetic}. */
export const SYNTHETIC_BENCHMARKS: readonly string[] = BENCHMARKS.filter(
  ({ isSynthetic }) => isSynthetic,
).map(({ key }) => key);

/**
 * @param names Keys that the user may have meant.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that names a similar key, or lists all keys.
 */
export function benchmarkRules(key: string, names = BENCHMARK_KEYS): BenchmarkRules {
  const rules = BENCHMARKS.find((benchmark) => benchmark.key === key);
  if (rules === undefined) {
    const ofRuns = interactiveRules(key);
    const plain = key.replace(/(-interactive)?(-99(\.9)?)?$/, '');
    const hint = BENCHMARK_KEYS.includes(plain)
      ? `${key} is a model of a submission, whose benchmark is ${plain}`
      : meantHint(key, names);
    throw benchmarkUnknown(
      ofRuns === undefined
        ? `unknown benchmark "${key}"; ${hint}`
        : `"${key}" is a benchmark of runs, whose SUT nodes serve ${ofRuns.key}`,
    );
  }
  return rules;
}

/**
 * Benchmark of a run: one of the table, or one that rounds bound more tightly in their scenario
 * Interactive. LoadGen knows that scenario as Server of a model of its own,
 * `llama2-70b-interactive`; a submission's name of it (`-99`, `-99.9`) is taken as well.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` as {@link benchmarkRules}
 */
export function benchmarkOfRun(name: string): BenchmarkRules {
  return interactiveRules(name) ?? benchmarkRules(name, RUN_BENCHMARKS);
}

/** Key of the benchmark that a run by this name has; the name itself where it is another one. */
export function keyOfRun(name: string): string {
  return interactiveRules(name)?.key ?? name;
}

/** Name of a benchmark in LoadGen's files, and in all that tells people of a run. */
export function confNameOf({ confName, key }: BenchmarkRules): string {
  return confName ?? key;
}

/** The rounds' own files have the bounds; undefined for a name that no card has. */
function interactiveRules(name: string): BenchmarkRules | undefined {
  const confName = name.replace(/-99(\.9)?$/, '');
  const key = CARDS.find(({ interactiveName }) => interactiveName === confName)?.key;
  const rules = BENCHMARKS.find((benchmark) => benchmark.key === key);
  if (rules === undefined) return undefined;
  const rounds = rules.rounds?.filter(
    (round) => numberOfRound(round, `${confName}.Server.ttft_latency`) !== undefined,
  );
  return { ...rules, confName, rounds: rounds ?? [], title: `${rules.title}, in Interactive` };
}

/** @throws MlperfError `ERR_BENCHMARK_UNKNOWN` that lists the encodings of the benchmark. */
export function benchmarkEncoding(rules: BenchmarkRules, name: string): PayloadEncoding {
  const encoding = Object.hasOwn(rules.encodings, name) ? rules.encodings[name] : undefined;
  if (encoding === undefined) {
    const known = Object.keys(rules.encodings).join(', ');
    throw benchmarkUnknown(`benchmark ${rules.key} has no encoding "${name}"; there is: ${known}`);
  }
  return encoding;
}

/**
 * Default of a setting that follows from the setting `benchmark`; undefined if it has none
 * ({@link BenchmarkRules.defaults}).
 */
export function benchmarkDefault(setting: BenchmarkDefault) {
  return (rawOf: (key: string) => unknown): number | string | undefined => {
    return cardOf(String(rawOf('benchmark')))?.defaults?.[setting];
  };
}

/** Quality that a benchmark demands in a round. */
export function qualityOf(rules: BenchmarkRules, round: Round | undefined): Quality {
  return (round === undefined ? undefined : rules.qualityOfRound?.[round]) ?? rules.quality;
}

/** Samples of MLPerf's whole data set of a benchmark. */
export function dataSetSamplesOf(key: string): number {
  const [{ dataSetSamples, samples } = {}] = cardOf(key)?.models ?? [];
  const count = dataSetSamples ?? samples;
  assert(count !== undefined, key);
  return count;
}
