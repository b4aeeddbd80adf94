import { counted, formatNs, grouped } from '../../../../shared/base/text.ts';
import { percentileOf } from '../../../loadgen/results/latency-statistics.ts';
import { spreadValues } from '../../../observe/figures/latency-histogram.ts';
import { type LatencyTable, sortedNumbers } from '../../../observe/figures/latency-table.ts';
import type { SampleRecords } from '../../../observe/records/sample-records.ts';
import { answersUnderWay } from '../../../observe/split/answers-under-way.ts';
import { boundNsOf, type RunSummary } from '../../../observe/summary/run-summary.ts';
import { drawWindow, hoverData } from '../../charts/hover.ts';
import { drawLines } from '../../charts/line-chart.ts';
import { drawPercentiles, renderFigure } from '../../charts/percentile-chart.ts';
import { drawAxes, drawBars, type Points } from '../../charts/plot.ts';
import { type Axis, linearAxis, logAxis, timeAxis } from '../../charts/scale.ts';
import { timedTokens } from '../../compare/resampled-run.ts';
import { type Html, html, htmlTable, section } from '../../html/html.ts';
import { formatNumber, formatShare } from '../../text/figure-text.ts';
import { percentileTable, percentileWords } from './latency.ts';
import { renderLatencyTimeline, timelineOf } from './timeline.ts';

/** Most intervals of two extra charts over time; it keeps the page small. */
const INTERVALS_MAX = 60;

/**
 * A time of a token model, one value per sample in record order; NaN if lost or without this time.
 */
interface TokenTime {
  readonly title: string;
  readonly name: string;
  readonly about: string;
  readonly values: LatencyTable['latencyNs'];
  readonly boundNs: number | null;
}

/**
 * Both times of a token model: their distributions, over time, and by length of prompt and
 * response; absent if tokens are not timed. Then the gaps between tokens, and the number of
 * responses in progress.
 */
export function renderTokens(
  summary: RunSummary,
  records: SampleRecords,
  table: LatencyTable,
): Html | null {
  const samples = tokenSamples(records);
  if (samples === null || sortedNumbers(samples.firstNs).length === 0) return null;
  const times: readonly TokenTime[] = [
    {
      title: 'Time to the first token',
      name: 'TTFT',
      values: samples.firstNs,
      about: 'First token - scheduled, of the samples that completed.',
      boundNs: boundNsOf('ttft', summary),
    },
    {
      title: 'Time per output token',
      name: 'TPOT',
      values: samples.perTokenNs,
      about: 'After the first one: the rest of the latency by the tokens behind it.',
      boundNs: boundNsOf('tpot', summary),
    },
  ];
  const shown = times.filter(({ values }) => sortedNumbers(values).length > 0);
  const lengths = [
    { title: 'prompt length', values: samples.prompts },
    { title: 'answer length', values: samples.answers },
  ];
  const charts = shown.flatMap((time) => [
    renderTime(time),
    // A table row may be a query of several samples.
    summary.scenario === 'MultiStream' || table.count !== time.values.length
      ? null
      : renderLatencyTimeline(
          timelineOf({ ...table, latencyNs: time.values }, INTERVALS_MAX),
          time.boundNs,
          time,
        ),
    ...lengths.map(({ title, values }) => values && renderByLength(time, title, values)),
  ]);
  const gaps = gapTimes(records).map(renderTime);
  const all = [...charts, ...gaps, renderUnderWay(records)];
  return section('tokens', 'Tokens', html`<div class="charts">\n${all}</div>`);
}

/** Most bars of a histogram. */
const BARS_MAX = 40;

/**
 * Number of responses that a node had in progress, by share of the time; absent if there were never
 * any.
 */
