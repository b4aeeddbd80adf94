import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTimeOf } from '../../../../../loadgen-node/operate/remote/agent/agent-basics.ts';
import { withLock } from '../../../../../loadgen-node/operate/remote/agent/agent-lock.ts';
import {
  allStates,
  forgetEnded,
  writeState,
} from '../../../../../loadgen-node/operate/remote/agent/agent-states.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';

const BUSY = /sut-a is being started by somebody else/;

describe('the lock of a process', () => {
  it('lets one in at a time, and the next one afterwards', () => {
    const own = join(tempFolder(), 'run', 'sut-a');
    const inner = () => withLock(own, 'sut-a', () => 'inner');
    expect(() => withLock(own, 'sut-a', inner)).toThrow(BUSY);
    expect(inner()).toBe('inner');
    expect(readdirSync(own)).toEqual([]);
  });

  it.each([
    ['whose holder has ended', `${spawnSync('true').pid}\n1`],
    ['whose number another process has now', `${process.pid}\n1`],
    ['that was cut', ''],
  ])('is taken over from one %s', (_, text) => {
    const own = tempFolder();
    writeFileSync(join(own, 'lock'), text);
    expect(withLock(own, 'sut-a', () => readFileSync(join(own, 'lock'), 'utf8'))).toBe(
      `${process.pid}\n${startTimeOf(process.pid)}`,
    );
    expect(readdirSync(own)).toEqual([]);
  });
});

describe('what a process left', () => {
  function leave(name: string, files: Record<string, string>): string {
    const folder = tempFolder();
    const own = join(folder, 'run', name);
    mkdirSync(own, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(own, file), text);
    return folder;
  }
  const dead = JSON.stringify({ name: 'sut-a', kind: 'sut', processId: 1, startTime: 'before' });

  it.each([
    ['with its state', { 'state.json': dead, 'tls.key': 'k', token: 't', log: 'l' }],
    ['without one', { 'tls.key': 'k', 'config.yaml': 'c', log: 'l' }],
    ['with one that was cut', { 'state.json': '{"na', token: 't', log: 'l' }],
  ])('is seen and removed %s, but for its log', (_, files) => {
    const folder = leave('sut-a', files);
    expect(allStates(folder)).toMatchObject([{ name: 'sut-a', kind: 'sut', isAlive: false }]);
    forgetEnded(folder, 'sut-a');
    expect(readdirSync(join(folder, 'run', 'sut-a'))).toEqual(['log']);
    expect(allStates(folder)).toEqual([]);
  });

  it('is removed altogether where it was a run of LoadGen', () => {
    const folder = leave('run-1-2', { 'tls.key': 'k', 'config.yaml': 'c' });
    expect(allStates(folder)).toMatchObject([{ kind: 'loadgen' }]);
    forgetEnded(folder, 'run-1-2');
    expect(existsSync(join(folder, 'run', 'run-1-2'))).toBe(false);
  });

  it('stays where a process of that name runs by now', () => {
    const folder = leave('sut-a', { 'tls.key': 'k' });
    const process_ = { name: 'sut-a', kind: 'sut', processId: process.pid } as const;
    writeState(folder, { ...process_, digest: '', isHeld: false, address: '' });
    forgetEnded(folder, 'sut-a');
    expect(readdirSync(join(folder, 'run', 'sut-a'))).toEqual(['state.json', 'tls.key']);
  });
});
