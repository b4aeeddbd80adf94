import { describe, expect, it } from 'vitest';
import {
  applyAudit,
  readConfFiles,
} from '../../../../../../loadgen-node/loadgen/settings/read-conf-files.ts';
import type { TestSettings } from '../../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import {
  requireTest,
  submissionRound,
} from '../../../../../../loadgen-node/submission/compliance/compliance-test.ts';
import { auditConfigText } from '../../../../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import { usualBaselinePercent } from '../../../../../../loadgen-node/submission/rules/submission-model.ts';
import type { Scenario } from '../../../../../../shared/domain/scenario.ts';
import type { SubmissionModel, TestId } from '../../../../../../shared/rules/rows/model-row.ts';

/** Settings that LoadGen reads out of a test's audit.config. */
function audited(
  test: 'TEST01' | 'TEST04' | 'TEST05' | 'TEST06',
  model: string,
  scenario: Scenario,
): TestSettings {
  const { settings, reader } = readConfFiles({ round: 'v4.1', model, scenario });
  const text = auditConfigText(test, model, scenario);
  const { settings: applied, result } = applyAudit(reader, settings, {
    name: 'audit.config',
    text,
  });
  expect(result.problems).toEqual([]);
  expect(result.notes).toEqual([]);
  return applied.toTestSettings();
}

// Goal: an official audit.config is read without a word about what only its verification script
// reads.
it.each(['test07_accuracy_threshold', 'test09_min_output_tokens', 'test09_max_output_tokens'])(
  'passes over %s',
  (key) => {
    const how = { round: 'v6.1', model: 'resnet50', scenario: 'Offline' } as const;
    const { settings, reader } = readConfFiles(how);
    const text = `*.*.mode = 2\n*.*.${key} = 60.698\n`;
    const { result } = applyAudit(reader, settings, { name: 'audit.config', text });
    expect([...result.problems, ...result.notes]).toEqual([]);
  },
);

// Goal: every line of a test's audit.config acts. Method: read it as LoadGen does.
describe('auditConfigText', () => {
  it.each([
    ['resnet50', 4096],
    ['retinanet', 256],
    ['stable-diffusion-xl', 128],
    ['3d-unet', 64],
    ['digits', 4096],
  ])('TEST01 of %s logs %i responses', (model, target) => {
    const settings = audited('TEST01', model, 'Server');
    expect(settings.mode).toBe('PerformanceOnly');
    expect(settings.accuracyLogRngSeed).toBe(720381539243781796n);
    expect(settings.accuracyLogSamplingTarget).toBe(target);
  });

  it.each(['SingleStream', 'MultiStream', 'Server', 'Offline'] as const)(
    'TEST04 issues sample 3 only in %s',
    (scenario) => {
      const settings = audited('TEST04', 'resnet50', scenario);
      expect(settings.performanceIssueSame).toBe(true);
      expect(settings.performanceIssueUnique).toBe(false);
      expect(settings.performanceIssueSameIndex).toBe(3);
    },
  );

  it('TEST04 shortens what the official file shortens for one model, which LoadGen would not read', () => {
    expect(audited('TEST04', 'stable-diffusion-xl', 'Offline').minQueryCount).toBe(500);
    expect(audited('TEST04', 'stable-diffusion-xl', 'Server').minQueryCount).not.toBe(500);
  });

  it('TEST05 takes the alternate seeds', () => {
    expect(audited('TEST05', 'resnet50', 'Server').test05).toBe(true);
  });

  it('TEST06 is as short as 100 queries', () => {
    const settings = audited('TEST06', 'llama2-70b', 'Server');
    expect(settings.accuracyLogSamplingTarget).toBe(100);
    expect(settings.minQueryCount).toBe(100);
    expect(settings.minDurationMs).toBe(0);
    expect(settings.sampleConcatenatePermutation).toBe(false);
  });
});

describe('requireTest', () => {
  it('knows the tests of a round', () => {
    expect(requireTest('TEST05', 'resnet50', 'v4.1').model?.name).toBe('resnet');
    expect(requireTest('TEST04', 'resnet50', 'v5.0').model?.name).toBe('resnet');
  });

  it.each<
    [TestId & ('TEST01' | 'TEST05' | 'TEST06'), string, 'v4.1' | 'v5.0' | 'v6.1', string, RegExp]
  >([
    ['TEST05', 'resnet50', 'v5.0', '', /rounds after v4\.1 dropped it/],
    ['TEST05', 'digits', 'v6.1', '', /rounds after v4\.1 dropped it/],
    ['TEST06', 'resnet50', 'v5.0', '', /no TEST06 for resnet; it has TEST01, TEST04/],
    ['TEST01', 'resnet50', 'v4.1', 'bert-99', /--model bert-99: .* resnet/],
  ])('refuses %s of %s in %s', (test, benchmark, round, model, message) => {
    const named = model === '' ? undefined : model;
    expect(() => requireTest(test, benchmark, round, named)).toThrow(message);
  });

  it('lets a benchmark that no round has be tested, and says what that is worth', () => {
    expect(requireTest('TEST01', 'digits', 'v6.1').notes[0]).toContain('counts for no submission');
  });

  it('knows no tests of the first round', () => {
    expect(() => submissionRound('v0.5')).toThrow(/--round v0\.5/);
    expect(submissionRound('v5.1')).toBe('v5.1');
  });

  it('allows models of 99.9 % a tenth', () => {
    const { model } = requireTest('TEST01', 'resnet50', 'v4.1');
    expect(usualBaselinePercent(model)).toBe(1);
    const high = { ...(model as SubmissionModel), name: 'dlrm-v2-99.9' };
    expect(usualBaselinePercent(high)).toBe(0.1);
    expect(usualBaselinePercent(undefined)).toBe(1);
  });
});
