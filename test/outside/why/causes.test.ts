import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { burn, LOADGEN_CORE, startPinnedRun, startPinnedSut, whyNotPinned } from './pinned.ts';

// Goal: each row of the table of causes (docs/measure.md) is what the screen says of a real run
// whose cause is known. Method: a delay node and LoadGen on a core each; signals, a CPU limit,
// other work, and loads above what the node does.

const why = whyNotPinned();
const title = (text: string): string => (why === undefined ? text : `${text} (skipped: ${why})`);
const DELAY = ['--benchmark', 'delay', '--delay-model'];
const SERVER = ['--scenario', 'Server', '--target-qps', '100', '--min-duration', '10s'];

/** Screen and exit code of a run, as one line: the screen breaks it anywhere. */
async function screenOf(run: ReturnType<typeof startPinnedRun>) {
  const { stdout, code } = await run.ended;
  return { text: stdout.replaceAll(/\s+/g, ' '), code };
}

/** Stops a process for so long in mid-run. */
async function stopFor(process: { kill(signal: NodeJS.Signals): void }, ms: number): Promise<void> {
  await sleep(2_000);
  process.kill('SIGSTOP');
  await sleep(ms);
  process.kill('SIGCONT');
}

/**
 * A control group of version 1 or 2 whose processes get so much of a core; undefined where none can
 * be made.
 */
function cpuLimit(share: number): string | undefined {
  const quotaUs = share * 100_000;
  const name = `longhaul-test-${process.pid}`;
  const [first, second] = [`/sys/fs/cgroup/cpu/${name}`, `/sys/fs/cgroup/${name}`];
  const folder = existsSync('/sys/fs/cgroup/cpu') ? first : second;
  try {
    mkdirSync(folder);
    // Ahead of other groups, which would keep it from its limit.
    const settings =
      folder === first
        ? [
            ['cpu.cfs_quota_us', `${quotaUs}`],
            ['cpu.shares', '200000'],
          ]
        : [
            ['cpu.max', `${quotaUs} 100000`],
            ['cpu.weight', '10000'],
          ];
    for (const [name, value] of settings) writeFileSync(`${folder}/${name}`, `${value}`);
  } catch {
    return undefined;
  }
  onTestFinished(() => rmdirSync(folder));
  return folder;
}

