import { formatNs } from '../../../shared/base/text.ts';
import type { LiveSnapshot } from '../../observe/live/live-snapshot.ts';
import { type Html, html, htmlTable, tile } from '../html/html.ts';
import {
  amount,
  clock,
  formatMemory,
  formatNumber,
  formatShare,
  isCarried,
  percentileName,
  timeOrDash,
} from '../text/figure-text.ts';
import type { LiveRunState, LiveState, RunVerdict } from './live-state.ts';

// Content of the live page for its state. Runs in the browser, but without browser APIs.

/** The page's connection to the command; `over`: the command has ended. */
export type FeedConnection = 'connecting' | 'open' | 'lost' | 'over';

/** Rows in the table of recent seconds. */
const ROWS = 20;
const NODE_COLUMNS = [
  ...['node', 'outstanding', 'samples/s', 'mean latency', 'failed'],
  ...['cores busy', 'memory', 'state'],
];
const SECOND_COLUMNS = [
  ...['time', 'completed/s', 'p50', 'p99', 'p99.9'],
  ...['outstanding', 'dispatch lag p99', 'lost'],
];

/** Contents of the page's elements, by their ids. */
export function livePanels(
  { runs, history: { points, pointS, latest } }: LiveState,
  connection: FeedConnection,
): Readonly<Record<string, Html | null>> {
  const run = runs.at(-1);
  const facts = run?.facts;
  const verdict = run?.verdict ?? null;
  return {
    run: html`${facts === undefined ? 'no run yet' : `${facts.benchmark}, ${facts.scenario}, ${facts.mode}, to ${facts.output}`}`,
    state: stateOf(connection, run, verdict),
    progress: latest && progressOf(latest, verdict !== null),
    verdict: verdict && verdictOf(verdict),
    'so-far': verdict === null && latest !== null ? soFar(latest) : null,
    now: html`<h2>${verdict === null ? 'Now' : 'The last second'}</h2>
<dl class="tiles">${latest === null ? tile('Load', 'not yet measured') : tilesOf(latest)}</dl>`,
    resolution: html`${pointS === 1 ? '' : `A point covers up to ${pointS} s: of percentiles and outstanding samples the largest, of rates the mean.`}`,
    nodes: htmlTable(NODE_COLUMNS, nodeRows(run?.nodes ?? [], latest), isFigure),
    seconds: htmlTable(SECOND_COLUMNS, secondRows(points), isFigure),
    runs:
      runs.length < 2
        ? null
        : html`<h2>Runs of this command</h2>
<ol>${runs.map(({ facts, verdict: end }) => html`<li>${facts.title}: ${end?.state ?? 'running'}</li>`)}</ol>`,
  };
}

/** Title of the document. */
export function liveTitle({ runs }: LiveState): string {
  const run = runs.at(-1);
  if (run === undefined) return 'longhaul';
  const { benchmark, scenario } = run.facts;
  return `${run.verdict?.state ?? 'running'}: ${benchmark} ${scenario} - longhaul`;
}

/** Start of the time axes. */
export function originOf([first]: readonly LiveSnapshot[]): number {
  return first === undefined ? 0 : first.atS - first.windowS;
}

function isFigure(column: number): boolean {
  return column > 0;
}

/** Current activity, in one word. */
function stateOf(
  connection: FeedConnection,
  run: LiveRunState | undefined,
  verdict: RunVerdict | null,
): Html {
  const badge = (text: string, tone = verdict === null ? 'quiet' : toneOf(verdict)): Html =>
    html`<span class="${`badge ${tone}`}">${text}</span>`;
  const end = verdict === null ? 'the command ended' : `run ended: ${verdict.state}`;
  if (connection === 'over') return badge(end);
  if (connection === 'lost') return badge('no connection, trying again', 'bad');
  if (connection === 'connecting') return badge('connecting', 'quiet');
  if (run === undefined) return badge('waiting for a run', 'quiet');
  return badge(verdict === null ? 'running' : end);
}

