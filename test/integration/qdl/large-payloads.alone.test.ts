import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';

// Goal: large queries, samples and responses go through in bounded memory on both ends, and large
// traffic both ways at once never stands still. Method: real processes and generated data;
// `npm run bench -- memory` does the same at full size (24,576 x 602 KB; 132 MB out and 33 MB
// back).

const MIB = 1024 * 1024;
let node: SutNodeProcess;
afterEach(async () => {
  await node.stop();
});

async function startNode(...flags: string[]): Promise<void> {
  node = await SutNodeProcess.start('sut-null', ['--benchmark', 'null', ...flags]);
  await node.process.says(/is ready/);
}

/**
 * One Offline query of so many samples; returns what the run said and both ends' peaks in bytes.
 */
async function runOffline(samples: number, ...flags: string[]) {
  const run = spawnLonghaul([
    ...['run', '--sut', node.address, '--benchmark', 'null', '--scenario', 'Offline'],
    ...['--target-qps', '1', '--min-duration', '0s', '--min-query-count', String(samples)],
    ...['--stall-timeout', '10s', '--output', suiteFolder(), ...flags],
  ]);
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(run.child.pid));
  }, 50);
  const { code, stdout, stderr } = await run.ended;
  clearInterval(watch);
  return { code, stdout, stderr, loadgenPeak: peak, nodePeak: peakOf(node.process.child.pid) };
}

/**
 * Peak of resident memory in bytes; 0 once the process is gone, or where the system does not tell.
 */
function peakOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

describe('an Offline query', () => {
  it('of 1.8 GB goes out in parts, in memory that does not grow with it', async () => {
    await startNode();
    const flags = ['--sample-bytes', '602112', '--sample-count', '8'];
    const { code, stdout, stderr, loadgenPeak, nodePeak } = await runOffline(3000, ...flags);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain('both ends counted 3000 samples and 1806336000 payload bytes');
    // A node holds 256 MiB of samples at most, and what V8 has not collected yet.
    expect(nodePeak).toBeLessThan(700 * MIB);
    expect(loadgenPeak).toBeLessThan(300 * MIB);
  });

  it.each([{ more: [] }, { more: ['--streams', '2'] }])(
    'of large samples with large responses does not stand still (%j)',
    async ({ more }) => {
      await startNode('--response-bytes', '9000000', '--sample-bytes-max', '24000000');
      const flags = ['--sample-bytes', '23000000', '--sample-count', '2'];
      const all = [...flags, '--response-bytes', '9000000', ...more];
      const { code, stdout, stderr } = await runOffline(24, ...all);
      expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
      expect(stdout).toContain('both ends counted 24 samples and 552000000 payload bytes');
    },
  );
});
