import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: the benchmark null measures the wire with nothing installed but longhaul. Method: a real
// node process, real runs of a moment.

let node: SutNodeProcess;

beforeAll(async () => {
  node = await SutNodeProcess.start('sut-null', ['--benchmark', 'null', '--response-bytes', '7']);
  await node.process.says(/is ready: null, which needs no workers\n/);
});

afterAll(() => node.stop());

async function run(...flags: string[]) {
  const output = suiteFolder();
  const ended = await longhaulHere([
    ...['run', '--sut', node.address, '--benchmark', 'null', '--output', output],
    ...['--min-duration', '100ms', '--target-qps', '500', ...flags],
  ]);
  return { ...ended, logs: readRunLogs(output) };
}

describe('longhaul run --benchmark null', () => {
  it('answers every sample with the bytes that were requested', async () => {
    const { code, stdout, logs } = await run(
      ...['--scenario', 'Offline', '--mode', 'accuracy', '--response-bytes', '7'],
      ...['--sample-bytes', '602112', '--sample-count', '50'],
    );
    expect(stdout).toContain('answered 100.00 % (50 of 50), target 100.00 %: met');
    expect(stdout).toContain('benchmark null is an example of this project');
    expect(code).toBe(0);
    expect(logs.accuracy.map(({ data }) => data)).toEqual(Array(50).fill('00'.repeat(7)));
  });

  it('misses its target where responses have another length', async () => {
    const { code, stdout } = await run('--scenario', 'Server', '--mode', 'accuracy');
    expect(code).toBe(3);
    expect(stdout).toContain('The quality target is missed: answered 0.0000 %');
  });
});

describe('settings of the benchmark null', () => {
  it('are refused with another benchmark', async () => {
    const { code, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, '--benchmark', 'digits', '--target-qps', '1'],
      ...['--sample-bytes', '16'],
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      '--sample-bytes 16 is for the benchmarks null, echo, delay only; this one is digits',
    );
  });

  it('leave no place for a data set', async () => {
    const { code, stderr } = await longhaulHere([
      ...['run', '--sut', node.address, '--benchmark', 'null', '--target-qps', '1'],
      ...['--data-dir', '/nowhere'],
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('--data-dir /nowhere: benchmark null has no data set');
  });
});
