import type { LiveSnapshot } from '../../../observe/live/live-snapshot.ts';
import { amount, clock, time } from '../figure-format.ts';
import type { LiveRunState, RunVerdict } from '../live-messages.ts';
import { byId, element } from './dom.ts';
import type { FeedConnection } from './feed.ts';

/** Rows of the table of the last seconds. */
const ROWS = 20;

/** What the run is. */
export function showRun(run: LiveRunState | undefined): void {
  if (run === undefined) return;
  const { benchmark, scenario, mode, output } = run.facts;
  const text = `${benchmark}, ${scenario}, ${mode}, to ${output}`;
  byId('run').textContent = text;
  document.title = `${run.verdict?.state ?? 'running'}: ${benchmark} ${scenario} - longhaul`;
}

/** Whether anything goes on, in a word. */
export function showState(connection: FeedConnection, run: LiveRunState | undefined): void {
  const state = byId('state');
  const verdict = run?.verdict ?? null;
  const [text, kind] = stateText(connection, run, verdict);
  // A status is read out when it changes, not each second.
  if (state.textContent !== text) state.textContent = text;
  state.className = `state ${kind}`;
}

function stateText(
  connection: FeedConnection,
  run: LiveRunState | undefined,
  verdict: RunVerdict | null,
): [text: string, kind: string] {
  const kind = verdict === null ? '' : kindOf(verdict);
  if (connection === 'over') {
    const end = verdict === null ? 'the command ended' : `run ended: ${verdict.state}`;
    return [end, kind];
  }
  if (connection === 'lost') return ['no connection, trying again', 'bad'];
  if (connection === 'connecting') return ['connecting', ''];
  if (run === undefined) return ['waiting for a run', ''];
  return verdict === null ? ['running', ''] : [`run ended: ${verdict.state}`, kind];
}

function kindOf({ state }: RunVerdict): string {
  return state === 'VALID' ? 'good' : 'bad';
}

/** The result, once there is one. */
export function showVerdict(verdict: RunVerdict | null): void {
  const section = byId('verdict');
  section.hidden = verdict === null;
  if (verdict === null) return;
  section.className = `verdict ${kindOf(verdict)}`;
  byId('verdict-title').textContent = `${verdict.state === 'VALID' ? '✓' : '✗'} ${verdict.state}`;
  byId('reasons').replaceChildren(...verdict.reasons.map((reason) => element('li', {}, [reason])));
  byId('figures').replaceChildren(...verdict.figures.map(({ label, value }) => tile(label, value)));
}

/** How far the run is. */
export function showProgress(point: LiveSnapshot | null, isOver: boolean): void {
  const bar = byId('progress');
  if (point === null) return;
  const { phase, set, elapsedS, share, remainingS } = point;
  bar.setAttribute('value', String(isOver ? 1 : (share ?? 0)));
  const part = set.count > 1 ? ` ${set.index + 1} of ${set.count}` : '';
  const left =
    isOver || remainingS === null || remainingS < 0.5
      ? ''
      : `, about ${clock(remainingS)} left (an estimate)`;
  const done = share === null || isOver ? '' : `, ${Math.floor(share * 100)} %`;
  byId('progress-text').textContent = `${phase} run${part}: ${clock(elapsedS)}${done}${left}`;
}

/** Figures of the last second. */
export function showNow(point: LiveSnapshot | null, isOver: boolean): void {
  byId('now-title').textContent = isOver ? 'The last second' : 'Now';
  if (point === null) {
    byId('now').replaceChildren(tile('Load', 'nothing yet'));
    return;
  }
  const { totals, latency, overall, lag, rateUnit, targetPerS } = point;
  const unit = rateUnit === 'queries' ? 'q/s' : 'samples/s';
  const target = targetPerS === null ? [] : [tile('Target', amount(targetPerS, unit))];
  byId('now').replaceChildren(
    tile('Completed', amount(point.completedPerS, unit)),
    ...target,
    tile('Outstanding samples', amount(point.outstanding)),
    tile('Latency p50', time(latency?.p50Ns)),
    tile('Latency p99', time(latency?.p99Ns)),
    tile('p99 so far', time(overall?.p99Ns)),
    tile('p99.9 so far', time(overall?.p999Ns)),
    tile('Dispatch lag p99', time(lag?.p99Ns)),
    tile('Queries issued', amount(totals.issuedQueries)),
    tile('Samples completed', amount(totals.completedSamples)),
    tile('Samples lost', amount(totals.lostSamples), totals.lostSamples > 0),
  );
}

function tile(label: string, value: string, isBad = false): HTMLElement {
  return element('div', isBad ? { class: 'bad' } : {}, [
    element('dt', {}, [label]),
    element('dd', {}, [value]),
  ]);
}

/** The nodes, one row each. */
export function showNodes(names: readonly string[], point: LiveSnapshot | null): void {
  const rows = names.map((name, i) => {
    const nodes = point?.nodes;
    const isLost = nodes?.lost.includes(i) === true;
    return row(name, [
      amount(nodes?.outstanding[i]),
      amount(nodes?.completedPerS[i]),
      time(nodes?.meanNs[i]),
      amount(nodes?.failed[i]),
      isLost ? 'lost' : 'there',
    ]);
  });
  byId('nodes').replaceChildren(...rows);
}

/** The last points as text, where somebody opened it. */
export function showSeconds(points: readonly LiveSnapshot[], originS: number): void {
  if (!(byId('table-details') as HTMLDetailsElement).open) return;
  const rows = points
    .slice(-ROWS)
    .reverse()
    .map((point) =>
      row(clock(point.atS - originS), [
        amount(point.completedPerS),
        time(point.latency?.p50Ns),
        time(point.latency?.p99Ns),
        time(point.latency?.p999Ns),
        amount(point.outstanding),
        time(point.lag?.p99Ns),
        amount(point.totals.lostSamples),
      ]),
    );
  byId('seconds').replaceChildren(...rows);
}

function row(head: string, cells: readonly string[]): HTMLElement {
  return element('tr', {}, [
    element('th', { scope: 'row' }, [head]),
    ...cells.map((cell) => element('td', {}, [cell])),
  ]);
}

/** What a point covers, where it is more than a look. */
export function showResolution(pointS: number): void {
  byId('resolution').textContent =
    pointS === 1
      ? ''
      : `A point covers up to ${pointS} s: of percentiles and outstanding samples the largest, of rates the mean.`;
}

/** The runs of a command that makes several. */
export function showRuns(runs: readonly LiveRunState[]): void {
  byId('runs-section').hidden = runs.length < 2;
  if (runs.length < 2) return;
  byId('runs').replaceChildren(
    ...runs.map(({ facts, verdict }) =>
      element('li', {}, [`${facts.title}: ${verdict?.state ?? 'running'}`]),
    ),
  );
}
