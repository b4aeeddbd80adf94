import { at } from '../../../shared/base/at.ts';
import {
  asOneLine,
  firstOf,
  formatNs,
  grouped,
  percentage,
  sentencesOf,
  wrapped,
} from '../../../shared/base/text.ts';
import { LARGE_LAG } from '../../loadgen/engine/generator-bound.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import {
  BOUND_TITLES,
  boundsText,
  curveFilesText,
  type Goodput,
} from '../../present/curve/load-point.ts';
import { formatNumber } from '../../present/text/figure-text.ts';
import { searchNs } from './pace.ts';
import {
  type HeldLoad,
  loadRateText,
  loadText,
  type PeakResult,
  percentileText,
} from './peak-result.ts';
import type { LoadSearch, PeakLimit, PeakProbe, ProbeBound } from './peak-search.ts';

/** Subject and duration of a search, in two lines. */
export function searchText(search: LoadSearch, output: string): string {
  const { kind, full } = search;
  const what = kind === 'rate' ? 'queries per second' : 'streams';
  const rule = full.runs === 1 ? 'one full run' : `${full.runs} full runs`;
  const bounds = namedBounds(search);
  const late = kind === 'rate' ? 'latency ' : 'arrival interval ';
  const bound = `${bounds.length === 1 ? late : ''}${boundsText(bounds, 'and')}`;
  const found =
    `Searching the most ${what} with ${bound} at percentile ${percentileText(search)}${bounds.length === 1 ? '' : ' each'}, ` +
    `confirmed by ${rule}; kept in ${output}`;
  const slower = search.tpotNs === undefined ? 'a slow SUT' : 'long answers';
  const screenings = `about ${formatNs(search.screeningNsMax)} of screenings, longer with ${slower}`;
  if (full.runs === 0) return `${found}\nTakes ${screenings}`;
  // If LoadGen is too slow in one run at a load, it is repeated.
  const runs = `${full.runs} to ${full.runs * full.loadsMax} full runs (${(full.runs + 1) * full.loadsMax} at most, where LoadGen is disturbed)`;
  const all = formatNs(searchNs(search));
  return `${found}\nTakes ${screenings}, then ${runs} of ${formatNs(full.minDurationNs)} and ${full.minQueryCount} queries or more: about ${all} where the first is VALID`;
}

/** Columns of the table of probes: title, width (negative: left-aligned), text of a probe. */
function columnsOf(search: LoadSearch) {
  const loadOf = ({ load }: PeakProbe): string =>
    search.kind === 'rate' ? loadRateText(load) : String(load);
  const column = (title: string, width: number, text: (probe: PeakProbe) => string) => ({
    title: inColumn(title, width),
    text: (probe: PeakProbe) => inColumn(text(probe), width),
  });
  return [
    column('#', 3, ({ number }) => String(number)),
    column('probe', -9, ({ kind }) => kind),
    column(search.kind === 'rate' ? 'queries/s' : 'streams', 10, (probe) =>
      probe.kind === 'unloaded' ? '-' : loadOf(probe),
    ),
    column('queries', 8, ({ queries }) => String(queries)),
    ...namedBounds(search).flatMap(({ name }, i) => {
      const of = (probe: PeakProbe): ProbeBound => at(probe.bounds, i);
      const title = name === 'latency' ? '' : `${BOUND_TITLES[name]} `;
      return [
        column(`${title}p${percentileText(search)}`, 9, (probe) =>
          formatNs(of(probe).percentileNs),
        ),
        column('late', 8, (probe) =>
          probe.queries === 0 ? '-' : percentage(of(probe).overQueries / probe.queries),
        ),
        // No room for it beside the figures of two bounds.
        ...(name === 'latency'
          ? [
              column('95 % interval', 17, (probe) => {
                const { shareLow, shareHigh } = of(probe);
                return `${percentage(shareLow)} - ${percentage(shareHigh)}`;
              }),
            ]
          : []),
      ];
    }),
    ...(search.tpotNs === undefined
      ? []
      : [
          column('tokens/s', 9, ({ tokens }) =>
            tokens === null ? '-' : formatNumber(tokens.perSecond),
          ),
        ]),
  ];
}

function inColumn(text: string, width: number): string {
  return width < 0 ? text.padEnd(-width) : text.padStart(width);
}

