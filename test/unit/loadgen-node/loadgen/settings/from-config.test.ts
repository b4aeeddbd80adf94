import { describe, expect, it } from 'vitest';
import { ExactSettings } from '../../../../../loadgen-node/loadgen/settings/exact-settings.ts';
import { ConfReader } from '../../../../../loadgen-node/loadgen/settings/from-config.ts';
import {
  applyAudit,
  readConfFiles,
  withRequestedTest05Seeds,
} from '../../../../../loadgen-node/loadgen/settings/read-conf-files.ts';
import type {
  SettingsField,
  TestSettings,
} from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { Scenario } from '../../../../../shared/domain/scenario.ts';
import type { Round } from '../../../../../shared/rules/rounds/rounds.ts';

interface Case {
  readonly round: Round;
  readonly text: string | null;
  readonly model?: string;
  readonly scenario?: Scenario;
}

function read({ round, text, model = 'resnet50', scenario = 'Server' }: Case) {
  const settings = new ExactSettings(scenario);
  const reader = new ConfReader(round);
  // As a harness of round v4.1 does; later LoadGens bring mlperf.conf along.
  if (round === 'v4.1') reader.readRound(settings, model);
  const result = reader.readUser(settings, { name: 'user.conf', text }, model);
  const get = (field: SettingsField['field']): unknown => settings.get(field).value;
  return { settings, reader, result, get };
}

