import { confirmedLoad, triedLoads } from './full-runs.ts';
import { fullProbe, type NextStep, type PlannedProbe } from './next-probe.ts';
import { isWithinBounds, type LoadSearch, type PeakProbe } from './peak-search.ts';

/** Late queries that a screening near the limit expects. */
const LATE = 20;
const CONFIDENCE = 0.99;
/** Fewest intervals before streams count as few enough. */
const BOUNDS_MIN = 10;
/** Largest share of all screening time for one screening. */
const TIME_SHARE = 0.15;

/**
 * Largest number of streams that keeps the bound, and `high`, the smallest that does not, by
 * screenings and full runs.
 */
export function streamsBracket(search: LoadSearch, probes: readonly PeakProbe[]) {
  const isHeavy = (probe: PeakProbe): boolean =>
    probe.verdict === 'undecided' ? !isWithinBounds(search, probe) : probe.verdict !== 'keeps';
  // LoadGen may be disturbed once.
  const isOnce = ({ load, verdict }: PeakProbe): boolean =>
    verdict === 'generator-bound' &&
    probes.filter((probe) => probe.load === load && probe.verdict === verdict).length < 2;
  const heavy = probes.filter((probe) => isHeavy(probe) && !isOnce(probe)).map(({ load }) => load);
  const high = heavy.length === 0 ? undefined : Math.min(...heavy);
  const light = probes.filter((probe) => !isHeavy(probe) && probe.load < (high ?? Infinity));
  return { low: Math.max(0, ...light.map(({ load }) => load)), high };
}

/** The next step of a search for streams: doubles, bisects, then confirms and steps down by one. */
export function nextStreamsStep(search: LoadSearch, probes: readonly PeakProbe[]): NextStep {
  const { low, high } = streamsBracket(search, probes);
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const invalid = fulls.find(({ verdict }) => verdict === 'invalid');
  if (invalid !== undefined) return { ending: 'unconfirmed', invalid };
  const begun = triedLoads(fulls, search.full).find(({ state }) => state === 'begun');
  if (begun !== undefined) return { probe: fullProbe(search, begun.load) };
  if (high === 1) return { ending: 'none' };
  if (high === undefined) {
    const next = low === 0 ? Math.max(1, Math.floor(search.startLoad ?? 1)) : low * 2;
    if (low < search.loadMax) return { probe: screening(search, Math.min(search.loadMax, next)) };
    return confirmStreams(search, fulls, low, 'open');
  }
  if (high - low > 1) return { probe: screening(search, Math.floor((low + high) / 2)) };
  return confirmStreams(search, fulls, low, 'found');
}

function confirmStreams(
  search: LoadSearch,
  fulls: readonly PeakProbe[],
  low: number,
  ending: 'found' | 'open',
): NextStep {
  const { full } = search;
  if (full.runs === 0 || confirmedLoad(fulls, full)?.load === low) return { ending };
  if (triedLoads(fulls, full).length >= full.loadsMax) return { ending: 'unconfirmed' };
  return { probe: fullProbe(search, low) };
}

function screening(search: LoadSearch, load: number): PlannedProbe {
  return {
    kind: 'screening',
    load,
    queriesMax: Math.ceil(LATE / (1 - search.percentile)),
    durationNsMax: search.screeningNsMax * TIME_SHARE,
    confidence: CONFIDENCE,
    durationNsMin: BOUNDS_MIN * search.boundNs,
  };
}
