import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultTestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { planRun } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import {
  type RunTestSettings,
  runTestSettings,
} from '../../../../../loadgen-node/run/plan/run-test-settings.ts';
import { onlyTarget } from '../../../../../loadgen-node/run/plan/target.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import {
  BENCHMARK_KEYS,
  benchmarkOfRun,
  RUN_BENCHMARKS,
} from '../../../../../shared/rules/benchmark-rules.ts';
import { numberOfRound, ROUNDS } from '../../../../../shared/rules/rounds/rounds.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

/** Settings of a run with these flags, as `longhaul run` makes them. */
function settle(flags: Record<string, string>, audit?: string): RunTestSettings {
  const all = { sut: 'a:1', benchmark: 'digits', ...flags };
  const { values } = resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags: all });
  const file = audit === undefined ? undefined : { name: 'audit.config', text: audit };
  return runTestSettings(values, new Set(Object.keys(all)), benchmarkOfRun(values.benchmark), file);
}

/** A benchmark by a name that only runs have. */
const LLAMA = 'llama2-70b-interactive';

function planOf(flags: Record<string, string>) {
  const all = { sut: 'a:1', ...flags };
  const resolved = resolveSettings(RUN_SETTINGS, { section: 'run', file: undefined, flags: all });
  return planRun(resolved.values, { asked: resolved.settings });
}

function confFile(text: string): string {
  const path = join(tempFolder(), 'user.conf');
  writeFileSync(path, text);
  return path;
}

