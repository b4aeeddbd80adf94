import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { throughLink } from '../../../loadgen-node/search/sweep/link-hook.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { tempFolder } from '../../scenes/host/folders.ts';

// Goal: a link that the hook set is always cleared, also when this program is killed. Method: hooks
// that write down what they are given.
const LINK = { delayNs: 5e6, bitsPerSecond: 1e8, lossShare: 0.001 };
let calls: string;
let hook: string;
const reports: string[] = [];
const host = { report: (line: string) => reports.push(line) };

beforeEach(() => {
  const folder = tempFolder();
  mkdirSync(folder, { recursive: true });
  calls = join(folder, 'calls');
  const values = ['', '_DELAY_US', '_RATE_BITS', '_LOSS_PERCENT'].map(
    (name) => `$LONGHAUL_LINK${name}`,
  );
  hook = `echo "${values.join(' ')}" >> ${calls}; echo first; echo "it was $LONGHAUL_LINK"`;
  reports.length = 0;
});

const called = (): string[] =>
  existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];

it('sets the link for as long as the work takes, and hands on what the hook says of it', async () => {
  const result = await throughLink(hook, LINK, host, async () => called());
  expect(result).toEqual({ found: ['set 5000 100000000 0.1'], said: 'it was clear' });
  expect(called()).toEqual(['set 5000 100000000 0.1', 'clear 5000 100000000 0.1']);
});

it('has no rate without a limit', async () => {
  const bare = { delayNs: 0, bitsPerSecond: null, lossShare: 0 };
  await throughLink(hook, bare, host, async () => {});
  expect(called()[0]).toBe('set 0  0');
});

it('clears the link of work that failed', async () => {
  const failing = throughLink(hook, LINK, host, () => Promise.reject(new Error('no node')));
  await expect(failing).rejects.toThrow('no node');
  expect(called().at(-1)).toMatch(/^clear/);
});

it.each([
  [
    'fails',
    'echo "no such device" >&2; exit 3',
    'ERR_NOT_INSTALLED',
    'no such device (exit code 3)',
  ],
  ['is no command', 'no-such-hook', 'ERR_CONFIG_INVALID', 'not found'],
])('says why a hook that %s set nothing', async (_case, failing, code, text) => {
  const setting = `if [ $LONGHAUL_LINK = set ]; then ${failing}; else ${hook}; fi`;
  const work = (): never => {
    throw new Error('the work was begun');
  };
  const error = await throughLink(setting, LINK, host, work).catch((one: Error) => one);
  expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
  expect(called()).toEqual(['clear 5000 100000000 0.1']);
});

it('says that a link may still be set', async () => {
  const stuck = '[ $LONGHAUL_LINK = set ]';
  await expect(throughLink(stuck, LINK, host, async () => 7)).rejects.toThrow(
    'the link may still be as it was set: it failed (exit code 1)',
  );
  const failing = throughLink(stuck, LINK, host, () => Promise.reject(new Error('no node')));
  await expect(failing).rejects.toThrow('no node');
  expect(reports.join()).toContain('warning: --link-hook [ $LONGHAUL_LINK = set ]: the link may');
});

it('clears the link when this program is killed', async () => {
  const module = compiledModule('loadgen-node/search/sweep/link-hook.js').href;
  const script = `const { throughLink } = await import('${module}'); await throughLink(${JSON.stringify(hook)}, ${JSON.stringify(LINK)}, console, () => process.kill(process.pid, 'SIGKILL'));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  await new Promise((resolve) => child.once('exit', resolve));
  await expect.poll(() => called().at(-1), { timeout: 10_000 }).toMatch(/^clear/);
});
