import { asOneLine, formatNs, percentage, sentencesOf } from '../../../shared/base/text.ts';
import { loadRateText, loadText, percentileText } from './peak-result.ts';
import type { HeldLoad, LoadSearch, PeakProbe, PeakResult } from './peak-search.ts';

/** What is searched and how long that takes, in two lines. */
export function searchText(search: LoadSearch, output: string): string {
  const { boundNs, kind, full } = search;
  const what = kind === 'rate' ? 'queries per second' : 'streams';
  const rule = full.runs === 1 ? 'one full run' : `${full.runs} full runs`;
  const late = kind === 'rate' ? 'latency' : 'arrival interval';
  const found =
    `Searching the most ${what} with ${late} ${formatNs(boundNs)} at percentile ${percentileText(search)}, ` +
    `confirmed by ${rule}; kept in ${output}`;
  const screenings = `about ${formatNs(search.screeningNsMax)} of screenings, longer with a slow SUT`;
  if (full.runs === 0) return `${found}\nTakes ${screenings}`;
  const runs = `${full.runs} to ${full.loadsMax * full.runs} full runs`;
  return `${found}\nTakes ${screenings}, then ${runs} of ${formatNs(full.minDurationNs)} and ${full.minQueryCount} queries or more`;
}

const WIDTHS = { number: 3, kind: 9, load: 10, queries: 8, latency: 9, share: 8, interval: 17 };

/** Head of the table of probes. */
export function probeHeader(search: LoadSearch): string {
  const { number, kind, load, queries, latency, share, interval } = WIDTHS;
  return [
    '#'.padStart(number),
    'probe'.padEnd(kind),
    (search.kind === 'rate' ? 'queries/s' : 'streams').padStart(load),
    'queries'.padStart(queries),
    `p${percentileText(search)}`.padStart(latency),
    'late'.padStart(share),
    '95 % interval'.padStart(interval),
    'verdict: why',
  ].join(' ');
}

/** A probe as a line of the table. */
export function probeLine(search: LoadSearch, probe: PeakProbe): string {
  const { number, kind, load, queries, latency, share, interval } = WIDTHS;
  const late = probe.queries === 0 ? '-' : percentage(probe.overlatencyQueries / probe.queries);
  const loadOf = search.kind === 'rate' ? loadRateText(probe.load) : String(probe.load);
  return [
    String(probe.number).padStart(number),
    probe.kind.padEnd(kind),
    (probe.kind === 'unloaded' ? '-' : loadOf).padStart(load),
    String(probe.queries).padStart(queries),
    formatNs(probe.percentileNs).padStart(latency),
    late.padStart(share),
    `${percentage(probe.shareLow)} - ${percentage(probe.shareHigh)}`.padStart(interval),
    isSameWord(probe) ? probe.why : `${probe.verdict}: ${shortWhy(probe)}`,
  ].join(' ');
}

/** How the search ended, as a person wants to read it, ending with a newline. */
export function peakText(search: LoadSearch, result: PeakResult): string {
  const rows: (readonly [string, string])[] = [
    ['Peak', peakOf(search, result)],
    ['Interval', intervalText(search, result)],
    ...sentencesOf(result.limitText).map((text, i) => [i === 0 ? 'Limit' : '', text] as const),
    ...result.advice.map((text, i) => [i === 0 ? 'For more' : '', text] as const),
    ['Logs', foldersOf(result)],
  ];
  return `\n${rows.map(([label, text]) => `${label.padEnd(9)} ${asOneLine(text)}\n`).join('')}`;
}

function peakOf(
  search: LoadSearch,
  { ending, value, load, samplesPerSecond, limit, held }: PeakResult,
): string {
  if (value === null) {
    if (ending === 'none' && limit !== 'generator') return 'none: no load keeps the bound';
    const why =
      limit === 'generator'
        ? 'none is confirmed: LoadGen itself was too slow'
        : 'none is confirmed';
    return held === null ? why : `${why}; the largest load that held is ${heldText(search, held)}`;
  }
  const found = loadText(search, value);
  if (search.full.runs === 0) return `${found}, not confirmed by full runs`;
  const runs =
    search.full.runs === 1 ? 'a VALID run' : `${search.full.runs} VALID runs, the lowest`;
  const completed = `${loadRateText(samplesPerSecond ?? 0)} samples/s completed`;
  if (search.kind === 'streams') return `${found}, confirmed by ${runs} with ${completed}`;
  return `${found} scheduled in ${runs}, ${completed} (asked for: ${loadRateText(load ?? value)})`;
}

function heldText(search: LoadSearch, { load, probe }: HeldLoad): string {
  const { number, kind, queries, overlatencyQueries, durationNs } = probe;
  const late = percentage(overlatencyQueries / queries);
  const where = `${kind === 'full' ? 'full run' : 'screening'} ${number}`;
  return `${loadText(search, load)}, in ${where}: ${late} of ${queries} queries late in ${formatNs(durationNs)}`;
}

function intervalText(search: LoadSearch, result: PeakResult): string {
  const { interval, estimate, confidence, isPrecise, limit } = result;
  if (interval === null || estimate === null) return 'nothing is known of a limit';
  const sure = `${percentage(confidence, 4)} sure`;
  if (!Number.isFinite(interval.high)) {
    return `above ${loadText(search, interval.low)}: nothing that was tried missed the bound`;
  }
  if (limit === 'generator' || limit === 'lost-samples') {
    // What was light once and what was not, with no statistics in it: latencies did not set this limit.
    const end = limit === 'generator' ? 'LoadGen was too slow' : 'samples were lost';
    return (
      `none of the SUT's limit: screenings were light at ${loadText(search, interval.low)}, and ` +
      `${Number.isFinite(interval.high) ? `at ${loadText(search, interval.high)}` : 'above'} ${end}`
    );
  }
  if (search.kind === 'streams') {
    const isUnsure = result.probes.some(({ verdict }) => verdict === 'undecided');
    const sureness = isUnsure
      ? 'some screenings were too short to tell (--search-time), and are counted by what they saw'
      : 'each verdict 99 % sure';
    return `the limit lies from ${interval.low} to ${loadText(search, interval.high)}; ${sureness}`;
  }
  const width = ((interval.high - interval.low) / 2 / estimate) * 100;
  const asked = isPrecise ? '' : ', wider than was asked for';
  return (
    `the limit lies from ${loadRateText(interval.low)} to ${loadText(search, interval.high)}, most likely at ` +
    `${loadRateText(estimate)} (${sure}, ±${width.toFixed(1)} %${asked})`
  );
}

function foldersOf({ load: confirmed, probes }: PeakResult): string {
  const confirming = probes.filter(
    ({ kind, load, verdict }) => kind === 'full' && load === confirmed && verdict === 'keeps',
  );
  const folders = confirming.flatMap(({ folder }) => folder ?? []);
  return folders.length === 0 ? 'of no confirming run' : folders.join(', ');
}

/** Why LoadGen was too slow, without its causes: they are the same in line after line, and longhaul_peak.json has them. */
function shortWhy({ verdict, why }: PeakProbe): string {
  if (verdict !== 'generator-bound') return why;
  return why.replace(/(?:, and the SUT is too slow as well|;).*$/, '');
}

/** A full run that is VALID says so itself. */
function isSameWord({ kind, verdict }: PeakProbe): boolean {
  return kind === 'full' && verdict === 'keeps';
}
