import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { readJsonFile } from '../../loadgen/conformance/read-json-file.ts';
import { networkAuditSchema } from './audit-schema.ts';
import type { NetworkAudit } from './network-audit.ts';

const AUDIT_FILE = 'network_audit.json';

/** Writes `network_audit.json`. @throws MlperfError `ERR_OUTPUT` */
export function writeAudit(folder: string, audit: NetworkAudit): void {
  const path = join(folder, AUDIT_FILE);
  try {
    writeFileSync(path, `${JSON.stringify(audit, null, 2)}\n`);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}

/**
 * Reads the audit of a run.
 * @param folder Output folder of the run.
 * @throws MlperfError `ERR_CONFIG_FILE` (missing, not JSON), `ERR_CONFIG_INVALID` (damaged, other version)
 */
export function readAudit(folder: string): NetworkAudit {
  return readJsonFile(join(folder, AUDIT_FILE), networkAuditSchema);
}
