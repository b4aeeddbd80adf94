import { isNumber } from '../../../loadgen/logs/read/detail-log.ts';
import { SEED_NAMES, seedsOfRound, test05SeedsOfRound } from '../../rules/round-seeds.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { TestId } from '../../rules/test-ids.ts';
import { isTrue } from '../read/description-values.ts';
import type { RunLog, SeenRecord } from '../read/run-log.ts';
import type { Answer, Facts, ResultSite, RunFacts } from '../read/sites.ts';

/** Damage of a log whose last line is not ended. */
export const CUT_RECORD = 'the file ends inside a record';

/** The bound on the latency of a Server run. */
export const BOUND = 'effective_target_latency_ns';
export const P99 = 'result_99.00_percentile_latency_ns';

export const TOKENS_ON = 'requested_use_token_latencies';
const TTFT_P99 = 'result_first_token_99.00_percentile_latency_ns';
const TPOT_P99 = 'result_time_per_output_token_99.00_percentile_ns';

/** Seed of the sampled accuracy log of the compliance tests. Source: their audit.config. */
const SAMPLING_SEED = 720381539243781796n;

/** Damages of a log whose words are of the kind that is meant. */
export function damagesOf({ detail }: RunLog, isMeant: (text: string) => boolean) {
  return detail.damages
    .filter(({ text }) => isMeant(text))
    .map(({ line, text }) => ({ line, text: `In line ${line}, ${text}.` }));
}

/** True for a run with a model whose scenario has a bound on latencies. */
export function isServer({ scenario, model }: ResultSite): boolean {
  return model !== undefined && (scenario === 'Server' || scenario === 'Interactive');
}

/** True in the network division, and where the description says so. */
export function isOverNetwork({ division, description }: ResultSite): boolean {
  return division === 'network' || isTrue(description?.['is_network']);
}

export function missingRecords(log: RunLog, keys: readonly string[]): string[] {
  return keys
    .filter((key) => log.record(key) === undefined)
    .map((key) => `It has no record of ${key}.`);
}

/** A record that is there and no number. */
export function noNumber(log: RunLog, key: string, why: string): SeenRecord | false {
  return log.wrong(
    key,
    (value) => !isNumber(value) && `${key} is ${JSON.stringify(value)}, ${why}.`,
  );
}

export function atLeast(log: RunLog, key: string, least: number): SeenRecord | false {
  const check = (seen: number) => `${key} is ${seen}; at least ${least} are needed.`;
  return log.wrongNumber(key, (seen) => seen < least && check(seen));
}

export function seedKeys(): string[] {
  return SEED_NAMES.map((name) => `effective_${name}`);
}

/** Records that a performance run needs, whatever they hold. */
export function neededTexts(run: RunFacts): string[] {
  const name = isOverNetwork(run) ? ['sut_name'] : [];
  return [...seedKeys(), 'effective_scenario', 'result_validity', ...name];
}

/** Records that a performance run needs, which have to be numbers. */
export function neededNumbers(run: RunFacts): string[] {
  const ofOffline = ['effective_min_query_count', 'effective_samples_per_query'];
  return [
    'effective_performance_sample_count',
    'effective_min_duration_ms',
    ...(run.measured === 'Offline' ? ofOffline : []),
    ...(isServer(run) && run.model?.serverLatencyNs !== undefined ? [BOUND] : []),
    ...tokenBounds(run).map(([key]) => key),
  ];
}

/** Record of an accuracy run with the number of its samples. */
export function sampleCountKey(log: RunLog): string {
  const override = 'effective_accuracy_sample_count';
  return log.record(override) === undefined ? 'qsl_reported_total_count' : override;
}

/** Bounds on the token latencies of a run, by record; none where they were not measured. */
export function tokenBounds({ log, model, scenario }: RunFacts): [key: string, boundNs: number][] {
  const bounds = model?.tokenLatencies?.[scenario];
  if (bounds === undefined || log.value(TOKENS_ON) !== true) return [];
  return [
    [TTFT_P99, bounds.ttftNs],
    [TPOT_P99, bounds.tpotNs],
  ];
}

/** Seeds of a log that are numbers and not those of the round, or of its TEST05. */
export function wrongSeeds(log: RunLog, round: SubmissionRound, test?: TestId) {
  const own = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  const seeds = own ?? seedsOfRound(round);
  return SEED_NAMES.flatMap((name) => {
    const key = `effective_${name}`;
    const value = log.value(key);
    const expected = seeds[name];
    if (!isNumber(value)) return [];
    const isWhole = typeof value === 'bigint' || Number.isInteger(value);
    if (isWhole && BigInt(value) === expected) return [];
    const seen = log.at(key, `${key} is ${value}, not ${expected}.`);
    return [{ ...seen, isRounded: Number(value) === Number(expected) }];
  });
}

