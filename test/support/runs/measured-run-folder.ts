import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { RecordsWriter } from '../../../loadgen-node/observe/records/records-writer.ts';
import type { SampleRecords } from '../../../loadgen-node/observe/records/sample-records.ts';
import {
  type RunSummary,
  writeSummary,
} from '../../../loadgen-node/observe/summary/run-summary.ts';
import { recordedSet } from './recorded-sets.ts';

/** Writes what longhaul leaves of a run beside LoadGen's logs: its records and its summary. */
export async function writeMeasuredRun(
  folder: string,
  summary: RunSummary,
  records: SampleRecords,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeSummary(folder, summary);
  const file = await open(join(folder, RUN_FILES.records), 'w');
  const { longhaul, runId, startedAt, benchmark, scenario, nodes } = summary;
  const names = nodes.map(({ name }) => name);
  const writer = new RecordsWriter(file, {
    longhaul,
    runId,
    startedAt,
    benchmark,
    scenario,
    nodes: names,
  });
  await writer.writeSet(recordedSet(records));
  await writer.end();
  await file.close();
}
