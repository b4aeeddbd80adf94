import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ReadDetailLog, readDetailLog } from '../../../loadgen/logs/read/detail-log.ts';
import { openRunFolder, type RunFolder } from '../../../loadgen/logs/read/run-folder.ts';
import type { NetworkAudit } from '../../../observe/audit/network-audit.ts';
import { readAudit } from '../../../observe/audit/network-audit.ts';

/** What is known of one run: its files, its log, and the evidence that only longhaul leaves. */
export interface SubmittedRun {
  readonly files: RunFolder;
  readonly detail: ReadDetailLog;
  /** Undefined for a run of another LoadGen. */
  readonly audit: NetworkAudit | undefined;
  /** Settings that were said, by key of `longhaul run`; undefined for a run of another LoadGen. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads what there is of a run; the logs are streamed.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`, `ERR_OUTPUT` when it is no run's folder, or damaged.
 */
export async function readSubmittedRun(folder: string): Promise<SubmittedRun> {
  const files = openRunFolder(folder);
  return {
    files,
    detail: await readDetailLog(files.detail),
    audit: existsSync(files.audit) ? readAudit(folder) : undefined,
    settings: existsSync(files.record) ? readRecord(files.record) : undefined,
  };
}

function readRecord(path: string): Readonly<Record<string, unknown>> {
  const file = parse(readFileSync(path, 'utf8')) as { run?: Record<string, unknown> | null } | null;
  return file?.run ?? {};
}

export { numberOf, recordOf } from '../../compliance/verify/read-compliance-run.ts';

/** The benchmark that was run, where the run says so. */
export function benchmarkOf(run: SubmittedRun): string | undefined {
  const said = run.audit?.run.benchmark ?? run.settings?.['benchmark'];
  return typeof said === 'string' ? said : undefined;
}
