import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import {
  longhaulHere,
  SutNodeProcess,
  spawnLonghaul,
  WarmLonghaul,
} from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: whatever happens to a SUT node or to the LoadGen process in the middle of a run, the run
// ends soon, INVALID, with exact counts and whole logs. Method: real processes, ended by their own
// pids.

const cache = ['--cache-dir', testCacheFolder()];
const nodes: SutNodeProcess[] = [];

afterAll(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

/**
 * By default a node without a model, which starts in half the time: what a fault does to a run is
 * the same.
 */
async function startNode(name: string, benchmark = 'null'): Promise<SutNodeProcess> {
  const node = await SutNodeProcess.start(name, ['--benchmark', benchmark, ...cache]);
  nodes.push(node);
  await node.process.says(/is ready/);
  return node;
}

/** A Server run that would outlast its test. */
function longRun(addresses: string, ...flags: string[]) {
  const output = suiteFolder();
  const args = [
    ...['run', '--sut', addresses, '--benchmark', 'null', '--target-qps', '100'],
    ...['--min-duration', '600s', '--output', output, ...cache],
    // A node that is silent is seen sooner than by default: the tests need not wait for it.
    ...['--keepalive-time', '1s', '--keepalive-timeout', '4s', ...flags],
  ];
  return { args, output };
}

function startRun(addresses: string, ...flags: string[]) {
  const { args, output } = longRun(addresses, ...flags);
  return { run: new WarmLonghaul(args), output };
}

/** As a process of its own, which can be sent signals. */
function spawnRun(addresses: string, ...flags: string[]) {
  const { args, output } = longRun(addresses, ...flags);
  return { run: spawnLonghaul(args), output };
}

/** Counts of the line that a run with lost samples prints. */
function countsOf(stdout: string) {
  const match = /(\d+) samples issued, (\d+) completed, (\d+) lost/.exec(stdout);
  if (match === null) return undefined;
  const [issued, completed, lost] = match.slice(1).map(Number) as [number, number, number];
  return { issued, completed, lost };
}

describe.concurrent('a SUT node in the middle of a run', () => {
  it.each<[string, (node: SutNodeProcess) => void, RegExp]>([
    [
      'that is killed',
      (node) => node.process.kill('SIGKILL'),
      /SUT node sut-a at 127\.0\.0\.1:\d+[\s\S]*Look at the log of the SUT node/,
    ],
    [
      'that is stopped (SIGSTOP)',
      (node) => node.process.kill('SIGSTOP'),
      /SUT node sut-a at 127\.0\.0\.1:\d+/,
    ],
    ['that is shut down (SIGTERM)', (node) => node.process.kill('SIGTERM'), /is shutting down/],
  ])('%s ends the run as INVALID, with exact counts', async (_case, act, cause) => {
    const node = await startNode('sut-a');
    const { run, output } = startRun(node.address);
    await run.says(/performance run:/);
    act(node);
    const { code, stdout, stderr } = await run.ended;
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^INVALID /m);
    expect(stdout).toMatch(cause);
    const logs = readRunLogs(output);
    expect(logs.errors.join('\n')).toMatch(/The SUT broke/);
    expect(logs.summary).toMatch(/Result is : INVALID/);
    expect(logs.accuracy).toEqual([]);
    const counts = countsOf(stdout);
    expect(counts?.issued).toBeGreaterThan(0);
    expect((counts?.completed ?? 0) + (counts?.lost ?? 0)).toBe(counts?.issued);
  });

  it('that is one of two and is killed ends the run just so', async () => {
    const [a, b] = [await startNode('sut-a'), await startNode('sut-b')];
    const { run } = startRun(`${a.address},${b.address}`);
    await run.says(/performance run:/);
    b.process.kill('SIGKILL');
    const { code, stdout } = await run.ended;
    expect(code).toBe(3);
    expect(stdout).toContain(b.address);
    // What the other one still answers is late by LoadGen's own decision.
    expect(stdout).not.toMatch(/[1-9]\d* contract errors|broke the contract/);
    expect(stdout).not.toContain(`SUT node ${a.address} left`);
  });

  it('that is one of two and is shut down is told once, with when', async () => {
    const [a, b] = [await startNode('sut-a'), await startNode('sut-b')];
    const { run } = startRun(`${a.address},${b.address}`);
    await run.says(/performance run:/);
    b.process.kill('SIGTERM');
    const { code, stdout } = await run.ended;
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(code).toBe(3);
    expect(text).toMatch(
      new RegExp(
        `run: SUT node sut-b at ${b.address} is shutting down: [^.]* \\(after \\d[\\d.]* m?s\\)\\.`,
      ),
    );
    expect(text).not.toMatch(/outside the timed region|took over|after Close/);
  });

  it('that stops answering for longer than the stall timeout ends the run, and what it owes is lost, nothing else', async () => {
    const node = await startNode('sut-a');
    const { run } = startRun(node.address, '--stall-timeout', '2s', '--keepalive-time', '10s');
    await run.says(/performance run:/);
    node.process.kill('SIGSTOP');
    const { code, stdout } = await run.ended;
    expect(code).toBe(3);
    expect(stdout).toMatch(/The SUT (stopped answering|never answered) during the performance run/);
    expect(stdout).toMatch(/SUT node 127\.0\.0\.1:\d+ left \d+ of \d+ samples unanswered/);
    expect(stdout).toMatch(/[1-9]\d* lost, 0 contract errors/);
    expect(stdout).not.toMatch(/broke/);
  });
});

