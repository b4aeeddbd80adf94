import { copyFileSync, cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestVerdict } from '../../../../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import {
  type Test01,
  verifyTest01,
} from '../../../../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import { cutLog } from '../../../../../../loadgen-node/submission/truncate/cut-log.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';
import { labelOf } from '../../../../../scenes/simulated-run/simulated-run.ts';
import {
  ComplianceScene,
  float32,
  labelScorer,
} from '../../../../../scenes/submission-tree/compliance-scene.ts';

const folder = suiteFolder();
const scenes = {
  server: new ComplianceScene(join(folder, 'v4.1'), 'v4.1', 'Server'),
  offline: new ComplianceScene(join(folder, 'v6.1'), 'v6.1', 'Offline'),
};

function verify(
  scene: ComplianceScene,
  test: string,
  how: Partial<Test01> = {},
): Promise<TestVerdict> {
  const { round, performance, accuracy } = scene;
  return verifyTest01({
    ...{ round, performance, accuracy, test, responseType: 'float32' },
    accuracyTolerancePercent: 1,
    scorer: labelScorer,
    ...how,
  });
}

function unmet(verdict: TestVerdict): string[] {
  return verdict.checks.filter(({ isMet }) => !isMet).map(({ name }) => name);
}

/** A log without what longhaul adds to LoadGen's own records. */
function asForeign(run: string): string {
  const foreign = join(tempFolder(), 'foreign');
  cpSync(run, foreign, { recursive: true });
  rmSync(join(foreign, 'network_audit.json'));
  const detail = join(foreign, 'mlperf_log_detail.txt');
  const lines = readFileSync(detail, 'utf8').split('\n');
  writeFileSync(detail, lines.filter((line) => !line.includes('"longhaul_')).join('\n'));
  return foreign;
}

