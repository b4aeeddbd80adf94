import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/cache-folder.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import { DEFAULT_ROUND } from '../../../shared/rules/rounds/rounds.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { RunHost } from '../../run/host/host.ts';
import { accuracyText, writeAccuracyText } from '../../run/keep/accuracy-file.ts';
import { generatedSetOf } from '../../samples/benchmarks/generated-data.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import {
  type AccuracyLogScore,
  accuracyInWords,
  isMet,
  qualityOfRun,
  repeatsInWords,
  scoreAccuracyLog,
  targetInWords,
} from '../../samples/benchmarks/score-each.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import { isCutLog } from '../truncate/cut-log.ts';
import {
  readsRunOf,
  requireSameData,
  type SaidOfRun,
  scoredRun,
  scoreMarks,
} from './scored-run.ts';

/** Flags of a score; what they do not say of the run, its record says. */
interface ScoreValues extends SaidOfRun {
  /** True: a log that has a part of the data set only is scored too, and compared with no target. */
  readonly partial: boolean;
  /** File for the text; undefined: it is the result's. */
  readonly output: string | undefined;
  readonly cacheDir: string | undefined;
}

/**
 * Scores an accuracy log as the benchmark's official script does, and reports what that script does not tell: how much of
 * the data set the log has, and whether the target is met.
 * @param log The log, or the folder of its run.
 * @returns Text and JSON of the verb; `isGood` is false when there is no accuracy, or one below the target.
 * @throws MlperfError `ERR_CONFIG_INVALID` where it is not known what to score it with, `ERR_OUTPUT` for a log that is cut or
 *   damaged, `ERR_DATA_SET`
 */
export async function scoreLog(
  log: string,
  values: ScoreValues,
  host: Pick<RunHost, 'report' | 'progress'>,
) {
  const path = await logOf(log);
  const folder = dirname(path);
  const run = scoredRun(folder, values);
  const { sampleBytes, sampleCount, responseBytes } = run;
  const { rules, openDataSet } = await loadgenBenchmark(run.benchmark);
  const opened = await openDataSet({
    dataFolder: run.dataDir,
    generated: generatedSetOf(run),
    synthetic: { sampleBytes, sampleCount, responseBytes },
    cacheFolder: values.cacheDir ?? defaultCacheFolder(),
    onProgress: (fraction, what) => host.progress?.(what, percentOf(fraction)),
  });
  await requireSameData(folder, opened);
  const dataSet = readsRunOf(folder, rules, opened);
  host.progress?.(`scoring ${path}`);
  const { report, entryCount } = await scoreAccuracyLog(dataSet, path);
  host.progress?.(null);
  const { totalSampleCount } = dataSet;
  const { metric, value, correctCount } = report;
  const repeats = repeatsInWords(entryCount, report.sampleCount);
  host.report(
    `${path}: responses to ${report.sampleCount} of the ${totalSampleCount} samples of ${dataSet.name}${repeats}`,
  );
  const marks = scoreMarks(folder, rules, dataSet);
  const facts = {
    log: path,
    benchmark: run.benchmark,
    dataSet: dataSet.name,
    sampleCount: report.sampleCount,
    totalSampleCount,
    entryCount,
    marks,
    scriptLine: report.scriptLine ?? null,
    ...{ accuracy: null, target: null, isMet: null },
  };
  const isWhole = report.sampleCount === totalSampleCount;
  const why = whyNoAccuracy(report.sampleCount, isWhole || values.partial);
  if (why !== undefined) {
    host.report(why);
    return { text: '', json: facts, isGood: false };
  }
  const text = scoreText(report, rules.key, dataSet, marks, values.output);
  const json = { ...facts, accuracy: { metric, value, correctCount } };
  if (!isWhole) {
    host.report(`${accuracyInWords(report)}, of a part of the data set: compared with no target`);
    return { text, json, isGood: true };
  }
  const quality = qualityOfRun(rules, run.round ?? DEFAULT_ROUND, dataSet);
  const met = isMet(report, quality);
  const verdict = met ? 'met' : 'NOT met';
  host.report(`${accuracyInWords(report)}, target ${targetInWords(quality)}: ${verdict}`);
  return { text, json: { ...json, target: quality.target, isMet: met }, isGood: met };
}

function whyNoAccuracy(sampleCount: number, isEnough: boolean): string | undefined {
  if (sampleCount === 0) {
    return 'There is no accuracy: the log has no response. Was it a run in accuracy mode?';
  }
  if (isEnough) return undefined;
  return 'There is no accuracy: an accuracy run answers the whole data set. Was the run over another one (--data-dir, --data-seed, --data-count)? --partial scores a part, for TEST01';
}

/**
 * The text of accuracy.txt, which goes into the file that was asked for, else to stdout.
 * @returns The part for stdout.
 * @throws MlperfError `ERR_CONFIG_INVALID` where a file is asked for that no official script writes.
 */
function scoreText(
  report: AccuracyLogScore['report'],
  benchmark: string,
  { name }: DataSet,
  marks: readonly string[],
  output: string | undefined,
): string {
  const { scriptLine } = report;
  if (scriptLine === undefined) {
    if (output === undefined) return `${accuracyInWords(report)}\n`;
    const text = `there is no official script for ${benchmark}, so nothing for ${output}: ${accuracyInWords(report)} on ${name}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const text = accuracyText(scriptLine, marks);
  if (output === undefined) return text;
  writeAccuracyText(output, text);
  return '';
}

/** @throws MlperfError `ERR_OUTPUT` for a log of which the middle is gone. */
async function logOf(path: string): Promise<string> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const log = isFolder ? join(path, RUN_FILES.accuracy) : path;
  const size = statSync(log, { throwIfNoEntry: false })?.size;
  if (size !== undefined && (await isCutLog(log, size))) {
    const text = `${log} was truncated for a submission: score the original`;
    throw new MlperfError('ERR_OUTPUT', text);
  }
  return log;
}
