import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../../../scenes/host/folders.ts';

// Goal: whatever ends the process of a test, its parent ends with a documented exit code, and the
// folder of the run says what happened; signals reach it once; it ends with its parent. Method: a
// program that starts itself again, as the commands do, and then does what the case says.

const MODULE = new URL('../../../../dist/loadgen-node/official/test-process.js', import.meta.url);

/** @param work Of the process of the test. */
function program(work: string): string {
  return `
    const { earlierTests, inTestProcess, isTestProcess, tellParent } = await import('${MODULE.href}');
    const stays = () => setInterval(() => {}, 1000);
    if (isTestProcess()) { const folder = process.env.FOLDER; ${work} }
    else {
      try { console.log(JSON.stringify(await inTestProcess(() => ['more']))); }
      catch (error) { console.log(JSON.stringify({ code: error.code, message: error.message })); }
    }`;
}

function start(work: string) {
  const folder = suiteFolder();
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(work), 'flag'], {
    env: { ...process.env, FOLDER: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  const waits: (() => void)[] = [];
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
    for (const wait of waits) wait();
  });
  const says = async (wanted: string): Promise<void> => {
    while (!stdout.includes(wanted)) await new Promise<void>((done) => waits.push(done));
  };
  const ended = new Promise<string>((done) => child.once('close', () => done(stdout)));
  return { folder, child, says, ended };
}

async function resultOf(work: string) {
  const { folder, ended } = start(work);
  return { folder, result: JSON.parse((await ended).trim().split('\n').at(-1) ?? '') as unknown };
}

describe('the process of a test', () => {
  it.each([0, 3, 130])('ends its parent with its own exit code %i', async (code) => {
    const { result } = await resultOf(`process.exit(${code})`);
    expect(result).toEqual({ exitCode: code });
  });

  it('is followed by another one where it says so, with its last breath', async () => {
    const { result } = await resultOf(
      'if (earlierTests() === 4) process.exit(3); tellParent({ again: true }); process.exit(0)',
    );
    expect(result).toEqual({ exitCode: 3 });
  });

  it('is not followed by another one after a signal that it did not take', async () => {
    const { child, says, ended } = start(
      `process.on('SIGINT', () => { tellParent({ again: true }); process.exit(0) }); stays(); console.log('ready')`,
    );
    await says('ready');
    child.kill('SIGINT');
    expect(await ended).toContain('"exitCode":130');
  });

  it('gets the flags of its parent, and more', async () => {
    const { result } = await resultOf(
      `process.exit(process.argv.slice(1).join() === 'flag,more' ? 0 : 5)`,
    );
    expect(result).toMatchObject({ exitCode: 0 });
  });

  it.each(['SIGSEGV', 'SIGKILL', 'SIGABRT'])(
    'that ends by %s leaves a folder that says so',
    async (signal) => {
      const { folder, result } = await resultOf(
        `tellParent({ folder }); process.kill(process.pid, '${signal}'); stays()`,
      );
      expect(result).toMatchObject({ code: 'ERR_TEST_CRASHED' });
      const why = `the run broke off and is INVALID: the process of the C++ LoadGen's test ended by ${signal}`;
      expect(JSON.stringify(result)).toContain(why);
      const summary = readFileSync(join(folder, 'longhaul_log_summary.txt'), 'utf8');
      expect(summary).toContain(`INCOMPLETE: ${why}`);
      const detail = readFileSync(join(folder, 'longhaul_log_detail.txt'), 'utf8');
      expect(detail).toMatch(/^:::MLLOG \{"key": "error_runtime", "value": "the run broke off/m);
    },
  );

  it('that ends by an exit code of Node.js is a crash as well', async () => {
    const { result } = await resultOf('tellParent({ folder }); process.exit(7)');
    expect(JSON.stringify(result)).toContain('ended by exit code 7');
  });

  it('that crashes before its test begins leaves no file', async () => {
    const { folder, result } = await resultOf(`process.kill(process.pid, 'SIGSEGV'); stays()`);
    expect(JSON.stringify(result)).toContain('before the run began');
    expect(existsSync(join(folder, 'longhaul_log_summary.txt'))).toBe(false);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('gets %s from its parent, once', async (signal, code) => {
    const work = `let count = 0;
      process.on('${signal}', () => { count += 1; setTimeout(() => process.exit(count === 1 ? ${code} : 5), 200) });
      stays(); console.log('ready')`;
    const { child, says, ended } = start(work);
    await says('ready');
    child.kill(signal);
    expect(await ended).toContain(`"exitCode":${code}`);
  });

  it('that hangs is killed by the third signal', async () => {
    const { child, says, ended } = start(
      `process.on('SIGINT', () => console.log('got one')); stays(); console.log('ready')`,
    );
    await says('ready');
    for (const wanted of ['got one', 'got one\ngot one']) {
      child.kill('SIGINT');
      await says(wanted);
    }
    child.kill('SIGINT');
    expect(await ended).toContain('SIGKILL');
  });

  it('ends with its parent', async () => {
    const { child, says, ended } = start(
      `process.on('SIGTERM', () => { console.log('ends'); process.exit(143) }); stays(); console.log('ready')`,
    );
    await says('ready');
    child.kill('SIGKILL');
    // Its stdout is that of its parent: it closes when both have ended.
    expect(await ended).toContain('ends');
  });
});
