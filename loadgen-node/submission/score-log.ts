import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dataSetError, MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder, statIfThere, writeText } from '../../shared/base/files/read-file.ts';
import { benchmarkRules, keyOfRun } from '../../shared/rules/benchmark-rules.ts';
import { responseClass } from '../../shared/rules/response-class.ts';
import { DEFAULT_ROUND } from '../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-card.ts';
import { readDetailLog } from '../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import { readAudit } from '../observe/network-audit.ts';
import { progressOf, type RunHost } from '../run/host/host.ts';
import { exampleMarks, modelMarks } from '../run/judge/run-notes.ts';
import { accuracyText, writeScriptFiles } from '../run/keep/accuracy-file.ts';
import { inspectRun, recordedSettings } from '../run/plan/run-record.ts';
import type { RunValues } from '../run/plan/run-settings.ts';
import { generatedSetOf } from '../samples/benchmarks/generated-data.ts';
import { loadgenBenchmark } from '../samples/benchmarks/registry.ts';
import {
  type AccuracyLogScore,
  accuracyInWords,
  isMet,
  qualityOfRun,
  repeatsInWords,
  scoreAccuracyLog,
  targetInWords,
} from '../samples/benchmarks/score-each.ts';
import type { DataSet } from '../samples/data-set/data-set.ts';
import type { TokenType } from '../samples/data-set/token-numbers.ts';
import { readableDataSet } from '../samples/data-set/wire-data-set.ts';
import { requireWholeLog } from './truncate/cut-log.ts';

/** Flags of a score; other settings come from the run's record. */
interface ScoreValues extends SaidOfRun {
  /**
   * True: also scores a log with only a part of the data set, without comparing it with a target.
   */
  readonly partial: boolean;
  /** Token type in a language model's log; undefined: that of longhaul's nodes. */
  readonly tokenType: TokenType | undefined;
  /** File for the text; undefined: the text is part of the result. */
  readonly output: string | undefined;
  readonly cacheDir: string | undefined;
}

/**
 * Scores an accuracy log like the benchmark's official script, and also reports how much of the
 * data set the log covers, and whether the target is met.
 * @param log Path of the log, or of its run's folder.
 * @returns Text and JSON of the verb; `isGood` is false without an accuracy, or below the target.
 * @throws MlperfError `ERR_CONFIG_INVALID` if it is unknown how to score, `ERR_OUTPUT` for a
 *   truncated or damaged log, `ERR_DATA_SET`
 */
export async function scoreLog(
  log: string,
  values: ScoreValues,
  host: Pick<RunHost, 'report' | 'progress'>,
) {
  const path = await logOf(log);
  const folder = dirname(path);
  const run = scoredRun(folder, values);
  const { rules, opened } = await openDataSetOf(run, values, host);
  await requireSameData(folder, opened);
  const dataSet = readsRunOf(folder, rules, opened);
  host.progress?.(`scoring ${path}`);
  const { report, entryCount } = await scoreAccuracyLog(dataSet, path).catch((error: unknown) => {
    if (!(error instanceof MlperfError) || error.code !== 'ERR_DATA_SET') throw error;
    throw dataSetError(
      `${path}: ${error.message}. Is it the log of another benchmark, or of another --data-dir, --data-seed or --data-count?`,
      error,
    );
  });
  host.progress?.(null);
  const { totalSampleCount } = dataSet;
  const { metric, value, correctCount } = report;
  const repeats = repeatsInWords(entryCount, report);
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
    accuracy: null,
    target: null,
    isMet: null,
  };
  const isWhole = report.sampleCount === totalSampleCount;
  const why = whyNoAccuracy(report.sampleCount, isWhole || values.partial);
  if (why !== undefined) {
    host.report(why);
    return { text: '', json: facts, isGood: false };
  }
  const text = scoreText(report, rules.key, dataSet, marks, values.output);
  const more = report.more === undefined ? {} : { more: report.more };
  const accuracy = { metric, value, correctCount: correctCount ?? null, ...more };
  const json = { ...facts, accuracy };
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

