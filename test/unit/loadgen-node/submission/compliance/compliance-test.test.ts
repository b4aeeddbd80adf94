import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  COMPLIANCE_SETTINGS,
  type ComplianceValues,
} from '../../../../../loadgen-node/submission/compliance/compliance-settings.ts';
import { complianceTest } from '../../../../../loadgen-node/submission/compliance/compliance-test.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import type { RunnableTestId } from '../../../../../shared/rules/rows/model-row.ts';
import { suiteFolder, tempFolder } from '../../../../scenes/host/folders.ts';
import { ComplianceScene } from '../../../../scenes/submission-tree/compliance-scene.ts';

const scene = new ComplianceScene(suiteFolder(), 'v4.1', 'Server');
let test01 = '';

function values(flags: Record<string, string>): ComplianceValues {
  const all = { run: scene.performance, ...flags };
  return resolveSettings(COMPLIANCE_SETTINGS, { section: undefined, file: undefined, flags: all })
    .values;
}

beforeAll(async () => {
  await scene.submit();
  test01 = await scene.test('TEST01');
});

/** The end of a test with these flags of a run, which a run that is there never prints. */
function testWith(
  test: RunnableTestId,
  asked: ComplianceValues,
  flags: Readonly<Record<string, string>>,
): ReturnType<typeof complianceTest> {
  return complianceTest(test, asked, { flags, tell: (text) => expect.fail(text) });
}

