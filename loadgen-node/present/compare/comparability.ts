import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { CauseKind } from '../../loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { auditOf, type NetworkAudit, sharedNodes } from '../../observe/network-audit.ts';
import { boundsOfRun, type RunSummary } from '../../observe/summary/run-summary.ts';
import { boundsText } from '../curve/load-point.ts';
import { hostText, linkWords } from '../text/machine-text.ts';
import type { NamedRun } from './compare-runs.ts';

/** A run, and the machines in its audit; null without an audit. */
interface JudgedRun extends NamedRun {
  readonly audit: NetworkAudit | null;
}

/**
 * Effect of a difference. `refused`: the figures have different meanings. `forceable`: compared
 * only with --force. `warned`: compared, but it may be the cause of a difference in the figures.
 */
type Weight = 'refused' | 'forceable' | 'warned';

interface Row {
  readonly what: string;
  readonly weight: Weight;
  /** Value of the property; null if unknown, which counts as no difference. */
  readonly of: (run: JudgedRun) => string | null;
  /** Effect on the figures, appended to a warning. */
  readonly effect?: string;
}

/** Checks in the order in which they are reported. */
const ROWS: readonly Row[] = [
  { what: 'scenario', weight: 'refused', of: ({ summary }) => summary.scenario },
  {
    what: 'latency bound',
    weight: 'refused',
    of: ({ summary }) => boundsText(boundsOfRun(summary), 'and') || 'none',
  },
  {
    what: 'target percentile',
    weight: 'refused',
    of: ({ summary }) => String(summary.targetPercentile ?? 'none'),
  },
  { what: 'benchmark', weight: 'forceable', of: ({ summary }) => summary.benchmark },
  { what: 'model', weight: 'forceable', of: ({ summary }) => modelsOf(summary) },
  {
    what: 'rate',
    weight: 'warned',
    of: ({ summary }) => rateOf(summary),
    effect: 'latencies at another rate are those of another load',
  },
  {
    what: 'machine of LoadGen',
    weight: 'warned',
    of: ({ audit }) => audit && hostText(audit.loadgenNode.host),
    effect: 'figures of different machines say little about each other',
  },
  {
    what: 'machines of the SUT',
    weight: 'warned',
    of: ({ audit }) => audit && sutMachines(audit),
    effect: 'a difference of the figures may be that of the machines',
  },
  {
    what: 'link',
    weight: 'warned',
    of: ({ audit }) => audit && linkWords(audit).kind,
    effect: 'a difference of the latencies may be that of the link',
  },
];

/**
 * Refuses runs with figures that cannot be compared.
 * @param isForced Allows different benchmarks and models.
 * @returns Texts of the remaining differences; empty if the runs are comparable.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every difference.
 */
export function checkComparable(runs: readonly NamedRun[], isForced: boolean): string[] {
  const judged = runs.map((run) => ({ ...run, audit: auditOf(run.folder) }));
  const differences = ROWS.flatMap((row) => differenceIn(row, judged));
  const refused = differences.filter(
    ({ weight }) => weight === 'refused' || (weight === 'forceable' && !isForced),
  );
  if (refused.length === 0) {
    return [
      ...invalid(judged),
      ...differences.map(({ text }) => text),
      ...shared(judged),
      ...unknown(judged),
    ];
  }
  const texts = refused.map(
    ({ text, weight }) =>
      `${text}${weight === 'forceable' ? ' (--force compares them anyway)' : ''}`,
  );
  throw configInvalid(
    `these runs measured different things, so their figures cannot be compared: ${texts.join('; ')}`,
  );
}

/** Use that the figures of an INVALID run still have, by its cause. */
const CONCLUSIONS: Readonly<Record<CauseKind, string>> = {
  'sut-broke': 'its figures end where the SUT broke',
  errors: 'its figures are of the samples that were answered',
  loadgen: "LoadGen's lateness is in its latencies, which say little of the SUT",
  standstill:
    'one stretch of time decides its tail, and only its middle says something of the load',
  shared: 'its figures are not those of this load alone',
  queue: 'its latencies grow with the length of the run, and only what it completed compares',
  disturbed: "its tail may be that of LoadGen's machine",
  load: 'its figures are those of a load at which the bound is not kept',
};

/** Text on INVALID runs: equal settings do not make their figures results. */
function invalid(runs: readonly JudgedRun[]): string[] {
  return runs.flatMap(({ folder, summary: { result, verdict } }) => {
    if (result === 'VALID') return [];
    const why = verdict.cause?.text ?? verdict.reasons[0]?.text.replace(/\.$/, '');
    const what = `${folder} is ${result}${why === undefined ? '' : ` (${why})`}`;
    const conclusion = verdict.cause
      ? CONCLUSIONS[verdict.cause.kind]
      : 'its figures are no result';
    return [`${what}: ${conclusion}`];
  });
}

/**
 * Text on runs whose SUT also served other clients: equal settings do not make their loads equal.
 */
function shared(runs: readonly JudgedRun[]): string[] {
  return runs.flatMap(({ folder, audit }) => {
    const text = audit && sharedNodes(audit);
    return text === null
      ? []
      : [
          `the SUT was not alone in ${folder}: ${text}: its figures are not those of this load alone`,
        ];
  });
}

/** Text on runs with unknown machines and link. */
function unknown(runs: readonly JudgedRun[]): string[] {
  const folders = runs.flatMap(({ folder, audit }) => (audit === null ? [folder] : []));
  if (folders.length === 0) return [];
  return [
    `machines and link are unknown for ${folders.join(', ')}: there is no ${RUN_FILES.audit}`,
  ];
}

/** One line for a property, with the runs by its values. */
function differenceIn({ what, weight, of, effect }: Row, runs: readonly JudgedRun[]) {
  const foldersOf = new Map<string, string[]>();
  for (const run of runs) {
    const value = of(run);
    if (value !== null) foldersOf.set(value, [...(foldersOf.get(value) ?? []), run.folder]);
  }
  if (foldersOf.size < 2) return [];
  const values = [...foldersOf].map(([value, folders]) => `${value} in ${folders.join(', ')}`);
  const text = `${what} is ${values.join(' and ')}${effect === undefined ? '' : `: ${effect}`}`;
  return [{ weight, text }];
}

function modelsOf({ nodes }: RunSummary): string {
  return [...new Set(nodes.map(({ model }) => model))].sort().join(', ') || 'not known';
}

/**
 * Target rate as part of a run's identity. In other scenarios a rate only decides the run's length.
 * A closed loop has none.
 */
function rateOf({ scenario, settings }: RunSummary): string | null {
  if (scenario !== 'Server') return null;
  const textOf = (key: string): string | undefined =>
    settings.find((setting) => setting.key === key)?.value;
  const concurrency = textOf('concurrency') ?? '';
  if (/^\d+$/.test(concurrency)) return `closed loop, ${concurrency} at a time`;
  const values = ['targetQps', 'arrivals'].flatMap((key) => textOf(key) ?? []);
  return values.length === 0 ? null : values.join(', ');
}

function sutMachines({ nodes }: NetworkAudit): string | null {
  const known = nodes.flatMap(({ description }) =>
    description?.host ? [hostText(description.host)] : [],
  );
  return known.length === 0 ? null : [...new Set(known)].sort().join('; ');
}