// Goal: flags win over user.conf, which wins over the round; a run without any of LoadGen's files
// stays the short one that a benchmark is tried with.
// Method: flags as texts through the table of settings, files in a folder of the test.
describe('runTestSettings', () => {
  it("keeps LoadGen's defaults, v4.1's seeds and the benchmark's bound without round and files", () => {
    const { settings, round, configEvents } = settle({ targetQps: '50', minDuration: '10s' });
    expect(settings).toEqual({
      ...defaultTestSettings(),
      scenario: 'Server',
      singleStreamExpectedLatencyNs: 20_000_000,
      multiStreamExpectedLatencyNs: 20_000_000,
      serverTargetQps: 50,
      offlineExpectedQps: 50,
      serverTargetLatencyNs: 100_000_000,
      qslRngSeed: 3066443479025735752n,
      sampleIndexRngSeed: 10688027786191513374n,
      scheduleRngSeed: 14962580496156340209n,
      test05QslRngSeed: 16799458546791641818n,
      test05SampleIndexRngSeed: 5453809927556429288n,
      test05ScheduleRngSeed: 5435552105434836064n,
    });
    expect([round, configEvents]).toEqual(['v4.1', []]);
  });

  it("takes the round's values when a round is named, and no default of a flag over them", () => {
    const { settings, round } = settle({ targetQps: '50', round: 'v6.1' });
    expect(round).toBe('v6.1');
    expect(settings).toMatchObject({
      minDurationMs: 600_000,
      serverTargetQps: 50,
      qslRngSeed: 2085463073848966840n,
    });
  });

  it.each<[string, Record<string, string>, number]>([
    ["its own of a benchmark that no round has, not the round's for every model", {}, 100],
    ['what the flag says', { targetLatency: '30ms' }, 30],
    ["the round's of a benchmark that it has", { benchmark: 'resnet50' }, 15],
  ])('with a round the bound is %s', (_, flags, ms) => {
    const { settings } = settle({ targetQps: '50', round: 'v4.1', ...flags });
    expect(settings).toMatchObject({
      serverTargetLatencyNs: ms * 1e6,
      serverTargetLatencyPercentile: 0.99,
    });
  });

  it.each([{}, { round: 'v4.1' }])('bounds tokens of a language model with %j', (flags) => {
    const { settings } = settle({ benchmark: 'llama2-70b', targetQps: '5', ...flags });
    expect(settings).toMatchObject({
      useTokenLatencies: true,
      serverTtftLatencyNs: 2_000_000_000,
      serverTpotLatencyNs: 200_000_000,
    });
  });

  it.each<[string, Record<string, string>, number, number]>([
    ['both by flags', { benchmark: 'delay', ttft: '450ms', tpot: '40500us' }, 450, 40.5],
    ['the other as the benchmark has it', { benchmark: 'llama2-70b', ttft: '450ms' }, 450, 200],
    ['the round has both', { benchmark: 'mixtral-8x7b', round: 'v5.0', tpot: '40ms' }, 2000, 40],
    [
      'of a benchmark bounded by latency',
      { benchmark: 'gptj', ttft: '1s', tpot: '90ms' },
      1000,
      90,
    ],
  ])('bounds tokens: %s', (_case, flags, ttftMs, tpotMs) => {
    const { settings, isBoundUnsaid } = settle({ targetQps: '5', ...flags });
    expect(settings).toMatchObject({
      ...{ useTokenLatencies: true, serverTargetLatencyPercentile: 0.99 },
      ...{ serverTtftLatencyNs: ttftMs * 1e6, serverTpotLatencyNs: tpotMs * 1e6 },
    });
    expect(isBoundUnsaid).toBe(false);
  });

  it.each<[string, Record<string, string>]>([
    ['without a round', {}],
    ['in v5.0', { round: 'v5.0' }],
    ['in v5.1, by the name of a submission', { round: 'v5.1', benchmark: `${LLAMA}-99.9` }],
    ['in v6.1', { round: 'v6.1' }],
  ])('takes the bounds of Interactive from the rounds: %s', (_case, flags) => {
    const plan = planOf({ benchmark: LLAMA, targetQps: '5', ...flags });
    expect(plan.settings).toMatchObject({
      ...{ scenario: 'Server', useTokenLatencies: true, serverTargetLatencyPercentile: 0.99 },
      ...{ serverTtftLatencyNs: 450e6, serverTpotLatencyNs: 40e6 },
    });
    // Nodes, data and evidence are those of the model.
    expect([plan.rules.key, onlyTarget(plan).dispatch.benchmark]).toEqual([
      'llama2-70b',
      'llama2-70b',
    ]);
  });

  it("reads user.conf's lines of a model with the bounds of Interactive by that name", () => {
    const lines = [`${LLAMA}.Server.target_qps = 7`, 'llama2-70b.Server.target_qps = 9'];
    const userConf = confFile(`${lines.join('\n')}\n`);
    const { settings } = planOf({ benchmark: LLAMA, round: 'v5.1', userConf });
    expect(settings.serverTargetQps).toBe(7);
  });

  it('has every such name of a round in the list of benchmarks, and finds one that is meant', () => {
    const names = BENCHMARK_KEYS.map((key) => `${key}-interactive`).filter((name) =>
      ROUNDS.some((round) => numberOfRound(round, `${name}.Server.ttft_latency`) !== undefined),
    );
    expect(RUN_BENCHMARKS.filter((name) => !BENCHMARK_KEYS.includes(name))).toEqual(names);
    expect(() => planOf({ benchmark: 'llama2-70b-interactiv' })).toThrow(
      'unknown benchmark "llama2-70b-interactiv"; did you mean "llama2-70b-interactive"?',
    );
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'a round without them',
      { benchmark: LLAMA, round: 'v4.1' },
      'round v4.1 has no such bounds; there they are in v5.0, v5.1, v6.0, v6.1',
    ],
    [
      'another scenario',
      { benchmark: LLAMA, scenario: 'Offline' },
      'which LoadGen runs as Server: for Offline use --benchmark llama2-70b',
    ],
    ['a bound on the latency', { benchmark: LLAMA, targetLatency: '2s' }, 'TTFT 450 ms and TPOT'],
    [
      'a model that has none',
      { benchmark: 'mixtral-8x7b-interactive' },
      'unknown benchmark "mixtral-8x7b-interactive"; mixtral-8x7b-interactive is a model of a submission, whose benchmark is mixtral-8x7b',
    ],
  ])('refuses bounds of Interactive for %s', (_case, flags, message) => {
    expect(() => planOf({ targetQps: '5', ...flags })).toThrow(message);
  });

  it('tells the lines of files that limit the length, which flags override', () => {
    const userConf = confFile('*.Server.target_qps = 7\n*.Server.max_duration = 900\n');
    const limits = { max_duration: `${userConf}:2`, max_query_count: undefined };
    expect(settle({ userConf }).limitLines).toEqual(limits);
    const { limitLines } = settle({ userConf, maxDuration: '2s', maxQueryCount: '9' });
    expect(limitLines).toEqual({ max_duration: undefined, max_query_count: undefined });
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'without tokens',
      { ttft: '1s' },
      '--ttft 1 s bounds the times of output tokens, and benchmark digits has none: use --target-latency',
    ],
    [
      'one alone',
      { benchmark: 'delay', tpot: '9ms' },
      '--tpot 9 ms needs --ttft as well: benchmark delay has no such bound of its own',
    ],
    ['0', { benchmark: 'delay', tpot: '0ms' }, 'must be longer than 0'],
    [
      'another scenario',
      { benchmark: 'llama2-70b', scenario: 'Offline', ttft: '1s' },
      '--ttft 1 s is a bound of Server: Offline has no bound',
    ],
    [
      'beside a latency',
      { benchmark: 'llama2-70b', ttft: '1s', targetLatency: '2s' },
      '--target-latency 2 s beside --ttft 1 s: LoadGen holds a run to bounds on its tokens or to one on its latency, not to both',
    ],
    [
      "in place of the round's own",
      { benchmark: 'llama2-70b', targetLatency: '2s' },
      '--target-latency 2 s has no effect: the bounds are on tokens, TTFT 2 s and TPOT 200 ms; --ttft and --tpot set them',
    ],
  ])('refuses bounds on tokens %s', (_case, flags, message) => {
    expect(() => settle({ targetQps: '5', ...flags })).toThrow(message);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'times of tokens where there are none',
      { tokenTimes: 'true' },
      '--token-times needs output tokens, and benchmark digits has none',
    ],
    [
      'times of tokens that are not measured',
      { benchmark: 'delay', tokenTimes: 'true' },
      '--token-times needs a run that measures tokens: set --ttft and --tpot',
    ],
    [
      'a length of responses that are tokens',
      { benchmark: 'delay', responseBytes: '9', ttft: '1s', tpot: '9ms' },
      '--response-bytes 9 has no effect with bounds on tokens: the tokens are the response',
    ],
  ])('refuses %s', (_case, flags, message) => {
    const all = { sut: 'a:1', benchmark: 'digits', targetQps: '5', ...flags };
    const { values } = resolveSettings(RUN_SETTINGS, {
      section: 'run',
      file: undefined,
      flags: all,
    });
    expect(() => planRun(values)).toThrow(message);
  });

  it('keeps the bound of user.conf for a benchmark that no round has', () => {
    const userConf = confFile('*.Server.target_qps = 7\n*.Server.target_latency = 40\n');
    expect(settle({ userConf, round: 'v5.0' }).settings.serverTargetLatencyNs).toBe(40_000_000);
    const without = confFile('*.Server.target_qps = 7\n');
    expect(settle({ userConf: without }).settings.serverTargetLatencyNs).toBe(100_000_000);
  });

  it('lets user.conf win over the round, and flags over user.conf', () => {
    const userConf = confFile(
      'digits.Server.target_qps = 7\n*.Server.min_duration = 3000\n*.Server.target_latency = 40\n',
    );
    const { settings } = settle({ userConf, minDuration: '2s' });
    expect(settings).toMatchObject({
      serverTargetQps: 7,
      minDurationMs: 2000,
      serverTargetLatencyNs: 40_000_000,
      minQueryCount: 100,
    });
  });

  it('lets audit.config win over flags', () => {
    const { settings, configEvents } = settle({ targetQps: '5' }, '*.*.min_duration = 9\n');
    expect(settings.minDurationMs).toBe(9);
    expect(configEvents.map(({ kind, stage }) => [kind, stage])).toEqual([['warning', 'audit']]);
  });

  it('tells whether tokens were measured before audit.config', () => {
    const flags = { targetQps: '5' };
    const { settings, usesTokenLatenciesBeforeAudit } = settle(
      flags,
      '*.*.use_token_latencies = 1',
    );
    expect([settings.useTokenLatencies, usesTokenLatenciesBeforeAudit]).toEqual([true, false]);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ["the round's rate of 1", { round: 'v4.1' }, /^--target-qps <n> is needed: Server/],
    ['a file that is not there', { userConf: '/no/such.conf' }, /^cannot read \/no\/such\.conf: /],
  ])('refuses %s', (_case, flags, message) => {
    expect(() => settle(flags)).toThrow(message);
  });

  it('refuses wrong lines of all files at once', () => {
    const userConf = confFile('a = b\n\nc d\n');
    expect(() => settle({ userConf, targetQps: '1' })).toThrow(
      /user\.conf:1: .*\n.*user\.conf:3: /,
    );
  });
});