type WrongSeed = ReturnType<typeof wrongSeeds>[number];

/** True for a seed of the round that some tool has read and written as a floating-point number. */
export function isRounded(seed: WrongSeed): boolean {
  return seed.isRounded;
}

export function isNoneOfRound(seed: WrongSeed): boolean {
  return !seed.isRounded;
}

/** Interactive is Server to LoadGen. */
export function scenarioDiffers({ log, measured }: RunFacts): Answer {
  const expected = measured === 'Interactive' ? 'Server' : measured;
  return log.wrong(
    'effective_scenario',
    (seen) => String(seen) !== expected && `It is ${String(seen)}, not ${expected}.`,
  );
}

export function modeDiffers(log: RunLog, mode: string): Answer {
  const right = [undefined, mode, 'SubmissionRun'] as unknown[];
  return log.wrong(
    'effective_test_mode',
    (seen) => !right.includes(seen) && `It is ${String(seen)}.`,
  );
}

export function latencyImpossible({ log }: RunFacts): Answer {
  const keys = [...log.keys()].filter((key) => /^result_.*latency_ns$/.test(key));
  return keys.map((key) => log.wrongNumber(key, (value) => value < 0 && `${key} is ${value}.`));
}

/** Settings of a compliance test that a log has and should not have, or lacks. */
export function testSettings({ log, test }: RunFacts): Answer {
  const wrong = (name: string, check: (value: unknown) => boolean) =>
    log.wrong(
      `effective_${name}`,
      (value) =>
        check(value) && `${name} is ${String(value)}, which is not that of ${test ?? 'a result'}.`,
    );
  const isSame = test === 'TEST04';
  const isSampled = test === 'TEST01';
  return [
    wrong('performance_issue_same', (value) => typeof value === 'boolean' && value !== isSame),
    wrong('performance_issue_unique', (value) => value === true),
    wrong('accuracy_log_sampling_target', (value) => isNumber(value) && value > 0 !== isSampled),
    isSampled &&
      log.wrong('effective_accuracy_log_rng_seed', (seed) => {
        const isRight = seed === undefined || String(seed) === String(SAMPLING_SEED);
        return !isRight && `accuracy_log_rng_seed is ${String(seed)}, not ${SAMPLING_SEED}.`;
      }),
  ];
}

/** Labels of the rate in the summary, by LoadGen's key in the detail log. */
const RATES: readonly [key: string, label: string][] = [
  ['result_completed_samples_per_sec', 'Completed samples per second'],
  ['result_samples_per_second', 'Samples per second'],
];

/** Largest difference of a rate in the summary, which has two decimals. */
const RATE_TOLERANCE = 0.0051;

function rateOf({ log }: RunFacts) {
  return RATES.find(([key]) => log.record(key) !== undefined);
}

/** Labels that the compliance scripts compare, and the summary lacks. */
export function missingLabels(facts: Facts['summary']): string[] {
  const [, label] = rateOf(facts) ?? [];
  const labels = ['Scenario', 'Result is', ...(label === undefined ? [] : [label])];
  return labels.filter((one) => !facts.summary.values.has(one));
}

/** Compares the summary with the detail log beside it. */
export function summaryDiffers(facts: Facts['summary']): Answer {
  const { log, summary } = facts;
  if (missingLabels(facts).length > 0) return undefined;
  const differs = (label: string, seen: unknown, logged: unknown) =>
    `"${label}" is ${seen}, in the detail log ${String(logged)}.`;
  const pairs = [
    ['Scenario', 'effective_scenario'],
    ['Result is', 'result_validity'],
    ['SUT name', 'sut_name'],
  ] as const;
  const texts = pairs.map(([label, key]) => {
    const record = log.record(key);
    const seen = summary.values.get(label);
    const isSame = record === undefined || seen === undefined || seen === String(record.value);
    return !isSame && differs(label, seen, record.value);
  });
  const [key, label] = rateOf(facts) ?? [];
  if (key === undefined || label === undefined) return texts;
  const seen = Number(summary.values.get(label));
  const logged = log.number(key) ?? 0;
  const isNear = Math.abs(seen - logged) <= RATE_TOLERANCE * Math.max(1, logged);
  return [...texts, !isNear && differs(label, seen, logged)];
}
