import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Logger } from '../../../shared/base/process/logger.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaulHere, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: a warm-up goes the way of the run and leaves no trace in its counts: the node's ledger,
// LoadGen's counts and the evidence are those of the run alone; the log says that there was one.
// Method: the program against a node in this process.

const QUERIES = 40;

/**
 * Runs against a node of the benchmark; resolves with the exit code, LoadGen's detail log, the
 * audit, and what the node logged.
 */
async function runWith(name: string, benchmark: string, ...args: readonly string[]) {
  const logged: string[] = [];
  const info = (_fields: object, text: string): void => void logged.push(text);
  const logger = { info, warn: info, error: info } as unknown as Logger;
  const node = await startTestNode({ benchmark }, undefined, logger);
  const output = join(suiteFolder(), name);
  const { code, stderr } = await longhaulHere([
    ...['run', '--sut', node.address, '--benchmark', benchmark, '--scenario', 'Server'],
    ...['--target-qps', '2000', '--target-latency', '10s', '--min-duration', '0s'],
    ...['--min-query-count', String(QUERIES), '--mode', 'performance', '--output', output, ...args],
  ]);
  // So few queries decide nothing: INVALID is a result, too.
  expect([0, 3], stderr).toContain(code);
  const read = (file: string): string => readFileSync(join(output, file), 'utf8');
  return { logged, detail: read('mlperf_log_detail.txt'), read };
}

function opened(logged: readonly string[]): string[] {
  return logged.filter((text) => text.startsWith('a stream was opened'));
}

describe('a run with a warm-up', () => {
  it.each(['null', 'digits'])('counts its own samples alone (%s)', async (benchmark) => {
    const { logged, detail, read } = await runWith(
      `warm-${benchmark}`,
      benchmark,
      ...['--warm-up', '200ms'],
    );
    const warm = 'a stream was opened for a warm-up';
    expect(opened(logged)).toEqual([warm, warm, 'a stream was opened']);
    expect(detail).toMatch(/"longhaul_warm_up", "value": \{"milliseconds": ?"200"/);
    const summary = JSON.parse(read('longhaul_summary.json'));
    expect(JSON.stringify(summary)).toContain(`both ends counted ${QUERIES} samples`);
  });

  it('has none where it is not wanted, or a run has no shortest duration', async () => {
    const off = await runWith('warm-off', 'null', '--warm-up', '0s');
    expect(opened(off.logged)).toEqual(['a stream was opened']);
    expect(off.detail).not.toContain('longhaul_warm_up');
    const short = await runWith('warm-short', 'null');
    expect(opened(short.logged)).toEqual(['a stream was opened']);
  });
});

it('tells a node that broke in the warm-up from one that never answered', async () => {
  const node = await SutNodeProcess.start('sut-a', ['--benchmark', 'null']);
  onTestFinished(async () => {
    await node.stop();
  });
  const run = spawnLonghaul([
    ...['run', '--sut', node.address, '--benchmark', 'null', '--warm-up', '30s'],
    ...['--target-qps', '100', '--target-latency', '1s'],
    ...['--output', join(suiteFolder(), 'warm-lost')],
  ]);
  await run.says(/warming up/);
  node.process.kill('SIGKILL');
  const { code, stderr } = await run.ended;
  expect(code).toBe(4);
  expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
    new RegExp(
      `longhaul: the SUT broke in the warm-up, before the first query of the run: (SUT node ${node.address}.*; now )?no SUT node answers at ${node.address}`,
    ),
  );
});
