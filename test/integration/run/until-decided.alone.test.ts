import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUN_SUMMARY } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, SutNodeProcess } from '../../scenes/host/processes.ts';

// Goal: a run that LoadGen plans too short is made again and ends VALID, in one folder, and says
// so. Method: a node that serves 50 samples a second, of which LoadGen is told to expect 10; runs
// of a second.

let node: SutNodeProcess;

beforeAll(async () => {
  const model = ['--delay-model', 'fixed:20ms', '--delay-concurrency', '1'];
  node = await SutNodeProcess.start('sut-a', ['--benchmark', 'delay', ...model]);
  await node.process.says(/is ready: delay/);
});

afterAll(() => node.stop());

describe('longhaul run --extend-until-decided', () => {
  it.each(['Offline', 'SingleStream'])(
    'makes a run again that was planned too short, in %s',
    async (scenario) => {
      const output = suiteFolder();
      const qps = scenario === 'Offline' ? '10' : '5';
      const { code, stdout, stderr } = await longhaulHere([
        ...['run', '--sut', node.address, '--benchmark', 'delay', '--sample-bytes', '16'],
        ...['--division', 'open', '--scenario', scenario, '--target-qps', qps, '--warm-up', '0s'],
        ...['--extend-until-decided', '--min-duration', '1s', '--min-query-count', '5'],
        // Early stopping decides streams: the 50th percentile needs 11 queries only.
        ...(scenario === 'Offline' ? [] : ['--target-latency-percentile', '50']),
        ...['--output', output],
      ]);
      expect(stdout).toMatch(/^VALID /);
      expect(code).toBe(0);
      const said = /made again with --target-qps (\d+(?:\.\d+)?): LoadGen expected/;
      expect(stderr).toMatch(said);
      const { notes } = RUN_SUMMARY.parse(
        JSON.parse(readFileSync(join(output, 'longhaul_summary.json'), 'utf8')),
      );
      expect(notes.some((note) => said.test(note))).toBe(true);
      // The settings are those that were requested.
      const record = readFileSync(join(output, 'longhaul_run.yaml'), 'utf8');
      expect(record).toMatch(new RegExp(`^ {2}targetQps: ${qps} `, 'm'));
    },
  );

  it('is off with --no-extend-until-decided', async () => {
    const { stdout, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, '--benchmark', 'delay', '--sample-bytes', '16'],
      ...['--division', 'open', '--scenario', 'Offline', '--target-qps', '10', '--warm-up', '0s'],
      ...['--no-extend-until-decided', '--min-duration', '1s', '--min-query-count', '5'],
      ...['--output', suiteFolder()],
    ]);
    expect(stderr).not.toContain('made again');
    expect(stdout).toMatch(/The run was too short/);
  });
});
