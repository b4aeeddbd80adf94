import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SutNamespace } from '../../loadgen-node/search/sweep/sweep-link.ts';
import { whyNoNamespaces } from '../network/sut-behind-link.ts';
import { tempFolder } from '../scenes/host/folders.ts';

// Goal: a node in the namespace is reached through the link of a cell, whose conditions hold, and nothing of it is left.
// Method: real namespaces and the link in user space; netem by a tc of the test's own, for kernels that have none.
const why = whyNoNamespaces();
const path = process.env['PATH'] ?? '';
const closing: (() => unknown)[] = [];

afterEach(async () => {
  process.env['PATH'] = path;
  for (const close of closing.splice(0).reverse()) await close();
});

const BARE = { delayNs: 0, bitsPerSecond: null, lossShare: 0 };
const SERVER =
  "require('node:net').createServer((s) => s.on('error', () => {}).pipe(s)).listen(5000, () => console.log('listens'))";

async function namespace(maker: Parameters<typeof SutNamespace.make>[0]): Promise<SutNamespace> {
  const space = await SutNamespace.make(maker);
  closing.push(() => space.close());
  const [command = '', ...args] = [...space.inside, process.execPath, '-e', SERVER];
  const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  closing.push(() => server.kill());
  await new Promise((resolve) => server.stdout.once('data', resolve));
  return space;
}

/** Time of a TCP connect to the server in the namespace, in ms. */
async function connectMs(host: string): Promise<number> {
  const began = performance.now();
  const socket = connect({ host, port: 5000 });
  closing.push(() => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  return performance.now() - began;
}

describe.skipIf(why !== undefined)(`a namespace for a SUT node${why ?? ''}`, () => {
  it('is reached through a link in user space, one after the other', async () => {
    const space = await namespace({ with: 'tap', lossSeed: 0 });
    await space.shape(BARE);
    await connectMs(space.sutAddress);
    await space.shape({ ...BARE, delayNs: 20e6 });
    expect(await connectMs(space.sutAddress)).toBeGreaterThanOrEqual(40);
    const counts = await space.release();
    expect(counts?.frames).toBeGreaterThanOrEqual(3);
    expect(counts).toMatchObject({ lost: 0, dropped: 0 });
    expect(await space.release()).toBeNull();
  });

  it('loses the share of frames that was requested', async () => {
    const space = await namespace({ with: 'tap', lossSeed: 1 });
    await space.shape({ ...BARE, lossShare: 1 });
    connect({ host: space.sutAddress, port: 5000 }).on('error', () => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await space.release()).toMatchObject({ frames: 0, lost: expect.any(Number) });
  });

  it('has netem on both ends of a link of the kernel', async () => {
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    const calls = join(folder, 'calls');
    writeFileSync(join(folder, 'tc'), `#!/bin/sh\necho "$@" >> ${calls}\n`);
    chmodSync(join(folder, 'tc'), 0o755);
    process.env['PATH'] = `${folder}${delimiter}${path}`;
    const space = await namespace({ with: 'netem' });
    await space.shape({ delayNs: 5e6, bitsPerSecond: 1e8, lossShare: 0.01 });
    await connectMs(space.sutAddress);
    expect(await space.release()).toBeNull();
    const netem = 'root netem limit 1042 delay 5000us loss 1% rate 100000000bit';
    const device = `lh${process.pid}`;
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual([
      `qdisc add dev ${device} ${netem}`,
      `qdisc add dev lan0 ${netem}`,
    ]);
    expect(existsSync(`/sys/class/net/${device}`)).toBe(false);
  });
});
