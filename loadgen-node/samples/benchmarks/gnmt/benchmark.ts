import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { grouped } from '../../../../shared/base/text.ts';
import { TRANSLATION_STANDIN_BLEU } from '../../../../shared/benchmarks/standin/standin-translation.ts';
import { benchmarkRules, dataSetSamplesOf } from '../../../../shared/rules/benchmark-rules.ts';
import { GNMT_VOCABULARIES } from '../../../../shared/rules/cards/gnmt.ts';
import type { DataSet, PrepareProgress } from '../../data-set/data-set.ts';
import { standinSource } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { requireFiles, standinBenchmark } from '../standin-benchmark.ts';
import { scoreBleu } from './bleu.ts';
import {
  checkLargeFile,
  LARGE_FILE,
  REFERENCE_FILE,
  readTextLines,
  requireWords,
  SOURCE_FILE,
  TEXT_REPEATS,
} from './parallel-text.ts';
import { ensureStandinSentences } from './standin-sentences.ts';

const rules = benchmarkRules('gnmt');

/**
 * Translation of round v0.5 on the LoadGen node: newstest2014 as BPE tokens, or made-up sentences
 * in the same format. A sample is a line; performance runs repeat all lines 1,300 times, like the
 * official performance file.
 */
export const benchmark: LoadgenBenchmark = standinBenchmark(rules.key, {
  holds: `${SOURCE_FILE} and ${REFERENCE_FILE}`,
  makes: 'made-up sentences',
  openOwn: openText,
  openStandin: async (set, options) => {
    const folder = await ensureStandinSentences(set, options);
    const source = standinSource(rules.key, {
      name: 'newstest-standin',
      set,
      value: TRANSLATION_STANDIN_BLEU,
      samples: `${set.sampleCount} sentences made by longhaul, not newstest2014`,
    });
    return { ...(await openText(folder, options)), ...source, isManifestChecked: true };
  },
});

async function openText(
  folder: string,
  {
    isScoreOnly = false,
    onProgress,
  }: { readonly isScoreOnly?: boolean; readonly onProgress: PrepareProgress },
): Promise<DataSet> {
  const needed = isScoreOnly ? [REFERENCE_FILE] : [SOURCE_FILE, REFERENCE_FILE];
  requireFiles(folder, needed);
  const reference = await readTextLines(folder, REFERENCE_FILE);
  const source = isScoreOnly ? undefined : await readTextLines(folder, SOURCE_FILE);
  const count = reference.lines.length;
  const files = [SOURCE_FILE, REFERENCE_FILE];
  if (source !== undefined) {
    const path = join(folder, SOURCE_FILE);
    if (source.lines.length !== count) {
      throw dataSetError(
        `${path} has ${source.lines.length} lines, ${REFERENCE_FILE} ${count}: line by line they must be translations`,
      );
    }
    requireWords(path, source.lines);
    if (await checkLargeFile(folder, onProgress)) files.push(LARGE_FILE);
  }
  files.push(...Object.values(GNMT_VOCABULARIES).filter((file) => existsSync(join(folder, file))));
  const isOfficial = reference.isOfficial && source?.isOfficial !== false;
  const encoder = new TextEncoder();
  return {
    name: isOfficial ? 'newstest2014' : 'newstest-own-data',
    marks: isOfficial ? [] : [otherTextMark(count)],
    folder,
    files,
    totalSampleCount: count,
    performanceRepeats: TEXT_REPEATS,
    readPayload: async (sampleIndex) => {
      const line = source?.lines[sampleIndex];
      assert(line !== undefined, `sample ${sampleIndex} of ${count}`);
      return encoder.encode(line);
    },
    scoreAccuracy: (entries) => scoreBleu(entries, reference.lines, rules.quality.metric),
  };
}

function otherTextMark(count: number): string {
  const officialCount = dataSetSamplesOf(rules.key);
  return (
    `the data set is not newstest2014 as MLPerf has it (by MD5): ${grouped(count)} sentences; an official run needs ` +
    `${grouped(officialCount)}, and ${grouped(officialCount * TEXT_REPEATS)} in performance runs, which are the same ${grouped(TEXT_REPEATS)} times`
  );
}
