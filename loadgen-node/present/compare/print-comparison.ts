import { at } from '../../../shared/base/at.ts';
import { configInvalid, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { sentencesOf, tableLines } from '../../../shared/base/text.ts';
import { type Condition, HOLDS } from '../../observe/figures/condition.ts';
import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { labelText } from '../../observe/summary/run-labels.ts';
import { figureText } from '../text/figure-text.ts';
import { CONFIDENCE, type FigureDifference, type RunComparison } from './compare-runs.ts';
import { COLUMNS, cells, signedShare } from './difference-text.ts';
import { type RunSeries, seriesLines } from './run-series.ts';

/** A comparison, and the results of its conditions. */
export interface ComparisonResult {
  readonly comparison: RunComparison;
  /** Reasons to trust a difference of the figures less; empty if the runs fit together. */
  readonly cautions: readonly string[];
  /** Limits of the comparison. */
  readonly notes: readonly string[];
  readonly conditions: readonly ConditionResult[];
  /**
   * Reasons why the comparison fails regardless of conditions: runs without a result, damaged
   * records.
   */
  readonly failures: readonly string[];
  /** True if a run has no valid result, so that no figures are shown. */
  readonly isRefused: boolean;
  /** Main figures over three or more runs, or by a label; else empty. */
  readonly series: readonly RunSeries[];
  /** Label that identifies runs in the series. */
  readonly by: string | null;
}

/** Method of the intervals, as one sentence. */
export const METHOD: string =
  `Intervals: ${CONFIDENCE * 100} %, by a moving-block bootstrap of stretches of a fiftieth of each run, since latencies that follow ` +
  'one another hang together; seeded. In per cent of the base, or in its unit where the base may be 0. "surely" means that the interval of the difference holds no 0: of twenty figures that are ' +
  'equal in truth one is called so. Inputs, and runs that were disturbed, are not judged. Without an interval: accuracies, counts, extremes, percentiles with fewer than 20 values beyond them.';

/** The comparison as text tables, one block per run beside the base. */
export function printComparison(result: ComparisonResult): string {
  const { comparison, cautions, notes, conditions, failures, series, by, isRefused } = result;
  const lines = [...cautionLines(cautions, isRefused), ...settingLines(comparison)];
  lines.push(...comparison.runs.map(runLine));
  if (!isRefused) {
    lines.push('', ...(series.length > 0 ? seriesLines(series, by) : pairLines(comparison)));
    lines.push(...sentencesOf(METHOD), ...notes.map((note) => `Please note   ${note}`));
  }
  lines.push(...conditions.map(conditionLine), ...failures.map((text) => `FAILED        ${text}`));
  return `${lines.join('\n')}\n`;
}

/** Printed first: whether the comparison is meaningful. */
function cautionLines(cautions: readonly string[], isRefused: boolean): string[] {
  if (cautions.length === 0)
    return [
      'Comparable    yes: scenario, bound, benchmark, model, rate, machines and link are the same',
    ];
  const word = isRefused ? 'no:' : 'with care:';
  return [`Comparable    ${word}`, ...cautions.map((text) => `              - ${text}`)];
}

function runLine({ folder, summary }: RunComparison['runs'][number], i: number): string {
  const labels = labelText(summary.labels);
  const ends = `(${summary.result})${labels === '' ? '' : `  ${labels}`}`;
  return `${i === 0 ? 'Base' : 'Run '}          ${folder}  ${ends}`;
}

/** All figures of the one other run beside the base. */
function pairLines({ rows }: RunComparison): string[] {
  const table = rows.map(({ figure, runs: own }) => cells(figure, at(own, 0), at(own, 1)));
  const isRight = (column: number): boolean => column > 0 && column < 4;
  return [...tableLines([['', ...COLUMNS], ...table], '  ', isRight), ''];
}

/** Differing settings, which may explain differing figures. */
function settingLines({ settings, runs }: RunComparison): string[] {
  if (settings.length === 0) return ['Settings      no setting that affects a figure differs'];
  const gap = runs.length === 2 ? ' -> ' : ', ';
  return [
    'Settings      these differ, so that a difference below may be theirs:',
    ...settings.map(
      ({ name, values }) => `              ${name}: ${settingTexts(values).join(gap)}`,
    ),
  ];
}

/** Values of a setting, in run order. */
export function settingTexts(values: readonly (string | null)[]): string[] {
  return values.map((value) => value ?? '(not set)');
}

function conditionLine({ text, isSure, folder, holds, seen }: ConditionResult): string {
  const name = isSure ? '--fail-if-sure' : '--fail-if';
  return `${holds ? 'FAILED       ' : 'Passed       '} ${name} "${text}": ${folder} has ${seen}`;
}

/** A condition; the comparison fails if it holds. */
export interface FailCondition {
  readonly condition: Condition;
  /** True: must hold over the whole interval, not only for the measured figure. */
  readonly isSure: boolean;
}

/**
 * Checks conditions for every run except the base: relative ones on the difference from the base,
 * absolute ones on the run's own figure. A count or an extreme is certain; other figures without an
 * interval are uncertain.
 * @throws MlperfError `ERR_CONFIG_INVALID` if a run lacks the figure: no output would look like
 *   success.
 */
export function judgeConditions(
  { runs, rows, disturbedBy }: RunComparison,
  conditions: readonly FailCondition[],
): ConditionResult[] {
  return conditions.flatMap((asked) => {
    const row = rows.find(({ figure }) => figure === asked.condition.figure);
    return runs.slice(1).map(({ folder }, i) => {
      const own = row?.runs[i + 1];
      if (own === undefined || own.value === null) throw absent(asked.condition, folder);
      const held = heldAgainst(asked.condition, own, runs[0]?.folder ?? '');
      const judged = judgeRun(asked, folder, held);
      const isDisturbed = disturbedBy[0] !== null || disturbedBy[i + 1] !== null;
      if (!asked.isSure || !isDisturbed || isExact(asked.condition.figure)) return judged;
      return { ...judged, seen: `${judged.seen}, in runs that were disturbed: not sure` };
    });
  });
}

/** Whether a condition holds for a run, and the text of the figure or of its difference. */
function judgeRun(
  { condition, isSure }: FailCondition,
  folder: string,
  { value, interval, seen }: ReturnType<typeof heldAgainst>,
): ConditionResult {
  const { figure, operator, text, value: wanted } = condition;
  const needed = wanted.kind === 'relative' ? wanted.share : wanted.value;
  const result = { text, isSure, folder, holds: false, seen };
  if (!isSure || isExact(figure)) return { ...result, holds: HOLDS[operator](value, needed) };
  if (interval === null) {
    return { ...result, seen: `${seen}, without an interval to be sure of it` };
  }
  const [low, high] = interval;
  const isWithin = low <= needed && needed <= high;
  const holds =
    operator === '!=' ? !isWithin : HOLDS[operator](low, needed) && HOLDS[operator](high, needed);
  return { ...result, holds };
}

/** Result of a condition for one run. */
export interface ConditionResult {
  readonly holds: boolean;
  /** Text of the figure, or of its difference. */
  readonly seen: string;
  /** The condition. */
  readonly text: string;
  /** True: holds only if chance does not explain it. */
  readonly isSure: boolean;
  readonly folder: string;
}

/** True for counts and extremes, which are exact. */
function isExact(figure: FigureName): boolean {
  return FIGURES[figure].unit === 'count' || figure === 'min' || /(^|_)max$/.test(figure);
}

/** The value compared with a condition: the figure, or its difference as a share. */
function heldAgainst(
  { figure, value: wanted }: Condition,
  { value, interval, share, shareInterval }: FigureDifference,
  base: string,
) {
  if (wanted.kind === 'absolute') {
    const own = value as number; // The caller checked.
    return { value: own, interval, seen: figureText(figure, own) };
  }
  if (share === null) {
    throw configInvalid(
      `--fail-if: ${base} has no ${figure} (${FIGURES[figure].about}) to compare with`,
    );
  }
  return { value: share, interval: shareInterval, seen: signedShare(share) };
}

function absent({ text, figure }: Condition, folder: string): MlperfError {
  return configInvalid(
    `--fail-if "${text}": ${folder} has no ${figure} (${FIGURES[figure].about})`,
  );
}
