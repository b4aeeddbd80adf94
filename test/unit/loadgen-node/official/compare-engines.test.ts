import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  compareEngines,
  comparisonText,
  readLogsOf,
} from '../../../../loadgen-node/official/compare-engines.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

type Records = Readonly<Record<string, unknown>>;

const RECORDS: Records = {
  effective_min_query_count: 100,
  requested_qsl_rng_seed: 5,
  result_validity: 'VALID',
  'result_99.00_percentile_latency_ns': 2_000_000,
};

/** @param errors Keys of records that are errors. */
function folderOf(
  cpp: Records,
  own: Records,
  accuracy: readonly [string, string] = ['[]', '[]'],
  errors: readonly string[] = [],
) {
  const folder = tempFolder();
  for (const [prefix, records, log] of [
    ['mlperf_log_', cpp, accuracy[0]],
    ['longhaul_log_', own, accuracy[1]],
  ] as const) {
    const lines = Object.entries(records).map(
      ([key, value]) =>
        `:::MLLOG ${JSON.stringify({ key, value, metadata: { is_error: errors.includes(key) } })}\n`,
    );
    writeFileSync(join(folder, `${prefix}detail.txt`), lines.join(''));
    writeFileSync(join(folder, `${prefix}accuracy.json`), log);
  }
  return folder;
}

// Goal: two engines that planned, counted or logged otherwise are found; figures by two clocks may
// differ. Method: logs of two engines with one difference each.
describe('compareEngines', () => {
  it('finds equal engines equal, whatever their clocks say', async () => {
    const own = { ...RECORDS, 'result_99.00_percentile_latency_ns': 1_990_000 };
    const found = await compareEngines(folderOf(RECORDS, own));
    expect(found).toMatchObject({ comparedCount: 2, differing: [], hasSameAccuracyLog: true });
    expect(comparisonText(found)).toContain('C++ 2 ms, longhaul 1.99 ms, -0.50 %');
  });

  it('names records that differ, or that one of them lacks', async () => {
    const { requested_qsl_rng_seed: _, ...fewer } = RECORDS;
    const found = await compareEngines(
      folderOf({ ...fewer, effective_min_query_count: 99 }, RECORDS),
    );
    expect(found.differing.map(({ key }) => key).sort()).toEqual([
      'effective_min_query_count',
      'requested_qsl_rng_seed',
    ]);
    expect(comparisonText(found)).toContain('requested_qsl_rng_seed: C++ has none, longhaul 5');
  });

  it("does not miss in v4.0's log what that version does not write", async () => {
    const own = { ...RECORDS, effective_sample_concatenate_permutation: false };
    const v40 = { ...RECORDS, loadgen_version: '4.0 @ e39003a9c4' };
    const found = await compareEngines(folderOf(v40, own));
    expect(found).toMatchObject({ comparedCount: 2, differing: [] });
    const later = await compareEngines(
      folderOf({ ...v40, loadgen_version: '4.1 @ 379ee5345a' }, own),
    );
    expect(later.differing.map(({ key }) => key)).toEqual([
      'effective_sample_concatenate_permutation',
    ]);
  });

  it('shows counts of late queries as counts', async () => {
    const late = { ...RECORDS, result_overlatency_query_count: 98 };
    const found = await compareEngines(
      folderOf(late, { ...late, result_overlatency_query_count: 94 }),
    );
    expect(comparisonText(found)).toContain('C++ 98, longhaul 94, -4.08 %');
  });

  it('finds accuracy logs that differ in a byte, or in length', async () => {
    const one = '[{"seq_id": 0}]';
    for (const other of ['[{"seq_id": 1}]', '[{"seq_id": 0}]\n']) {
      const found = await compareEngines(folderOf(RECORDS, RECORDS, [one, other]));
      expect(found.hasSameAccuracyLog).toBe(false);
    }
  });

  it('says which log is missing', async () => {
    const folder = folderOf(RECORDS, RECORDS);
    rmSync(join(folder, 'longhaul_log_accuracy.json'));
    await expect(compareEngines(folder)).rejects.toThrow('longhaul_log_accuracy.json is not there');
    await expect(compareEngines(tempFolder())).rejects.toThrow('is not of a run by --engine cpp');
  });
});

// Goal: the end of a run tells what the C++ LoadGen's log has against it. Method: logs of two
// engines.
describe('the logs of a run by the C++ LoadGen', () => {
  it('have nothing against it where both agree', async () => {
    const end = await readLogsOf(folderOf(RECORDS, RECORDS));
    expect(end).toEqual({ isValid: true, errors: [], differences: [], otherSettings: null });
  });

  it('name its first error, with the line', async () => {
    const cpp = { ...RECORDS, error_uncommitted_loadgen_changes: 'changes!', error_runtime: 'x' };
    const errors = ['error_uncommitted_loadgen_changes', 'error_runtime'];
    const end = await readLogsOf(folderOf(cpp, RECORDS, ['[]', '[]'], errors));
    expect(end.errors).toEqual([
      'The C++ LoadGen logged 2 errors, the first error_uncommitted_loadgen_changes in line 5 of mlperf_log_detail.txt: changes!.',
    ]);
  });

  it('name the settings in effect that are not those requested', async () => {
    const cpp = { ...RECORDS, requested_min_query_count: 99, effective_min_query_count: 99 };
    const own = { ...RECORDS, requested_min_query_count: 100 };
    const { differences, otherSettings } = await readLogsOf(folderOf(cpp, own));
    expect(differences).toEqual([]);
    expect(otherSettings).toEqual({
      text: 'The C++ LoadGen ran with other settings than were requested: effective_min_query_count 99 (requested: 100).',
      needed: 'effective_min_query_count 100',
      seen: 'effective_min_query_count 99',
    });
  });

  it('only tell of a setting that one of them does not have', async () => {
    const { differences, otherSettings } = await readLogsOf(
      folderOf({ ...RECORDS, effective_new_setting: true }, RECORDS),
    );
    expect(otherSettings).toBeNull();
    expect(differences).toEqual([
      'The C++ LoadGen logged other settings than were requested: effective_new_setting true (requested: has none).',
    ]);
  });
});
