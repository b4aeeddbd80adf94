import type { SubmissionRound } from '../../rules/submission-rounds.ts';

/** A number as the official tools read it: digits and dots, no sign, no exponent. */
const NUMBER = '([0-9.]+)';

/** Rounds whose checkers take figures of dictionaries without quotes only. */
const BARE_ONLY: readonly SubmissionRound[] = ['v4.1', 'v5.0'];

/** Keys of figures in lines that look like a Python dictionary. */
const DICTIONARY_KEYS: Readonly<Record<string, string>> = {
  ROUGE1: 'rouge1',
  ROUGE2: 'rouge2',
  ROUGEL: 'rougeL',
  ROUGELSUM: 'rougeLsum',
  GEN_LEN: 'gen_len',
  TOKENS_PER_SAMPLE: 'tokens_per_sample',
  CLIP_SCORE: 'CLIP_SCORE',
  FID_SCORE: 'FID_SCORE',
  gsm8k_accuracy: 'gsm8k',
  mbxp_accuracy: 'mbxp',
  exact_match: 'exact_match',
  vbench_score: 'vbench_score',
};

/** Figures that have a line of their own. */
const LINES: Readonly<Record<string, string>> = {
  AUC: `^AUC=${NUMBER}`,
  DICE: `^Accuracy:\\s*mean\\s*=\\s*${NUMBER}`,
  F1: `^\\{["']exact_match["']:\\s*[0-9.]+,\\s*["']f1["']:\\s*${NUMBER}\\}`,
  ACCURACY: `^Word Error Rate:.*, accuracy=${NUMBER}%`,
  DLRM_NE: `metric/lifetime_ne/rating:\\s*${NUMBER}`,
  DLRM_ACC: `metric/lifetime_accuracy/rating:\\s*${NUMBER}`,
  DLRM_AUC: `metric/lifetime_gauc/rating:\\s*${NUMBER}`,
  F1_HIERARCHICAL: `^\\{.*"f1":\\s*${NUMBER}.*\\}`,
  E2E_ACCURACY: `^Accuracy:\\s*${NUMBER}`,
};

/**
 * How a metric's figure stands in accuracy.txt, so that every official checker of the round finds it; the first
 * group is the figure.
 */
export function accuracyPattern(metric: string, round: SubmissionRound): RegExp {
  const line = LINES[metric];
  if (line !== undefined) return new RegExp(line);
  const key = DICTIONARY_KEYS[metric];
  if (key !== undefined) {
    const quote = BARE_ONLY.includes(round) ? '' : "'?";
    return new RegExp(`'${key}':\\s${quote}${NUMBER}`);
  }
  if (metric === 'mAP')
    return round === 'v4.1' ? /^mAP=([0-9.]+)/ : /(?:^mAP=|'Total':\s?)([0-9.]+)/;
  return round === 'v4.1' ? /^accuracy=([0-9.]+)/ : /^(?:\{")?accuracy[": ]*=?\s*([0-9.]+)/;
}

/** Counts in the line of the image classification script; undefined where there is no total. */
export function sharesOf(line: string): { good: number | undefined; total: number } | undefined {
  const total = /^accuracy=[0-9.]+%.*\btotal=(\d+)/.exec(line)?.[1];
  if (total === undefined) return undefined;
  const good = /\bgood=(\d+)/.exec(line)?.[1];
  return { good: good === undefined ? undefined : Number(good), total: Number(total) };
}

/** A line of the truncation tool, however it came out. */
export const HASH_LINE: RegExp = /^\s*hash\s*=/;

/** A line that the official checkers take for a hash, whatever word it has. */
export const OFFICIAL_HASH_LINE: RegExp = /^hash=\w+$/;

/** What the truncation tool writes. */
export const SHA256_LINE: RegExp = /^hash=([0-9a-f]{64})$/;
