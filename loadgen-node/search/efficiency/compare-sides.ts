import { at } from '../../../shared/base/at.ts';
import { formatNs, grouped, percentage, rounded, tableLines } from '../../../shared/base/text.ts';
import { FIGURE_NAMES, FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { LATENCY_PARTS, type LatencyPart } from '../../observe/split/latency-parts.ts';
import {
  type FigureDifference,
  judgementOf,
  NOTHING,
  relativeDifference,
} from '../../present/compare/compare-runs.ts';
import { cells } from '../../present/compare/difference-text.ts';
import { comparedPeak, comparePeaks, type Share, shareText } from '../peak/compare-peaks.ts';
import { peakOf } from '../peak/find-peak.ts';
import type { EfficiencySide, SideRun } from './efficiency-file.ts';

/** Two runs of the same settings and load, made in turns: what drifts on the machine meets both. */
interface RunPair {
  readonly inside: SideRun;
  readonly outside: SideRun;
}

/** From so many pairs on that all differ one way, that is hardly chance. */
const PAIRS_TO_JUDGE = 5;

/**
 * Compares the results in process, the base, with those over the network: the peaks as
 * `longhaul compare` does it, and figures of runs by pairs.
 * @param scenario As in LoadGen's logs.
 */
export function compareSides(
  scenario: string,
  inProcess: EfficiencySide,
  network: EfficiencySide,
): { readonly lines: string[]; readonly comparison: SideComparison } {
  const pairs = pairRuns(inProcess.runs, network.runs);
  const unlike = scenario === 'Offline' ? pairs.find(isUnlike) : undefined;
  const isShown = (name: FigureName): boolean =>
    unlike === undefined || FIGURES[name].unit !== 'ns';
  const figures = pairs.length === 0 ? [] : figuresOf(pairs, FIGURE_NAMES.filter(isShown));
  const peaks = peaksOf(inProcess, network);
  const efficiency = peaks === null ? shareOfPairs(scenario, figures) : peaks.share;
  const parts = unlike === undefined ? partsOf(pairs) : [];
  const warnings = [...invalidRuns(inProcess), ...invalidRuns(network)];
  const chance = percentage(1 - 2 ** (1 - pairs.length));
  const band =
    pairs.length === 1
      ? 'one pair of runs'
      : `medians of ${pairs.length} pairs of runs in turns, between the smallest and the largest: the true ones lie there with ${chance}`;
  const lines = [
    ...(peaks === null ? [] : peaks.lines),
    `Efficiency    ${efficiency === null ? 'none' : `over the network the SUT has ${shareText(efficiency)} of what it has in process`}`,
    ...(figures.length === 0 ? [] : ['', ...figureTable(figures, pairs), band]),
    ...(parts.length === 0 ? [] : ['', ...partTable(parts)]),
    ...(unlike === undefined ? [] : ['', leftOutText(unlike)]),
    ...['', ...warnings.map((text) => `warning: ${text}`)],
  ];
  return { lines, comparison: { efficiency, figures, parts, warnings } };
}

/** Results over the network against those in process. */
export interface SideComparison {
  /** The result over the network as a share of that in process; null where a side has none. */
  readonly efficiency: Share | null;
  /** Of runs at the same load. */
  readonly figures: readonly PairedFigure[];
  /** Empty where a side knows no parts. */
  readonly parts: readonly PartDifference[];
  /** Runs that are INVALID, in words. */
  readonly warnings: readonly string[];
}

function peaksOf(inProcess: EfficiencySide, network: EfficiencySide) {
  const limits: string[] = [];
  const [base, own] = [inProcess, network].map(({ kind, search, question }) => {
    if (search === null) return null;
    const { limitText } = peakOf(search.search, search.probes) ?? {};
    if (limitText !== undefined) limits.push(`Limit         ${NAMES[kind]}: ${limitText}`);
    return comparedPeak(NAMES[kind], { ...search, identity: question });
  });
  if (!base || !own) return null;
  const { lines, share } = comparePeaks(base, own);
  return { share, lines: [...lines, ...limits] };
}

const NAMES: Readonly<Record<EfficiencySide['kind'], string>> = {
  'in-process': 'in process',
  network: 'over the network',
};

/** The first run at a load with the first run at that load, and so on. */
function pairRuns(inside: readonly SideRun[], outside: readonly SideRun[]): RunPair[] {
  const left = [...inside];
  return outside.flatMap((run) => {
    const twin = left.findIndex(({ load }) => load === run.load);
    const [found] = twin < 0 ? [] : left.splice(twin, 1);
    return found === undefined ? [] : [{ inside: found, outside: run }];
  });
}

/** True if the runs have other numbers of samples: LoadGen plans them by the rates it saw. */
function isUnlike({ inside, outside }: RunPair): boolean {
  return inside.figures.samples !== outside.figures.samples;
}

/** Says why a table of Offline runs has no latencies. */
function leftOutText({ inside, outside }: RunPair): string {
  const [here, there] = [inside, outside].map(({ figures: { samples } }) => grouped(samples ?? 0));
  return `note: latencies are left out: in Offline they grow with the number of samples, and a run in process had ${here}, its pair over the network ${there}`;
}

/**
 * A figure on both sides, as compare has it: medians over the pairs, the intervals from the
 * smallest to the largest.
 */
interface PairedFigure {
  readonly figure: FigureName;
  readonly inProcess: FigureDifference;
  readonly network: FigureDifference;
}

function figuresOf(pairs: readonly RunPair[], names: readonly FigureName[]): PairedFigure[] {
  return names.flatMap((figure) => {
    const values = pairs.map(({ inside, outside }) => [
      inside.figures[figure],
      outside.figures[figure],
    ]);
    if (!values.every((pair): pair is [number, number] => !pair.includes(undefined))) return [];
    const differences = values.map(([inside, outside]) => outside - inside);
    const shares = values.map(([inside, outside]) => relativeDifference(outside, inside));
    const differenceInterval = endsOf(differences);
    return {
      figure,
      inProcess: { ...NOTHING, value: medianOf(values.map(([inside]) => inside)) },
      network: {
        value: medianOf(values.map(([, outside]) => outside)),
        interval: null,
        difference: medianOf(differences),
        differenceInterval,
        share: medianOf(shares),
        shareInterval: endsOf(shares),
        judgement: pairs.length < PAIRS_TO_JUDGE ? null : judgementOf(figure, differenceInterval),
      },
    };
  });
}

/** Figures that are the result of a scenario. Server has a peak. */
const RESULTS: Readonly<Record<string, readonly FigureName[]>> = {
  SingleStream: ['p90'],
  MultiStream: ['p99'],
  // The metric of a token model is its tokens.
  Offline: ['tokens_per_second', 'completed_qps'],
};

/** The quotient of a latency is turned round. */
function shareOfPairs(scenario: string, figures: readonly PairedFigure[]): Share | null {
  const [found] = (RESULTS[scenario] ?? []).flatMap((name) =>
    figures.filter(({ figure }) => figure === name),
  );
  if (found === undefined) return null;
  const { share, shareInterval } = found.network;
  const [low, high] = shareInterval as [number, number]; // Those of pairs are there.
  const quotients = [share as number, low, high].map((one) => 1 + one) as [number, number, number];
  if (FIGURES[found.figure].moreIsBetter) {
    return { value: quotients[0], low: quotients[1], high: quotients[2] };
  }
  return { value: 1 / quotients[0], low: 1 / quotients[2], high: 1 / quotients[1] };
}

function figureTable(figures: readonly PairedFigure[], pairs: readonly RunPair[]): string[] {
  const { load } = at(pairs, 0).outside;
  const title = load === null ? '' : `at ${rounded(load, 4)}/s`;
  const titles = [title, 'in process', 'network', 'difference', 'smallest to largest', ''];
  const rows = figures.map(({ figure, inProcess, network }) => cells(figure, inProcess, network));
  return tableLines([titles, ...rows], '  ', (column) => column > 0 && column < 4);
}

/** A part of the latency on both sides: medians of means, in ns. */
interface PartDifference {
  readonly part: LatencyPart;
  readonly inProcessNs: number;
  readonly networkNs: number;
}

function partsOf(pairs: readonly RunPair[]): PartDifference[] {
  const splits = pairs.flatMap(({ inside: { split }, outside: { split: other } }) =>
    split === null || other === null ? [] : [[split, other] as const],
  );
  if (splits.length === 0) return [];
  const meanOf = (side: 0 | 1, part: LatencyPart): number =>
    medianOf(splits.map((pair) => pair[side].parts.find((one) => one.part === part)?.meanNs ?? 0));
  return LATENCY_PARTS.map((part) => ({
    part,
    inProcessNs: meanOf(0, part),
    networkNs: meanOf(1, part),
  }));
}

function partTable(parts: readonly PartDifference[]): string[] {
  // The remainder that is called network may lie below 0.
  const signed = (ns: number, plus = ''): string =>
    ns < 0 ? `-${formatNs(-ns)}` : `${plus}${formatNs(ns)}`;
  return tableLines([
    ['where it goes (mean)', 'in process', 'network', 'difference'],
    ...parts.map(({ part, inProcessNs, networkNs }) => [
      ...[part, signed(inProcessNs), signed(networkNs), signed(networkNs - inProcessNs, '+')],
    ]),
  ]);
}

function invalidRuns({ kind, runs }: EfficiencySide): string[] {
  const invalid = runs.filter(({ isValid }) => !isValid);
  const [first] = invalid;
  if (first === undefined) return [];
  return [
    `${invalid.length} of ${runs.length} runs ${NAMES[kind]} are INVALID, the first one (${first.folder}) because: ${first.whyInvalid ?? 'not reported'}`,
  ];
}

function endsOf(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

/** Median; of an even number of values the mean of the middle two. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = at(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (upper + at(sorted, middle - 1)) / 2;
}
