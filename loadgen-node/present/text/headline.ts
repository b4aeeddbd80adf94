import { formatNs, grouped } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { FigureName } from '../../observe/figures/figure-names.ts';
import {
  type BoundsInSummary,
  boundNsOf,
  type RunSummary,
} from '../../observe/summary/run-summary.ts';
import { figureText, formatShare, percentileName } from './figure-text.ts';

/** Input for the three head figures: a summary, or the part of it that a list of runs reads. */
export type HeadOfRun = Pick<RunSummary, 'scenario' | 'figures'> &
  Partial<Pick<RunSummary, 'round' | 'loadTest'>> &
  BoundsInSummary;

/** One of the main figures, as text. */
export interface HeadFigure {
  readonly figure: FigureName;
  readonly title: string;
  readonly value: string;
  readonly note: string;
  /** True if it breaks its rule. */
  readonly isBad: boolean;
}

/**
 * Metric of each scenario. Rule: Server's is the completed rate from v4.1 on. Up to v4.0 it was the
 * scheduled rate, which does not describe the SUT.
 */
const METRICS: Readonly<Record<Scenario, readonly [figure: FigureName, title: string]>> = {
  Server: ['answered_qps', 'Samples completed per second'],
  Offline: ['completed_qps', 'Samples per second'],
  SingleStream: ['p90', 'Latency, 90th percentile'],
  MultiStream: ['p99', 'Latency, 99th percentile'],
};

/** Tail latency of each scenario, shown beside its metric. */
const TAILS: Readonly<Record<Scenario, FigureName>> = {
  Server: 'p99',
  Offline: 'p99',
  SingleStream: 'p99',
  MultiStream: 'p99.9',
};

/**
 * Rule: checkers from v4.1 on use result_completed_tokens_per_second (Server) and
 * result_tokens_per_second (Offline).
 */
const TOKEN_METRIC = ['tokens_per_second', 'Output tokens per second'] as const;

/** Metric of a run: tokens per second if tokens are counted and the scenario has a rate. */
function metricOf({ scenario, figures }: HeadOfRun): readonly [FigureName, string] {
  const isRate = scenario === 'Server' || scenario === 'Offline';
  return isRate && figures.tokens_per_second !== undefined ? TOKEN_METRIC : METRICS[scenario];
}

/** Figure of the run's metric. */
export function headMetric(run: HeadOfRun): FigureName {
  return metricOf(run)[0];
}

/** The metric in short, for a table: `94.1 /s`, `3.46 ms at p90`; a dash if missing. */
export function metricText(run: HeadOfRun): string {
  const figure = headMetric(run);
  const value = run.figures[figure];
  if (value === undefined) return '-';
  const text = figureText(figure, value);
  if (figure === 'tokens_per_second') return text.replace('/s', 'tokens/s');
  return text.endsWith('/s') ? text : `${text} at ${figure}`;
}

/** The three main figures: the metric, the tail against its bound, and the share answered. */
export function headFigures(run: HeadOfRun): HeadFigure[] {
  const [figure, title] = metricOf(run);
  const metric = run.figures[figure];
  const known: HeadFigure[] = [];
  if (metric !== undefined) {
    const value = figureText(figure, metric);
    const note = metricNote(figure, run);
    known.push({ figure, title, value, note, isBad: false });
  }
  return [...known, ...tailFigures(run), ...answered(run)];
}

/** Says whose metric a figure is, with the scheduled rate beside the completed one. */
function metricNote(figure: FigureName, run: HeadOfRun): string {
  const { scenario, round, loadTest = null, figures } = run;
  const { scheduled_qps: perSecond } = figures;
  const hasBoth = figure === 'answered_qps' && perSecond !== undefined;
  const scheduled = hasBoth ? `${figureText('scheduled_qps', perSecond)} scheduled` : '';
  const of = (whose: string): string => (hasBoth ? `${whose}; ${scheduled}` : whose);
  if (loadTest !== null) return of('a load test, not a scenario of MLPerf');
  if (round === 'v0.5' && scenario === 'MultiStream') {
    return 'the metric of round v0.5 is the number of streams';
  }
  if (round === 'v0.5' && hasBoth) return `${scheduled}, the metric of round v0.5`;
  return of('the metric of the scenario');
}

