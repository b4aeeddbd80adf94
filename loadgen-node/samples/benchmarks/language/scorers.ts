import { at } from '../../../../shared/base/at.ts';
import { roundHalfEven } from '../../../../shared/base/round-half-even.ts';
import { pythonFloat } from '../../../loadgen/base/number-format.ts';
import { numpyMean } from '../../metrics/numpy-mean.ts';
import { bySentence, RougeScorer } from '../../metrics/rouge.ts';
import { isRightNumber } from './gsm8k-number.ts';
import type { TextRow } from './text-rows.ts';

/** Figures of answers. */
export interface ScoreFigures {
  /** Values as printed by the official script, by their names in its line. */
  readonly line: Readonly<Record<string, string>>;
  /** Values by submission metric name, in the script's unit. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Scores the answers to rows of one kind. */
export interface Scorer {
  /** {@link TextRow.kind} of the rows to score. */
  readonly kind: string;
  add(answer: string, row: TextRow): void;
  figures(): ScoreFigures;
}

const ROUGE_KEYS = ['rouge1', 'rouge2', 'rougeL', 'rougeLsum'] as const;

/**
 * Scores texts against their targets by ROUGE: means in percent, rounded as in the scripts. Memory:
 * four numbers per row.
 * @param rowCount Largest number of answers.
 */
export function scoreByRouge(rowCount: number): Scorer {
  const scorer = new RougeScorer();
  const scores = ROUGE_KEYS.map((key) => ({ key, values: new Float64Array(rowCount) }));
  let count = 0;
  let characterCount = 0;
  return {
    kind: 'text',
    add: (answer, { target }) => {
      const text = bySentence(answer);
      const found = scorer.score(text, bySentence(target));
      for (const { key, values } of scores) values[count] = found[key];
      count += 1;
      // As Python counts them.
      for (const _ of text) characterCount += 1;
    },
    figures: () => {
      const means = (count === 0 ? [] : scores).map(({ key, values }) => {
        // Four decimals, rounded like `numpy.round`: by a product, which may be off in its last
        // bit.
        const percent = numpyMean(values.subarray(0, count)) * 100;
        return [key, roundHalfEven(percent * 1e4) / 1e4] as const;
      });
      const line = means.map(([key, mean]) => [key, pythonFloat(mean)]);
      const metrics = means.map(([key, mean]) => [key.toUpperCase(), mean]);
      return {
        // A line break between sentences counts as a character.
        line: { ...Object.fromEntries(line), gen_len: String(characterCount) },
        metrics: { ...Object.fromEntries(metrics), GEN_LEN: characterCount },
      };
    },
  };
}

/**
 * Scores GSM8K answers: percentage of correct numbers, unrounded as in the script; the script fails
 * without any number.
 */
export function scoreNumbers(): Scorer {
  let count = 0;
  let rightCount = 0;
  return {
    kind: 'number',
    add: (answer, { target }) => {
      count += 1;
      if (isRightNumber(answer, target)) rightCount += 1;
    },
    figures: () => {
      const percent = count === 0 ? 0 : (100 * rightCount) / count;
      return { line: { gsm8k: pythonFloat(percent) }, metrics: { gsm8k_accuracy: percent } };
    },
  };
}

/**
 * Scores programs with a known test: percentage that passes. Without such programs the line has 0,
 * as in the script, and there is no metric.
 */
export function scorePrograms(): Scorer {
  let count = 0;
  let passedCount = 0;
  return {
    kind: 'code',
    add: (answer, { passes }) => {
      if (passes === undefined) return;
      count += 1;
      // Same cut as in the script. Source: mlcommons/inference v4.1,
      // language/mixtral-8x7b/evaluate_mbxp.py.
      if (passes(at(answer.split('```', 1), 0))) passedCount += 1;
    },
    figures: () => {
      if (count === 0) return { line: { mbxp: '0' }, metrics: {} };
      const percent = (100 * passedCount) / count;
      return { line: { mbxp: pythonFloat(percent) }, metrics: { mbxp_accuracy: percent } };
    },
  };
}