function renderUnderWay(records: SampleRecords): Html | null {
  const nodes = [...answersUnderWay(records)];
  const timesNs: number[] = [];
  for (const { answers } of nodes) answers.addTimes(timesNs);
  const totalNs = timesNs.reduce((sum, ns) => sum + ns, 0);
  if (timesNs.length < 2 || totalNs === 0) return null;
  const width = Math.ceil(timesNs.length / BARS_MAX);
  const bins = Array.from({ length: Math.ceil(timesNs.length / width) }, (_, i) => {
    const from = i * width;
    const to = Math.min(from + width, timesNs.length) - 1;
    const ns = timesNs.slice(from, to + 1).reduce((sum, one) => sum + one, 0);
    return { name: from === to ? String(from) : `${from} - ${to}`, from, to, value: ns / totalNs };
  });
  const area = {
    x: linearAxis({ from: -0.5, to: timesNs.length - 0.5, title: 'answers', format: wholeNumber }),
    y: linearAxis({
      from: 0,
      to: Math.max(...bins.map(({ value }) => value)) * 1.05,
      title: 'share of the time',
      format: formatShare,
    }),
  };
  const mean = timesNs.reduce((sum, ns, count) => sum + count * ns, 0) / totalNs;
  const about = `${formatNumber(mean)} answers at once in the mean, ${timesNs.length - 1} at most`;
  const bars = bins.map(({ from, to, value }) => ({ from: from - 0.4, to: to + 0.4, value }));
  const points = bins.map(({ from, to, value }) => [(from + to) / 2, value] as const);
  const nameAt = (count: number): string =>
    bins.find(({ from, to }) => count <= to + 0.5 && count >= from - 0.5)?.name ?? '';
  return renderFigure({
    title: 'Answers under way',
    alternative: `${about}.`,
    drawing: html`${drawAxes(area)}${drawWindow(area, drawBars(area, bars, 'c1'))}`,
    hover: hoverData(area, [{ name: 'of the time', points }], {
      x: (count) => `${nameAt(count)} answers`,
      y: formatShare,
    }),
    caption: `${about}: those of ${nodes.length > 1 ? 'one node' : 'the node'} whose first token was here and whose last was not, which LoadGen's clock tells.`,
    table: htmlTable(
      ['answers', 'share of the time'],
      bins.map(({ name, value }) => [name, formatShare(value)]),
      () => true,
    ),
  });
}

/** Marks between whole numbers have no label. */
function wholeNumber(value: number): string {
  return Number.isInteger(value) ? grouped(value) : '';
}

/** Most values for the chart of all gaps: enough for its last percentile. */
const GAPS_MAX = 100_000;

/** Gaps between tokens: all, and the longest of each sample; empty if not measured. */
function gapTimes(records: SampleRecords): readonly TokenTime[] {
  const { tokenGaps, longestGapNs, completedNs } = records;
  if (tokenGaps === null || longestGapNs === null || tokenGaps.count === 0) return [];
  const values = Float64Array.from(longestGapNs, (ns, row) =>
    Number.isNaN(completedNs[row]) ? Number.NaN : ns,
  );
  const longest: TokenTime = {
    title: 'Longest time between two tokens',
    name: 'longest gap',
    values,
    boundNs: null,
    about: 'Of each sample that completed.',
  };
  const all: TokenTime = {
    title: 'Time between tokens',
    name: 'ITL',
    boundNs: null,
    values: spreadValues(tokenGaps, GAPS_MAX),
    about: `From one token of a sample to the next: all ${grouped(tokenGaps.count)} gaps, within 0.4 %. Of tokens that come together the first has the gap.`,
  };
  return [all, longest];
}

/** Times and lengths of the samples; null if tokens are not timed. */
function tokenSamples(records: SampleRecords) {
  const { tokenCount, promptTokens } = records;
  const rows = timedTokens(records);
  if (rows === null || tokenCount === null) return null;
  const { firstNs, perOutputNs, counts } = rows;
  return {
    firstNs,
    // A single token has no next token to time.
    perTokenNs: perOutputNs.map((ns, row) => ((counts[row] as number) < 2 ? Number.NaN : ns)),
    answers: Float64Array.from(tokenCount),
    /** Null if the samples are not tokens. */
    prompts: promptTokens && Float64Array.from(promptTokens),
  };
}

function renderTime({ title, name, about, values, boundNs }: TokenTime): Html {
  const sorted = sortedNumbers(values);
  const bound = boundNs === null ? '' : ` The bound is ${formatNs(boundNs)}.`;
  return renderFigure({
    title,
    alternative: `${percentileWords(sorted)}.${bound}`,
    ...drawPercentiles({
      title: name,
      distributions: [{ name, sorted }],
      boundNs,
      marked: [0.5, 0.9, 0.99],
    }),
    caption: about,
    table: percentileTable(sorted),
  });
}

