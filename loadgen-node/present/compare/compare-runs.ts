import { disturbances } from '../../loadgen/results/generator-health.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureName,
  type FigureUnit,
} from '../../observe/figures/figure-names.ts';
import { auditOf, sharedNodes } from '../../observe/network-audit.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';
import {
  type ComparedRun,
  REPLICATE_COUNT,
  type Replicates,
  resampleRun,
} from './resampled-run.ts';

/** Low and high end of the 95 % confidence interval of a value. */
export type ConfidenceInterval = readonly [low: number, high: number];

/** Confidence of all intervals. */
export const CONFIDENCE = 0.95;

/** Seed of the random draws: the same runs give the same intervals. */
const SEED = 20_261_121;

/** A figure of one run compared with the base run's. */
export interface FigureDifference {
  /** Null if the run lacks this figure. */
  readonly value: number | null;
  /** Confidence interval of the value; null for a count or an extreme, which has none. */
  readonly interval: ConfidenceInterval | null;
  /** Value - base value; null for the base itself. */
  readonly difference: number | null;
  readonly differenceInterval: ConfidenceInterval | null;
  /** Difference as a share of the base value; infinite if that is 0. */
  readonly share: number | null;
  readonly shareInterval: ConfidenceInterval | null;
  /**
   * `better`, `worse`, or `other` (no preferred direction): the interval of the difference excludes
   * 0. `same`: it includes 0. Null: no interval, an input of the run, or a disturbed run.
   */
  readonly judgement: 'better' | 'worse' | 'other' | 'same' | null;
}

/** Compares the figures of runs with those of the first one. Call `checkComparable` first. */
export function compareRuns(
  runs: readonly ComparedRun[],
  replicateCount: number = REPLICATE_COUNT,
): RunComparison {
  const replicates = runs.map((run, i) => resampleRun(run, SEED + i, replicateCount));
  const disturbedBy = runs.map(disturbance);
  const settings = differingSettings(runs);
  // Not the SUT's merit: the scheduled rate, and completed queries at different loads.
  const isOtherLoad = settings.some(({ name }) => LOADS.includes(name));
  const inputs: readonly FigureName[] = isOtherLoad
    ? ['scheduled_qps', 'answered_qps', 'completed_qps']
    : ['scheduled_qps'];
  const figures = FIGURE_NAMES.filter((name) =>
    runs.some(({ summary }) => summary.figures[name] !== undefined),
  );
  const rows = figures.map((figure) => {
    const { unit, about } = FIGURES[figure];
    const isInput = inputs.includes(figure);
    const differences = differencesFrom(figure, runs, replicates).map((own, i) => {
      const isDisturbed = disturbedBy[0] !== null || disturbedBy[i] !== null;
      return isInput || isDisturbed ? { ...own, judgement: null } : own;
    });
    return { figure, unit, about, runs: differences };
  });
  return { runs, replicateCount, settings, disturbedBy, rows };
}

/** Runs side by side. */
export interface RunComparison {
  /** The first run is the base. */
  readonly runs: readonly ComparedRun[];
  readonly replicateCount: number;
  /** All settings that differ, as possible causes of differing figures. */
  readonly settings: readonly DifferingSetting[];
  /**
   * By run: causes that disturbed its LoadGen, or its SUT by other load; null if none was seen. No
   * interval contains the noise of a host or the load of other clients.
   */
  readonly disturbedBy: readonly (string | null)[];
  readonly rows: readonly ComparedFigure[];
}

interface DifferingSetting {
  readonly name: string;
  /** By run; null if not set. */
  readonly values: readonly (string | null)[];
}

interface ComparedFigure {
  readonly figure: FigureName;
  readonly unit: FigureUnit;
  readonly about: string;
  /** In the order of the runs. */
  readonly runs: readonly FigureDifference[];
}

/** Settings that decide the load. */
const LOADS: readonly string[] = ['targetQps', 'arrivals', 'concurrency'];

function disturbance({ folder, summary }: NamedRun): string | null {
  const { isGeneratorBound, generatorBoundReason, health } = summary;
  if (isGeneratorBound) return `generator-bound: ${generatorBoundReason}`;
  const causes = health === null ? [] : disturbances(health);
  const audit = auditOf(folder);
  if (audit !== null && sharedNodes(audit) !== null) causes.push('the SUT answered others as well');
  return causes.length === 0 ? null : causes.join('; ');
}

/** One figure of each run, compared with the first run. */
function differencesFrom(
  figure: FigureName,
  runs: readonly ComparedRun[],
  replicates: readonly Replicates[],
): FigureDifference[] {
  const base = runs[0]?.summary.figures[figure];
  const drawnBase = replicates[0]?.get(figure);
  return runs.map(({ summary }, i) => {
    const value = summary.figures[figure];
    if (value === undefined) return NOTHING;
    const drawn = replicates[i]?.get(figure);
    const interval = drawn === undefined ? null : intervalOf(drawn, value);
    if (i === 0 || base === undefined) return { ...NOTHING, value, interval };
    const difference = value - base;
    const share = relativeDifference(value, base);
    const unsure = { differenceInterval: null, shareInterval: null, judgement: null };
    const seen = { value, interval, difference, share, ...unsure };
    if (drawn === undefined || drawnBase === undefined) return seen;
    const paired = (of: (own: number, base: number) => number): Float64Array =>
      drawn.map((own, k) => of(own, drawnBase[k] as number));
    const differenceInterval = intervalOf(
      paired((own, other) => own - other),
      difference,
    );
    const shareInterval = intervalOf(paired(relativeDifference), share);
    const judgement = judgementOf(figure, differenceInterval);
    return { ...seen, differenceInterval, shareInterval, judgement };
  });
}