/** Opens the data set of a run. */
async function openDataSetOf(
  run: ScoredRun,
  { cacheDir, tokenType }: Partial<Pick<ScoreValues, 'cacheDir' | 'tokenType'>>,
  host: Pick<RunHost, 'progress'>,
) {
  const { benchmark, dataDir, dataSeed, dataCount } = run;
  const { sampleBytes, sampleCount, responseBytes } = run;
  const { rules, openDataSet, answersInTokens } = await loadgenBenchmark(benchmark);
  if (tokenType !== undefined && answersInTokens !== true) {
    const text = `--token-type ${tokenType}: answers of benchmark ${benchmark} are no tokens`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  try {
    const opened = await openDataSet({
      dataFolder: dataDir,
      generated: generatedSetOf({ benchmark, dataDir, dataSeed, dataCount }),
      synthetic: { sampleBytes, sampleCount, responseBytes },
      isScoreOnly: true,
      tokenType,
      cacheFolder: cacheDir ?? defaultCacheFolder(),
      onProgress: progressOf(host),
    });
    return { rules, opened };
  } finally {
    host.progress?.(null);
  }
}

/**
 * Scores responses of a test with its benchmark's data set, which is opened at the first score.
 * @param folder Folder of the test's run: for an Open Inference Protocol model its audit defines
 *   how to read responses.
 */
export function responseScorer(
  benchmark: string,
  values: Partial<RunValues>,
  host: RunHost,
  folder: string,
) {
  const rules = benchmarkRules(benchmark);
  let dataSet: DataSet | undefined;
  return {
    score: async (entries: Parameters<DataSet['scoreAccuracy']>[0]) => {
      if (dataSet === undefined) {
        const { opened } = await openDataSetOf(
          { ...values, benchmark } as ScoredRun,
          { cacheDir: values.cacheDir },
          host,
        );
        dataSet = readsRunOf(folder, rules, opened);
      }
      return dataSet.scoreAccuracy(entries);
    },
    marks: () => [...exampleMarks(rules), ...(dataSet?.marks ?? [])],
  };
}

function whyNoAccuracy(sampleCount: number, isEnough: boolean): string | undefined {
  if (sampleCount === 0) {
    return 'There is no accuracy: the log has no response. Was it a run in accuracy mode?';
  }
  if (isEnough) return undefined;
  return 'There is no accuracy: an accuracy run answers the whole data set. Was the run over another one (--data-dir, --data-seed, --data-count)? --partial scores a part, for TEST01';
}

/**
 * The text of accuracy.txt, written to the requested file, else to stdout.
 * @returns The part for stdout.
 * @throws MlperfError `ERR_CONFIG_INVALID` if a file is requested but no official script writes
 *   one.
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
    const text = `there is no official script for ${benchmark}, so ${output} is not written: ${accuracyInWords(report)} on ${name}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const text = accuracyText(scriptLine, marks);
  if (output === undefined) return text;
  writeText(output, text);
  writeScriptFiles(dirname(output), report);
  return '';
}

/** @throws MlperfError `ERR_OUTPUT` if the log is missing or truncated. */
async function logOf(path: string): Promise<string> {
  const found = statIfThere(path);
  if (found === undefined) {
    const what = `it is ${RUN_FILES.accuracy} of an accuracy run, or the folder of one`;
    throw new MlperfError('ERR_OUTPUT', `${path}: there is no such file or folder; ${what}`);
  }
  const log = found.isDirectory() ? join(path, RUN_FILES.accuracy) : path;
  const size = statIfThere(log)?.size;
  if (size === undefined) {
    const text = `${path} has no ${RUN_FILES.accuracy}: it is not the folder of an accuracy run`;
    throw new MlperfError('ERR_OUTPUT', text);
  }
  await requireWholeLog(log, 'score');
  return log;
}

/** Settings of the scored run: benchmark, round and data set. */
type ScoredRun = Pick<RunValues, 'benchmark' | (typeof FROM_RECORD)[number]>;

const FROM_RECORD = [
  'round',
  'dataDir',
  'dataSeed',
  'dataCount',
  'sampleBytes',
  'sampleCount',
  'responseBytes',
] as const;

/** The same settings from the command's flags. */
type SaidOfRun = { readonly [K in keyof ScoredRun]?: ScoredRun[K] | undefined };

/**
 * The run of a log: flags override longhaul_run.yaml beside it. A `--data-dir` selects another data
 * set, for which the record's seed and count do not apply.
 * @throws MlperfError `ERR_CONFIG_INVALID` without a benchmark, or if it differs from the
 *   record's
 */
export function scoredRun(folder: string, said: SaidOfRun): ScoredRun {
  const record = join(folder, RUN_FILES.record);
  const recorded = inspectRun({ file: recordedSettings(record), flags: {} });
  const [asked, own] = [said.benchmark, recorded.benchmark].map((name) => name && keyOfRun(name));
  const benchmark = asked ?? own;
  if (benchmark === undefined) {
    const why = `${record} is not there to tell the benchmark`;
    throw new MlperfError('ERR_CONFIG_INVALID', `--benchmark <name> is needed: ${why}`);
  }
  if (own !== undefined && own !== benchmark) {
    const text = `--benchmark ${benchmark}: the log is of a run of ${recorded.benchmark}, says ${record}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const dropped = said.dataDir === undefined ? [] : ['dataSeed', 'dataCount'];
  if (recorded.data !== undefined && said.benchmark === undefined && said.dataDir === undefined) {
    const text = `the run had --data ${recorded.data}: the right answers are unknown, so there is no score`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const values = FROM_RECORD.map((key) => [
    key,
    said[key] ?? (dropped.includes(key) ? undefined : recorded[key]),
  ]);
  return { benchmark, ...Object.fromEntries(values) } as ScoredRun;
}

/**
 * Checks that the data set is the run's: sample indices of another data set would give a random
 * score.
 * @throws MlperfError `ERR_CONFIG_INVALID` if longhaul's detail log beside the accuracy log names
 *   another data set
 */
export async function requireSameData(folder: string, dataSet: DataSet): Promise<void> {
  const path = join(folder, RUN_FILES.detail);
  if (!existsSync(path)) return;
  const record = (await readDetailLog(path)).records.get('longhaul_data_set');
  if (typeof record?.value !== 'object' || record.value === null) return;
  const { name, sample_count: count } = record.value as Record<string, unknown>;
  const opened = `${dataSet.name}, ${dataSet.totalSampleCount} samples`;
  const logged = `${String(name)}, ${String(count)} samples`;
  if (opened === logged) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the run was over another data set (${logged}: ${path}:${record.line}) than the one that was opened (${opened}): say --data-dir, --data-seed and --data-count as the run did`,
  );
}

/**
 * The data set with the run's response conversion: for a run over a server its audit has the
 * model's outputs. Other data sets are unchanged.
 */
function readsRunOf(folder: string, rules: BenchmarkRules, dataSet: DataSet): DataSet {
  const { responseTensor } = rules;
  if (!existsSync(join(folder, RUN_FILES.audit)) || responseTensor === undefined) return dataSet;
  const audit = readAudit(folder);
  const outputs = audit.nodes[0]?.server?.outputs;
  const plan = audit.server?.plan;
  if (plan == null || outputs === undefined || responseTensor.shape.includes(-1)) {
    return dataSet;
  }
  const found = responseClass(rules, responseTensor, outputs, plan.hasBatchAxis);
  return readableDataSet(dataSet, found, responseTensor);
}

/** Notes on model and data set (a stand-in, an example), as in the run's own accuracy.txt. */
export function scoreMarks(folder: string, rules: BenchmarkRules, dataSet: DataSet): string[] {
  const hasAudit = existsSync(join(folder, RUN_FILES.audit));
  const nodes = hasAudit ? readAudit(folder).nodes : [];
  return [...exampleMarks(rules), ...modelMarks(nodes, rules.key), ...(dataSet.marks ?? [])];
}
