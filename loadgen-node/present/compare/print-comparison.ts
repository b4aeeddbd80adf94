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

/** A comparison with what was asked of it. */
export interface ComparisonResult {
  readonly comparison: RunComparison;
  /** Reasons why a difference of the figures means less than it says; none: the runs fit together. */
  readonly cautions: readonly string[];
  /** Limits of the comparison, for readers. */
  readonly notes: readonly string[];
  readonly conditions: readonly ConditionResult[];
  /**
   * Why the comparison fails whatever the conditions: runs without a result, records that are
   * damaged.
   */
  readonly failures: readonly string[];
  /** Some run is no result, and no figure is shown for that. */
  readonly isRefused: boolean;
  /** Main figures over the runs, of three or more, or by a label; empty otherwise. */
  readonly series: readonly RunSeries[];
  /** Label that the series goes by. */
  readonly by: string | null;
}

/** Method of the intervals, in a sentence. */
export const METHOD: string =
  `Intervals: ${CONFIDENCE * 100} %, by a moving-block bootstrap of stretches of a fiftieth of each run, since latencies that follow ` +
  'one another hang together; seeded. In per cent of the base, or in its unit where the base may be 0. "surely" means that the interval of the difference holds no 0: of twenty figures that are ' +
  'equal in truth one is called so. Inputs, and runs that were disturbed, are not judged. Without an interval: counts, extremes, percentiles with fewer than 20 values beyond them.';

/** The comparison as a table for people, a block per run beside the base. */
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

/** First of all: whether the comparison means anything. */
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

/** Every figure of the one run beside the base's. */
function pairLines({ rows }: RunComparison): string[] {
  const table = rows.map(({ figure, runs: own }) => cells(figure, at(own, 0), at(own, 1)));
  const isRight = (column: number): boolean => column > 0 && column < 4;
  return [...tableLines([['', ...COLUMNS], ...table], '  ', isRight), ''];
}

/** Figures of runs that were set otherwise may differ for that. */
function settingLines({ settings, runs }: RunComparison): string[] {
  if (settings.length === 0) return ['Settings      none that moves a figure differs'];
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
 * Compares conditions with every run but the base: relative ones against the difference from the base, absolute ones against
 * the run's own figure. A count or an extreme is certain; another figure without an interval is uncertain.
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
): ConditionResult {
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
export interface ConditionResult {
  readonly holds: boolean;
  /** The figure, or its difference, for people. */
  readonly seen: string;
  /** The condition. */
  readonly text: string;
  /** Holds only where chance does not explain it. */
  readonly isSure: boolean;
  readonly folder: string;
}

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
