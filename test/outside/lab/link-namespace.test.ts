import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import { SutNamespace, whyNoNamespaces } from '../network/sut-behind-link.ts';

// Goal: a node in the namespace is reached through the link of a cell, whose conditions hold, and
// nothing of it is left. Method: real namespaces and the link in user space; netem by a tc of the
// test's own, for kernels that have none.
const why = whyNoNamespaces();
const path = process.env['PATH'] ?? '';
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  process.env['PATH'] = path;
});

const SERVER =
  "require('node:net').createServer((s) => s.on('error', () => {}).pipe(s)).listen(5000, () => console.log('listens'))";

async function namespace(by: 'netem' | 'tap'): Promise<SutNamespace> {
  const space = new SutNamespace(by);
  closing.push(() => space.remove());
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
    const space = await namespace('tap');
    await connectMs(space.sutAddress);
    space.set({ delayMs: 20 });
    expect(await connectMs(space.sutAddress)).toBeGreaterThanOrEqual(40);
    expect(space.clear()).toMatch(
      /^to a network namespace of .* handed \d+ frames on, .* lost 0, /,
    );
    await connectMs(space.sutAddress);
  });

  it('loses the share of frames that was requested', async () => {
    const space = await namespace('tap');
    space.set({ lossPercent: 100 });
    connect({ host: space.sutAddress, port: 5000 }).on('error', () => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(space.clear()).toMatch(/handed 0 frames on, .*; lost [1-9]/);
  });

  it('has netem on both ends of a link of the kernel', async () => {
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    const calls = join(folder, 'calls');
    writeFileSync(join(folder, 'tc'), `#!/bin/sh\necho "$@" >> ${calls}\n`);
    chmodSync(join(folder, 'tc'), 0o755);
    process.env['PATH'] = `${folder}${delimiter}${path}`;
    const space = await namespace('netem');
    space.set({ delayMs: 5, rateMbit: 100, lossPercent: 1 });
    await connectMs(space.sutAddress);
    const netem = 'root netem limit 1042 delay 5000us loss 1% rate 100000000bit';
    const device = `lh-${space.name}`;
    expect(readFileSync(calls, 'utf8').trim().split('\n').slice(-2)).toEqual([
      `qdisc add dev ${device} ${netem}`,
      `qdisc add dev lan0 ${netem}`,
    ]);
    expect(space.clear()).toContain('by netem');
    for (const close of closing.splice(0).reverse()) await close();
    expect(existsSync(`/sys/class/net/${device}`)).toBe(false);
  });
});
