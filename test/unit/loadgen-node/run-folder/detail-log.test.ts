import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readDetailLog } from '../../../../loadgen-node/run-folder/detail-log.ts';
import { openRunFolder } from '../../../../loadgen-node/run-folder/run-folder.ts';
import { readSummaryLog } from '../../../../loadgen-node/run-folder/summary-log.ts';
import { simulateRun } from '../../../support/simulated-run.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

it('reads what a run of 600 s wrote, seeds to the last digit', async () => {
  const folder = tempFolder();
  const outcome = await simulateRun({
    folder,
    flags: { scenario: 'Server', round: 'v4.1', targetQps: '20' },
  });
  expect(outcome.verdicts.loadgen.isValid).toBe(true);
  const run = openRunFolder(folder);
  const { records, errorCount, damageCount, beginsWithRecord } = await readDetailLog(run.detail);
  expect(records.get('effective_schedule_rng_seed')?.value).toBe(14962580496156340209n);
  expect(records.get('effective_min_duration_ms')?.value).toBe(600_000);
  expect(records.get('result_validity')?.value).toBe('VALID');
  expect({ errorCount, damageCount, beginsWithRecord }).toEqual({
    errorCount: 0,
    damageCount: 0,
    beginsWithRecord: true,
  });
  expect((await readSummaryLog(run.summary)).values.get('Result is')).toBe('VALID');
});

it('tells damaged and cut records with their lines', async () => {
  const path = join(tempFolder(), 'mlperf_log_detail.txt');
  const record = (key: string, isError: boolean): string =>
    `:::MLLOG ${JSON.stringify({ key, value: 1, metadata: { is_error: isError } })}\n`;
  writeFileSync(path, `a foreign line\n${record('a', false)}:::MLLOG {"key": 1\n`);
  appendFileSync(path, record('a', true) + record('b', false));
  truncateSync(path, readFileSync(path).length - 9);
  const log = await readDetailLog(path);
  expect(log.beginsWithRecord).toBe(false);
  expect(log.errors.map(({ key, line }) => [key, line])).toEqual([['a', 4]]);
  expect(log.damages).toEqual([
    { line: 3, text: 'what follows the mark is not JSON' },
    { line: 5, text: 'the file ends inside a record' },
  ]);
});