// Goal: which file may set what, and what comes of wrong ones, is that of the round's LoadGen.
// Method: small files for both families; the golden rows are in test/conformance.
describe('a user file', () => {
  it.each<[Round, string, bigint]>([
    ['v4.1', 'takes a seed', 1n],
    ['v5.0', 'leaves the seed', 6023615788873153749n],
    ['v6.1', 'leaves the seed', 2085463073848966840n],
  ])('of round %s %s', (round, _what, expected) => {
    const { get, result } = read({ round, text: '*.*.qsl_rng_seed = 1' });
    expect(get('qslRngSeed')).toBe(expected);
    expect(result.notes.length).toBe(round === 'v4.1' ? 0 : 1);
  });

  it.each<[Round, boolean]>([
    ['v4.1', true],
    ['v5.0', false],
  ])('of round %s sets test05: %s', (round, expected) => {
    expect(read({ round, text: '*.*.test05 = 1' }).get('test05')).toBe(expected);
  });

  it.each<[Round, string, bigint]>([
    ['v4.1', '*.Server.ttft_latency = 5', 2_000_000_000n],
    ['v4.1', 'llama2-70b.*.use_token_latencies = 1\n*.Server.ttft_latency = 5', 5_000_000n],
    ['v4.1', '*.*.use_token_latencies = 2\n*.Server.ttft_latency = 5', 2_000_000_000n],
    ['v5.0', '*.Server.ttft_latency = 5', 5_000_000n],
    ['v5.0', '*.*.use_token_latencies = 0\n*.Server.ttft_latency = 5', 2_000_000_000n],
  ])('of round %s bounds first tokens by %j', (round, text, expected) => {
    const { get, result } = read({ round, text, model: 'llama2-70b' });
    expect(get('serverTtftLatencyNs')).toBe(expected);
    // Nobody's line is ignored without a word.
    const isIgnored = expected === 2_000_000_000n;
    expect(result.notes).toEqual(
      isIgnored ? [expect.stringContaining('"ttft_latency" has no effect')] : [],
    );
  });

  it.each<Round>(['v4.1', 'v5.0'])(
    'of round %s for several scenarios is not told to have no effect',
    (round) => {
      const text = '*.Server.use_token_latencies = 1\n*.Server.ttft_latency = 450';
      expect(read({ round, text, scenario: 'Offline' }).result.notes).toEqual([]);
      expect(read({ round, text }).get('serverTtftLatencyNs')).toBe(450_000_000n);
    },
  );

  it.each<[string, string, SettingsField['field'], unknown]>([
    [
      'a multiplied number that wraps',
      'target_latency = -1',
      'serverTargetLatencyNs',
      2n ** 64n - 1_000_000n,
    ],
    ['a count below zero', 'min_query_count = -1', 'minQueryCount', 2n ** 64n - 1n],
    ['a fraction of a ms', 'target_latency = 1.9', 'serverTargetLatencyNs', 1_000_000n],
    [
      'a percentile',
      'target_latency_percentile = 99.9',
      'serverTargetLatencyPercentile',
      99.9 * 0.01,
    ],
    [
      '32 bits of a count',
      'max_async_queries = 4294967295',
      'serverMaxAsyncQueries',
      2n ** 64n - 1n,
    ],
    ['a flag that is not zero', 'coalesce_queries = 2', 'serverCoalesceQueries', true],
    [
      'a flag that is not one',
      'sample_concatenate_permutation = 2',
      'sampleConcatenatePermutation',
      false,
    ],
    ['a rate without end', 'target_qps = inf', 'serverTargetQps', Number.POSITIVE_INFINITY],
  ])('sets %s', (_case, line, field, expected) => {
    const { get } = read({ round: 'v4.1', text: `*.Server.${line}` });
    expect(get(field)).toBe(expected);
  });

  it('says where each value comes from', () => {
    const { settings } = read({ round: 'v4.1', text: '\n*.Server.target_qps = 5' });
    expect(settings.get('serverTargetQps').source).toBe('user.conf:2');
    expect(settings.get('serverTargetLatencyNs').source).toBe('mlperf.conf of v4.1:36');
    expect(settings.get('maxQueryCount').source).toBe('default');
  });

  it('sets nothing when a line is wrong, and keeps what was read before', () => {
    const { get, result } = read({ round: 'v6.1', text: '*.Server.target_qps = 5\nx y\n' });
    expect(result.rc).toBe(-22);
    expect(result.problems).toEqual([expect.stringMatching(/^user\.conf:2: "x" must be followed/)]);
    expect(result.events).toEqual([
      {
        stage: 'files',
        kind: 'error',
        key: 'error_invalid_config',
        text: "expected 'key=value', line=2",
      },
    ]);
    expect([get('serverTargetQps'), get('minDurationMs')]).toEqual([1, 600_000n]);
  });

  it('that is not there is an error of its own, after the built-in file', () => {
    const { get, result } = read({ round: 'v6.1', text: null });
    expect([result.rc, get('minDurationMs')]).toEqual([-2, 600_000n]);
    expect(result.events.map(({ text }) => text)).toEqual(["can't open file user.conf"]);
  });

  it('leaves the mode at a number that is none, and logs it', () => {
    const { get, result } = read({ round: 'v4.1', text: '*.*.mode = 9' });
    expect([result.rc, get('mode')]).toEqual([0, 'PerformanceOnly']);
    expect(result.events.map(({ text }) => text)).toEqual([
      'Invalid value passed to Mode key in config.',
    ]);
  });

  it.each<[Round, number]>([
    ['v4.1', 0],
    ['v5.0', 1],
  ])('after another one of round %s logs %i errors and counts', (round, count) => {
    const { reader, settings } = read({ round, text: '' });
    const file = { name: 'more.conf', text: '*.*.min_query_count = 7' };
    const result = reader.readUser(settings, file, 'resnet50');
    expect(settings.get('minQueryCount').value).toBe(7n);
    expect(result.events).toHaveLength(count);
  });

  it.each<[string, string, RegExp]>([
    ['an unknown key', '*.Server.target_qbs = 5', /LoadGen has no key "target_qbs"/],
    ['an unknown scenario', '*.Sever.target_qps = 5', /"Sever" is not one of SingleStream/],
    ['a key of no form', 'target_qps = 5', /form model\.scenario\.key/],
    ['a key of later rounds', '*.*.accuracy_sample_count_override = 5', /LoadGen 4\.1 does not/],
  ])('with %s has no effect, which is noted', (_case, text, note) => {
    const { result } = read({ round: 'v4.1', text });
    expect(result.notes).toEqual([expect.stringMatching(note)]);
  });
});

describe('a user file whose writer meant something else than LoadGen reads', () => {
  const mark = '\ufeff';
  const lost = /^user\.conf:1: the file begins with a byte order mark, .* save the file without/;

  it.each<[string, string, RegExp[]]>([
    ['a byte order mark', `${mark}*.Server.target_qps = 5\n*.Server.target_latency = 7`, [lost]],
    [
      'the model spelt otherwise',
      'resnet.Server.target_qps = 5\nResNet50.Server.target_latency = 7',
      [/^no line of user\.conf applies to model resnet50; it has lines for resnet, ResNet50$/],
    ],
    [
      'the model spelt otherwise in one line',
      '*.Server.target_latency = 7\nresnet-50.Server.target_qps = 5\nbert.Server.target_qps = 9',
      [
        /^user\.conf:2: "resnet-50\.Server\.target_qps" has no effect on model resnet50: it is for /,
      ],
    ],
    [
      'seconds in place of ms',
      '*.Server.target_latency = 0.015',
      [
        /^user\.conf:1: target_latency = 0\.015: LoadGen takes a whole number of ms, and reads 0; 0\.015 s would be 15$/,
      ],
    ],
    ['a power', '*.Server.min_query_count = 1e3', [/takes a whole number, and reads 1$/]],
    ['nothing of it', '*.Server.target_latency = 0x10\n*.Server.target_qps = 1.5', []],
  ])('is told of %s, and nothing is read otherwise', (_case, text, notes) => {
    const { result, get } = read({ round: 'v4.1', text });
    expect(result.rc).toBe(0);
    expect(result.notes).toEqual(notes.map((one) => expect.stringMatching(one)));
    if (text.startsWith(mark))
      expect([get('serverTargetQps'), get('serverTargetLatencyNs')]).toEqual([1, 7_000_000n]);
  });

  it('is told of a byte order mark before a comment, which LoadGen refuses', () => {
    const { result } = read({ round: 'v4.1', text: `${mark}# of mine\n*.Server.target_qps = 5` });
    expect(result.rc).toBe(-22);
    expect(result.problems).toEqual([expect.stringMatching(lost)]);
  });
});