/** Most groups of samples by length, and the fewest samples of one. */
const GROUPS_MAX = 12;
const GROUP_MIN = 20;
/** With fewer values, p99 would be the maximum. */
const P99_MIN = 100;

const LINES = [
  { share: 0.5, name: 'p50', className: 'c5' },
  { share: 0.9, name: 'p90', className: 'c1 dash2' },
  { share: 0.99, name: 'p99', className: 'c2' },
] as const;

/** Samples of similar length. */
interface LengthGroup {
  readonly from: number;
  readonly to: number;
  /** Mean length. */
  readonly at: number;
  readonly sorted: Float64Array;
}

/** Percentiles of a time by prompt or response length; absent if all lengths are similar. */
function renderByLength(time: TokenTime, title: string, lengths: Float64Array): Html | null {
  const groups = groupsOf(time.values, lengths);
  if (groups.length < 2) return null;
  const valueAt = ({ sorted }: LengthGroup, share: number): number =>
    share > 0.9 && sorted.length < P99_MIN ? Number.NaN : percentileOf(sorted, share);
  const series = LINES.map(({ share, name, className }) => ({
    name,
    className,
    points: groups.map((group) => [group.at, valueAt(group, share)] as const),
  })).filter(({ points }) => points.some(([, ns]) => Number.isFinite(ns)));
  const known = series.flatMap(({ points }) => points.map(([, ns]) => ns)).filter(Number.isFinite);
  const { boundNs } = time;
  const [first, last] = [groups[0] as LengthGroup, groups.at(-1) as LengthGroup];
  const medians = `p50 ${formatNs(valueAt(first, 0.5))} at ${grouped(Math.round(first.at))} tokens, ${formatNs(valueAt(last, 0.5))} at ${grouped(Math.round(last.at))}`;
  return renderFigure({
    title: `${time.title} by ${title}`,
    alternative: `${medians}.`,
    ...drawLines({
      x: lengthAxis(series[0]?.points ?? [], title),
      y: timeAxis(boundNs === null ? known : [...known, boundNs], time.name),
      series,
      bound: boundNs === null ? null : { value: boundNs, label: `bound ${formatNs(boundNs)}` },
      texts: { x: (tokens) => counted(Math.round(tokens), 'token'), y: formatNs },
    }),
    caption: `${groups.length} groups of samples by length, about as many in each; a point stands at the mean length of its group.`,
    table: htmlTable(
      ['tokens', 'samples', 'p50', 'p90', 'p99'],
      groups.map((group) => [
        group.from === group.to ? String(group.from) : `${group.from} - ${group.to}`,
        String(group.sorted.length),
        ...LINES.map(({ share }) => formatNs(valueAt(group, share))),
      ]),
      () => true,
    ),
  });
}

/** Groups with about the same number of samples; equal lengths stay together. */
function groupsOf(values: Float64Array, lengths: Float64Array): LengthGroup[] {
  const rows = [...values.keys()].filter((row) => Number.isFinite(values[row]));
  rows.sort((a, b) => (lengths[a] as number) - (lengths[b] as number));
  const size = Math.max(GROUP_MIN, Math.ceil(rows.length / GROUPS_MAX));
  const groups: LengthGroup[] = [];
  for (let begin = 0; begin < rows.length; ) {
    let end = Math.min(begin + size, rows.length);
    // The last ones are too few for their own group.
    if (rows.length - end < GROUP_MIN) end = rows.length;
    const lengthAt = (place: number): number => lengths[rows[place] as number] as number;
    while (end < rows.length && lengthAt(end) === lengthAt(end - 1)) end += 1;
    const own = rows.slice(begin, end);
    const sum = own.reduce((total, row) => total + (lengths[row] as number), 0);
    groups.push({
      from: lengthAt(begin),
      to: lengthAt(end - 1),
      at: sum / own.length,
      sorted: Float64Array.from(own, (row) => values[row] as number).sort(),
    });
    begin = end;
  }
  return groups;
}

function lengthAxis(points: Points, name: string): Axis {
  const [from, to] = [points[0]?.[0] ?? 1, points.at(-1)?.[0] ?? 1];
  const range = { from, to, title: `${name}, tokens`, format: formatNumber };
  return from > 0 && to / from >= 10 ? logAxis(range, 6) : linearAxis({ ...range, from: 0 }, 6);
}
