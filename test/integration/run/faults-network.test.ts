import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import { endOfSpoiledRun, startLongRun } from '../../scenes/simulated-run/spoiled-run.ts';
import { FakeSutNode } from '../../scenes/sut-node/fake-sut-node.ts';
import { InferClient } from '../../scenes/sut-node/sut-client.ts';
import { openStream, RAW_OPEN, rawSamples, startTestNode } from '../../scenes/sut-node/sut-node.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';

// Goal: whatever happens on the way, a run ends soon, INVALID, with exact counts and the node and
// the cause in words; and what only is slow is measured, not broken. Method: real processes with a
// TCP shim between.

const cache = ['--cache-dir', testCacheFolder()];
let dataFolder = '';
const open: { stop(): unknown }[] = [];

beforeAll(async () => {
  dataFolder = await smallDataSet(64);
});

afterAll(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

function closeLater<T extends { stop(): unknown }>(one: T): T {
  open.push(one);
  return one;
}

describe('a run whose connection', () => {
  it.concurrent.each<[string, (shim: TcpShim) => void, RegExp]>([
    ['is reset', (shim) => shim.reset(), /the connection was (reset|lost)/],
    [
      'is cut without a word',
      (shim) => shim.cut(),
      /the connection was lost \(.*no answer to a ping/,
    ],
    [
      'does not take queries any more',
      (shim) => shim.hold('up'),
      /the connection was lost \(.*no answer to a ping/,
    ],
    [
      'does not bring responses any more',
      (shim) => shim.hold('down'),
      /the connection was lost \(.*no answer to a ping/,
    ],
  ])('%s ends within a bound, INVALID, with node and cause', async (_case, act, cause) => {
    const node = closeLater(await FakeSutNode.start());
    const shim = closeLater(await TcpShim.start(node.address));
    const flags = ['--encoding', 'raw'];
    const begun = startLongRun({ addresses: shim.address, dataFolder, flags });
    await begun.run.says(/performance run:/);
    act(shim);
    const { stdout, completed } = await endOfSpoiledRun(begun);
    expect(stdout).toMatch(new RegExp(`SUT node ${shim.address}: ${cause.source}`));
    expect(completed).toBeGreaterThan(0);
  });
});

describe('a run behind a link that is too slow for it', () => {
  /**
   * Queries of 602 KB at a rate that the link does not carry: most wait as numbers or for the
   * socket.
   */
  async function startOverload(addresses: string) {
    const output = suiteFolder();
    const run = spawnLonghaul([
      ...['run', '--sut', addresses, '--benchmark', 'null', '--sample-bytes', '602112'],
      ...['--target-qps', '60', '--min-duration', '30s', '--output', output],
    ]);
    await run.says(/performance run: [1-9]/);
    return { run, output };
  }

  async function slowNode(name: string) {
    const node = closeLater(await SutNodeProcess.start(name, ['--benchmark', 'null', ...cache]));
    await node.process.says(/is ready/);
    const shim = await TcpShim.start(node.address, { bytesPerSecond: 4e6 });
    return { node, shim: closeLater(shim) };
  }

  it.concurrent('ends at Ctrl-C with whole logs', async () => {
    const { shim } = await slowNode('sut-a');
    const { run, output } = await startOverload(shim.address);
    run.kill('SIGINT');
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('INTERRUPTED');
    expect(readAudit(output).run.wasInterrupted).toBe(true);
    expect(readRunLogs(output).summary.length).toBeGreaterThan(0);
  });

  it.concurrent('ends as INVALID with whole logs when one of two nodes is killed', async () => {
    const [a, b] = await Promise.all([slowNode('sut-b'), slowNode('sut-c')]);
    const { run, output } = await startOverload(`${a.shim.address},${b.shim.address}`);
    a.node.process.kill('SIGKILL');
    const { code, stdout } = await run.ended;
    expect(code).toBe(3);
    const [, issued, completed, lost] =
      /(\d+) samples issued, (\d+) completed, (\d+) lost/.exec(stdout)?.map(Number) ?? [];
    expect((completed ?? 0) + (lost ?? 0)).toBe(issued);
    expect(lost).toBeGreaterThan(0);
    expect(readdirSync(output)).toContain('network_audit.json');
  });
});

describe('a SUT node that is killed and comes back on its port at once', () => {
  it('is lost to the run, which does not go on with the new one', async () => {
    const node = closeLater(await SutNodeProcess.start('sut-a', cache));
    await node.process.says(/is ready/);
    const begun = startLongRun({ addresses: node.address, dataFolder });
    await begun.run.says(/performance run:/);
    node.process.kill('SIGKILL');
    await node.process.ended;
    const next = closeLater(
      await SutNodeProcess.start('sut-a', ['--listen', node.address, ...cache]),
    );
    const { stdout } = await endOfSpoiledRun(begun);
    expect(stdout).toMatch(new RegExp(`The SUT broke .*SUT node sut-a at ${node.address}`));
    const { stdout: name } = await longhaul(['probe', 'name', '--sut', next.address]);
    expect(name).toContain('Network SUT: sut-a');
  });
});

describe('a link that is slow', () => {
  it('makes a run slower, not wrong', async () => {
    const node = closeLater(await FakeSutNode.start());
    const bytesPerSecond = 500_000;
    const shim = closeLater(await TcpShim.start(node.address, { bytesPerSecond }));
    const { code, stdout } = await longhaul([
      ...['run', '--sut', shim.address, '--benchmark', 'digits', '--encoding', 'raw'],
      ...['--scenario', 'Offline', '--target-qps', '60', '--min-duration', '1s'],
      ...['--data-dir', dataFolder, '--output', suiteFolder(), ...cache],
    ]);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    const [, samples, bytes] =
      /both ends counted (\d+) samples and (\d+) payload bytes/.exec(stdout) ?? [];
    const [, rate] = /([\d.]+) samples\/s/.exec(stdout) ?? [];
    // No sample was faster than the link.
    expect((Number(rate) * Number(bytes)) / Number(samples)).toBeLessThan(bytesPerSecond);
  });
});

describe('a LoadGen node that does not read its responses', () => {
  it('gets all of them in the end; until then the node holds no more than it granted', async () => {
    const node = await startTestNode({ queueSamplesMax: 64 });
    const shim = closeLater(await TcpShim.start(node.address));
    const client = new InferClient(shim.address, RAW_OPEN);
    await client.opened;
    const granted = client.creditSamples;
    shim.hold('down');
    client.part(0, rawSamples(granted));
    const other = await openStream(node, { ...RAW_OPEN, runId: 'run-2' });
    other.part(0, rawSamples(1));
    await other.answered(1);
    expect(client.answeredCount).toBe(0);
    shim.release('down');
    await client.answered(granted);
    expect(client.completed).toHaveLength(granted);
    client.close();
    await client.ended;
  });
});
