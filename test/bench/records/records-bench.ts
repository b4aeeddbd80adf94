import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { head, row } from '../report.ts';
import type { RecordsJob, RecordsResult } from './records-job.ts';

/*
 * Goal: what it costs to keep the records of a long run, and to derive its figures from them again.
 * Method: a Server run as fast as the engine goes, against a SUT in process that reports its times;
 * then what `longhaul report` does; each in a process of its own. A run of 1000 queries beside it
 * shows what the process takes anyway.
 */

const CHILD = fileURLToPath(new URL('records-child.js', import.meta.url));
const SMALL = 1000;

/** Prints two tables: the run, and the report. */
export async function benchRecords({ count }: { readonly count: number }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-records-'));
  try {
    const small = await runInChild({ kind: 'keep', folder, count: SMALL });
    const smallReport = await runInChild({ kind: 'report', folder });
    const kept = await runInChild({ kind: 'keep', folder, count });
    const report = await runInChild({ kind: 'report', folder });
    const perQuery = (bytes: number): string => (bytes / (count - SMALL)).toFixed(1);
    head(
      1,
      'step',
      'seconds',
      'RSS before MiB',
      'RSS most MiB',
      'RSS most, B per query',
      'file MB',
      'file, B per query',
    );
    const lines: [string, RecordsResult, number][] = [
      ['write the records', kept, small.rssMaxBytes],
      ['longhaul report', report, smallReport.rssMaxBytes],
    ];
    for (const [step, result, base] of lines) {
      row(
        step,
        result.seconds.toFixed(1),
        mebibytes(result.rssBeginBytes),
        mebibytes(result.rssMaxBytes),
        perQuery(result.rssMaxBytes - base),
        (result.fileBytes / 1e6).toFixed(1),
        (result.fileBytes / count).toFixed(1),
      );
    }
    process.stdout.write(
      `\n${count} queries were issued and answered in ${kept.issueS.toFixed(1)} s; before the first block went out the run held ` +
        `${perQuery(kept.rssBeginBytes - small.rssBeginBytes)} B of memory per query.\n`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

function runInChild(job: RecordsJob): Promise<RecordsResult> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [JSON.stringify(job)]);
    let result: RecordsResult | undefined;
    child.once('message', (message) => {
      result = message as RecordsResult;
    });
    child.once('exit', (code) => {
      if (result === undefined) reject(new Error(`${JSON.stringify(job)} ended with ${code}`));
      else resolve(result);
    });
  });
}
