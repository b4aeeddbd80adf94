import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readVersionedFile } from '../../../shared/base/files/read-file.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';

/** The records that one LoadGen host made in a run. */
interface HostRecords {
  /** Name of the host; empty in a set of one. */
  readonly host: string;
  /** Path of its records. */
  readonly file: string;
  /** Unix time of its time 0, in ns. */
  readonly startUnixNs: bigint;
  /**
   * Largest error of that Unix time, in ns. Latencies do not have it: one host times a whole query.
   */
  readonly clockErrorNs: number;
}

/**
 * The records of a run: one file per LoadGen host. Host k of n issues queries k, k + n, ... of one
 * plan, so together the files have each query once, with its number in the plan.
 */
export type RecordSet = readonly HostRecords[];

const VERSION = 1;
const SET_FILE = z.strictObject({
  schemaVersion: z.literal(VERSION),
  hosts: z
    .array(
      z.strictObject({
        host: z.string().min(1),
        file: z
          .string()
          .refine((name) => name === basename(name), 'must be a name without folders'),
        startUnixNs: z.string().regex(/^\d{1,20}$/, 'must be whole ns as a string'),
        clockErrorNs: z.number().min(0),
      }),
    )
    .min(1),
});

/**
 * The records in a run's folder: the files listed in `longhaul_records.json`, or without a list the
 * file `longhaul_records.arrow`. Empty without records.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` if the list cannot be read
 */
export function findRecords(folder: string): RecordSet {
  const list = join(folder, RUN_FILES.recordSet);
  if (existsSync(list)) {
    const { hosts } = readVersionedFile(list, SET_FILE, { version: VERSION });
    return hosts.map(({ host, file, startUnixNs, clockErrorNs }) => {
      return { host, file: join(folder, file), startUnixNs: BigInt(startUnixNs), clockErrorNs };
    });
  }
  const file = join(folder, RUN_FILES.records);
  return existsSync(file) ? [{ host: '', file, startUnixNs: 0n, clockErrorNs: 0 }] : [];
}
