import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { complianceVerb } from '../../../../loadgen-node/cli/compliance.ts';
import { suiteFolder, tempFolder } from '../../../scenes/host/folders.ts';
import { type Said, verbHere } from '../../../scenes/host/processes.ts';
import { simulateRun, writeAccuracyText } from '../../../scenes/simulated-run/simulated-run.ts';

// Goal: runs that are there already are compared, what came of it is written and printed, and what makes no sense is refused.
// Method: the command itself over folders of simulated runs; that it makes runs, an integration test shows.
const TOTAL = 2_000;
const NEW_RUN = '--sut a:1 --scenario Offline --target-qps 9';

async function makeRun(good: number, serviceNs: number): Promise<string> {
  const folder = join(suiteFolder(), 'run');
  const flags = { scenario: 'Offline', targetQps: '200', minDuration: '10s' };
  await simulateRun({ folder, flags, totalSamples: TOTAL, serviceNs: () => serviceNs });
  writeAccuracyText(folder, good, TOTAL);
  return folder;
}

const call = (args: readonly string[]): Promise<Said> =>
  verbHere(complianceVerb, 'custom-data-set', ...args);

describe('longhaul compliance custom-data-set', () => {
  let submission: string;
  beforeAll(async () => {
    submission = await makeRun(1_900, 5e6);
  });

  it('passes runs that are as right and as fast, and says so in three files', async () => {
    const test = await makeRun(1_895, 5.2e6);
    const output = tempFolder();
    const runs = ['--run', submission, '--test-run', test];
    const { code, stdout } = await call([...runs, '--output', output]);
    expect(code).toBe(0);
    const folder = join(output, 'custom-data-set');
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(stdout).toBe(`${readme}\nWritten to ${join(folder, 'README.md')}\n`);
    expect(stdout).toContain(`| test | not known | ${test} | ${test} |`);
    for (const name of ['verify_accuracy.txt', 'verify_performance.txt']) {
      expect(readFileSync(join(folder, name), 'utf8')).toMatch(/\nTEST PASS\n$/);
    }
  });

  it('fails a slower one with exit code 3, below the submission run if no folder is named', async () => {
    const test = await makeRun(1_900, 6e6);
    const { code, stdout } = await call(['--run', submission, '--test-run', test]);
    expect(code).toBe(3);
    expect(stdout).toContain('## rate: FAIL');
    const text = readFileSync(
      join(submission, 'compliance', 'custom-data-set', 'verify_performance.txt'),
      'utf8',
    );
    expect(text).toMatch(/\nTEST FAIL\n$/);
  });

  it.each([
    ['', '--data-seed <n> is needed'],
    ['--test-accuracy-run x --data-seed 5', '--test-accuracy-run is for --test-run'],
    [
      '--test-run x --data-seed 5',
      '--test-run x is a run that was made: --data-seed is for a new one',
    ],
    // The run's record does not tell it.
    ['--data-seed 5', '--benchmark <name> is needed'],
    // Longhaul does not make these data.
    [`--data-seed 5 --benchmark resnet50 ${NEW_RUN}`, 'say --data-dir standin'],
  ])('refuses the flags "%s"', async (flags, message) => {
    const args = flags.split(' ').filter((word) => word !== '');
    await expect(call(['--run', submission, ...args])).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['run: { benchmark: digits }', 'run: { benchmark: digits, dataCount: 600 }'],
    [
      'run: { benchmark: resnet50, dataDir: standin, dataSeed: 9 }',
      'run: { benchmark: resnet50, dataDir: standin, dataSeed: 9, dataCount: 5 }',
    ],
  ])('refuses runs over images of one seed, however many', async (own, other) => {
    const runs = [await makeRun(1_900, 5e6), await makeRun(1_900, 5e6)];
    const [run = '', test = ''] = runs;
    writeFileSync(join(run, 'longhaul_run.yaml'), own);
    writeFileSync(join(test, 'longhaul_run.yaml'), other);
    for (const flags of [['--test-run', test], `--data-count 700 ${NEW_RUN}`.split(' ')]) {
      await expect(call(['--run', run, ...flags])).rejects.toMatchObject({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringContaining('whatever their number: say another --data-seed'),
      });
    }
  });

  it('refuses a folder that is none of a run', async () => {
    await expect(call(['--run', tempFolder(), '--data-seed', '5'])).rejects.toMatchObject({
      code: 'ERR_CONFIG_FILE',
    });
  });
});
