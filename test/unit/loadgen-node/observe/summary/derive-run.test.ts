import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_FILES } from '../../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { csvOf } from '../../../../../loadgen-node/observe/records/records-reader.ts';
import { latencySplit } from '../../../../../loadgen-node/observe/split/latency-split.ts';
import {
  deriveRun,
  differencesOf,
  openRecords,
  type ReadRun,
} from '../../../../../loadgen-node/observe/summary/derive-run.ts';
import type { RunSummary } from '../../../../../loadgen-node/observe/summary/run-summary.ts';
import {
  readReport,
  reportDocument,
} from '../../../../../loadgen-node/present/report/report-folder.ts';
import { derivedReportText } from '../../../../../loadgen-node/present/text/report-text.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  ABOUT_RECORDS,
  queueRecords,
  writeMeasuredRun,
} from '../../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

const RECORDS = queueRecords({ seed: 3, rowCount: 2000, nodes: 2, lostShare: 0.01 });

/** A folder of a Server run with records and the summary that follows from them. */
async function recordsFolder(records = RECORDS): Promise<string> {
  const folder = tempFolder();
  const { runId, startedAt, nodes } = ABOUT_RECORDS;
  const [node] = reportSummary(records).nodes as [RunSummary['nodes'][number]];
  const summary = reportSummary(records, 'Server', {
    ...{ runId, startedAt, split: latencySplit(records, { nodeNames: nodes, hasModel: false }) },
    nodes: nodes.map((name) => ({ ...node, name })),
  });
  await writeMeasuredRun(folder, summary, records);
  for (const name of [RUN_FILES.summary, RUN_FILES.detail]) {
    writeFileSync(join(folder, name), 'SUT name : Network SUT: sut-a\nResult is : VALID\n');
  }
  return folder;
}

function differences({ summary, derived }: ReadRun) {
  if (summary === null || derived === null) throw new Error('nothing to compare');
  return differencesOf(summary, derived);
}

function changeSummary(folder: string, from: RegExp, to: string): void {
  const path = join(folder, RUN_FILES.runSummary);
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(from);
  writeFileSync(path, text.replace(from, to));
}

