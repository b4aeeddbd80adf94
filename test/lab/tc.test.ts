import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TcLink, whyNoTc } from '../../loadgen-node/search/sweep/tc-link.ts';
import { compiledModule } from '../../shared/base/files/package-files.ts';
import { tempFolder } from '../scenes/host/folders.ts';

// Goal: what tc was told is always taken back, also when this program is killed. Method: a tc of the test's own, which
// writes down what it is called with: a kernel with sch_netem and an interface to spoil are rare.
const path = process.env['PATH'] ?? '';
let folder: string;

function fake(name: string, script: string): void {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

const calls = (): string[] =>
  existsSync(join(folder, 'calls'))
    ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    : [];

function fakes(kind: string, unshareCode: number): void {
  folder = tempFolder();
  mkdirSync(folder, { recursive: true });
  fake(
    'tc',
    `echo "$@" >> ${folder}/calls\n[ "$3" = show ] && echo '[{"kind":"${kind}","root":true}]'\nexit 0`,
  );
  fake('unshare', `echo "no netem" >&2; exit ${unshareCode}`);
  process.env['PATH'] = `${folder}${delimiter}${path}`;
}

const LINK = { delayNs: 5e6, bitsPerSecond: 1e8, lossShare: 0 };

beforeEach(() => fakes('fq_codel', 0));
afterEach(() => {
  process.env['PATH'] = path;
});

it('adds netem and takes it back', async () => {
  const link = new TcLink('eth9');
  await link.shape(LINK);
  expect(calls().at(-1)).toMatch(/^qdisc add dev eth9 root netem limit \d+ delay 10000us/);
  await link.release();
  expect(calls().at(-1)).toBe('qdisc del dev eth9 root');
});

it('takes it back when this program is killed', async () => {
  const module = compiledModule('loadgen-node/search/sweep/tc-link.js').href;
  const script = `const { TcLink } = await import('${module}'); await new TcLink('eth9').shape(${JSON.stringify(LINK)}); process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  await new Promise((resolve) => child.once('exit', resolve));
  await expect.poll(calls, { timeout: 10_000 }).toContain('qdisc del dev eth9 root');
});

it.each([
  ['has a discipline of its own', 'htb', 0, 'eth9 has a queueing discipline already (htb)'],
  ['cannot have netem', 'noqueue', 1, 'netem cannot be used here: no netem'],
])('says why an interface that %s is left alone', async (_case, kind, code, why) => {
  fakes(kind, code);
  expect(await whyNoTc('eth9')).toContain(why);
  await expect(new TcLink('eth9').shape(LINK)).rejects.toThrow(why);
  expect(calls().some((call) => call.includes('add'))).toBe(false);
});
