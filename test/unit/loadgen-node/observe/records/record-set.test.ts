import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_FILES } from '../../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { csvOf } from '../../../../../loadgen-node/observe/records/records-reader.ts';
import { deriveRun, openRecords } from '../../../../../loadgen-node/observe/summary/derive-run.ts';
import { writeSummary } from '../../../../../loadgen-node/observe/summary/run-summary.ts';
import { resampleRun } from '../../../../../loadgen-node/present/compare/resampled-run.ts';
import { readReport } from '../../../../../loadgen-node/present/report/report-folder.ts';
import { derivedReportText } from '../../../../../loadgen-node/present/text/report-text.ts';
import type { Scenario } from '../../../../../shared/domain/scenario.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  ABOUT_RECORDS,
  queueRecords,
  writeRecordSet,
  writeRecords,
} from '../../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

const QUEUE = { seed: 5, rowCount: 3000, nodes: 2, lostShare: 0.01 };

/** The folder of a run whose records so many hosts made. */
async function folderOf(
  scenario: Scenario,
  hostCount: number,
  queue: typeof QUEUE & { hasTokens?: boolean } = QUEUE,
  nodes: readonly string[] = ABOUT_RECORDS.nodes,
): Promise<string> {
  const records = queueRecords(queue);
  const { runId, startedAt } = ABOUT_RECORDS;
  const folder = tempFolder();
  writeSummary(folder, reportSummary(records, scenario, { runId, startedAt }));
  await writeRecordSet(folder, records, { ...ABOUT_RECORDS, scenario, nodes }, hostCount);
  return folder;
}

/** A folder of two hosts, then something about its list changed. */
async function withList(change: (text: string) => string): Promise<string> {
  const folder = await folderOf('Server', 2);
  const path = join(folder, RUN_FILES.recordSet);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
  return folder;
}

// Goal: a run of several LoadGen hosts reads as the same run of one host does, and files that do
// not belong together are refused. Method: the rows of one run are split as hosts k, k + n of one
// plan; all that is made of them is compared to the bit.
describe('the records of several hosts', () => {
  it.each<[Scenario, number, Parameters<typeof folderOf>[2]]>([
    ['Server', 2, QUEUE],
    ['Server', 3, { ...QUEUE, hasTokens: true }],
    ['SingleStream', 2, { ...QUEUE, rowCount: 1001 }],
  ])('say what those of one host say: %s, %i hosts', async (scenario, hostCount, queue) => {
    const [whole, set] = [
      await folderOf(scenario, 1, queue),
      await folderOf(scenario, hostCount, queue),
    ];
    const [one, several] = [await readReport(whole), await readReport(set)];
    const [{ derived, summary }, { derived: ofSet }] = [one.run, several.run];
    if (derived === null || ofSet === null || summary === null) throw new Error('nothing to read');
    expect(derived.figures.completed_qps).toBeGreaterThan(0);
    expect(ofSet.records.hosts?.names).toHaveLength(hostCount);
    expect({ ...ofSet, records: { ...ofSet.records, hosts: null } }).toEqual(derived);
    expect(several.differences).toEqual(one.differences);
    expect(derivedReportText(several).replaceAll(set, whole)).toBe(derivedReportText(one));
    const [drawn, drawnOfSet] = [derived, ofSet].map(({ records }) =>
      resampleRun({ folder: whole, summary, records }, 7, 20),
    );
    expect(drawnOfSet).toEqual(drawn);
  });

  it('keep nodes apart that have one name', async () => {
    const { derived } = await deriveRun(await folderOf('Server', 1, QUEUE, ['sut', 'sut']));
    const { node, completedNs } = queueRecords(QUEUE);
    const completedOf = (index: number): number =>
      node.filter((one, row) => one === index && !Number.isNaN(completedNs[row])).length;
    expect(derived?.nodes).toEqual([
      { name: 'sut', completedSamples: completedOf(0) },
      { name: 'sut', completedSamples: completedOf(1) },
    ]);
  });

  it('are written as CSV on one clock, each row once', async () => {
    const lines = await Promise.all(
      [1, 2].map(async (hostCount) => {
        const reader = await openRecords(await folderOf('Server', hostCount));
        if (reader === null) throw new Error('no records');
        let text = '';
        for await (const piece of csvOf(reader)) text += piece;
        await reader.close();
        return text.split('\r\n').sort();
      }),
    );
    expect(lines[1]).toEqual(lines[0]);
  });

  it.each<[what: string, folder: () => Promise<string>, message: RegExp]>([
    [
      'with a query twice',
      () => withList((text) => text.replace('host-1', 'host-0')),
      /host-0.arrow and \S+host-0.arrow both have the query 0$/,
    ],
    [
      'with a file of another folder',
      () => withList((text) => text.replace('host-1', '../host-1')),
      /must be a name without folders/,
    ],
    ['without hosts', () => withList(() => '{"schemaVersion":1,"hosts":[]}'), /hosts/],
    [
      'without one of the files',
      () => withList((text) => text.replace('host-1', 'host-7')),
      /cannot read the records \S+host-7.arrow/,
    ],
    [
      'of another run',
      async () => {
        const folder = await folderOf('Server', 2);
        const about = { ...ABOUT_RECORDS, runId: 'another' };
        await writeRecords(join(folder, 'host-1.arrow'), [queueRecords(QUEUE)], about);
        return folder;
      },
      /host-1.arrow has the records of run another, but \S+summary.json is of run run-of-the-test/,
    ],
    [
      'with other columns',
      async () => {
        const folder = await folderOf('Server', 2);
        const tokens = queueRecords({ ...QUEUE, hasTokens: true });
        await writeRecords(join(folder, 'host-1.arrow'), [tokens]);
        return folder;
      },
      /host-1.arrow is of another scenario or benchmark, or has other columns/,
    ],
    [
      'in several parts, whose starts are not known',
      async () => {
        const folder = await folderOf('Server', 2);
        const records = queueRecords(QUEUE);
        const second = { ...records, part: records.part.map(() => 1) };
        await writeRecords(join(folder, 'host-1.arrow'), [records, second]);
        return folder;
      },
      /host-1.arrow has 2 parts; one of several hosts has one/,
    ],
  ])('are refused: %s', async (_what, folder, message) => {
    await expect(deriveRun(await folder())).rejects.toThrow(message);
  });
});