describe.skipIf(why !== undefined)(title('the cause of an INVALID run'), () => {
  it('is a node that was killed, and nothing that follows from it', async () => {
    const { address, node } = await startPinnedSut(...DELAY, 'fixed:300ms');
    const run = startPinnedRun(address, [...SERVER, '--target-latency', '2s']);
    await run.says(/performance run: /);
    node.kill('SIGKILL');
    const { text, code } = await screenOf(run);
    expect(text).toMatch(
      /^INVALID .*\): the SUT broke 1\. The SUT broke during the performance run: /,
    );
    expect(text).toContain(' issued samples were lost.');
    expect(text).toContain('Throughput none: the SUT was gone before the end');
    expect(text).not.toMatch(/ 2\. |broke the contract/);
    expect(code).toBe(3);
  });

  it('is samples that were lost, where the run goes on without the node that had them', async () => {
    const first = await startPinnedSut(...DELAY, 'fixed:300ms');
    const { address, node } = await startPinnedSut(...DELAY, 'fixed:300ms', '--node', 'sut-b');
    const open = ['--division', 'open', '--on-node-loss', 'continue'];
    const flags = [...SERVER, '--target-latency', '2s', '--policy', 'round-robin', ...open];
    const run = startPinnedRun(`${first.address},${address}`, flags);
    await run.says(/performance run: /);
    await sleep(2_000);
    node.kill('SIGKILL');
    const { text, code } = await screenOf(run);
    expect(text).toMatch(
      /^INVALID .*: (\d+) of 9\d\d samples were lost 1\. \1 of 9\d\d issued samples /,
    );
    expect(text).not.toMatch(/the SUT broke|broke the contract|Too close|for example|too slow/);
    expect(code).toBe(3);
  });

  it('is LoadGen that was stopped, of which the SUT knows nothing', async () => {
    const { address } = await startPinnedSut(...DELAY, 'fixed:1ms');
    const run = startPinnedRun(address, [...SERVER, '--target-latency', '100ms']);
    await run.says(/performance run: /);
    await stopFor(run, 3_000);
    const { text, code } = await screenOf(run);
    expect(text).toMatch(/^INVALID .*: LoadGen itself was too slow for this load 1\. /);
    expect(text).toMatch(
      /its process stood still for (2\.[89]\d?|3\.?\d*) s without waiting for a core/,
    );
    expect(text).not.toMatch(/SUT is too slow|Too close|target-qps, for example/);
    expect(code).toBe(3);
  });

  it('is LoadGen behind a CPU limit, which is not other work', async (test) => {
    const folder = cpuLimit(0.2);
    if (folder === undefined) test.skip('no control group can be made');
    const { address } = await startPinnedSut(...DELAY, 'fixed:1ms');
    // More than a fifth of a core can do.
    const flags = [...SERVER, '--target-latency', '100ms', '--target-qps', '600'];
    const { text, code } = await screenOf(startPinnedRun(address, flags, [], folder));
    expect(text).toMatch(/CPU limit of its control group stopped it in \d+ of \d+ periods/);
    expect(text).toContain("Raise the CPU limit of LoadGen's container or control group");
    expect(text).not.toMatch(/SUT is too slow|Too close|other work/);
    expect(code).toBe(3);
  });

  it('is LoadGen beside other work on its core', async () => {
    const { address } = await startPinnedSut(...DELAY, 'fixed:1ms');
    burn(LOADGEN_CORE, 3);
    const run = startPinnedRun(address, [...SERVER, '--target-latency', '15ms']);
    const { text } = await screenOf(run);
    expect(text).toMatch(
      /^INVALID .*: LoadGen itself was (too slow for this load|late for moments) 1\. /,
    );
    expect(text).toContain('other work held its core');
    expect(text).not.toMatch(/SUT is too slow|Too close/);
  });

  it('is one stretch without answers of a node that was stopped', async () => {
    const { address, node } = await startPinnedSut(...DELAY, 'fixed:1ms');
    const run = startPinnedRun(address, [...SERVER, '--target-latency', '500ms']);
    await run.says(/performance run: /);
    await stopFor(node, 2_000);
    const { text, code } = await screenOf(run);
    expect(text).toMatch(
      /^INVALID .*: the SUT (answered nothing|hardly answered) for (1\.9\d?|2\.?\d*) s, from /,
    );
    expect(text).toMatch(/and \d+ late samples came of that: find out what held it up\./);
    expect(text).not.toMatch(/Too close|for example|too slow/);
    expect(code).toBe(3);
  });

  it('is such a stretch of one of two nodes, by its address', async () => {
    const first = await startPinnedSut(...DELAY, 'fixed:20ms');
    const { address, node } = await startPinnedSut(...DELAY, 'fixed:20ms', '--node', 'sut-b');
    const flags = [...SERVER, '--target-latency', '500ms', '--policy', 'round-robin'];
    const run = startPinnedRun(`${first.address},${address}`, flags);
    await run.says(/performance run: /);
    await stopFor(node, 2_000);
    const { text, code } = await screenOf(run);
    expect(text).toMatch(
      new RegExp(
        `^INVALID .*: SUT node ${address} answered nothing for (1\\.9\\d?|2\\.?\\d*) s, from `,
      ),
    );
    expect(text).toMatch(/and \d+ late samples came of that: find out what held it up\./);
    expect(text).not.toMatch(/Too close|for example|too slow/);
    expect(code).toBe(3);
  });

  it('is what a node does for others, and no lower rate is advised', async () => {
    const one = ['--delay-concurrency', '1'];
    const { address } = await startPinnedSut(...DELAY, 'fixed:10ms', ...one);
    // Either load alone is well below 100 a second, both together are not.
    const flags = ['--scenario', 'Server', '--target-latency', '500ms', '--target-qps', '70'];
    const other = startPinnedRun(address, [...flags, '--min-duration', '14s']);
    await other.says(/performance run: /);
    const run = startPinnedRun(address, [...flags, '--min-duration', '8s']);
    const { text, code } = await screenOf(run);
    expect(text).toMatch(
      new RegExp(`^INVALID .*: SUT node ${address} answered \\d+ samples of others meanwhile`),
    );
    expect(text).toContain('repeat the run while nothing else');
    expect(text).not.toMatch(/Too close|for example|too slow/);
    expect(code).toBe(3);
    await other.ended;
  });

  it('is a queue that grew all through, though the bound is kept', async () => {
    const { address } = await startPinnedSut(...DELAY, 'fixed:20ms', '--delay-concurrency', '1');
    const flags = [...SERVER, '--target-latency', '30s', '--min-query-count', '700'];
    const { text, code } = await screenOf(startPinnedRun(address, flags));
    expect(text).toMatch(
      /^INVALID .*: the SUT did not keep up: (4\d(\.\d)?|50) of 9\d(\.\d)? queries\/s completed 1\. /,
    );
    expect(text).toContain("LoadGen's own verdict, by its rules alone, is VALID.");
    expect(code).toBe(3);
  });

  it('is a disturbed machine where the bound is missed beside other work, too little to be the limit', async () => {
    const { address } = await startPinnedSut(...DELAY, 'exponential:1s');
    burn(LOADGEN_CORE, 3);
    const { text, code } = await screenOf(
      startPinnedRun(address, [...SERVER, '--target-latency', '3s']),
    );
    expect(text).toMatch(
      /^INVALID .*: the latency bound was missed while LoadGen's machine was disturbed 1\. /,
    );
    expect(text).toContain("LoadGen's machine was disturbed (other work held its core");
    expect(text).not.toMatch(/Too close|for example|too slow/);
    expect(code).toBe(3);
  });

  it('is the load where the queue of a node is long, but does not grow', async () => {
    const { address } = await startPinnedSut(
      ...DELAY,
      'exponential:8ms',
      '--delay-concurrency',
      '1',
    );
    const flags = [...SERVER, '--target-latency', '60ms'];
    const { text } = await screenOf(startPinnedRun(address, flags));
    // Other work on this machine comes first, and is told in place of what the SUT can do.
    expect(text).toMatch(
      /^INVALID .*: the latency bound was missed( while LoadGen's machine was disturbed)? 1\. /,
    );
    expect(text).toMatch(/(Too close to what the SUT can do|LoadGen's machine was disturbed \()/);
    expect(text).not.toMatch(/did not keep up|answered nothing|too slow/);
  });
});