/** Head of the table of probes. */
export function probeHeader(search: LoadSearch): string {
  return [...columnsOf(search).map(({ title }) => title), 'verdict: why'].join(' ');
}

/** Column of the result's texts. */
const LABEL_WIDTH = 10;

/** A probe as a table line; longhaul_peak.json has its complete problems. */
export function probeLine(search: LoadSearch, probe: PeakProbe): string {
  const { kind, verdict } = probe;
  // A VALID full run needs no extra text.
  const isSaid = kind === 'full' && verdict === 'keeps';
  const why = isSaid ? probe.why : `${verdict}: ${shortWhy(probe)}`;
  return [...columnsOf(search).map(({ text }) => text(probe)), why].join(' ');
}

/** The result of a search for people, ending with a newline. */
export function peakText(search: LoadSearch, result: PeakResult, folder: string): string {
  const rows: (readonly [string, string])[] = [
    ['Peak', peakSentence(search, result)],
    ['Interval', limitInterval(search, result)],
    ...(result.goodput === null || search.tpotNs === undefined
      ? []
      : [['Goodput', goodputText(result.goodput)] as const]),
    ...sentencesOf(result.limitText).map((text, i) => [i === 0 ? 'Limit' : '', text] as const),
    ...result.advice.map((text, i) => [i === 0 ? 'For more' : '', text] as const),
    ['Logs', foldersOf(result)],
    ['Curve', `${curveFilesText(search)} in ${folder}`],
  ];
  const lines = rows.flatMap(([label, text]) => wrapped(asOneLine(text), LABEL_WIDTH, label));
  return `\n${lines.join('\n')}\n`;
}

/** Why a search does not show the SUT's limit. */
const UNCONFIRMED_SINCE: Partial<Record<PeakLimit, string>> = {
  generator: ': LoadGen is the limit',
  others: ': the SUT answered others as well',
};

/** The peak, or its absence, and the largest load with few enough late queries. */
export function peakSentence(
  search: LoadSearch,
  { ending, value, load, samplesPerSecond, tokensPerSecond, limit, held }: PeakResult,
): string {
  if (value === null) {
    const why = `None is confirmed${UNCONFIRMED_SINCE[limit] ?? ''}`;
    if (ending === 'none' && UNCONFIRMED_SINCE[limit] === undefined)
      return 'None: no load keeps the bound';
    return held === null ? why : `${why}; ${heldText(search, held)}`;
  }
  const found = loadText(search, value);
  if (search.full.runs === 0) return `${found}, not confirmed by full runs`;
  const runs =
    search.full.runs === 1 ? 'a VALID run' : `${search.full.runs} VALID runs, the lowest`;
  const tokens =
    tokensPerSecond === null ? '' : ` and ${grouped(Math.round(tokensPerSecond))} tokens/s`;
  const completed = `${loadRateText(samplesPerSecond ?? 0)} samples/s${tokens} completed`;
  if (search.kind === 'streams') return `${found}, confirmed by ${runs} with ${completed}`;
  return `${found} scheduled in ${runs}, ${completed} (requested: ${loadRateText(load ?? value)})`;
}

/** Overload, as a share, that is reported if a probe was too short to show it. */
const UNSEEN_MIN = 0.02;

/** The probe, named by its load in the table. */
function heldText(search: LoadSearch, { unseen, probe }: HeldLoad): string {
  const { number, load, kind, queries, bounds, durationNs, verdict } = probe;
  const late = percentage(Math.max(...bounds.map(({ overQueries }) => overQueries)) / queries);
  const where = `${kind === 'full' ? 'full run' : 'screening'} ${number}`;
  const short =
    unseen < UNSEEN_MIN ? '' : `, too short to show an overload of up to ${percentage(unseen, 2)}`;
  const doubt = verdict === 'undecided' ? ', too few to tell that it holds' : short;
  return (
    `the highest load with few enough late was ${loadText(search, load)}, in ${where}: ` +
    `${late} of ${queries} queries in ${formatNs(durationNs)}${doubt}`
  );
}

/** Goodput of the confirming run. */
function goodputText({ share, samplesPerSecond, tokensPerSecond }: Goodput): string {
  const tokens =
    tokensPerSecond === null ? '' : ` and ${grouped(Math.round(tokensPerSecond))} tokens/s`;
  return `${loadRateText(samplesPerSecond)} queries/s${tokens} of it within every bound: ${percentage(share, 4)} of the queries`;
}

