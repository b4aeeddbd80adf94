import { formatNs, grouped } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { FigureName } from '../../observe/figures/figure-names.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import { figureText, formatShare, percentileName } from './figure-text.ts';

/** Source of the three figures at the head: a summary, or the part of it that a list of runs reads. */
export type HeadOfRun = Pick<RunSummary, 'scenario' | 'figures'> &
  Partial<Pick<RunSummary, 'targetPercentile' | 'latencyBoundNs'>>;

/** One of the figures that matter most, in words. */
export interface HeadFigure {
  readonly figure: FigureName;
  readonly title: string;
  readonly value: string;
  readonly note: string;
  /** It breaks the rule that it is compared with. */
  readonly isBad: boolean;
}

/** The metric of each scenario: what a submission reports. */
const METRICS: Readonly<Record<Scenario, readonly [figure: FigureName, title: string]>> = {
  Server: ['scheduled_qps', 'Scheduled samples per second'],
  Offline: ['completed_qps', 'Samples per second'],
  SingleStream: ['p90', 'Latency, 90th percentile'],
  MultiStream: ['p99', 'Latency, 99th percentile'],
};

/** The tail of each scenario beside its metric. */
const TAILS: Readonly<Record<Scenario, FigureName>> = {
  Server: 'p99',
  Offline: 'p99',
  SingleStream: 'p99',
  MultiStream: 'p99.9',
};

/** Figure of the scenario's metric. */
export function headMetric({ scenario }: Pick<RunSummary, 'scenario'>): FigureName {
  return METRICS[scenario][0];
}

/** The metric in few words, for a table: `94.1 /s`, `3.46 ms at p90`; a dash where there is none. */
export function metricText({ scenario, figures }: HeadOfRun): string {
  const figure = headMetric({ scenario });
  const value = figures[figure];
  if (value === undefined) return '-';
  const text = figureText(figure, value);
  return text.endsWith('/s') ? text : `${text} at ${figure}`;
}

/** The three figures that matter: the metric, the tail against its bound, and what was answered. */
export function headFigures(run: HeadOfRun): HeadFigure[] {
  const [figure, title] = METRICS[run.scenario];
  const metric = run.figures[figure];
  const known: HeadFigure[] = [];
  if (metric !== undefined) {
    const value = figureText(figure, metric);
    known.push({ figure, title, value, note: 'the metric of the scenario', isBad: false });
  }
  return [...known, ...tailFigures(run), ...answered(run)];
}

function tailFigures(run: HeadOfRun): HeadFigure[] {
  const { scenario, figures, targetPercentile, latencyBoundNs = null } = run;
  const ofTokens = tokenTails(run);
  if (ofTokens.length > 0) return ofTokens;
  const target = scenario === 'Server' && targetPercentile ? percentileName(targetPercentile) : '';
  const figure = Object.hasOwn(figures, target) ? (target as FigureName) : TAILS[scenario];
  const value = figures[figure];
  if (value === undefined) return [];
  const isBad = latencyBoundNs !== null && figure === target && value > latencyBoundNs;
  const above = figures.overlatency;
  const share = above === undefined ? '' : `, ${formatShare(above)} of the queries above it`;
  const note = latencyBoundNs === null ? 'no bound' : `bound ${formatNs(latencyBoundNs)}${share}`;
  return [{ figure, title: `Latency, ${figure}`, value: formatNs(value), note, isBad }];
}

/** Token models: their bounds are those of the two times, which LoadGen's verdict holds them to. */
function tokenTails({ scenario, figures }: HeadOfRun): HeadFigure[] {
  const { ttft_p99: first, tpot_p99: each } = figures;
  if (scenario !== 'Server' || first === undefined) return [];
  const note = each === undefined ? '' : `${formatNs(each)} per output token at p99`;
  const title = 'Time to the first token, p99';
  return [{ figure: 'ttft_p99', title, value: formatNs(first), note, isBad: false }];
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
