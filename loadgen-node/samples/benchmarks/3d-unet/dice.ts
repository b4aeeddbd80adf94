import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { volumeText } from '../../../../shared/benchmarks/volume/volume.ts';
import { formatFixed, pythonFloat } from '../../../loadgen/base/number-format.ts';
import { numpyMean } from '../../metrics/numpy-mean.ts';
import type { Scan } from './prepare-scan.ts';

/** Voxel labels; 0 is background. */
const KIDNEY = 1;
const TUMOUR = 2;
const LABEL_MAX: number = TUMOUR;

/** Number of labels that one byte can hold. */
const BYTE_VALUES = 256;

/** Gives a class that is in neither volume a score of 1. */
const SMOOTHING = 1e-6;

/** Scores of one case, 0 to 1. */
export interface CaseDice {
  readonly name: string;
  readonly kidney: number;
  readonly tumour: number;
}

/**
 * Dice of a response against the truth. Source: accuracy_kits.py, get_dice_score.
 * @param response One label per voxel, in the order of the truth.
 * @throws MlperfError `ERR_DATA_SET` if the number of voxels differs, or for an unknown label.
 */
export function diceOfCase(
  name: string,
  response: Uint8Array,
  { shape, labels }: Pick<Scan, 'shape' | 'labels'>,
): CaseDice {
  if (response.length !== labels.length) {
    throw dataSetError(
      `the response to ${name} has ${response.length} bytes; its volume of ${volumeText(shape)} voxels needs ${labels.length}`,
    );
  }
  const responded = new Uint32Array(BYTE_VALUES);
  const expected = new Uint32Array(BYTE_VALUES);
  const both = new Uint32Array(BYTE_VALUES);
  for (let i = 0; i < labels.length; i += 1) {
    const label = response[i] as number;
    const truth = labels[i] as number;
    // Nearly all voxels are background, and no score needs their number.
    if (label === 0 && truth === 0) continue;
    responded[label] = (responded[label] as number) + 1;
    expected[truth] = (expected[truth] as number) + 1;
    if (label === truth) both[label] = (both[label] as number) + 1;
  }
  requireLabels(`the response to ${name}`, responded);
  requireLabels(`the truth of ${name}`, expected);
  const dice = (label: number): number => {
    const sum = (expected[label] as number) + (responded[label] as number);
    return (2 * (both[label] as number) + SMOOTHING) / (sum + SMOOTHING);
  };
  return { name, kidney: dice(KIDNEY), tumour: dice(TUMOUR) };
}

/** @param counts Number of voxels by label. */
function requireLabels(what: string, counts: Uint32Array): void {
  const label = counts.findIndex((count, i) => count > 0 && i > LABEL_MAX);
  if (label < 0) return;
  throw dataSetError(
    `${what} has ${counts[label]} voxels of the label ${label}; labels are 0, 1 (kidney) and 2 (tumour)`,
  );
}

/**
 * The summary of accuracy_kits.py: its table (summary.csv) and its last output line.
 * @param cases In data set order.
 */
export function diceSummary(cases: readonly CaseDice[]) {
  const rows = cases.map(({ name, kidney, tumour }) => [
    name,
    kidney,
    tumour,
    (kidney + tumour) / 2,
  ]);
  const mean = (column: number): number =>
    numpyMean(Float64Array.from(rows, (row) => row[column] as number));
  const [kidney, tumour, composite] = [mean(1), mean(2), mean(3)];
  const table = [
    ['case', 'kidney', 'tumor', 'composite'],
    ...rows,
    ['mean', kidney, tumour, composite],
  ];
  const text = (cell: string | number): string =>
    typeof cell === 'string' ? cell : pythonFloat(cell);
  const printed = formatFixed(composite, 5);
  return {
    /** Lines of summary.csv. */
    table: table.map((row) => row.map(text).join(',')),
    line: `Accuracy: mean = ${printed}, kidney = ${formatFixed(kidney, 4)}, tumor = ${formatFixed(tumour, 4)}`,
    /** The mean as printed in the line. */
    value: Number(printed),
  };
}
