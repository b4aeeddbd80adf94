import assert from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { grouped } from '../../../../shared/base/text.ts';
import { longStandinTextsOf } from '../../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import type { Quality } from '../../../../shared/rules/rows/benchmark-card.ts';
import { formatFixed, pythonFloat } from '../../../loadgen/base/number-format.ts';
import type { AccuracyReport, DataSet } from '../../data-set/data-set.ts';
import type { TokenType } from '../../data-set/token-numbers.ts';
import { LONG_STAND_IN_WORD, STAND_IN_WORD } from '../generated-data.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';
import { requireFiles, standinBenchmark } from '../standin-benchmark.ts';
import { scoreTexts, type TextFigures } from './score-texts.ts';
import { standinTexts } from './standin-texts.ts';
import { type RowReader, readTextRows, type TextRow } from './text-rows.ts';
import {
  readTokenizer,
  type TextTokenizer,
  TOKENIZER_CONFIG_FILE,
  TOKENIZER_FILE,
} from './text-tokenizer.ts';

const LONG_WORDS = `, or --data-dir ${LONG_STAND_IN_WORD} for some with answers as long as the rules want them`;

/** A benchmark whose samples and answers are token ids. */
interface LanguageTask {
  readonly key: string;
  /** Name of the file of rows. */
  readonly file: string;
  /** Name of the whole data set in the logs, and of one of the user's own. */
  readonly names: { readonly official: string; readonly own: string };
  readonly officialCount: number;
  readonly readRow: (row: RowReader) => TextRow;
  /** Most tokens of a sample that is made of text; further ones are cut off. */
  readonly inputTokensMax: number;
  /** See {@link readTokenizer}. */
  readonly cleansUp: boolean;
  /** Figures of the official script's line, by their names there, in its order; undefined: the script has none. */
  readonly figures: (figures: TextFigures) => Readonly<Record<string, string | undefined>>;
  /** Notes on what is not scored. */
  readonly marks?: (rows: readonly TextRow[]) => readonly string[];
}

/** Names of figures in the official scripts' lines, by those in the rules of a submission. */
const METRICS: Readonly<Record<string, string>> = {
  ROUGE2: 'rouge2',
  ROUGEL: 'rougeL',
  gsm8k_accuracy: 'gsm8k',
  GEN_LEN: 'gen_len',
  TOKENS_PER_SAMPLE: 'tokens_per_sample',
};

/**
 * The LoadGen node's side of a language model: rows of a JSON file, and the tokenizer of the model. A sample is its token
 * ids, int32; so is a response, with the token that ends it.
 */
export function languageBenchmark(task: LanguageTask): LoadgenBenchmark {
  const { key, file } = task;
  const benchmark = standinBenchmark(key, {
    holds: `${file} and the model's ${TOKENIZER_FILE}`,
    makes: `texts of made-up words${longStandinTextsOf(key) === undefined ? '' : LONG_WORDS}`,
    openOwn: async (folder, { tokenType = 'int32' }) => {
      requireFiles(folder, [file, TOKENIZER_FILE]);
      const hasConfig = existsSync(join(folder, TOKENIZER_CONFIG_FILE));
      const tokenizer = await readTokenizer(folder, hasConfig, task.cleansUp);
      const rows = await readTextRows(join(folder, file), task.readRow);
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

/** Reads and scores rows, wherever they are from. */
function textDataSet(
  task: LanguageTask,
  rows: readonly TextRow[],
  tokenizer: TextTokenizer,
  tokenType: TokenType,
): Pick<DataSet, 'totalSampleCount' | 'readPayload' | 'scoreAccuracy'> {
  return {
    totalSampleCount: rows.length,
    readPayload: async (sampleIndex) => {
      const row = rows[sampleIndex];
      assert(row !== undefined, `sample ${sampleIndex} of ${rows.length}`);
      const { input } = row;
      const ids =
        typeof input === 'string'
          ? Int32Array.from(tokenizer.encode(input).slice(0, task.inputTokensMax))
          : input;
      return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
    },
    scoreAccuracy: async (entries) => {
      const figures = await scoreTexts(entries, rows, { tokenizer, tokenType });
      return reportOf(benchmarkRules(task.key).quality, figures, task.figures(figures));
    },
  };
}

/** Only the whole data set bears its name. */
function sourceOf({ names, officialCount, key, marks }: LanguageTask, rows: readonly TextRow[]) {
  const others = marks?.(rows) ?? [];
  if (rows.length === officialCount) return { name: names.official, marks: others };
  const mark =
    `the data set is not the benchmark's: ${grouped(rows.length)} samples; an official run of ${key} needs ` +
    `${grouped(officialCount)}`;
  return { name: names.own, marks: [mark, ...others] };
}

/** @param figures As text, by their names in the script's line. */
function reportOf(
  quality: Quality,
  { sampleCount, rouge, passedPercent }: TextFigures,
  figures: Readonly<Record<string, string | undefined>>,
): AccuracyReport {
  const present = Object.entries(figures).filter(([, text]) => text !== undefined);
  const more = (quality.more ?? []).flatMap(({ metric }) => {
    const text = figures[METRICS[metric] ?? ''];
    return text === undefined ? [] : [[metric, Number(text)] as const];
  });
  const report: AccuracyReport = {
    metric: quality.metric,
    value: (rouge?.rouge1 ?? 0) / 100,
    sampleCount,
    more: {
      ...Object.fromEntries(more),
      ...(passedPercent === undefined ? {} : { mbxp_accuracy: passedPercent }),
    },
  };
  // The script fails without a sample.
  if (sampleCount === 0) return report;
  return { ...report, scriptLine: `{${present.map(([k, v]) => `'${k}': ${v}`).join(', ')}}` };
}

/** The four figures of ROUGE as the scripts print them; none where no answer is scored so. */
export function rougeFigures({ rouge }: TextFigures): Readonly<Record<string, string>> {
  const entries = Object.entries(rouge ?? {}).map(([key, value]) => [key, pythonFloat(value)]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Mean tokens of an answer as Python's `round` has it, with one decimal. */
export function tokensPerSample(tokenCount: number, answerCount: number): string {
  return pythonFloat(Number(formatFixed(tokenCount / answerCount, 1)));
}
