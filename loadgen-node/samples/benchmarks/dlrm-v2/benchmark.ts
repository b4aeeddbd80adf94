import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { grouped } from '../../../../shared/base/text.ts';
import { STANDIN_AUC } from '../../../../shared/benchmarks/dlrm-v2/planted-clicks.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { PAIR_BYTES } from '../../../../shared/rules/cards/dlrm-v2.ts';
import type { DataSet } from '../../data-set/data-set.ts';
import { standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { standinBenchmark } from '../standin-benchmark.ts';
import {
  type AggregationTrace,
  makeAggregationTrace,
  readAggregationTrace,
  TRACE_FILE,
} from './aggregation-trace.ts';
import { scoreClicks } from './click-score.ts';
import {
  type CriteoRows,
  DENSE_FILE,
  LABEL_FILE,
  OFFICIAL_ROWS,
  openCriteoRows,
  readLabels,
  SPARSE_FILE,
  TEXT_FILE,
} from './criteo-files.ts';
import { ensureStandinClicks } from './standin-data.ts';

const rules = benchmarkRules('dlrm-v2');

/**
 * Recommendation on the LoadGen node: the first half of day 23 of Criteo's click logs, in the
 * reference's multi-hot files, or made-up files in that format. A sample is 100 to 700 user-item
 * pairs in consecutive rows; the response is a click probability per pair; the metric is ROC AUC.
 */
export const benchmark: LoadgenBenchmark = standinBenchmark(rules.key, {
  holds: `${DENSE_FILE}, ${SPARSE_FILE} and ${LABEL_FILE} of the reference's multi-hot Criteo data`,
  makes: 'generated data',
  openOwn: openOwnFolder,
  openStandin: async (set, options) => {
    const folder = await ensureStandinClicks(set, options);
    const rows = await openCriteoRows(folder);
    const trace = makeAggregationTrace(rows?.rowCount ?? 0);
    const source = standinSource(rules.key, {
      name: 'criteo-standin',
      set,
      value: STANDIN_AUC,
      samples: `${trace.length - 1} samples drawn by longhaul, not Criteo's`,
    });
    const files = [DENSE_FILE, SPARSE_FILE, LABEL_FILE];
    return clickDataSet(rows, trace, { ...source, folder, files, isManifestChecked: true });
  },
});

async function openOwnFolder(folder: string): Promise<DataSet> {
  const isThere = (file: string): boolean => existsSync(join(folder, file));
  const labels = isThere(LABEL_FILE) ? LABEL_FILE : TEXT_FILE;
  const files = [DENSE_FILE, SPARSE_FILE, labels, TRACE_FILE].filter(isThere);
  if (files.length === 0) {
    throw dataSetError(
      `${folder} has none of the files ${DENSE_FILE}, ${SPARSE_FILE} and ${LABEL_FILE}`,
    );
  }
  const rows = await openCriteoRows(folder);
  const rowCount = rows?.rowCount ?? OFFICIAL_ROWS;
  const cut = makeAggregationTrace(rowCount);
  const trace = isThere(TRACE_FILE)
    ? await readAggregationTrace(join(folder, TRACE_FILE), rowCount)
    : cut;
  const isCut = trace.length === cut.length && trace.every((row, i) => row === cut[i]);
  const isOfficial = rowCount === OFFICIAL_ROWS && isCut;
  const marks = isOfficial ? [] : [foreignMark(trace)];
  const name = isOfficial ? 'criteo-day-23' : 'criteo-own-data';
  return clickDataSet(rows, trace, { name, folder, files, marks });
}

function foreignMark(trace: AggregationTrace): string {
  return (
    `the data set is not the first half of Criteo's day 23 in the reference's samples: ${grouped(trace.length - 1)} samples of ` +
    `${grouped(trace.at(-1) ?? 0)} pairs; an official run needs 330,067 of ${grouped(OFFICIAL_ROWS)}`
  );
}

/**
 * @param rows Undefined for a folder without features: logs can be scored, but samples not read.
 */
function clickDataSet(
  rows: CriteoRows | undefined,
  trace: AggregationTrace,
  parts: Pick<DataSet, 'name' | 'folder' | 'marks' | 'quality' | 'isManifestChecked'> & {
    readonly files: readonly string[];
  },
): DataSet {
  const { folder } = parts;
  const range = (sampleIndex: number): readonly [number, number] => {
    const [begin, end] = [trace[sampleIndex], trace[sampleIndex + 1]];
    assert(begin !== undefined && end !== undefined, `sample ${sampleIndex}`);
    return [begin, end];
  };
  return {
    ...parts,
    totalSampleCount: trace.length - 1,
    payloadBytes: (sampleIndex) => {
      const [begin, end] = range(sampleIndex);
      return (end - begin) * PAIR_BYTES;
    },
    readPayload: async (sampleIndex) => {
      if (rows !== undefined) return rows.readPairs(...range(sampleIndex));
      throw dataSetError(
        `${folder}: ${DENSE_FILE} and ${SPARSE_FILE} are not there; without them a log can be scored, but no sample be read`,
      );
    },
    scoreAccuracy: async (entries, turns) =>
      scoreClicks(entries, trace, await readLabels(folder, trace.at(-1) ?? 0), turns),
  };
}
