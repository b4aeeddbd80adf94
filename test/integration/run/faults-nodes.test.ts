import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WirePart } from '../../../shared/wire/part-codec.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { endOfSpoiledRun, startLongRun } from '../../scenes/simulated-run/spoiled-run.ts';
import { type FakeBehaviour, FakeSutNode } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: a node that does not keep the protocol ends the run soon or is refused; the message names
// node and cause, and no sample is counted twice or not at all. Method: the real `longhaul run`
// against nodes that speak real gRPC and misbehave at the 20th part. More faults, and their
// mixtures: test/unit/simulation.

let dataFolder = '';
const nodes: FakeSutNode[] = [];

beforeAll(async () => {
  dataFolder = await smallDataSet(64);
});

afterAll(() => {
  for (const node of nodes) node.stop();
});

async function start(behaviour: FakeBehaviour): Promise<FakeSutNode> {
  const node = await FakeSutNode.start(behaviour);
  nodes.push(node);
  return node;
}

type Act = (node: FakeSutNode, ids: readonly number[]) => void;

const NOTHING: Act = () => {};
const ANSWER: Act = (node, ids) => node.complete(ids);

/** Waits until queries arrive; the fault is a tenth of a second away then. */
async function firstPart(node: FakeSutNode): Promise<void> {
  await expect.poll(() => node.parts.length).toBeGreaterThan(0);
}

/** Answers until the 20th part; then acts, and does with those after it what `then` says. */
function at20(act: Act, then: Act = NOTHING): NonNullable<FakeBehaviour['onPart']> {
  let seen = 0;
  return (node: FakeSutNode, part: WirePart) => {
    seen += 1;
    const ids = part.samples.map((sample) => sample.id);
    if (seen < 20) node.complete(ids);
    else if (seen === 20) act(node, ids);
    else then(node, ids);
  };
}

/** Messages of a node that floods. */
const FLOOD = 5_000;

/** Answers, and then says a great deal that nobody asked for. */
function flood(node: FakeSutNode, ids: readonly number[]): void {
  node.complete(ids);
  const payload = Buffer.alloc(4_096);
  for (let i = 0; i < FLOOD; i += 1) node.complete([2 ** 40 + i], payload);
}

/** Keeps the answers of the first parts and gives them again when their slots are in use again. */
function repeatsOldIds(): NonNullable<FakeBehaviour['onPart']> {
  const old: number[] = [];
  return (node, part) => {
    const ids = part.samples.map((sample) => sample.id);
    node.complete(ids);
    if (old.length < 10) old.push(...ids);
    else if (old.length < 20) old.push(...old.splice(0, 10), ...Array(10).fill(-1));
    else if (old[0] !== -1) node.complete(old.splice(0, 10));
  };
}

describe('a run with a node that', () => {
  it.concurrent.each<[string, FakeBehaviour, RegExp, string[]?]>([
    [
      'sends a message that is too large',
      { onPart: at20((node, ids) => node.complete(ids, Buffer.alloc(1 << 20))) },
      /ADDRESS: a message of 10485\d\d bytes; limit --message-bytes-max is 100000/,
      ['--message-bytes-max', '100000'],
    ],
    [
      'answers Name but never a query',
      { onPart: () => {} },
      /The SUT never answered during the performance run/,
      ['--stall-timeout', '2s'],
    ],
  ])('%s ends INVALID, with exact counts', async (_case, behaviour, cause, flags = []) => {
    const node = await start(behaviour);
    const begun = startLongRun({
      addresses: node.address,
      dataFolder,
      flags: ['--encoding', 'raw', ...flags],
    });
    await firstPart(node);
    const { stdout, lost } = await endOfSpoiledRun(begun);
    expect(stdout).toMatch(new RegExp(cause.source.replace('ADDRESS', node.address)));
    expect(lost).toBeGreaterThan(0);
  });

  it.concurrent.each<[string, NonNullable<FakeBehaviour['onPart']>, number]>([
    ['for ids whose slots were issued again', repeatsOldIds(), 10],
    ['for thousands of ids that were never sent', at20(flood, ANSWER), FLOOD],
  ])('answers %s is INVALID though nothing is lost', async (_case, onPart, errorCount) => {
    const node = await start({ onPart });
    const begun = startLongRun({
      addresses: node.address,
      dataFolder,
      flags: ['--encoding', 'raw', '--min-duration', '1s'],
    });
    await firstPart(node);
    const { stdout, lost, issued } = await endOfSpoiledRun(begun);
    expect(stdout).toContain(
      `The SUT broke the contract ${errorCount.toLocaleString('en-US')} times`,
    );
    expect(lost).toBe(0);
    // Neither end counts wrong answers as samples of the run.
    expect(node.sampleIds).toHaveLength(issued);
  });
});

describe('a node that', () => {
  it.each<[string, FakeBehaviour, RegExp, string[]?]>([
    [
      'opens a stream of another version',
      { says: { Opened: { protocolVersion: 7 } } },
      /ADDRESS sent a message that breaks the protocol: Opened has protocol version 7/,
    ],
    [
      'answers Name but never Ready',
      { mute: ['Ready'] },
      /no SUT node answers at ADDRESS \(no answer in time\)/,
      ['--ready-timeout', '1s'],
    ],
    ['never opens a stream', { mute: ['Open'] }, /ADDRESS does not answer Open within 5000 ms/],
  ])(
    '%s is refused before the run, with its address',
    async (_case, behaviour, cause, flags = []) => {
      const node = await start(behaviour);
      const { code, stderr } = await longhaulHere([
        ...['run', '--sut', node.address, '--benchmark', 'digits', '--encoding', 'raw'],
        ...['--data-dir', dataFolder, '--target-qps', '100', '--output', suiteFolder()],
        ...['--cache-dir', testCacheFolder(), ...flags],
      ]);
      expect({ code, stderr }).toMatchObject({ code: 4 });
      const said = stderr.split('\n').filter((line) => line.startsWith('longhaul: '));
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(new RegExp(cause.source.replace('ADDRESS', node.address)));
      expect(node.parts).toEqual([]);
    },
  );
});