// Goal: what a summary says is believed only as far as the records say the same; every other folder
// is named for what it is. Method: folders of a run, then one thing about them changed.
describe('a run folder that is read again', () => {
  it('has figures, split and counts that follow from the records, to the ns', async () => {
    const run = await deriveRun(await recordsFolder());
    expect(run.derived?.figures).toEqual(run.summary?.figures);
    expect(run.derived?.split).toEqual(run.summary?.split);
    expect(differences(run)).toEqual([]);
    const text = derivedReportText({ run, differences: [], loadgen: null });
    const [first, ...rest] = text.split('\n');
    expect(first).toMatch(/^VALID +\S+, Server \(\S+ division\)$/);
    expect(rest.map((line) => line.slice(0, 14).trim())).toEqual(
      expect.arrayContaining(['Notes', 'Run', 'Records', 'p99', 'Check']),
    );
    expect(text).toContain('follow from the records');
    expect(text).toMatch(/^p99 +\S+ m?s +latency at the 99th percentile$/m);
  });

  it('is told apart from its summary to the ns', async () => {
    const folder = await recordsFolder();
    const { derived } = await deriveRun(folder);
    const p99 = derived?.figures.p99 ?? 0;
    changeSummary(folder, /"p99": \d+/, `"p99": ${p99 + 1}`);
    changeSummary(folder, /"lost": \d+,/, '');
    const run = await deriveRun(folder);
    const found = differences(run);
    expect(found).toEqual([
      { what: 'p99', unit: 'ns', inSummary: p99 + 1, derived: p99 },
      { what: 'lost', unit: 'count', inSummary: null, derived: derived?.figures.lost },
    ]);
    const text = derivedReportText({ run, differences: found, loadgen: null });
    expect(text).toContain(`- p99: ${p99 + 1} ns in the summary, ${p99} ns derived, -1 ns apart`);
  });

  it('whose records were cut says so, and compares nothing', async () => {
    const folder = await recordsFolder();
    truncateSync(join(folder, RUN_FILES.records), 20_000);
    const run = await deriveRun(folder);
    expect(run.derived?.cut).toBe('cut after 0 of 2000 rows');
    const text = derivedReportText({ run, differences: null, loadgen: null });
    expect(text).toContain('cut after 0 of 2000 rows');
    expect(text).toContain('their figures are not those of the run');
  });

  it('without a summary, as a killed run leaves it, is derived all the same', async () => {
    const folder = await recordsFolder();
    rmSync(join(folder, RUN_FILES.runSummary));
    const run = await deriveRun(folder);
    expect(run).toMatchObject({ summary: null, derived: { rowCount: 2000, scenario: 'Server' } });
    expect(derivedReportText({ run, differences: null, loadgen: null })).toContain(
      'to compare with',
    );
  });

  it('of the C++ LoadGen has its logs only', async () => {
    const folder = await recordsFolder();
    rmSync(join(folder, RUN_FILES.runSummary));
    rmSync(join(folder, RUN_FILES.records));
    const run = await deriveRun(folder);
    expect(run).toEqual({ folder, summary: null, derived: null });
    writeFileSync(
      join(folder, RUN_FILES.summary),
      'SUT name : a\u001b[31m b\nSamples per second: 50.25\nResult is : VALID\nqsl_rng_seed : 3066443479025735752\n',
    );
    const report = await readReport(folder);
    expect(reportDocument(report)).toMatchObject({
      loadgen: {
        'Samples per second': 50.25,
        'Result is': 'VALID',
        qsl_rng_seed: '3066443479025735752',
      },
    });
    const text = derivedReportText(report);
    expect(text).not.toContain('\u001b');
    expect(text).toContain("only LoadGen's logs are there");
    expect(text).toContain('Result is: VALID');
  });

  it.each<[string, RegExp, string, RegExp]>([
    [
      'of another version',
      /"schemaVersion": 1/,
      '"schemaVersion": 2',
      /has version 2; this longhaul/,
    ],
    [
      'with a wrong value',
      /"isGeneratorBound": false/,
      '"isGeneratorBound": 7',
      /isGeneratorBound/,
    ],
    ['of another run', /run-of-the-test/, 'another-run', /records of run run-of-the-test, but/],
    ['that is no JSON', /^\{/, '[', /is not JSON/],
  ])('with a summary %s is refused with the file', async (_what, from, to, message) => {
    const folder = await recordsFolder();
    changeSummary(folder, from, to);
    await expect(deriveRun(folder)).rejects.toThrow(message);
    await expect(deriveRun(folder)).rejects.toThrow(join(folder, RUN_FILES.runSummary));
  });

  it('that is none is refused', async () => {
    await expect(deriveRun('/no/such/folder')).rejects.toThrow(
      /is not a folder with the logs of a run/,
    );
  });
});

it('CSV has a header with units, a line per sample, and nothing where a sample has nothing', async () => {
  const folder = await recordsFolder();
  const reader = await openRecords(folder);
  if (reader === null) throw new Error('no records');
  let text = '';
  for await (const piece of csvOf(reader)) text += piece;
  await reader.close();
  const [header = '', ...lines] = text.trimEnd().split('\r\n');
  const names = header.split(',');
  expect(names.slice(0, 8)).toEqual(
    'part,query,sample_index,scheduled_ns,issued_ns,handed_ns,completed_ns,node'.split(','),
  );
  expect(lines).toHaveLength(RECORDS.rowCount);
  for (const [row, line] of lines.entries()) {
    const fields = line.split(',');
    const isLost = Number.isNaN(RECORDS.completedNs[row]);
    const compute = fields[names.indexOf('compute_ns')] ?? '';
    expect(fields).toHaveLength(names.length);
    expect(fields[6]).toBe(isLost ? '' : String(RECORDS.completedNs[row]));
    expect(fields[7]).toBe(isLost ? '' : ['sut-a', 'süt-b'][RECORDS.node[row] ?? -1]);
    expect(compute === '' ? Number.NaN : Math.fround(Number(compute))).toEqual(
      RECORDS.service.computeNs[row],
    );
  }
});
