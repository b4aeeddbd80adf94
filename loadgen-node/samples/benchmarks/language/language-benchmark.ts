import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { grouped } from '../../../../shared/base/text.ts';
import { longStandinTextsOf } from '../../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules, dataSetSamplesOf } from '../../../../shared/rules/benchmark-rules.ts';
import { formatFixed, pythonFloat } from '../../../loadgen/base/number-format.ts';
import type { AccuracyReport, DataSet } from '../../data-set/data-set.ts';
import type { TokenType } from '../../data-set/token-numbers.ts';
import { LONG_STAND_IN_WORD, STAND_IN_WORD } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { requireFiles, standinBenchmark } from '../standin-benchmark.ts';
import { scoreTexts } from './score-texts.ts';
import type { ScoreFigures, Scorer } from './scorers.ts';
import { standinTexts } from './standin-texts.ts';
import { type RowReader, readTextRows, type TextRow } from './text-rows.ts';
import {
  readTokenizer,
  type TextTokenizer,
  TOKENIZER_CONFIG_FILE,
  TOKENIZER_FILE,
} from './text-tokenizer.ts';

const LONG_WORDS = `, or --data-dir ${LONG_STAND_IN_WORD} for some with answers as long as the rules want them`;

/** A benchmark whose samples and responses are token ids; its card has the numbers. */
interface LanguageTask {
  readonly key: string;
  /** File name of the rows. */
  readonly file: string;
  /** Data set names in the logs: of the whole official set, and of a user's own. */
  readonly names: { readonly official: string; readonly own: string };
  /** @param tokensMax Most tokens of a sample; samples made from text are cut. */
  readonly readRow: (row: RowReader, tokensMax: number) => TextRow;
  /** See {@link readTokenizer}; default: false. */
  readonly cleansUp?: boolean;
  /** Makes a scorer for each kind of row. */
  readonly scorers: readonly ((rowCount: number) => Scorer)[];
  /** Names of the figures in the official script's line, in order. */
  readonly line: readonly string[];
  /** True if the script counts repeated responses of a sample. */
  readonly countsRepeats?: boolean;
  /** Notes on rows that are not scored. */
  readonly marks?: (rows: readonly TextRow[]) => readonly string[];
}

/** ROUGE figures in the official scripts' lines. */
export const ROUGE_LINE = ['rouge1', 'rouge2', 'rougeL', 'rougeLsum'] as const;

/** Length figures in the official scripts' lines. */
export const TOKENS_LINE = ['gen_len', 'gen_num', 'gen_tok_len', 'tokens_per_sample'] as const;

/**
 * LoadGen side of a language model: rows of a JSON file, and the model's tokenizer. A sample is its
 * token ids (int32); a response likewise, including the end token.
 */
export function languageBenchmark(task: LanguageTask): LoadgenBenchmark {
  const { key, file } = task;
  const benchmark = standinBenchmark(key, {
    holds: `${file} and the model's ${TOKENIZER_FILE}`,
    makes: `texts of made-up words${longStandinTextsOf(key) === undefined ? '' : LONG_WORDS}`,
    openOwn: async (folder, { tokenType = 'int32' }) => {
      requireFiles(folder, [file, TOKENIZER_FILE]);
      const hasConfig = existsSync(join(folder, TOKENIZER_CONFIG_FILE));
      const tokenizer = await readTokenizer(folder, hasConfig, task.cleansUp === true);
      const tokensMax = promptTokensMax(key);
      const rows = await readTextRows(join(folder, file), (row) => task.readRow(row, tokensMax));
      return {
        ...sourceOf(task, rows),
        ...textDataSet(task, rows, tokenizer, tokenType),
        folder,
        files: [file, TOKENIZER_FILE, ...(hasConfig ? [TOKENIZER_CONFIG_FILE] : [])],
      };
    },
    openStandin: async (set, { tokenType = 'int32', dataFolder = STAND_IN_WORD }) => {
      const { source, rows, tokenizer } = standinTexts(key, set, dataFolder);
      return { ...source, ...textDataSet(task, rows, tokenizer, tokenType), folder: '' };
    },
  });
  return { ...benchmark, answersInTokens: true };
}

/** A data set of rows from any source. */
function textDataSet(
  task: LanguageTask,
  rows: readonly TextRow[],
  tokenizer: TextTokenizer,
  tokenType: TokenType,
): Pick<DataSet, 'totalSampleCount' | 'readPayload' | 'scoreAccuracy'> {
  const tokensMax = promptTokensMax(task.key);
  return {
    totalSampleCount: rows.length,
    readPayload: async (sampleIndex) => {
      const row = rows[sampleIndex];
      assert(row !== undefined, `sample ${sampleIndex} of ${rows.length}`);
      const { input } = row;
      const ids =
        typeof input === 'string'
          ? Int32Array.from(tokenizer.encode(input).slice(0, tokensMax))
          : input;
      return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
    },
    scoreAccuracy: async (entries) => {
      const scorers = task.scorers.map((make) => make(rows.length));
      const counts = await scoreTexts(entries, rows, scorers, { tokenizer, tokenType });
      const answerCount = task.countsRepeats === true ? counts.entryCount : counts.sampleCount;
      const lengths = lengthFigures(counts.tokenCount, answerCount);
      const figures = [...scorers.map((scorer) => scorer.figures()), lengths];
      return reportOf(task, counts.sampleCount, figures);
    },
  };
}

function promptTokensMax(key: string): number {
  const { language } = benchmarkRules(key);
  assert(language !== undefined, key);
  return language.limits.promptTokensMax;
}

/** Name and marks; only the whole data set gets the official name. */
function sourceOf({ names, key, marks }: LanguageTask, rows: readonly TextRow[]) {
  const others = marks?.(rows) ?? [];
  const officialCount = dataSetSamplesOf(key);
  if (rows.length === officialCount) return { name: names.official, marks: others };
  const mark =
    `the data set is not the benchmark's: ${grouped(rows.length)} samples; an official run of ${key} needs ` +
    `${grouped(officialCount)}`;
  return { name: names.own, marks: [mark, ...others] };
}

function reportOf(
  { key, line }: LanguageTask,
  sampleCount: number,
  figures: readonly ScoreFigures[],
): AccuracyReport {
  const { quality } = benchmarkRules(key);
  const texts = new Map(figures.flatMap((one) => Object.entries(one.line)));
  const metrics = new Map(figures.flatMap((one) => Object.entries(one.metrics)));
  const more = (quality.more ?? []).flatMap(({ metric }) => {
    const value = metrics.get(metric);
    return value === undefined ? [] : [[metric, value] as const];
  });
  const report: AccuracyReport = {
    metric: quality.metric,
    value: (metrics.get(quality.metric) ?? 0) / 100,
    sampleCount,
    more: Object.fromEntries(more),
  };
  // The official script fails without a sample.
  if (sampleCount === 0) return report;
  const present = line.filter((name) => texts.has(name));
  return {
    ...report,
    scriptLine: `{${present.map((name) => `'${name}': ${texts.get(name)}`).join(', ')}}`,
  };
}

/** Token counts of the answers: mean with one decimal, rounded like Python's `round`. */
function lengthFigures(tokenCount: number, answerCount: number): ScoreFigures {
  const mean = Number(formatFixed(tokenCount / answerCount, 1));
  return {
    line: {
      gen_num: String(answerCount),
      gen_tok_len: String(tokenCount),
      tokens_per_sample: pythonFloat(mean),
    },
    metrics: { TOKENS_PER_SAMPLE: mean },
  };
}
