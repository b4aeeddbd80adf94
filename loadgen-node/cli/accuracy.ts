import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../shared/base/files/cache-folder.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, type VerbResult, writeResult } from '../../shared/base/process/json-output.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  optional,
  type Setting,
  type SettingValues,
  text,
  toggle,
} from '../../shared/config/setting.ts';
import { DEFAULT_ROUND, type Round } from '../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-row.ts';
import { RUN_FILES } from '../loadgen/logs/read/run-folder.ts';
import { CommandHost } from '../run/host/host.ts';
import { accuracyText, writeAccuracyText } from '../run/keep/accuracy-file.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { readsRunOf, requireSameData, scoredRun, scoreMarks } from '../run/scored-run.ts';
import { generatedSetOf } from '../samples/benchmarks/generated-data.ts';
import {
  accuracyInWords,
  isMet,
  qualityOfRun,
  targetInWords,
} from '../samples/benchmarks/quality.ts';
import { loadgenBenchmark } from '../samples/benchmarks/registry.ts';
import {
  type AccuracyLogScore,
  repeatsInWords,
  scoreAccuracyLog,
} from '../samples/benchmarks/score-accuracy-log.ts';
import type { DataSet } from '../samples/data-set/data-set.ts';
import { isCutLog } from '../submission/truncate/cut-log.ts';

const ACCURACY_SETTINGS: {
  readonly benchmark: Setting<string | undefined>;
  readonly dataDir: Setting<string | undefined>;
  readonly dataSeed: Setting<number | undefined>;
  readonly dataCount: Setting<number | undefined>;
  readonly round: Setting<Round | undefined>;
  readonly partial: Setting<boolean>;
  readonly output: Setting<string | undefined>;
  readonly cacheDir: Setting<string | undefined>;
} = {
  benchmark: optional(
    text('name', "benchmark of the run (default: longhaul_run.yaml's beside the log)"),
  ),
  dataDir: RUN_SETTINGS.dataDir,
  dataSeed: RUN_SETTINGS.dataSeed,
  dataCount: RUN_SETTINGS.dataCount,
  round: RUN_SETTINGS.round,
  partial: toggle('score a log that has a part of the data set only, such as that of TEST01'),
  output: optional(text('file', 'file to write the text to (default: stdout)')),
  cacheDir: RUN_SETTINGS.cacheDir,
};

const EXAMPLE = `
Examples:
  longhaul accuracy results/acc --output results/acc/accuracy.txt
  longhaul accuracy TEST01/accuracy/mlperf_log_accuracy.json --benchmark resnet50 --data-dir imagenet --partial
  longhaul accuracy other-loadgen/mlperf_log_accuracy.json --benchmark digits --data-seed 77 --data-count 1000

The data set has to be that of the run. Where longhaul_run.yaml lies beside the log, benchmark, round and data set are those that
it has, and flags win over it (start where that run was started: relative paths count from there). Elsewhere say --benchmark, and
--data-dir, --data-seed and --data-count as the run did. Where longhaul's detail log lies there, another data set is refused.
The log may be of longhaul or of the C++ LoadGen, in LoadGen's form or as any other JSON. What is written is the line
that the benchmark's official script prints of the same log, and below it notes where the data set is a stand-in.
A log that was truncated for a submission cannot be scored: take the original.

Exit codes: 0 scored and the target is met (or --partial: no target is looked at), 3 the target is missed or samples
are missing, 2 wrong flag, 5 data set missing or a response that is no answer, 6 log missing or damaged.`;

type AccuracyValues = SettingValues<typeof ACCURACY_SETTINGS>;

/** `longhaul accuracy`: what the benchmark's official accuracy script says of a log. */
export function accuracyCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    'accuracy',
    "score an accuracy log, ours or another LoadGen's, as the benchmark's official script does",
  ).argument('<log>', `${RUN_FILES.accuracy}, or a folder that has it`);
  return addJson(addFlags(command, ACCURACY_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (log: string) => {
      const { values } = settingsOf(command, undefined, ACCURACY_SETTINGS);
      const { isGood, ...result } = await scoreLog(log, values);
      writeResult(command, result);
      setExitCode(isGood ? EXIT.valid : EXIT.invalid);
    });
}

/** A score; `isGood` is false when there is no accuracy, or one below the target. */
interface ScoredLog extends VerbResult {
  readonly isGood: boolean;
}

async function scoreLog(log: string, values: AccuracyValues): Promise<ScoredLog> {
  const host = new CommandHost();
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
    onProgress: (fraction, what) => host.progress(what, percentOf(fraction)),
  });
  await requireSameData(folder, opened);
  const dataSet = readsRunOf(folder, rules, opened);
  host.progress(`scoring ${path}`);
  const score = await scoreAccuracyLog(dataSet, path);
  host.progress(null);
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
