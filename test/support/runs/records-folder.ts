import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { figuresOf } from '../../../loadgen-node/observe/figures/figures-of-records.ts';
import type { RecordsAbout } from '../../../loadgen-node/observe/records/arrow-schema.ts';
import { RecordsWriter } from '../../../loadgen-node/observe/records/records-writer.ts';
import type { SampleRecords } from '../../../loadgen-node/observe/records/sample-records.ts';
import { latencySplit } from '../../../loadgen-node/observe/split/latency-split.ts';
import {
  type RunSummary,
  writeSummary,
} from '../../../loadgen-node/observe/summary/run-summary.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { recordedSet } from './recorded-sets.ts';

/** What records of tests say of their run. */
export const ABOUT_RECORDS: RecordsAbout = {
  longhaul: '0.0.0',
  runId: 'run-of-the-test',
  startedAt: '2026-11-21T00:00:00.000Z',
  benchmark: 'null',
  scenario: 'Server',
  nodes: ['sut-a', 'süt-b'],
};

const BOUND_NS = 15e6;

/** Writes a file with the records of these parts. */
export async function writeRecords(path: string, parts: readonly SampleRecords[]): Promise<void> {
  const file = await open(path, 'w');
  const writer = new RecordsWriter(file, ABOUT_RECORDS);
  for (const part of parts) await writer.writeSet(recordedSet(part));
  await writer.end();
  await file.close();
}

/** A folder of a Server run with records and the summary that follows from them. */
export async function recordsFolder(records: SampleRecords): Promise<string> {
  const folder = tempFolder();
  await writeRecords(join(folder, RUN_FILES.records), [records]);
  writeSummary(folder, summaryOf(records));
  for (const name of [RUN_FILES.summary, RUN_FILES.detail]) {
    writeFileSync(join(folder, name), 'SUT name : Network SUT: sut-a\nResult is : VALID\n');
  }
  return folder;
}

/** Summary of a VALID Server run with these records. */
function summaryOf(records: SampleRecords): RunSummary {
  const { longhaul, runId, startedAt, nodes } = ABOUT_RECORDS;
  return {
    ...{ schemaVersion: 1, longhaul, runId, startedAt, benchmark: 'null', scenario: 'Server' },
    ...{
      mode: 'PerformanceOnly',
      round: 'v4.1',
      division: 'network',
      sutName: 'Network SUT: sut-a',
    },
    ...{ result: 'VALID', verdict: VALID, loadgenVerdict: VALID },
    figures: figuresOf(records, { scenario: 'Server', latencyBoundNs: BOUND_NS }),
    ...{
      thresholds: [],
      contractErrors: 0,
      peakTargetQps: null,
      targetPercentile: 0.99,
      latencyBoundNs: BOUND_NS,
    },
    ...{ isGeneratorBound: false, generatorBoundReason: '' },
    split: latencySplit(records, { nodeNames: nodes }),
    ...{
      health: null,
      ceiling: null,
      accuracy: null,
      nodes: [],
      settings: [],
      audit: [],
      notes: [],
    },
    records: { file: RUN_FILES.records, rows: records.rowCount, parts: [0] },
  };
}

const VALID = { isValid: true, reasons: [] } as const;
