import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { grouped } from '../../../../shared/base/text.ts';
import { Mt19937 } from '../../../loadgen/random/mt19937.ts';
import { readingFile } from '../../data-set/data-set.ts';

/** File that the reference writes beside the data, with a line `start, end, count` per sample. */
export const TRACE_FILE = 'dlrm_trace_of_aggregated_samples.txt';

/** Possible numbers of pairs per sample. Source: tools/dist_quantile.txt of the reference. */
const PAIR_COUNTS: readonly number[] = [
  ...[100, 100, ...new Array<number>(12).fill(200)],
  ...[300, 300, 400, 500, 600, 700],
];

/**
 * Seed and mask of the draw, as in numpy.random.seed(123) and randint(0, 20): larger numbers are
 * rejected.
 */
const DRAW_SEED = 123n;
const DRAW_MASK = 31;

/**
 * Row ranges: sample i has rows [element i, element i + 1), so there is one element more than
 * samples.
 */
export type AggregationTrace = Uint32Array;

/**
 * Divides rows into samples of 100 to 700 as the reference does; the last may be shorter. Source:
 * multihot_criteo.py of MLCommons inference, recommendation/dlrm_v2/pytorch/python.
 * @param sampleCountMax Make only the first samples; undefined: all.
 */
export function makeAggregationTrace(
  rowCount: number,
  sampleCountMax: number = Number.POSITIVE_INFINITY,
): AggregationTrace {
  const random = new Mt19937(DRAW_SEED);
  const bounds = [0];
  let row = 0;
  while (row < rowCount && bounds.length <= sampleCountMax) {
    const pairCount = PAIR_COUNTS[random.nextUint32() & DRAW_MASK];
    if (pairCount === undefined) continue;
    row = Math.min(row + pairCount, rowCount);
    bounds.push(row);
  }
  return Uint32Array.from(bounds);
}

/**
 * Reads a trace.
 * @throws MlperfError `ERR_DATA_SET` with the line that does not start where the previous one
 *   ended
 */
export async function readAggregationTrace(
  path: string,
  rowCount: number,
): Promise<AggregationTrace> {
  const bounds = [0];
  let line = 0;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  await readingFile(path, async () => {
    for await (const text of lines) {
      line += 1;
      if (text.trim() === '') continue;
      const [begin, end, count, ...rest] = text.split(',').map((field) => Number(field.trim()));
      const from = bounds.at(-1);
      const isRight =
        begin === from &&
        end !== undefined &&
        begin !== undefined &&
        end > begin &&
        end - begin === count;
      if (!isRight || !Number.isInteger(end) || rest.length > 0) {
        throw dataSetError(
          `${path}, line ${line}: ${JSON.stringify(text.slice(0, 60))} is not "start, end, count" of a sample that begins at row ${from}`,
        );
      }
      if (end > rowCount) {
        throw dataSetError(
          `${path}, line ${line}: the sample ends at row ${grouped(end)}; the data has ${grouped(rowCount)} rows`,
        );
      }
      bounds.push(end);
    }
  });
  if (bounds.length === 1) throw dataSetError(`${path} has no line: it lists the samples`);
  return Uint32Array.from(bounds);
}