function toneOf({ state }: RunVerdict): string {
  return state === 'VALID' ? 'good' : 'bad';
}

/** The result, once there is one. */
function verdictOf(verdict: RunVerdict): Html {
  const { state, cause, reasons, figures } = verdict;
  return html`<h2><span class="${`badge ${toneOf(verdict)}`}">${`${state === 'VALID' ? '✓' : '✗'} ${state}`}</span>${cause === null ? '' : ` ${cause}`}</h2>
<ul class="plain">${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>
<dl class="tiles">${figures.map(({ label, value }) => tile(label, value))}</dl>`;
}

function progressOf(point: LiveSnapshot, isOver: boolean): Html {
  const { phase, set, elapsedS, share, remainingS } = point;
  const part = set.count > 1 ? ` ${set.index + 1} of ${set.count}` : '';
  const hasRest = !isOver && remainingS !== null && remainingS >= 0.5;
  const left = hasRest ? `, about ${clock(remainingS)} left (an estimate)` : '';
  const done = share === null || isOver ? '' : `, ${Math.floor(share * 100)} %`;
  return html`<progress max="1" value="${isOver ? 1 : (share ?? 0)}" aria-label="share of the phase that is done"></progress>
<p>${phase} run${part}: ${clock(elapsedS)}${done}${left}</p>`;
}

/**
 * Preliminary verdict, by the rules that can be judged during a run. Other rules need the whole
 * run.
 */
function soFar(point: LiveSnapshot): Html {
  const { bound, overall, overShare, totals } = point;
  const lost = totals.lostSamples;
  const parts: [isGood: boolean, text: string][] = [
    [lost === 0, lost === 0 ? 'no sample lost' : `${amount(lost)} samples lost`],
  ];
  if (bound !== null && overall !== null && overShare !== null) {
    const isKept = overShare <= 1 - bound.percentile;
    const share = `${formatShare(overShare)} of the queries are above ${formatNs(bound.latencyNs)}`;
    const allowed = `${percentileName(bound.percentile)} allows ${formatShare(1 - bound.percentile)}`;
    parts.unshift([isKept, `${share}, ${allowed}`]);
  }
  addCourse(point, parts);
  const isGood = parts.every(([good]) => good);
  const text = parts.map(([, one]) => one).join('; ');
  // Without a latency bound nothing can be judged yet; token bounds are judged at the end.
  if (isGood && bound === null) return html`<p><strong>So far</strong>: ${text}</p>`;
  return html`<p><strong class="${isGood ? 'good' : 'bad'}">${isGood ? 'Good so far' : 'INVALID so far'}</strong>: ${text}</p>`;
}

/**
 * Adds whether LoadGen keeps its schedule and whether the SUT keeps up: what limits the run comes
 * first.
 */
function addCourse(
  { overall, lagSoFar, lagNsMax, growth, targetPerS }: LiveSnapshot,
  parts: [isGood: boolean, text: string][],
): void {
  const isLate = lagSoFar !== null && lagSoFar.p99Ns > lagNsMax;
  // If latencies are far longer than LoadGen's lag, the rest is the SUT's.
  const isOwn = isLate && lagSoFar.p99Ns > (overall?.p99Ns ?? 0) / 10;
  if (lagSoFar !== null) {
    const lag = `dispatch lag p99 ${formatNs(lagSoFar.p99Ns)}, at most ${formatNs(lagNsMax)} allowed`;
    if (isLate) parts.unshift([false, `LoadGen itself is too slow: ${lag}`]);
    else parts.push([true, lag]);
  }
  if (growth !== null && targetPerS !== null && !isOwn) {
    const more = amount(growth * targetPerS);
    parts.unshift([false, `the SUT does not keep up: ${more} more queries wait each second`]);
  }
}

