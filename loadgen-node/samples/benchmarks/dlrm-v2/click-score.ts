import { LoopTurns, type TurnTaker } from '../../../../shared/base/async.ts';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { grouped } from '../../../../shared/base/text.ts';
import { formatFixed } from '../../../loadgen/base/number-format.ts';
import type { AccuracyEntries, AccuracyEntry, AccuracyReport } from '../../data-set/data-set.ts';
import { firstOfEachSample } from '../../data-set/first-of-each.ts';
import { KEYS_AT_ONCE, sortInTurns } from '../../metrics/sort-in-turns.ts';
import type { AggregationTrace } from './aggregation-trace.ts';

/** Ground truth by row: 1 if the user clicked, else 0. */
export interface ClickLabels {
  /** Source file of the labels, for messages. */
  readonly file: string;
  readonly labels: Uint8Array;
}

const FLOAT_BYTES = 4;

/** Decimals of the percentages in the script's line. */
const DECIMALS = 3;

/**
 * ROC AUC and share of correct predictions, as printed by MLCommons' accuracy-dlrm.py. A response
 * has one float32 per pair (the prediction) or two (prediction and label). All responses of a log
 * have the same form.
 *
 * Memory: 4 bytes per pair for any log, and what V8 needs for one response.
 * @param trace Rows of each sample.
 * @param known Labels by row; undefined: the log must contain them.
 * @throws MlperfError `ERR_DATA_SET` for a response of another length, a NaN prediction, and
 *   labels that are missing or differ from the known ones; errors of `turns`
 */
export async function scoreClicks(
  entries: AccuracyEntries,
  trace: AggregationTrace,
  known: ClickLabels | undefined,
  turns: TurnTaker = new LoopTurns(),
): Promise<AccuracyReport> {
  const scores = new ClickScores(trace.at(-1) ?? 0);
  let sampleCount = 0;
  let stride: number | undefined;
  for await (const entry of firstOfEachSample(entries, trace.length - 1)) {
    const first = trace[entry.sampleIndex] as number;
    const pairCount = (trace[entry.sampleIndex + 1] as number) - first;
    stride ??= entry.response.length / pairCount;
    checkLength(entry, pairCount, stride);
    sampleCount += 1;
    addPairs(scores, entry, stride, first, known);
  }
  const { auc, goodCount, pairCount } = await scores.result(turns);
  const percent = formatFixed(100 * auc, DECIMALS);
  const accuracy = formatFixed((100 * goodCount) / pairCount, DECIMALS);
  return {
    metric: 'AUC',
    value: sampleCount === 0 ? 0 : Number(percent) / 100,
    sampleCount,
    ...(sampleCount === 0
      ? {}
      : {
          scriptLine: `AUC=${percent}%, accuracy=${accuracy}%, good=${goodCount}, total=${pairCount}, queries=${sampleCount}`,
        }),
  };
}

function checkLength(
  { sampleIndex, response }: AccuracyEntry,
  pairCount: number,
  stride: number,
): void {
  const isForm = stride === FLOAT_BYTES || stride === 2 * FLOAT_BYTES;
  if (isForm && response.length === stride * pairCount) return;
  const bytes = pairCount * FLOAT_BYTES;
  const other = isForm ? `, and the log has ${stride} bytes per pair in the responses before` : '';
  throw dataSetError(
    `sample ${sampleIndex} has ${pairCount} pairs: a response is ${bytes} bytes (a float32 per prediction) or ${2 * bytes} ` +
      `(prediction and label); this one has ${response.length}${other}`,
  );
}

