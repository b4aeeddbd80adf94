import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: a container's health check says what the node says, and build.sh never passes over a
// machine that cannot build. Method: the scripts of deploy/docker themselves: against a real node,
// servers that answer wrongly, engines that do not work.

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'deploy', 'docker');

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of deploy/docker to its end. */
function script(name: string, args: readonly string[], path = process.env['PATH']): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', [join(folder, name), ...args], {
      env: { ...process.env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const check = (...ports: (number | string)[]): Promise<Ended> =>
  script('health-check.sh', ports.map(String));

/** A port of loopback that answers each connection with bytes. */
async function answering(bytes: Buffer, isEnded: boolean): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(bytes);
    if (isEnded) socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** An HTTP/2 frame of stream 1. */
function frame(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.from([0, 0, 0, type, flags, 0, 0, 0, 1]);
  head.writeUIntBE(payload.length, 0, 3);
  return Buffer.concat([head, payload]);
}

const data = (...message: number[]): Buffer =>
  frame(0, 0, Buffer.from([0, 0, 0, 0, message.length, ...message]));

describe('the health check of a container', () => {
  it('asks a real node, at the first port that listens', async () => {
    const node = await startTestNode({ benchmark: 'null' });
    const port = Number(node.address.split(':').at(-1));
    // 1 is tcpmux, which nobody has.
    expect(await check(1, port)).toEqual({
      code: 0,
      stdout: `SERVING (port ${port})\n`,
      stderr: '',
    });
  });

  it('says where nothing listens, and takes ports only', async () => {
    expect(await check(1)).toMatchObject({
      code: 4,
      stdout: 'nothing listens on 127.0.0.1 at port 1\n',
    });
    for (const wrong of ['x', '', '1234567', '-1'])
      expect(await check(wrong)).toMatchObject({ code: 2 });
    expect(await check('--help')).toMatchObject({ code: 0 });
    expect(await check()).toMatchObject({ code: 2 });
  });

  it('takes nothing but SERVING for SERVING', async () => {
    const settings = frame(4, 0, Buffer.alloc(0));
    const long = frame(1, 4, Buffer.alloc(300, 0xff));
    const answers: [Buffer, number, RegExp][] = [
      [Buffer.concat([settings, long, data(8, 1)]), 0, /SERVING/],
      [Buffer.concat([settings, long, data(8, 2)]), 3, /status 2/],
      [Buffer.concat([settings, data()]), 3, /status 0/],
      [Buffer.concat([settings, frame(1, 5, Buffer.alloc(20))]), 4, /no answer/],
      [frame(7, 0, Buffer.alloc(8)), 4, /no answer/],
      [Buffer.from([0x15, 3, 3, 0, 2, 2, 70]), 4, /no answer .* TLS .* --health-listen/],
      [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 4, /no answer/],
      [Buffer.alloc(0), 4, /no answer/],
    ];
    await Promise.all(
      answers.map(async ([bytes, code, text]) => {
        const ended = await check(await answering(bytes, true));
        expect(ended).toMatchObject({ code, stderr: '' });
        expect(ended.stdout).toMatch(text);
      }),
    );
  });
});

describe('build.sh', () => {
  /** A PATH with engines that cannot work, and with what a script needs beside them. */
  function pathWith(...engines: string[]): string {
    const bin = join(suiteFolder(), 'bin');
    mkdirSync(bin);
    for (const engine of engines) {
      writeFileSync(join(bin, engine), '#!/bin/sh\necho "no daemon" >&2\nexit 1\n');
      chmodSync(join(bin, engine), 0o755);
    }
    for (const tool of ['dirname', 'sed', 'id', 'git']) {
      writeFileSync(
        join(bin, tool),
        `#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin exec ${tool} "$@"\n`,
      );
      chmodSync(join(bin, tool), 0o755);
    }
    return bin;
  }

  it('says what is missing where no engine works, with an exit code of its own', async () => {
    const text =
      'no engine that builds images works here: docker, podman or buildah is needed (docker: with its daemon)';
    for (const path of [pathWith(), pathWith('docker', 'buildah')]) {
      const ended = await script('build.sh', [], path);
      expect(ended).toEqual({ code: 6, stdout: '', stderr: `build.sh: ${text}\n` });
      const skipped = await script('build.sh', ['--skip-if-missing'], path);
      expect(skipped).toEqual({ code: 0, stdout: `SKIPPED: ${text}\n`, stderr: '' });
    }
  });

  it('gives an engine the pinned base images, and the CUDA variant its own', async () => {
    const pin = `node@sha256:${'0'.repeat(64)}`;
    const pinned = await script('build.sh', ['--print', '--engine', 'docker', '--node-image', pin]);
    expect(pinned).toMatchObject({ code: 0, stderr: '' });
    expect(pinned.stdout.match(new RegExp(`^docker build .*NODE_IMAGE=${pin}`, 'gm'))).toHaveLength(
      2,
    );
    const cuda = await script('build.sh', ['--print', '--engine', 'podman', '--cuda']);
    expect(cuda.stdout).toMatch(
      /^podman build .*ONNXRUNTIME_INSTALL=cuda12 .*BASE_IMAGE=\S*nvidia\/cuda:\d\S* .*longhaul-sut:\d\S*-cuda/m,
    );
    expect(cuda.stdout).not.toContain('--target loadgen');
  });

  it('refuses flags that it cannot follow', async () => {
    const wrong: [string[], RegExp][] = [
      [['--engine', 'kaniko'], /docker, podman or buildah/],
      [['--only', 'node'], /sut or loadgen/],
      [['--cuda', '--only', 'loadgen'], /runs no model/],
      [['--base', 'x', '--engine', 'docker'], /needs buildah/],
      [['--base', 'x', '--base-image', 'y'], /both base images/],
      [['--tag'], /needs a value/],
      [['--pull'], /no flag/],
    ];
    for (const [args, text] of wrong) {
      const ended = await script('build.sh', args);
      expect({ args, code: ended.code }).toEqual({ args, code: 2 });
      expect(ended.stderr).toMatch(text);
    }
  });
});