// Goal: the verdict and the files are those of the official script, and what it does not look at is
// told besides. Method: simulated runs of an honest system, and of systems that each break one
// rule. The texts were compared with those of the official scripts of v4.1, v5.0 and the newest
// round.
describe('TEST01', () => {
  beforeAll(async () => {
    for (const scene of Object.values(scenes)) await scene.submit();
  });

  it('passes a system that answers the same at the same speed', async () => {
    const test = await scenes.server.test('TEST01');
    const verdict = await verify(scenes.server, test);
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.isOfficialPass).toBe(true);
    const entries = JSON.parse(readFileSync(join(test, 'mlperf_log_accuracy.json'), 'utf8'));
    expect(entries.length).toBeGreaterThan(100);
    expect(verdict.texts.get('verify_accuracy.txt')).toBe(
      [
        'Verifying accuracy. This might take a while...',
        'Reading accuracy mode results...',
        'Reading performance mode results...',
        'num_acc_log_entries = 3000',
        'num_acc_log_duplicate_keys = 0',
        'num_acc_log_data_mismatch = 0',
        `num_perf_log_entries = ${entries.length}`,
        `num_perf_log_qsl_idx_match = ${entries.length}`,
        'num_perf_log_data_mismatch = 0',
        'num_missing_qsl_idxs = 0',
        'TEST PASS',
        '',
        '',
      ].join('\n'),
    );
    expect(verdict.texts.get('verify_performance.txt')).toMatch(
      /^Verifying performance\.\nreference score = [\d.]+\ntest score = [\d.]+\nTEST PASS\n$/,
    );
    expect(verdict.texts.get('accuracy/accuracy.txt')).toMatch(/^accuracy=100\.000%, good=/);
    const samples = new Set(entries.map(({ qsl_idx: sample }: { qsl_idx: number }) => sample)).size;
    expect(samples).toBeLessThan(entries.length);
    expect(verdict.notes.join('\n')).toContain(
      `total=${samples}; ${entries.length - samples} more entries for the same samples: the first of each counts`,
    );
    expect([...verdict.texts.keys()]).not.toContain('accuracy/baseline_accuracy.txt');
    expect(verdict.copies.get('accuracy/mlperf_log_accuracy.json')).toBe(
      join(test, 'mlperf_log_accuracy.json'),
    );
  });

  it('refuses an accuracy run of another round, but not one of another latency bound', async () => {
    const test = await scenes.server.test('TEST01');
    const of = async (flags: Record<string, string>): Promise<Partial<Test01>> => ({
      accuracy: await scenes.server.submitAgain({ flags: { mode: 'accuracy', ...flags } }),
    });
    await expect(verify(scenes.server, test, await of({ round: 'v5.0' }))).rejects.toThrow(
      /accuracy run .*\nseeds: .* which are those of round v5\.0; in the submission run 3066/,
    );
    const verdict = await verify(scenes.server, test, await of({ targetLatency: '30ms' }));
    expect(unmet(verdict)).toEqual([]);
  });

  it("reads the detail log in newer rounds, and prints its numbers as Python's", async () => {
    const verdict = await verify(scenes.offline, await scenes.offline.test('TEST01'));
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.texts.get('verify_performance.txt')).toBe(
      'Verifying performance.\nReference score = 200.0\nTest score = 200.0\nTEST PASS\n',
    );
  });

  it('reads runs of another LoadGen as well', async () => {
    const foreign = asForeign(await scenes.server.test('TEST01'));
    const performance = asForeign(scenes.server.performance);
    const accuracy = asForeign(scenes.server.accuracy);
    const verdict = await verify(scenes.server, foreign, { performance, accuracy });
    expect(unmet(verdict)).toEqual([]);
    expect(verdict.checks.map(({ name }) => name)).not.toContain('valid by longhaul');
  });

  it('fails a system that answers otherwise in performance mode', async () => {
    const responseOf = (i: number): Uint8Array => float32((labelOf(i) + 1) % 1000);
    const verdict = await verify(scenes.server, await scenes.server.test('TEST01', { responseOf }));
    expect(verdict.isOfficialPass).toBe(false);
    expect(unmet(verdict)).toEqual(['responses', 'whole responses', 'right answers']);
    expect(verdict.texts.get('verify_accuracy.txt')).toContain('TEST FAIL\n');
    expect(verdict.texts.get('accuracy/baseline_accuracy.txt')).toMatch(/^accuracy=100\.000%/);
    expect(verdict.texts.get('accuracy/compliance_accuracy.txt')).toMatch(/^accuracy=0\.000%/);
  });

  it('lets the accuracies decide where a few responses differ', async () => {
    const responseOf = (i: number): Uint8Array => float32(i % 250 === 7 ? 3 : labelOf(i));
    const test = await scenes.server.test('TEST01', { responseOf });
    const verdict = await verify(scenes.server, test);
    expect(verdict.hasPassed).toBe(true);
    expect(verdict.texts.get('verify_accuracy.txt')).toContain('TEST FAIL\n');
    expect(verdict.texts.has('accuracy/baseline_accuracy.txt')).toBe(true);
    const strict = await verify(scenes.server, test, { accuracyTolerancePercent: 0.1 });
    expect(unmet(strict)).toEqual(['responses', 'whole responses']);
    expect(strict.isOfficialPass).toBe(false);
  });

  it('sees a difference behind the first element, which the official script does not', async () => {
    const twice = (i: number, second: number): Uint8Array =>
      new Uint8Array(new Float32Array([labelOf(i), second]).buffer);
    const accuracy = await scenes.server.test('TEST01', {
      responseOf: (i) => twice(i, 1),
      flags: { mode: 'accuracy' },
      auditConfig: '# none\n',
    });
    const test = await scenes.server.test('TEST01', { responseOf: (i) => twice(i, 2) });
    const verdict = await verify(scenes.server, test, { accuracy });
    expect(verdict.texts.get('verify_accuracy.txt')).toContain('TEST PASS\n');
    expect(verdict.isOfficialPass).toBe(true);
    expect(unmet(verdict)).toEqual(['whole responses']);
    expect([...verdict.texts.keys()].filter((name) => name.includes('baseline'))).toEqual([]);
  });

  it.each<[string, clip: number, fid: number, isOfficialPass: boolean]>([
    ['both near', 1.005, 1.015, true],
    ['the second one too far', 1.005, 1.025, false],
    ['the first one too far, within the bound of the second', 1.015, 1.015, false],
    ['the second one unknown', 1, Number.NaN, false],
  ])('compares two metrics, each within its own bound: %s', async (_case, clip, fid, expected) => {
    const responseOf = (i: number): Uint8Array => float32(labelOf(i) + 1);
    const scorer: Test01['scorer'] = {
      score: async (entries) => {
        let isTest = false;
        let count = 0;
        for await (const { sampleIndex, response } of entries) {
          isTest ||= Buffer.from(response).readFloatLE() !== labelOf(sampleIndex);
          count += 1;
        }
        const [value, FID_SCORE] = isTest ? [0.3 * clip, 24 * fid] : [0.3, 24];
        return { metric: 'CLIP_SCORE', value, more: { FID_SCORE }, sampleCount: count };
      },
      marks: () => [],
    };
    const test = await scenes.server.test('TEST01', { responseOf });
    const verdict = await verify(scenes.server, test, {
      scorer,
      metricTolerancePercents: { CLIP_SCORE: 1, FID_SCORE: 2 },
    });
    expect(verdict.isOfficialPass).toBe(expected);
    expect(unmet(verdict)).toEqual(expected ? [] : ['responses', 'whole responses']);
    const { text } = verdict.checks.find(({ name }) => name === 'responses') ?? {};
    expect(text).toMatch(/CLIP_SCORE apart by .* allowed 1 %, FID_SCORE apart by .* allowed 2 %/);
  });

  it.each<[string, (i: number, isSeen: boolean) => number, string[], RegExp]>([
    ['answers worse under load', () => 0.5, ['whole responses'], /first logged responses score=50/],
    [
      'answers worse what it has seen before',
      (_i, isSeen) => (isSeen ? 0.5 : 1),
      ['whole responses'],
      /first logged responses score=100\.000%.* last logged responses score=50\.000%/,
    ],
    ['answers a few samples otherwise', (i) => (i % 250 === 7 ? 0.9 : 1), [], /99\.9\d\d%/],
  ])(
    'scores a metric that is no share of samples: a system that %s',
    async (_case, scoreOf, failed, text) => {
      // As boxes begin with the index of their sample, the first element is always right.
      const pairOf = (value: number) => new Uint8Array(Float32Array.of(0, value).buffer);
      const scorer: Test01['scorer'] = {
        score: async (entries) => {
          const values: number[] = [];
          for await (const { response } of entries)
            values.push(Buffer.from(response).readFloatLE(4));
          const value = values.reduce((sum, one) => sum + one, 0) / values.length;
          return { metric: 'score', value, sampleCount: values.length };
        },
        marks: () => [],
      };
      const accuracy = await scenes.server.test('TEST01', {
        responseOf: () => pairOf(1),
        flags: { mode: 'accuracy' },
        auditConfig: '# none\n',
      });
      const seen = new Set<number>();
      const responseOf = (i: number): Uint8Array => {
        const value = scoreOf(i, seen.has(i));
        seen.add(i);
        return pairOf(value);
      };
      const test = await scenes.server.test('TEST01', { responseOf });
      const verdict = await verify(scenes.server, test, { accuracy, scorer });
      expect(verdict.isOfficialPass).toBe(true);
      expect(unmet(verdict)).toEqual(failed);
      const whole = verdict.checks.find(({ name }) => name === 'whole responses');
      expect(whole?.text).toMatch(text);
    },
  );

  it('fails where the official script breaks off at a response that is no whole number', async () => {
    const verdict = await verify(scenes.server, await scenes.server.test('TEST01'), {
      responseType: 'int64',
    });
    expect(unmet(verdict)).toContain('responses');
    expect(verdict.texts.get('verify_accuracy.txt')).toContain('4 bytes, which are no int64');
  });

  it.each([
    ['server', '46', true],
    ['server', '44', false],
  ] as const)('%s at a target rate of %s instead of 50: %s', async (name, targetQps, isMet) => {
    const test = await scenes[name].test('TEST01', { flags: { targetQps } });
    expect(unmet(await verify(scenes[name], test))).toEqual(isMet ? [] : ['performance']);
  });

  it('tells that a run had no audit.config, and that nothing was logged', async () => {
    const test = await scenes.server.test('TEST01', { auditConfig: '# nothing\n' });
    const verdict = await verify(scenes.server, test);
    expect(unmet(verdict)).toEqual(['responses', 'coverage', 'audit settings']);
  });

  it('refuses a cut accuracy log, naming file and line', async () => {
    const accuracy = join(tempFolder(), 'accuracy');
    cpSync(scenes.server.accuracy, accuracy, { recursive: true });
    const log = join(accuracy, 'mlperf_log_accuracy.json');
    copyFileSync(log, `${log}.whole`);
    writeFileSync(log, readFileSync(`${log}.whole`, 'utf8').slice(0, 8000));
    const test = await scenes.server.test('TEST01');
    await expect(verify(scenes.server, test, { accuracy })).rejects.toThrow(/damaged at line/);
    writeFileSync(log, await cutLog(`${log}.whole`, statSync(`${log}.whole`).size));
    await expect(verify(scenes.server, test, { accuracy })).rejects.toThrow(
      /accuracy\.json was truncated for a submission: use the original$/,
    );
  });
});
