import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SampleRecorder } from '../../../../../loadgen-node/loadgen/recorder/sample-recorder.ts';
import { wholeLane } from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { figuresOf } from '../../../../../loadgen-node/observe/figures/figures-of-records.ts';
import { RecordsReader } from '../../../../../loadgen-node/observe/records/records-reader.ts';
import { RecordsWriter } from '../../../../../loadgen-node/observe/records/records-writer.ts';
import { recordsOfSet } from '../../../../../loadgen-node/observe/records/sample-records.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { ABOUT_RECORDS } from '../../../../scenes/simulated-run/records.ts';

// Goal: the gaps between tokens are in the file once per part, whatever blocks it has, and give the
// figures that the run had. Method: two parts of a simulated clock, one of them of more rows than a
// block.

const MS = 1_000_000;
const TOKENS = 4;

/**
 * Samples one after the other, each with a first token and tokens so many ms behind one another;
 * every seventh is lost.
 */
function partOf(rowCount: number, part: number, gapMs: number) {
  const scheduledDeltaNs = Float64Array.from({ length: rowCount }, (_, i) => i * 100 * MS);
  const plan = {
    ...{ queryCount: rowCount, samplesPerQuery: 1, sampleIndices: new Uint32Array(rowCount) },
    ...{ scheduledDeltaNs, periodNs: 0, generatedQueryCount: rowCount, generatedDurationNs: 0 },
  };
  const recorder = new SampleRecorder(plan, 'plan', {
    ...{ countsTokens: true, timesFirstTokens: true, timesTokens: true, keepsService: true },
  });
  recorder.begin(0);
  for (let row = 0; row < rowCount; row += 1) {
    const dueNs = scheduledDeltaNs[row] as number;
    recorder.issue(dueNs);
    recorder.firstToken(row, dueNs + MS);
    for (let i = 1; i < TOKENS - 1; i += 1) {
      recorder.furtherTokens(row, 1, dueNs + MS + i * gapMs * MS);
    }
    if (row % 7 === 3) recorder.lose(row);
    else recorder.complete(row, dueNs + MS + (TOKENS - 1) * gapMs * MS, TOKENS);
  }
  return { plan, recorder, part, firstQueryId: 0 } as Parameters<typeof recordsOfSet>[0];
}

it('gaps between tokens are read back as they were recorded, by part or together', async () => {
  const sets = [partOf(66_000, 0, 2), partOf(14, 1, 8)];
  const path = join(tempFolder(), 'records.arrow');
  const file = await open(path, 'w');
  const writer = new RecordsWriter(file, ABOUT_RECORDS);
  for (const set of sets) await writer.writeSet(set);
  await writer.end();
  await file.close();
  const reader = await RecordsReader.open(path);
  for (const [part, set] of sets.entries()) {
    const read = await reader.readAll([part]);
    const own = recordsOfSet(set);
    expect(read.tokenGaps).toEqual(own.tokenGaps);
    expect(read.longestGapNs).toEqual(own.longestGapNs);
  }
  const both = await reader.readAll();
  await reader.close();
  const lost = 9429;
  expect(both.longestGapNs?.filter(Number.isNaN)).toHaveLength(lost + 2);
  // Of a lost sample there are the gaps that were seen.
  expect(both.tokenGaps?.count).toBe((66_000 + 14) * (TOKENS - 2) + (66_000 + 14 - lost - 2));
  const figures = figuresOf(both, { scenario: 'Server', lanes: [wholeLane([])] });
  expect(figures).toMatchObject({ itl_max: 8 * MS, longest_gap_p50: 2 * MS });
  expect(figures.itl_p50).toBeGreaterThan(1.99 * MS);
  expect(figures.itl_p50).toBeLessThan(2.01 * MS);
});
