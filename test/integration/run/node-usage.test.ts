import { expect, it } from 'vitest';
import { readSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';

// Goal: a run's summary has CPU and memory of its nodes, worker processes included. Method: a real
// node whose worker is a process, and a run of some seconds. How busy the machine is otherwise does
// not matter.

/** A process of Node.js with ONNX Runtime takes more than that. */
const PROCESS_BYTES_MIN = 50e6;

it('keeps what a node with worker processes used over the run', async () => {
  const cache = ['--cache-dir', testCacheFolder()];
  const node = await SutNodeProcess.start('sut-a', [...cache, '--isolation', 'process']);
  await node.process.says(/is ready/);
  const output = suiteFolder();
  const load = ['--target-qps', '100', '--target-latency', '10s', '--min-duration', '3s'];
  try {
    await longhaul([
      ...['run', '--sut', node.address, '--benchmark', 'digits'],
      ...['--data-dir', await smallDataSet(64), ...load, '--output', output, ...cache],
    ]);
  } finally {
    await node.stop();
  }
  const summary = readSummary(output);
  const usage = summary?.nodes[0]?.usage ?? [];
  expect(usage.length).toBeGreaterThan(0);
  for (const { cores, residentBytes, atNs } of usage) {
    expect(cores).toBeGreaterThan(0);
    expect(atNs).toBeGreaterThan(0);
    if (process.platform === 'linux') expect(residentBytes).toBeGreaterThan(2 * PROCESS_BYTES_MIN);
  }
  expect(summary?.health?.seconds[0]?.process?.residentBytes).toBeGreaterThan(PROCESS_BYTES_MIN);
});