// Goal: a run that exists, of whichever LoadGen, can be verified without a SUT; a wrong demand is
// told at once. Method: the command's own function over simulated runs, which have no
// longhaul_run.yaml.
describe('complianceTest', () => {
  it('verifies a run that is there, replaces what an earlier verification left, and keeps the rest', async () => {
    const output = tempFolder();
    const folder = join(output, 'TEST04');
    mkdirSync(join(folder, 'accuracy'), { recursive: true });
    writeFileSync(join(folder, 'accuracy', 'baseline_accuracy.txt'), 'old\n');
    writeFileSync(join(folder, 'mine.txt'), 'kept\n');
    const testRun = await scene.test('TEST04');
    const asked = values({ testRun, output });
    const { exitCode, text, json } = await testWith('TEST04', asked, { benchmark: 'resnet50' });
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ test: 'TEST04', round: 'v4.1', hasPassed: true, folder, testRun });
    expect(readdirSync(folder).sort()).toEqual([
      'README.md',
      'accuracy',
      'mine.txt',
      'performance',
      'verify_performance.txt',
    ]);
    expect(readdirSync(join(folder, 'accuracy'))).toEqual([]);
    expect(existsSync(join(output, 'TEST04-run'))).toBe(false);
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(readme).toMatch(/^# TEST04: passed\n/);
    expect(readme).toContain('| target rate | 50 per second, as in the submission run |');
    expect(readme).toContain('95 % interval by Poisson counting');
    expect(text).toContain('TEST04 passed.');
    // Once more, from the logs that it copied itself.
    const again = values({ testRun: join(folder, 'performance', 'run_1'), output });
    expect(await testWith('TEST04', again, { benchmark: 'resnet50' })).toMatchObject({
      exitCode: 0,
    });
    expect(readdirSync(join(folder, 'performance', 'run_1'))).toHaveLength(2);
  });

  it('passes no rehearsal, though all is met, and marks every file that it writes', async () => {
    const output = tempFolder();
    const asked = values({
      testRun: test01,
      accuracyRun: scene.accuracy,
      rehearse: 'true',
      output,
    });
    const ended = await testWith('TEST01', asked, { benchmark: 'resnet50' });
    expect(ended).toMatchObject({
      exitCode: 3,
      json: { hasPassed: false, isOfficialPass: false, isRehearsal: true },
    });
    expect(ended.text).toMatch(/^TEST01 was rehearsed, and is of no use in a submission: \d+ of /m);
    const read = (name: string): string => readFileSync(join(output, 'TEST01', name), 'utf8');
    for (const name of ['verify_performance.txt', 'verify_accuracy.txt']) {
      expect(read(name)).toMatch(/^A rehearsal \(longhaul compliance --rehearse\)/);
      expect(read(name)).toContain('TEST FAIL');
      expect(read(name)).not.toMatch(/PASS/);
    }
    expect(read('README.md')).toMatch(/^# TEST01: rehearsal\n/);
  });

  it('says that a run can be rehearsed with, where it is not VALID', async () => {
    const run = join(tempFolder(), 'run');
    cpSync(scene.performance, run, { recursive: true });
    const detail = join(run, 'mlperf_log_detail.txt');
    writeFileSync(detail, readFileSync(detail, 'utf8').replace('"VALID"', '"INVALID"'));
    const asked = values({ run, output: tempFolder() });
    const flags = { benchmark: 'resnet50', sut: '127.0.0.1:1', targetQps: '50' };
    await expect(testWith('TEST04', asked, flags)).rejects.toThrow(
      'is INVALID: a compliance test needs a VALID run; --rehearse tries the way with it',
    );
  });

  it('says what failed and what it means, and ends with 3', async () => {
    const output = tempFolder();
    const testRun = await scene.test('TEST04', { serviceNs: () => 1e6 });
    const asked = values({ testRun, output });
    const { exitCode, text, json } = await testWith('TEST04', asked, { benchmark: 'resnet50' });
    expect(exitCode).toBe(3);
    expect(json).toMatchObject({ hasPassed: false, isOfficialPass: true });
    expect(readFileSync(join(output, 'TEST04/README.md'), 'utf8')).toMatch(/^- latencies: /m);
    expect(text).toContain(
      "TEST04 failed: the official tools would pass it, but not all of longhaul's own checks are met.",
    );
  });

  it('tells on the screen as in README.md that the test counts for no round', async () => {
    const output = tempFolder();
    const asked = values({ testRun: await scene.test('TEST04'), output });
    const { exitCode, text } = await testWith('TEST04', asked, { benchmark: 'digits' });
    expect(exitCode).toBe(0);
    const note = 'No round has the benchmark digits: the test counts for no submission.';
    expect(text).toContain(`  note: ${note}\nTEST04 passed.`);
    expect(readFileSync(join(output, 'TEST04/README.md'), 'utf8')).toContain(`- ${note}`);
  });

  it("refuses another test's run, and leaves no folder of it", async () => {
    const output = join(tempFolder(), 'out');
    const asked = values({ testRun: test01, output });
    await expect(testWith('TEST04', asked, { benchmark: 'resnet50' })).rejects.toThrow(
      /is no run of TEST04 of round v4\.1: effective_performance_issue_same is false, not true/,
    );
    expect(existsSync(output)).toBe(false);
  });

  it('names an accuracy run that stands in place of the performance run', async () => {
    const asked = values({ run: scene.accuracy });
    await expect(testWith('TEST05', asked, { benchmark: 'resnet50' })).rejects.toThrow(
      /--run .*accuracy is an accuracy run: name the performance run/,
    );
  });

  it.each<[string, Record<string, string>, Record<string, string>, RegExp]>([
    ['no benchmark', {}, {}, /--benchmark <name> is needed/],
    ['no accuracy run', {}, { benchmark: 'resnet50' }, /--accuracy-run <folder> is needed/],
    [
      'a lowered rate without a run',
      { lowerQps: '5', accuracyRun: scene.accuracy },
      { benchmark: 'resnet50' },
      /--lower-qps is for a run that is made/,
    ],
    [
      'a round of other seeds',
      { accuracyRun: scene.accuracy },
      { benchmark: 'resnet50', round: 'v5.0' },
      /round v5\.0 has 6023615788873153749/,
    ],
  ])('refuses %s', async (_, own, flags, message) => {
    const asked = values({ testRun: test01, output: tempFolder(), ...own });
    await expect(testWith('TEST01', asked, flags)).rejects.toThrow(message);
  });

  it.each([
    ['dataSeed', '5', '--data-seed 5: the submission run was made without it'],
    ['dataCount', '9', '--data-count 9: the submission run was made with 7'],
    ['scenario', 'Offline', '--scenario Offline: the submission run was made with Server'],
  ])(
    'refuses another %s than the submission run had, before it runs',
    async (key, value, message) => {
      const run = join(tempFolder(), 'run');
      cpSync(scene.performance, run, { recursive: true });
      const own = '{ benchmark: resnet50, dataDir: standin, dataCount: 7, scenario: Server }';
      writeFileSync(join(run, 'longhaul_run.yaml'), `run: ${own}\n`);
      await expect(testWith('TEST04', values({ run }), { [key]: value })).rejects.toThrow(message);
    },
  );
});