/**
 * Why the SUT's limit is unknown if something other than latency ended the search, without full
 * stop; its interval is then from a light to a heavy load, without statistics. Null if the limit is
 * known, or no load ended the search like that.
 */
export function unknownSince(
  search: LoadSearch,
  { interval, isFitted, limit }: PeakResult,
): string | null {
  if (limit !== 'generator' && limit !== 'lost-samples') return null;
  const end = limit === 'generator' ? 'LoadGen was too slow' : 'samples were lost';
  if (interval === null) return end;
  if (isFitted || !Number.isFinite(interval.high)) return null;
  return `at ${loadText(search, interval.high)} ${end}`;
}

export function limitInterval(search: LoadSearch, result: PeakResult): string {
  const { interval, estimate, confidence, isPrecise, limit } = result;
  if (interval === null || estimate === null) return 'Unknown';
  const sure = `${percentage(confidence, 4)} sure`;
  if (!Number.isFinite(interval.high)) {
    return `Above ${loadText(search, interval.low)}: no load that was tried missed the bound`;
  }
  const end = unknownSince(search, result);
  if (end !== null) {
    return `The SUT's limit is unknown: screenings were light at ${loadText(search, interval.low)}, and ${end}`;
  }
  if (search.kind === 'streams') {
    const isUnsure = result.probes.some(({ verdict }) => verdict === 'undecided');
    const sureness = isUnsure
      ? 'some screenings were too short to tell (--search-time), and are counted by what they saw'
      : 'each verdict 99 % sure';
    const high = loadText(search, interval.high);
    const where =
      interval.low === interval.high ? `is ${high}` : `lies from ${interval.low} to ${high}`;
    return `The limit ${where}; ${sureness}`;
  }
  const width = ((interval.high - interval.low) / 2 / estimate) * 100;
  const asked = isPrecise ? '' : ', wider than requested';
  const whose = limit === 'generator' ? "By screenings alone the SUT's limit" : 'The limit';
  return (
    `${whose} lies from ${loadRateText(interval.low)} to ${loadText(search, interval.high)}, most likely at ` +
    `${loadRateText(estimate)} (${sure}, ±${width.toFixed(1)} %${asked})${othersText(result.probes, interval)}`
  );
}

/**
 * Text on probes in the table whose own verdict contradicts the interval, which follows from all
 * probes together.
 */
function othersText(
  probes: readonly PeakProbe[],
  { low, high }: NonNullable<PeakResult['interval']>,
): string {
  const others = probes.filter(
    ({ kind, load, verdict }) =>
      kind !== 'unloaded' &&
      ((verdict === 'keeps' && load > high) || (verdict === 'misses' && load < low)),
  );
  if (others.length === 0) return '';
  const numbers = firstOf(
    others.map(({ number }) => String(number)),
    4,
  );
  return `, by all probes together: alone, ${others.length === 1 ? 'probe' : 'probes'} ${numbers} would say otherwise`;
}

function foldersOf({ load: confirmed, probes }: PeakResult): string {
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const confirming = fulls.filter(({ load, verdict }) => load === confirmed && verdict === 'keeps');
  const folders = (of: readonly PeakProbe[]): string =>
    of.flatMap(({ folder }) => folder ?? []).join(', ');
  if (folders(confirming) !== '') return folders(confirming);
  if (folders(fulls) !== '') return `${folders(fulls)}: full runs that confirmed no load`;
  return 'none: no full run was made (--keep-probes keeps those of screenings)';
}

/**
 * Short reason of an INVALID full run, or of a LoadGen that was too slow; without its causes, which
 * repeat in every line and are in longhaul_peak.json.
 */
function shortWhy({ kind, verdict, why, lagP99Ns }: PeakProbe): string {
  // The columns show the values.
  if (verdict !== 'generator-bound') {
    const [, reason] = (kind === 'full' && /^INVALID: ([^:.(]+)/.exec(why)) || [];
    if (reason === undefined) return why;
    return `INVALID, ${reason.trim().replace(/^(?:The|Too|Every)\b/, (word) => word.toLowerCase())}`;
  }
  if (why.includes(LARGE_LAG)) return `dispatch lag p99 ${formatNs(lagP99Ns)}`;
  return why.replace(/^LoadGen was too slow: |;.*$/g, '');
}