export const NOTHING: FigureDifference = {
  value: null,
  interval: null,
  difference: null,
  differenceInterval: null,
  share: null,
  shareInterval: null,
  judgement: null,
};

export function relativeDifference(value: number, base: number): number {
  return value === base ? 0 : (value - base) / Math.abs(base);
}

/**
 * Percentiles of the drawn values, extended to include the estimate. Null if too few values could
 * be drawn.
 */
function intervalOf(drawn: Float64Array, estimate: number): ConfidenceInterval | null {
  const sorted = drawn.filter((value) => !Number.isNaN(value)).sort();
  if (sorted.length < drawn.length || !Number.isFinite(estimate)) return null;
  const at = (share: number): number => sorted[Math.trunc(share * (sorted.length - 1))] as number;
  const low = Math.min(at((1 - CONFIDENCE) / 2), estimate);
  const high = Math.max(at((1 + CONFIDENCE) / 2), estimate);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
  return [low, high];
}

export function judgementOf(
  figure: FigureName,
  interval: ConfidenceInterval | null,
): FigureDifference['judgement'] {
  if (interval === null) return null;
  const [low, high] = interval;
  if (low <= 0 && high >= 0) return 'same';
  const { moreIsBetter } = FIGURES[figure];
  if (moreIsBetter === null) return 'other';
  return low > 0 === moreIsBetter ? 'better' : 'worse';
}

/** A run with its folder. */
export type NamedRun = Pick<ComparedRun, 'folder' | 'summary'>;

/**
 * Settings of a run that affect no figure: paths, labels, limits that only end or refuse a run, and
 * later processing.
 */
export const IDLE_KEYS: readonly string[] = [
  ...[
    'output',
    'cacheDir',
    'labels',
    'thresholds',
    'generatorLagMax',
    'report',
    'copySummaryToStdout',
  ],
  ...['copyDetailToStdout', 'prefixWithDatetime', 'readyTimeout', 'stallTimeout'],
  ...['keepaliveTimeout', 'messageBytesMax', 'dataChecksums', 'responseBytes', 'tokenFile'],
];
/** Any of these turns on TLS; which certificates they name affects no figure. */
export const TLS_KEYS: readonly string[] = [
  ...['tls', 'tlsCa', 'tlsCert', 'tlsKey', 'tlsServerName'],
];
/**
 * Settings of a node that affect no figure; address and TLS are already in the run's settings, and
 * `configuration` repeats its other settings as one text.
 */
const IDLE_NODE_KEYS: readonly string[] = [
  ...[
    'cacheFolder',
    'listen',
    'node',
    'configuration',
    'tlsCert',
    'tlsKey',
    'tlsClientCa',
    'tokenFile',
  ],
  ...['workerStartTimeoutNs', 'drainTimeoutNs', 'handshakeTimeoutNs', 'messageBytesMax'],
  ...['hasReflection', 'hasOip', 'tellsSystemFacts', 'allowsLinkTest', 'healthListen'],
  ...['sampleBytesMax', 'batchSizeAsked'],
];

/**
 * Settings that differ between the runs and their SUT nodes. `name` is the key in the configuration
 * file, or another name (`longhaul`, `node 1 workers`); values are in run order, null if not set or
 * unknown.
 */
function differingSettings(runs: readonly NamedRun[]): DifferingSetting[] {
  const all = runs.map((run) => new Map([...ofRun(run.summary), ...ofNodes(run.folder)]));
  const names = new Set(all.flatMap((settings) => [...settings.keys()]));
  return [...names]
    .map((name) => ({ name, values: all.map((settings) => settings.get(name) ?? null) }))
    .filter(({ values }) => new Set(values).size > 1);
}

function ofRun({ settings, longhaul, mode, round, division, nodes }: RunSummary): Pair[] {
  const isTls = settings.some(({ key, value }) => TLS_KEYS.includes(key) && value !== 'false');
  return [
    ...settings
      .filter(({ key }) => !IDLE_KEYS.includes(key) && !TLS_KEYS.includes(key))
      .map(({ key, value }): Pair => [key, value]),
    ['tls', String(isTls)],
    ...Object.entries({ longhaul, mode, round, division }),
    ...nodes.map(({ model }, i): Pair => [`node ${i + 1} model`, model]),
  ];
}

/**
 * Settings of a node that may affect a figure, named for a comparison. @param i Position among the
 * nodes of the run
 */
export function nodeSettings(settings: Readonly<Record<string, string>>, i: number): Pair[] {
  return Object.entries(settings)
    .filter(([key]) => !IDLE_NODE_KEYS.includes(key))
    .map(([key, value]) => [`node ${i + 1} ${key}`, value]);
}

type Pair = readonly [name: string, value: string];

/** Settings of the nodes from the audit; empty without an audit. */
function ofNodes(folder: string): Pair[] {
  const { nodes = [] } = auditOf(folder) ?? {};
  return nodes.flatMap(({ description }, i) => {
    if (description === null) return [];
    const settings = nodeSettings(description.settings, i);
    const sha256 = description.model?.sha256 ?? '';
    return sha256 === '' ? settings : [[`node ${i + 1} model SHA-256`, sha256], ...settings];
  });
}
