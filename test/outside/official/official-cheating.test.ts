import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import {
  CHEATING_ROWS,
  CHEATING_SAMPLES,
  type CheatingTest,
  cheatingRuns,
  SPEED_AND_ANSWERS,
  systemOf,
} from '../../scenes/simulated-run/cheating.ts';
import { labelOf } from '../../scenes/simulated-run/simulated-run.ts';
import { describeOfficial, OfficialTools } from './official-tools.ts';

// Goal: what the rows of cheating systems say of the official tools is what these say. Method: the
// scripts of v4.1 verify the same runs as longhaul does (cheating-suts.slow.test.ts); where
// responses differ, their fallback: create_accuracy_baseline.sh, and accuracy-imagenet.py over both
// logs.
const FOLDER = 'compliance/nvidia';
const BASELINE = `${FOLDER}/TEST01/create_accuracy_baseline.sh`;
const ACCURACY = 'vision/classification_and_detection/tools/accuracy-imagenet.py';

describeOfficial.each(['Offline', 'Server'] as const)('the scripts of v4.1, %s', (scenario) => {
  let tools: OfficialTools;
  let valMap: string;

  beforeAll(() => {
    const suite = suiteFolder();
    tools = new OfficialTools('v4.1', join(suite, 'tools'), [FOLDER, ACCURACY]);
    valMap = join(suite, 'val_map.txt');
    const lines = Array.from({ length: CHEATING_SAMPLES }, (_, i) => `${i}.JPEG ${labelOf(i)}\n`);
    writeFileSync(valMap, lines.join(''));
  });

  it.each(CHEATING_ROWS)('$what', async (row) => {
    const folder = suiteFolder();
    const runs = await cheatingRuns(folder, systemOf(row, scenario));
    const results = join(folder, 'results');
    cpSync(runs.performance, join(results, 'performance', 'run_1'), { recursive: true });
    cpSync(runs.accuracy, join(results, 'accuracy'), { recursive: true });
    const seen: Partial<Record<CheatingTest, string>> = {};
    const expected: Partial<Record<CheatingTest, string>> = {};
    for (const test of SPEED_AND_ANSWERS) {
      const passes = verify(test, results, await runs.test(test), join(folder, 'theirs'));
      seen[test] = passes ? 'pass' : 'FAIL';
      expected[test] = row[scenario][test].official;
    }
    expect(seen).toEqual(expected);
  });

  function verify(test: CheatingTest, results: string, run: string, output: string): boolean {
    const type = test === 'TEST01' ? ['--dtype', 'float32'] : [];
    const args = ['-r', results, '-c', run, '-o', output, ...type];
    const cwd = join(output, `${test}-cwd`);
    const { code, output: text } = tools.run(`${FOLDER}/${test}/run_verification.py`, args, cwd);
    expect(code, text).toBe(0);
    const says = (name: string): boolean => {
      const path = join(output, test, name);
      return existsSync(path) && readFileSync(path, 'utf8').includes('TEST PASS');
    };
    if (!says('verify_performance.txt')) return false;
    return test !== 'TEST01' || says('verify_accuracy.txt') || passesFallback(results, run, cwd);
  }

  /** Part III of TEST01's README. */
  function passesFallback(results: string, run: string, cwd: string): boolean {
    mkdirSync(cwd, { recursive: true });
    const log = 'mlperf_log_accuracy.json';
    const { code, output } = tools.run(
      BASELINE,
      [join(results, 'accuracy', log), join(run, log)],
      cwd,
    );
    expect(code, output).toBe(0);
    const [baseline, compliance] = [
      accuracyOf(join(cwd, 'mlperf_log_accuracy_baseline.json'), cwd),
      accuracyOf(join(run, log), cwd),
    ];
    return compliance > 0 && Math.abs(1 - baseline / compliance) <= 0.01;
  }

  function accuracyOf(log: string, cwd: string): number {
    const args = ['--mlperf-accuracy-file', log, '--imagenet-val-file', valMap];
    const { code, output } = tools.run(ACCURACY, [...args, '--dtype', 'float32'], cwd);
    expect(code, output).toBe(0);
    return Number(/accuracy=([\d.]+)%/.exec(output)?.[1]);
  }
});