/** Figures of the last second. */
function tilesOf(point: LiveSnapshot): Html[] {
  const { totals, latency, overall, overShare, lag, rateUnit, targetPerS, bound } = point;
  const unit = rateUnit === 'queries' ? 'q/s' : 'samples/s';
  return [
    tile('Completed', amount(point.completedPerS, unit)),
    ...(targetPerS === null ? [] : [tile('Target', amount(targetPerS, unit))]),
    tile('Outstanding samples', amount(point.outstanding)),
    tile('Latency p50', timeOrDash(latency?.p50Ns), null, isOver(bound, 0.5, latency?.p50Ns)),
    tile('Latency p99', timeOrDash(latency?.p99Ns), null, isOver(bound, 0.99, latency?.p99Ns)),
    tailTile(point),
    ...(isCarried(overall?.count ?? 0, 0.999) && bound?.percentile !== 0.999
      ? [tile('p99.9 so far', timeOrDash(overall?.p999Ns))]
      : []),
    ...(bound === null || overShare === null
      ? []
      : [tile('Above the bound', formatShare(overShare), null, overShare > 1 - bound.percentile)]),
    tile('Dispatch lag p99', timeOrDash(lag?.p99Ns)),
    tile('Queries issued', amount(totals.issuedQueries)),
    tile('Samples completed', amount(totals.completedSamples)),
    tile('Samples lost', amount(totals.lostSamples), null, totals.lostSamples > 0),
  ];
}

/** Snapshot figures for a bound, by percentile. */
const TAILS: ReadonlyMap<number, 'p50Ns' | 'p90Ns' | 'p99Ns' | 'p999Ns'> = new Map([
  [0.5, 'p50Ns'],
  [0.9, 'p90Ns'],
  [0.99, 'p99Ns'],
  [0.999, 'p999Ns'],
]);

/**
 * Tile with the bound's percentile; if snapshots lack it, p99, and the bound with its own
 * percentile.
 */
function tailTile({ overall, bound }: LiveSnapshot): Html {
  if (bound === null) return tile('p99 so far', timeOrDash(overall?.p99Ns));
  const figure = TAILS.get(bound.percentile);
  const own = percentileName(bound.percentile);
  const ns = overall?.[figure ?? 'p99Ns'];
  const text = `bound ${formatNs(bound.latencyNs)}${figure === undefined ? ` at ${own}` : ''}`;
  const isBad = isOver(bound, figure === undefined ? 0.99 : bound.percentile, ns);
  const name = figure === undefined ? 'p99' : own;
  return tile(`${name} so far`, timeOrDash(ns), html`<small>${text}</small>`, isBad);
}

/**
 * True if a percentile misses the bound. A value above it misses it at the bound's own percentile
 * and all higher ones.
 */
function isOver(bound: LiveSnapshot['bound'], percentile: number, ns: number | undefined): boolean {
  return bound !== null && percentile <= bound.percentile && (ns ?? 0) > bound.latencyNs;
}

function nodeRows(names: readonly string[], point: LiveSnapshot | null): string[][] {
  const nodes = point?.nodes;
  return names.map((name, i) => [
    name,
    amount(nodes?.outstanding[i]),
    amount(nodes?.completedPerS[i]),
    timeOrDash(nodes?.meanNs[i]),
    amount(nodes?.failed[i]),
    formatNumber(nodes?.usage[i]?.cores ?? Number.NaN),
    formatMemory(nodes?.usage[i]?.residentBytes ?? Number.NaN),
    nodes?.lost.includes(i) === true ? 'lost' : 'connected',
  ]);
}

/** Newest first. */
function secondRows(points: readonly LiveSnapshot[]): string[][] {
  const originS = originOf(points);
  return points
    .slice(-ROWS)
    .reverse()
    .map(({ atS, completedPerS, latency, outstanding, lag, totals }) => [
      clock(atS - originS),
      amount(completedPerS),
      ...[latency?.p50Ns, latency?.p99Ns, latency?.p999Ns].map(timeOrDash),
      amount(outstanding),
      timeOrDash(lag?.p99Ns),
      amount(totals.lostSamples),
    ]);
}
