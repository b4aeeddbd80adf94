import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/cache-folder.ts';
import type { VerbResult } from '../../../shared/base/process/json-output.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import { DEFAULT_ROUND } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { RunHost } from '../../run/host/host.ts';
import { accuracyText, writeAccuracyText } from '../../run/keep/accuracy-file.ts';
import { generatedSetOf } from '../../samples/benchmarks/generated-data.ts';
import {
  accuracyInWords,
  isMet,
  qualityOfRun,
  targetInWords,
} from '../../samples/benchmarks/quality.ts';
import { loadgenBenchmark } from '../../samples/benchmarks/registry.ts';
import {
  type AccuracyLogScore,
  repeatsInWords,
  scoreAccuracyLog,
} from '../../samples/benchmarks/score-accuracy-log.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';
import { isCutLog } from '../truncate/cut-log.ts';
import {
  readsRunOf,
  requireSameData,
  type SaidOfRun,
  scoredRun,
  scoreMarks,
} from './scored-run.ts';

/** What is asked of a score; what is not said of the run, its record says. */
export interface ScoreValues extends SaidOfRun {
  /** True: a log that has a part of the data set only is scored too, and compared with no target. */
  readonly partial: boolean;
  /** File for the text; undefined: it is the result's. */
  readonly output: string | undefined;
  readonly cacheDir: string | undefined;
}

/** A score; `isGood` is false when there is no accuracy, or one below the target. */
interface ScoredLog extends VerbResult {
  readonly isGood: boolean;
}

/**
 * Scores an accuracy log as the benchmark's official script does, and says of it what the script does not.
 * @param log The log, or the folder of its run.
 * @throws MlperfError `ERR_CONFIG_INVALID` where it is not known what to score it with, `ERR_OUTPUT` for a log that is cut or
 *   damaged, `ERR_DATA_SET`
 */
export async function scoreLog(
  log: string,
  values: ScoreValues,
  host: Pick<RunHost, 'report' | 'progress'>,
): Promise<ScoredLog> {
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
  const score = await scoreAccuracyLog(dataSet, path);
  host.progress?.(null);
  const { report } = score;
  host.report(`${path}: ${entriesInWords(score, dataSet)}`);
  const marks = scoreMarks(folder, rules, dataSet);
  const facts = {
    log: path,
    benchmark: run.benchmark,
    dataSet: dataSet.name,
    sampleCount: report.sampleCount,
    totalSampleCount: dataSet.totalSampleCount,
    entryCount: score.entryCount,
    marks,
    scriptLine: report.scriptLine ?? null,
  };
  const isWhole = report.sampleCount === dataSet.totalSampleCount;
  const why = whyNoAccuracy(report.sampleCount, isWhole || values.partial);
  if (why !== undefined) {
    host.report(why);
    return {
      text: '',
      json: { ...facts, accuracy: null, target: null, isMet: null },
      isGood: false,
    };
  }
  const text = writeText(score, { dataSet, marks, rules }, values.output);
  const { metric, value, correctCount } = report;
  const accuracy = { metric, value, correctCount };
  if (!isWhole) {
    host.report(`${accuracyInWords(report)}, of a part of the data set: compared with no target`);
    return { text, json: { ...facts, accuracy, target: null, isMet: null }, isGood: true };
  }
  const quality = qualityOfRun(rules, run.round ?? DEFAULT_ROUND, dataSet);
  const met = isMet(report, quality);
  const verdict = met ? 'met' : 'NOT met';
  host.report(`${accuracyInWords(report)}, target ${targetInWords(quality)}: ${verdict}`);
  return { text, json: { ...facts, accuracy, target: quality.target, isMet: met }, isGood: met };
}

function whyNoAccuracy(sampleCount: number, isEnough: boolean): string | undefined {
  if (sampleCount === 0) {
    return 'There is no accuracy: the log has no response. Was it a run in accuracy mode?';
  }
  if (isEnough) return undefined;
  return 'There is no accuracy: an accuracy run answers the whole data set. Was the run over another one (--data-dir, --data-seed, --data-count)? --partial scores a part, for TEST01';
}

/** What a score is of. */
interface ScoreContext {
  readonly dataSet: DataSet;
  readonly rules: BenchmarkRules;
  /** What has to stand beside it. */
  readonly marks: readonly string[];
}

/**
 * Writes the text into the file that was asked for. @returns What goes to stdout instead where there is none.
 * @throws MlperfError `ERR_CONFIG_INVALID` where a file is asked for that no official script writes.
 */
function writeText(
  { report }: AccuracyLogScore,
  { dataSet, marks, rules }: ScoreContext,
  output: string | undefined,
): string {
  const { scriptLine } = report;
  if (output !== undefined && scriptLine === undefined) {
    const text = `there is no official script for ${rules.key}, so nothing for ${output}: ${accuracyInWords(report)} on ${dataSet.name}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  if (scriptLine === undefined) return `${accuracyInWords(report)}\n`;
  const text = accuracyText(scriptLine, marks);
  if (output === undefined) return text;
  writeAccuracyText(output, text);
  return '';
}

function entriesInWords({ report, entryCount }: AccuracyLogScore, dataSet: DataSet): string {
  const samples = `responses to ${report.sampleCount} of the ${dataSet.totalSampleCount} samples of ${dataSet.name}`;
  return samples + repeatsInWords(entryCount, report.sampleCount);
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
