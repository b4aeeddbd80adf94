import { expect, it, vi } from 'vitest';
import { errorDocument, reportError } from '../../../../../shared/base/process/exit-codes.ts';

// Goal: a low limit of open files is no defect of the program: one line says what to raise.

it.each([
  ['EMFILE', /^longhaul: this process has reached its limit of open files: raise "ulimit -n"\n$/],
  ['ENFILE', /^longhaul: this machine has reached its limit of open files: raise fs\.file-max\n$/],
])('%s ends with one line and exit code 6', (code, text) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const error = Object.assign(new Error(`${code}: too many open files, open 'x.js'`), { code });
  expect(reportError(error)).toBe(6);
  expect(write.mock.calls.map(([line]) => line).join('')).toMatch(text);
  write.mockRestore();
  expect(errorDocument(error)).toMatchObject({ error: { code: 'ERR_OPEN_FILES' }, exitCode: 6 });
});
