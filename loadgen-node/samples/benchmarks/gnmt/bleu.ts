import { utf8Text } from '../../../../shared/base/bytes/utf8.ts';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { formatFixed } from '../../../loadgen/base/number-format.ts';
import type { AccuracyEntries, AccuracyReport } from '../../data-set/data-set.ts';
import { firstOfEachSample } from '../../data-set/first-of-each.ts';

/** Longest n-gram compared. */
const ORDER_MAX = 4;

/** White space removed by Python's strip(). */
const OUTER_SPACE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Python's strip() takes them.
  /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

/**
 * Corpus BLEU of a log's translations, as printed by process_accuracy.py of MLPerf's round v0.5: 1-
 * to 4-grams, no smoothing. The first response of a sample counts. Only sums are in memory. Source:
 * mlcommons/inference, branch r0.5, v0.5/translation/gnmt/tensorflow/nmt/scripts/bleu.py.
 * @param references By sample index, in BPE form as in the file.
 * @throws MlperfError `ERR_DATA_SET` for a log without responses, a response for an unknown
 *   sample, or one that is not UTF-8.
 */
export async function scoreBleu(
  entries: AccuracyEntries,
  references: readonly string[],
  metric: string,
): Promise<AccuracyReport> {
  const matched = new Array<number>(ORDER_MAX).fill(0);
  const possible = new Array<number>(ORDER_MAX).fill(0);
  let [sampleCount, referenceWords, translatedWords] = [0, 0, 0];
  for await (const { sampleIndex, response } of firstOfEachSample(entries, references.length)) {
    sampleCount += 1;
    const line = references[sampleIndex] as string; // In range: checked.
    // Without outer white space, BPE tokens joined to words.
    const reference = line.replace(OUTER_SPACE, '').replaceAll('@@ ', '').split(' ');
    const translation = utf8Text(response, `the response for sample ${sampleIndex}`).split(' ');
    referenceWords += reference.length;
    translatedWords += translation.length;
    for (let order = 1; order <= ORDER_MAX; order += 1) {
      matched[order - 1] = (matched[order - 1] as number) + matches(reference, translation, order);
      possible[order - 1] =
        (possible[order - 1] as number) + Math.max(0, translation.length - order + 1);
    }
  }
  if (sampleCount === 0) throw dataSetError('the log has no response, so there is no BLEU');
  const precisions = matched.map((count, i) => count / Math.max(1, possible[i] as number));
  const ratio = translatedWords / referenceWords;
  const brevity = ratio > 1 ? 1 : Math.exp(1 - 1 / ratio);
  const isAnyZero = precisions.some((precision) => precision === 0);
  const logarithms = precisions.reduce(
    (sum, precision) => sum + Math.log(precision) / ORDER_MAX,
    0,
  );
  const printed = formatFixed(isAnyZero ? 0 : 100 * Math.exp(logarithms) * brevity, 1);
  return { metric, value: Number(printed) / 100, sampleCount, scriptLine: `BLEU: ${printed}` };
}

/** Number of the translation's n-grams found in the reference, each at most as often as there. */
function matches(
  reference: readonly string[],
  translation: readonly string[],
  order: number,
): number {
  const left = new Map<string, number>();
  for (const gram of grams(reference, order)) left.set(gram, (left.get(gram) ?? 0) + 1);
  let count = 0;
  for (const gram of grams(translation, order)) {
    const rest = left.get(gram) ?? 0;
    if (rest === 0) continue;
    left.set(gram, rest - 1);
    count += 1;
  }
  return count;
}

/** N-grams as text; words contain no blank, so different n-grams have different texts. */
function* grams(words: readonly string[], order: number): Generator<string> {
  for (let i = 0; i + order <= words.length; i += 1) yield words.slice(i, i + order).join(' ');
}
