import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../../../loadgen/logs/read/summary-log.ts';
import type { TestId } from '../../rules/test-ids.ts';
import { checkFileList, LOGS, POWER_LOG } from '../read/check-folders.ts';
import { readRunLog, wholeMessage } from '../read/read-document.ts';
import type { RunLog } from '../read/run-log.ts';
import type { ResultSite } from '../read/sites.ts';

/**
 * Checks the logs of a performance run: that of a result, or of a compliance test.
 * @param folder performance/run_1.
 * @returns The detail log; undefined where there is none to look at.
 */
export async function checkPerformanceRun(
  site: ResultSite,
  folder: string,
  test?: TestId,
): Promise<RunLog | undefined> {
  const { listing, findings } = site;
  const allowed = test === undefined ? [RUN_FILES.accuracy, POWER_LOG] : [RUN_FILES.accuracy];
  if (!checkFileList(site, folder, LOGS, allowed)) return undefined;
  const log = await readRunLog(site, folder);
  if (log === undefined) return undefined;
  const run = { ...site, file: log.file, log, test };
  findings.check('performance', run);
  const file = posix.join(folder, RUN_FILES.summary);
  if (!listing.hasFile(file)) return log;
  const summary = await readSummaryLog(listing.pathOf(file)).catch((error: unknown) => {
    findings.add('no-plain-file', file, `It cannot be read: ${wholeMessage(error)}.`);
  });
  if (summary !== undefined) findings.check('summary', { ...run, file, summary });
  return log;
}
