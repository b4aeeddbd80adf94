import { describe, expect, it } from 'vitest';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  type CompressionPlan,
  checkCompression,
  compressionBreaches,
} from '../../../../shared/rules/check-compression.ts';
import { COMPRESSION_RULES, compressionRule } from '../../../../shared/rules/compression-rules.ts';
import { ROUNDS } from '../../../../shared/rules/rounds/rounds.ts';

// Goal: what the rules' tables allow goes, anything else is refused with their words; open refuses
// only what cannot be done. Method: the table of round v4.1 row by row, and where other rounds
// differ.

function plan(fields: Partial<CompressionPlan> & { form?: string; by?: string }): CompressionPlan {
  const { form = 'raw', by = 'identity', ...others } = fields;
  return {
    benchmark: 'resnet50',
    round: 'v4.1',
    scenario: 'Server',
    encoding: { form, compression: by },
    scope: 'sample',
    responseCompressions: ['identity'],
    hasLargeQueries: false,
    ...others,
  };
}

/** Code and message of what checkCompression throws. */
function refusal(of: CompressionPlan, division: 'network' | 'open'): string {
  try {
    checkCompression(of, division);
    return 'none';
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

describe('round v4.1', () => {
  it.each([
    ['resnet50', true, true, false],
    ['retinanet', true, true, false],
    ['3d-unet', true, false, true],
    ['bert', true, false, false],
    ['gptj', false, false, false],
    ['llama2-70b', false, false, false],
    ['mixtral-8x7b', false, false, false],
    ['dlrm-v2', true, false, false],
    ['stable-diffusion-xl', false, false, false],
    ['digits', true, true, true],
    ['bert-99', true, false, false],
    ['dlrm-v2-99.9', true, false, false],
    ['a benchmark without a row', false, false, false],
  ])(
    '%s: lossless %s, original %s, compressed responses %s',
    (benchmark, lossless, original, responses) => {
      const isAllowed = (fields: Parameters<typeof plan>[0]): boolean =>
        compressionBreaches(plan({ benchmark, ...fields })).length === 0;
      expect(isAllowed({})).toBe(true);
      expect(isAllowed({ by: 'lz4' })).toBe(lossless);
      expect(isAllowed({ by: 'gzip', scenario: 'Offline', hasLargeQueries: true })).toBe(lossless);
      expect(isAllowed({ form: 'jpeg' })).toBe(original);
      expect(isAllowed({ form: 'jpeg', by: 'lz4' })).toBe(false);
      expect(isAllowed({ responseCompressions: ['identity', 'lz4'] })).toBe(responses);
    },
  );

  it.each([
    ['dlrm-v2', 'Server', false, true],
    ['dlrm-v2', 'Server', true, false],
    ['dlrm-v2', 'Offline', true, false],
    ['dlrm-v2', 'SingleStream', false, false],
    ['resnet50', 'Server', false, false],
    ['digits', 'Server', false, false],
  ] as const)(
    'queries as a whole: %s in %s, larger than a sample %s: %s',
    (benchmark, scenario, large, isAllowed) => {
      const whole = plan({
        benchmark,
        scenario,
        hasLargeQueries: large,
        scope: 'query',
        by: 'lz4',
      });
      if (isAllowed) expect(refusal(whole, 'network')).toBe('none');
      else expect(refusal(whole, 'network')).toContain('Only per-Sample compression is allowed');
    },
  );
});

describe('rounds', () => {
  it.each([
    ['gptj', 'v4.1', 'v5.0'],
    ['dlrm-v2', 'v4.1', 'v5.1'],
    ['dlrm-v3', 'v6.0', 'v6.1'],
    ['llama3_1-405b', 'v5.0', 'v6.1'],
    ['llama3_1-8b-interactive', 'v5.1', 'v6.1'],
    ['llama2-70b', 'v4.1', 'v6.1'],
    ['mobilenet', 'v0.5', 'v0.5'],
    ['resnet50', 'v0.5', 'v6.1'],
  ] as const)('%s has a row from %s to %s', (benchmark, first, last) => {
    const from = ROUNDS.indexOf(first);
    const to = ROUNDS.indexOf(last);
    const rounds = ROUNDS.filter((round) => compressionRule(benchmark, round) !== undefined);
    expect(rounds).toEqual(ROUNDS.slice(from, to + 1));
  });

  it('have one row at most for a benchmark', () => {
    const rows = COMPRESSION_RULES.flatMap(({ benchmark, rounds }) =>
      rounds.map((round) => `${benchmark} in ${round}`),
    );
    expect(new Set(rows).size).toBe(rows.length);
  });

  it('differ in what they say of a benchmark', () => {
    expect(compressionRule('resnet50', 'v0.5')?.requests).toEqual(['none']);
    expect(compressionRule('llama2-70b', 'v4.1')?.text).not.toContain('No compression');
    expect(compressionRule('llama2-70b', 'v5.0')?.text).toContain('No compression allowed');
  });

  it('takes bitmaps only in round v0.5', () => {
    const jpeg = plan({ round: 'v0.5', form: 'jpeg' });
    expect(refusal(jpeg, 'network')).toContain('uncropped uncompressed bitmap');
  });

  it('names the DLRM of the round', () => {
    const whole = { scope: 'query', by: 'lz4', benchmark: 'bert' } as const;
    expect(compressionBreaches(plan({ ...whole, round: 'v6.1' }))[0]).toContain('DLRMv3');
    expect(compressionBreaches(plan(whole))[0]).toContain('DLRMv2');
  });
});

describe('division', () => {
  it('network refuses with every rule that is broken', () => {
    const all = plan({
      benchmark: 'gptj',
      by: 'lz4',
      scope: 'query',
      responseCompressions: ['gzip'],
    });
    const text = refusal(all, 'network');
    expect(text).toMatch(/^ERR_RULE benchmark gptj in round v4.1: samples compressed by lz4/);
    expect(text).toContain('No compression allowed.');
    expect(text).toContain('Only per-Sample compression is allowed');
    expect(text).toContain('the QDL must decompress the output');
    expect(text).toContain('--division open');
    expect(compressionBreaches(all)).toHaveLength(3);
  });

  it('open allows what the rules forbid', () => {
    const all = plan({
      benchmark: 'gptj',
      by: 'lz4',
      scope: 'query',
      responseCompressions: ['gzip'],
    });
    expect(refusal(all, 'open')).toBe('none');
  });

  it.each([
    [
      'a whole query without compression',
      { scope: 'query' },
      'has no effect without --compression',
    ],
    [
      'whole queries of several samples',
      { scope: 'query', by: 'lz4', hasLargeQueries: true },
      'only queries of one sample can be prepared before the run',
    ],
  ] as const)('open refuses %s', (_case, fields, text) => {
    expect(refusal(plan(fields), 'open')).toMatch(/^ERR_CONFIG_INVALID/);
    expect(refusal(plan(fields), 'open')).toContain(text);
  });
});