describe('audit.config', () => {
  const audit = { name: 'audit.config', text: '*.*.test05 = 1\n*.*.test05_qsl_rng_seed = 11' };
  const official = { name: 'audit.config', text: '*.*.mode = 2\nresnet50.*.min_query_count = 5' };

  it('wins over the files, for every model, and leaves a warning', () => {
    const { reader, settings } = read({ round: 'v4.1', text: '*.*.mode = 1' });
    const { settings: audited, result } = applyAudit(reader, settings, official);
    expect(audited.get('mode').value).toBe('PerformanceOnly');
    expect(audited.get('minQueryCount').value).toBe(100n);
    expect(settings.get('mode').value).toBe('AccuracyOnly');
    expect(result.events).toEqual([
      {
        stage: 'audit',
        kind: 'warning',
        key: 'warning_generic_message',
        text: 'Found Audit Config file (audit.config). Overriding TestSettings from audit.config file.',
      },
    ]);
  });

  it.each<[Round, boolean]>([
    ['v4.1', true],
    ['v6.1', false],
  ])('of round %s switches TEST05 on: %s, with the seeds of before', (round, isOn) => {
    const { reader, settings } = read({ round, text: '' });
    const { settings: audited } = applyAudit(reader, settings, audit);
    const final = withRequestedTest05Seeds(audited, settings).toTestSettings();
    expect(final.test05).toBe(isOn);
    expect(final.test05QslRngSeed).toBe(settings.get('test05QslRngSeed').value);
  });
});

describe('readConfFiles', () => {
  const selection = { model: 'resnet50', scenario: 'Server' } as const;
  const short = { name: 'mlperf.conf', text: '*.Server.min_duration = 5' };
  const user = { name: 'user.conf', text: '' };

  it('takes a given mlperf.conf in place of the round up to v4.1', () => {
    const { settings } = readConfFiles({ ...selection, round: 'v4.1', mlperfConf: short });
    expect(settings.get('minDurationMs').value).toBe(5n);
    expect(settings.get('serverTargetLatencyNs').value).toBe(100_000_000n);
  });

  it('takes it on top of the built-in one from v5.0 on, as one file too many', () => {
    const files = { mlperfConf: short, userConf: user };
    const { settings, results } = readConfFiles({ ...selection, round: 'v5.0', ...files });
    expect(settings.get('minDurationMs').value).toBe(5n);
    expect(settings.get('serverTargetLatencyNs').value).toBe(15_000_000n);
    expect(results.flatMap(({ events }) => events.map(({ text }) => text))).toEqual([
      'Multiple conf files are used. This is not valid for official submission.',
    ]);
  });

  it('takes -1 for no limit, and refuses counts that no double holds, by name and place', () => {
    const read = (text: string): TestSettings =>
      readConfFiles({
        ...selection,
        round: 'v4.1',
        userConf: { name: 'user.conf', text },
      }).settings.toTestSettings();
    expect(read('*.*.max_query_count = -1').maxQueryCount).toBe(2 ** 64);
    expect(read('*.*.max_query_count = 9007199254740994').maxQueryCount).toBe(2 ** 53 + 2);
    expect(() => read('*.*.max_query_count = 9007199254740993')).toThrow(
      /^user\.conf:1: max_query_count is 9007199254740993; from 2\^53 on only/,
    );
  });

  it('holds the values of round v0.5', () => {
    const gnmt = { model: 'gnmt', scenario: 'MultiStream', round: 'v0.5' } as const;
    const settings = readConfFiles(gnmt).settings.toTestSettings();
    expect(settings).toMatchObject({
      minQueryCount: 90_112,
      minDurationMs: 60_000,
      multiStreamExpectedLatencyNs: 100_000_000,
      multiStreamTargetLatencyPercentile: 0.97,
      serverTargetLatencyNs: 250_000_000,
      performanceSampleCountOverride: 3_903_900,
      qslRngSeed: 3133965575612453542n,
    });
  });
});
