import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { MlperfErrorCode } from '../../../shared/base/errors/mlperf-error.ts';
import { EXIT, exitCodeOf } from '../../../shared/base/process/exit-codes.ts';

const PAGE = readFileSync(new URL('../../../docs/exit-codes.md', import.meta.url), 'utf8');
const ERRORS = readFileSync(
  new URL('../../../shared/base/errors/mlperf-error.ts', import.meta.url),
  'utf8',
);

/** The kernel's, where a process has to be killed. */
const KILLED = 137;

const documented = [...PAGE.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));

it('names every exit code', () => {
  const known = [...Object.values(EXIT), KILLED];
  expect(documented.toSorted((a, b) => a - b)).toEqual(known.toSorted((a, b) => a - b));
});

it('names every code of an error, with its exit code', () => {
  const rows = [...PAGE.matchAll(/^\| `(ERR_\w+)` \| (\d+) \|/gm)];
  const codes = [...ERRORS.matchAll(/^ {2}\| '(ERR_\w+)'/gm)].map(([, code]) => code);
  expect(rows.map(([, code]) => code).toSorted()).toEqual(codes.toSorted());
  for (const [, code, exitCode] of rows) {
    expect([code, exitCodeOf(code as MlperfErrorCode)]).toEqual([code, Number(exitCode)]);
  }
});