function tailFigures(run: HeadOfRun): HeadFigure[] {
  const { scenario, figures, targetPercentile } = run;
  const ofTokens = tokenTails(run);
  if (ofTokens.length > 0) return ofTokens;
  const target = scenario === 'Server' && targetPercentile ? percentileName(targetPercentile) : '';
  const figure = Object.hasOwn(figures, target) ? (target as FigureName) : TAILS[scenario];
  const above = figures.overlatency;
  const share = above === undefined ? '' : `, ${formatShare(above)} of the queries above it`;
  const bound = { ns: boundNsOf('latency', run), unknown: 'no bound', target, share };
  return tailFigure(run, figure, ['Latency', figure], bound);
}

/** Bound for a tail, at its percentile (`p90`). */
interface TailBound {
  readonly ns: number | null;
  /** Text to show if the value is null. */
  readonly unknown: string;
  /** Empty if unknown. */
  readonly target: string;
  /** Text after the bound. */
  readonly share?: string;
}

/**
 * A percentile with its bound; if the run lacks the figure at the bound's percentile, the note
 * names the percentile.
 */
function tailFigure(
  { figures }: HeadOfRun,
  figure: FigureName,
  [what, percentile]: readonly [string, string],
  { ns, unknown, target, share = '' }: TailBound,
): HeadFigure[] {
  const value = figures[figure];
  if (value === undefined) return [];
  const isSame = target === percentile;
  const place = isSame || target === '' ? '' : ` at ${target}`;
  return [
    {
      figure,
      title: `${what}, ${percentile}`,
      value: formatNs(value),
      note: ns === null ? unknown : `bound ${formatNs(ns)}${place}${share}`,
      isBad: ns !== null && isSame && value > ns,
    },
  ];
}

/** Token models: tails of both token times, with the bounds of LoadGen's verdict. */
function tokenTails(run: HeadOfRun): HeadFigure[] {
  const { scenario, figures, targetPercentile } = run;
  const { ttft_p99: first, tpot_p99: each, goodput } = figures;
  if (scenario !== 'Server' || first === undefined || each === undefined) return [];
  const target = targetPercentile ? percentileName(targetPercentile) : '';
  const tail = (time: 'ttft' | 'tpot', title: string) => {
    const at = Object.hasOwn(figures, `${time}_${target}`) ? target : 'p99';
    const bound = { ns: boundNsOf(time, run), unknown: 'bound not known', target };
    return tailFigure(run, `${time}_${at}` as FigureName, [title, at], bound);
  };
  return [
    ...tail('ttft', 'Time to the first token'),
    ...tail('tpot', 'Time per output token'),
    ...(goodput === undefined
      ? []
      : [
          {
            ...({ figure: 'goodput', title: 'Goodput', value: formatShare(goodput) } as const),
            note: `${figureText('goodput_qps', figures.goodput_qps ?? 0)} within both bounds`,
            isBad: false,
          },
        ]),
  ];
}

function answered({ figures: { samples, lost, errors } }: HeadOfRun): HeadFigure[] {
  if (samples === undefined) return [];
  const missing = lost ?? 0;
  const broken = (errors ?? missing) - missing;
  const notes = [
    missing === 0 ? `all ${grouped(samples)} that were issued` : `${grouped(missing)} lost`,
    ...(broken > 0 ? [`${grouped(broken)} answers broke the contract`] : []),
  ];
  const value = grouped(samples - missing);
  const isBad = missing > 0 || broken > 0;
  return [{ figure: 'samples', title: 'Samples answered', value, note: notes.join(', '), isBad }];
}
