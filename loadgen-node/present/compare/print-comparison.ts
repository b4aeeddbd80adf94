import { configInvalid, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { sentencesOf, tableLines } from '../../../shared/base/text.ts';
import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { type Condition, HOLDS } from '../../observe/thresholds/condition.ts';
import { figureText, formatNumber, formatShare } from '../text/figure-text.ts';
import { CONFIDENCE, type FigureDifference, type RunComparison } from './compare-runs.ts';

/** A comparison with what was asked of it. */
export interface ComparisonResult {
  readonly comparison: RunComparison;
  /** Limits of the comparison, for readers. */
  readonly notes: readonly string[];
  readonly conditions: readonly ConditionResult[];
  /**
   * Why the comparison fails whatever the conditions: runs without a result, records that are
   * damaged.
   */
  readonly failures: readonly string[];
}

/** Words of the judgement. */
const JUDGEMENTS = {
  better: 'surely better',
  worse: 'surely worse',
  other: 'surely other',
  same: 'within the noise',
} as const;

/** Columns behind the name of the figure. */
export const COLUMNS = ['base', 'run', 'difference', `${CONFIDENCE * 100} % interval`, ''];

/** Method of the intervals, in a sentence. */
export const METHOD: string =
  `Intervals: ${CONFIDENCE * 100} %, by a moving-block bootstrap of stretches of a fiftieth of each run, since latencies that follow ` +
  'one another hang together; seeded. In per cent of the base, or in its unit where the base may be 0. "surely" means that the interval of the difference holds no 0: of twenty figures that are ' +
  'equal in truth one is called so. Inputs, and runs whose LoadGen was disturbed, are not judged. Without an interval: counts, extremes, percentiles with fewer than 20 values beyond them.';

/** The comparison as a table for people, a block per run beside the base. */
export function printComparison(result: ComparisonResult): string {
  const { comparison, notes, conditions, failures } = result;
  const { runs, rows } = comparison;
  const [base, ...others] = runs;
  const lines = [`Base          ${base?.folder}  (${base?.summary.result})`];
  lines.push(...settingLines(comparison));
  others.forEach(({ folder, summary }, i) => {
    const table = rows.map(({ figure, runs: own }) =>
      cells(figure, own[0] as FigureDifference, own[i + 1] as FigureDifference),
    );
    lines.push(`Run           ${folder}  (${summary.result})`, '');
    lines.push(
      ...tableLines([['', ...COLUMNS], ...table], '  ', (column) => column > 0 && column < 4),
      '',
    );
  });
  lines.push(...sentencesOf(METHOD), ...notes.map((note) => `Please note   ${note}`));
  lines.push(...conditions.map(conditionLine), ...failures.map((text) => `FAILED        ${text}`));
  return `${lines.join('\n')}\n`;
}

/** First of all: figures of runs that were set otherwise may differ for that. */
function settingLines({ settings, runs }: RunComparison): string[] {
  if (settings.length === 0) return ['Settings      no setting differs'];
  const gap = runs.length === 2 ? ' -> ' : ', ';
  return [
    'Settings      these differ, so that a difference below may be theirs:',
    ...settings.map(
      ({ name, values }) => `              ${name}: ${settingTexts(values).join(gap)}`,
    ),
  ];
}

/** Values of a setting in the order of the runs. */
export function settingTexts(values: readonly (string | null)[]): string[] {
  return values.map((value) => value ?? '(not set)');
}

/**
 * Cells of one figure: its values, the difference in units and per cent, where it lies, and what
 * that says.
 */
export function cells(figure: FigureName, base: FigureDifference, own: FigureDifference): string[] {
  return [
    figure,
    ...[base.value, own.value].map((value) => (value === null ? '-' : figureText(figure, value))),
    own.difference === null || own.share === null
      ? ''
      : `${signedFigure(figure, own.difference)} (${signedShare(own.share)})`,
    intervalText(figure, own),
    own.judgement === null ? '' : JUDGEMENTS[own.judgement],
  ];
}

function signedFigure(figure: FigureName, difference: number): string {
  const sign = difference < 0 ? '-' : '+';
  // The difference of two percentages is no percentage of either.
  if (FIGURES[figure].unit === 'share')
    return `${sign}${formatNumber(Math.abs(difference) * 100)} points`;
  return `${sign}${figureText(figure, Math.abs(difference))}`;
}

/** In per cent of the base; in units where the base is 0. */
function intervalText(figure: FigureName, own: FigureDifference): string {
  const { shareInterval, differenceInterval } = own;
  const ends =
    shareInterval?.map(signedShare) ??
    differenceInterval?.map((end) => signedFigure(figure, end)) ??
    [];
  return ends.join(' to ');
}

function conditionLine({ text, isSure, folder, holds, seen }: ConditionResult): string {
  const name = isSure ? '--fail-if-sure' : '--fail-if';
  return `${holds ? 'FAILED       ' : 'Passed       '} ${name} "${text}": ${folder} has ${seen}`;
}

/** A condition that fails the comparison where it holds. */
export interface FailCondition {
  readonly condition: Condition;
  /** It must hold all over the interval, not only for the figure as it was seen. */
  readonly isSure: boolean;
}

/**
 * Holds conditions against every run but the base: relative ones against the difference from the base, absolute ones against
 * the run's own figure. A count or an extreme is sure as it is; of another figure without an interval nothing is sure.
 * @throws MlperfError `ERR_CONFIG_INVALID` where a run has no such figure: silence would be taken for consent.
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

/** Whether a condition holds for a run, and the figure, or its difference, for people. */
function judgeRun(
  { condition, isSure }: FailCondition,
  folder: string,
  { value, interval, seen }: ReturnType<typeof heldAgainst>,
) {
  const { figure, operator, text, value: wanted } = condition;
  const needed = wanted.kind === 'relative' ? wanted.share : wanted.value;
  const result = { text, isSure, folder, holds: false, seen };
  if (!isSure || isExact(figure)) return { ...result, holds: HOLDS[operator](value, needed) };
  if (interval === null) {
    return { ...result, seen: `${seen}, and too few values to be sure of it` };
  }
  const [low, high] = interval;
  const isWithin = low <= needed && needed <= high;
  const holds =
    operator === '!=' ? !isWithin : HOLDS[operator](low, needed) && HOLDS[operator](high, needed);
  return { ...result, holds };
}

/** Result of a condition for one run. */
export type ConditionResult = Readonly<ReturnType<typeof judgeRun>>;

/** Counts and extremes: they are what they are. */
function isExact(figure: FigureName): boolean {
  return FIGURES[figure].unit === 'count' || figure === 'min' || /(^|_)max$/.test(figure);
}

/** The value that a condition is judged by: the figure, or its difference as a share. */
function heldAgainst(
  { figure, value: wanted }: Condition,
  { value, interval, share, shareInterval }: FigureDifference,
  base: string,
) {
  if (wanted.kind === 'absolute') {
    const own = value as number; // The caller asked.
    return { value: own, interval, seen: figureText(figure, own) };
  }
  if (share === null) {
    throw configInvalid(
      `--fail-if: ${base} has no ${figure} (${FIGURES[figure].about}), so nothing can be relative to it`,
    );
  }
  return { value: share, interval: shareInterval, seen: signedShare(share) };
}

/** A difference as a share, with its sign: `+5.2 %`. */
function signedShare(share: number): string {
  if (Number.isFinite(share)) return `${share < 0 ? '' : '+'}${formatShare(share)}`;
  return share > 0 ? 'more than 0' : 'less than 0';
}

function absent({ text, figure }: Condition, folder: string): MlperfError {
  return configInvalid(
    `--fail-if "${text}": ${folder} has no ${figure} (${FIGURES[figure].about})`,
  );
}
