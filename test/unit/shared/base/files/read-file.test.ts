import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { readBounded, readBoundedText } from '../../../../../shared/base/files/read-file.ts';

// Goal: a file that a setting names is read whole, or refused in words within seconds, whatever it
// is.

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-read-'));
});

function pipe(name: string): string {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return path;
}

/** Lets the waits for a pipe pass twenty times as fast. */
function hurry(): void {
  const now = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() * 20);
  onTestFinished(() => spy.mockRestore());
}

it('reads a file, and one behind a symbolic link, as secrets of Kubernetes are', () => {
  writeFileSync(join(folder, 'plain'), 'ä\n'.repeat(50_000));
  symlinkSync('plain', join(folder, 'link'));
  expect(readBoundedText(join(folder, 'link'), 150_000)).toBe('ä\n'.repeat(50_000));
  expect(readBounded('/dev/null', 10)).toHaveLength(0);
});

it.each([
  ['plain', 'it is larger than 149999 bytes, the limit for such a file'],
  ['/dev/zero', 'it is larger than 149999 bytes'],
  ['.', 'EISDIR'],
  ['none', 'ENOENT'],
])('refuses %s', (path, text) => {
  const file = path.startsWith('/') ? path : join(folder, path);
  expect(() => readBounded(file, 149_999)).toThrow(text);
});

it('reads over a byte order mark, and refuses UTF-16 in words', () => {
  const marked = join(folder, 'marked');
  writeFileSync(marked, '\ufeffrun:\n');
  expect(readBoundedText(marked, 100)).toBe('run:\n');
  const wide = join(folder, 'wide');
  writeFileSync(wide, Buffer.from('\ufeffrun:\n', 'utf16le'));
  expect(() => readBoundedText(wide, 100)).toThrow('it is UTF-16 text: save it as UTF-8');
});

it('reads what comes through a pipe, slowly, and gives it again', () => {
  const path = pipe('slow');
  spawn('sh', ['-c', 'exec > "$0"; echo one; sleep 0.3; echo two', path]);
  expect(readBoundedText(path, 100)).toBe('one\ntwo\n');
  expect(readBoundedText(path, 100)).toBe('one\ntwo\n');
});

it('refuses a pipe that has too much, and one without a writer', () => {
  const path = pipe('endless');
  const writer = spawn('sh', ['-c', 'exec yes > "$0"', path]);
  expect(() => readBounded(path, 1_000)).toThrow('it is larger than 1000 bytes');
  writer.kill();
  expect(() => readBounded(pipe('silent'), 1_000)).toThrow('it is a pipe without a writer');
});

it('refuses a pipe that does not end', () => {
  hurry();
  const path = pipe('open');
  const writer = spawn('sh', ['-c', 'exec > "$0"; echo one; exec sleep 60', path]);
  expect(() => readBounded(path, 1_000)).toThrow('it did not end within 10 s');
  writer.kill();
});