function addPairs(
  scores: ClickScores,
  { sampleIndex, response }: AccuracyEntry,
  stride: number,
  first: number,
  known: ClickLabels | undefined,
): void {
  const view = new DataView(response.buffer, response.byteOffset, response.length);
  const isLabelled = stride > FLOAT_BYTES;
  for (let at = 0, row = first; at < response.length; at += stride, row += 1) {
    const prediction = view.getFloat32(at, true);
    const logged = isLabelled ? view.getFloat32(at + FLOAT_BYTES, true) : undefined;
    const label = known === undefined ? logged : known.labels[row];
    const isKnown = label === 0 || label === 1;
    if (!isKnown || !Number.isFinite(prediction) || (logged ?? label) !== label) {
      const what = whyNoPair(prediction, logged, row, known);
      throw dataSetError(`sample ${sampleIndex}, pair ${row - first}: ${what}`);
    }
    scores.add(prediction, label);
  }
}

function whyNoPair(
  prediction: number,
  logged: number | undefined,
  row: number,
  known: ClickLabels | undefined,
): string {
  if (!Number.isFinite(prediction)) return `the prediction is ${prediction}, no probability`;
  if (known !== undefined && logged !== undefined) {
    return `the log says the label ${logged}, ${known.file} says ${known.labels[row]} for row ${grouped(row)}`;
  }
  if (logged !== undefined) return `the label ${logged} is not 0 or 1`;
  return (
    `the log has no labels, and the data set has none for row ${grouped(row)}: day_23_labels.npy or the text file day_23 is ` +
    'needed in the data folder'
  );
}

const SIGN_BIT = 0x8000_0000;

/**
 * Collects predictions as integers of the same order: those of clicks from the end of the array,
 * others from the start.
 */
class ClickScores {
  readonly #keys: Uint32Array;
  readonly #number = new Float32Array(1);
  readonly #bits = new Uint32Array(this.#number.buffer);
  #otherCount = 0;
  #clickCount = 0;
  #goodCount = 0;

  constructor(pairCountMax: number) {
    this.#keys = new Uint32Array(pairCountMax);
  }

  add(prediction: number, label: 0 | 1): void {
    this.#number[0] = prediction + 0; // -0 becomes 0: they are equal.
    const bits = this.#bits[0] as number;
    const key = bits >= SIGN_BIT ? ~bits : bits | SIGN_BIT;
    if (label === 1) {
      this.#clickCount += 1;
      this.#keys[this.#keys.length - this.#clickCount] = key;
    } else {
      this.#keys[this.#otherCount] = key;
      this.#otherCount += 1;
    }
    // NumPy rounds halves to even: 0.5 to 0 and 1.5 to 2.
    const isRight =
      label === 1 ? prediction > 0.5 && prediction < 1.5 : Math.abs(prediction) <= 0.5;
    if (isRight) this.#goodCount += 1;
  }

  /**
   * AUC: the share of pairs (click, no click) in which the click has the larger prediction; ties
   * count half. Twice that count stays below 2^53 for up to 89 million rows.
   * @throws MlperfError `ERR_DATA_SET` if all labels are equal: AUC is then undefined
   */
  async result(turns: TurnTaker) {
    const [clickCount, otherCount] = [this.#clickCount, this.#otherCount];
    const pairCount = clickCount + otherCount;
    const counts = { goodCount: this.#goodCount, pairCount };
    if (pairCount === 0) return { auc: 0, ...counts };
    if (clickCount === 0 || otherCount === 0) {
      throw dataSetError(
        `all ${grouped(pairCount)} pairs of the log have the label ${clickCount === 0 ? 0 : 1}: an AUC needs both`,
      );
    }
    const others = this.#keys.subarray(0, otherCount);
    const clicks = this.#keys.subarray(this.#keys.length - clickCount);
    await sortInTurns(others, turns);
    await sortInTurns(clicks, turns);
    let twiceAbove = 0;
    let below = 0;
    let notAbove = 0;
    for (const [i, key] of clicks.entries()) {
      if (i % KEYS_AT_ONCE === 0 && turns.isDue) await turns.take();
      while (below < otherCount && (others[below] as number) < key) below += 1;
      notAbove = Math.max(notAbove, below);
      while (notAbove < otherCount && others[notAbove] === key) notAbove += 1;
      twiceAbove += below + notAbove;
    }
    return { auc: twiceAbove / 2 / clickCount / otherCount, ...counts };
  }
}