describe('Ctrl-C before a run', () => {
  const atStart = ['interrupted at the start: nothing was measured, and no file was written'];
  const whileItWaits = [
    'interrupted: ending the run',
    'longhaul: interrupted before the run began: nothing was measured',
  ];
  it.each<['SIGINT' | 'SIGTERM', number, string, readonly string[], readonly string[]]>([
    ['SIGINT', 130, 'that waits for its node', ['--benchmark', 'delay'], whileItWaits],
    ['SIGTERM', 143, 'that waits for its node', ['--benchmark', 'delay'], whileItWaits],
    [
      'SIGINT',
      130,
      'that asks its node for the benchmark',
      [],
      atStart.map((text) => `longhaul: ${text}`),
    ],
  ])(
    '(%s) ends a process at once with %i, %s, and says what was done',
    async (signal, exitCode, _case, flags, said) => {
      // It takes connections and says nothing: the run waits for an answer, up to 5 s.
      const silent = createServer();
      const connected = once(silent, 'connection');
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const output = join(suiteFolder(), 'none');
      const run = spawnLonghaul([
        'run',
        '--sut',
        address,
        '--target-qps',
        '100',
        '--output',
        output,
        ...flags,
      ]);
      await connected;
      const killedAtMs = performance.now();
      run.kill(signal);
      const { code, stderr } = await run.ended;
      const tookMs = performance.now() - killedAtMs;
      silent.close();
      expect(code).toBe(exitCode);
      expect(stderr.split('\n').filter((line) => /interrupted/.test(line))).toEqual(said);
      expect(existsSync(output)).toBe(false);
      // Who waits for the answer ends 5 s after the question, or later.
      expect(tookMs).toBeLessThan(4_500);
    },
  );
});

describe('Ctrl-C in the middle of a run', () => {
  it('writes the logs, marks them incomplete and exits with 130', async () => {
    const node = await startNode('sut-a');
    const { run, output } = spawnRun(node.address, '--records', 'keep');
    await run.says(/performance run:/);
    run.kill('SIGINT');
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/INTERRUPTED/);
    const logs = readRunLogs(output);
    expect(logs.errors).not.toEqual([]);
    expect(logs.summary).toMatch(/incomplete/i);
    const screen = stdout.slice(0, stdout.search(/^Notes /m));
    expect(screen.split('\n').length).toBeGreaterThan(5);
    expect((await longhaulHere(['report', output])).stdout).toContain(screen);
    const report = await longhaulHere(['report', output, '--json']);
    expect(report.code).toBe(0);
    expect(JSON.parse(report.stdout)).toMatchObject({
      summary: { result: 'INTERRUPTED' },
      derived: { cut: null },
      isEqual: true,
    });
  });
});

describe.concurrent('a SUT node on its own', () => {
  it('drains on SIGTERM and exits with 0', async () => {
    const node = await startNode('sut-a', 'digits');
    node.process.kill('SIGTERM');
    expect((await node.process.ended).code).toBe(0);
  });

  it('ends when the process that started it is gone', async () => {
    const node = await startNode('sut-a');
    node.process.child.disconnect();
    expect((await node.process.ended).code).toBe(0);
  });
});

describe('two SUT nodes of one name', () => {
  it('are refused before anything is measured', async () => {
    const [a, b] = [await startNode('twin'), await startNode('twin')];
    const { run } = startRun(`${a.address},${b.address}`);
    const { code, stderr } = await run.ended;
    expect(code).toBe(4);
    expect(stderr).toMatch(/have the same name "twin"/);
  });
});
