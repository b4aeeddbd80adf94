import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import {
  type LonghaulProcess,
  SutNodeProcess,
  spawnLonghaul,
} from '../../scenes/host/processes.ts';

// Goal: a node that is told to go during a run ends as docs/operate.md says, and so does the run.
// Method: real processes, and signals as systemd and kubelet send them.

/** A node whose samples take 20 ms each, one after the other: a drain has something to do. */
const SLOW =
  '--benchmark delay --delay-model fixed:20ms --delay-concurrency 1 --log-level info'.split(' ');

/** A run over nodes, with a scenario and the rest of its flags. */
function measure(nodes: readonly SutNodeProcess[], flags: string): LonghaulProcess {
  const sut = nodes.map((node) => node.address).join(',');
  const samples = '--benchmark delay --sample-bytes 64 --sample-count 32';
  const line = `run --sut ${sut} ${samples} --output ${suiteFolder()} --scenario ${flags}`;
  return spawnLonghaul(line.split(' '));
}

/** Starts a run over nodes of {@link SLOW} and resolves once the last of them has a stream. */
async function startRun(nodes: readonly SutNodeProcess[], flags: string) {
  const load = 'Server --target-qps 60 --target-latency 10s --min-duration 8s';
  const run = measure(nodes, `${load} ${flags}`);
  await nodes.at(-1)?.process.says(/a stream was opened/);
  // Some queries are answered, others are outstanding.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return run;
}

describe('a node that is drained during a run', () => {
  it.each([
    ['fail', '', /node .* drains|is shutting down/],
    ['drain', '', /is shutting down/],
    // It may have answered all samples, so that none is lost; but the SUT changed during the run.
    ['continue', ' --division open', /did not give its name after the run: no SUT node answers/],
  ])(
    'with --on-node-loss %s ends with 0 itself, and the run as INVALID with whole logs',
    async (how, more, why) => {
      const nodes = await Promise.all([
        SutNodeProcess.start('sut-a', SLOW),
        SutNodeProcess.start('sut-b', SLOW),
      ]);
      const [a, b] = nodes;
      const run = await startRun(nodes, `--on-node-loss ${how}${more}`);
      b.process.kill('SIGTERM');
      expect(await b.process.ended).toMatchObject({ code: 0 });
      const ended = await run.ended;
      expect({ code: ended.code, stdout: ended.stdout }).toMatchObject({ code: 3 });
      expect(ended.stdout).toMatch(/^INVALID /m);
      expect(ended.stdout).toMatch(why);
      expect(
        existsSync(join(/Logs +(\S+)/.exec(ended.stdout)?.[1] ?? '', 'mlperf_log_summary.txt')),
      ).toBe(true);
      a.process.kill('SIGTERM');
      expect(await a.process.ended).toMatchObject({ code: 0 });
    },
  );

  it.each([
    ['shorter than the grace period ends by itself, with 4', '1s', { code: 4, signal: null }],
    ['longer than it is killed', '60s', { code: null, signal: 'SIGKILL' }],
  ])('with a --drain-timeout %s', async (_case, timeout, end) => {
    // 300 samples of 100 ms each are outstanding: no drain is over within the grace period of 4 s.
    const slow = SLOW.map((flag) => (flag === 'fixed:20ms' ? 'fixed:100ms' : flag));
    const node = await SutNodeProcess.start('sut-a', [...slow, '--drain-timeout', timeout]);
    // A LoadGen that stays, as one of another make would: ours breaks off, and there would be
    // nothing to wait for.
    const load = 'Offline --target-qps 30 --min-duration 10s --on-node-loss drain';
    const run = measure([node], load);
    await node.process.says(/a stream was opened/);
    await new Promise((resolve) => setTimeout(resolve, 500));
    // As kubelet does: SIGTERM, and SIGKILL after terminationGracePeriodSeconds.
    node.process.kill('SIGTERM');
    const grace = setTimeout(() => node.process.kill('SIGKILL'), 4_000);
    expect(await node.process.ended).toMatchObject(end);
    clearTimeout(grace);
    const ended = await run.ended;
    expect(ended.code).toBe(3);
    expect(ended.stdout).toMatch(/^INVALID /m);
  });
});
