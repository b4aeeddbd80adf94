import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { CauseKind } from '../../loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { auditOf, type NetworkAudit, sharedNodes } from '../../observe/network-audit.ts';
import { boundsOfRun, type RunSummary } from '../../observe/summary/run-summary.ts';
import { boundsText } from '../curve/load-point.ts';
import { hostText, linkWords } from '../text/machine-text.ts';
import type { NamedRun } from './compare-runs.ts';

/** A run, and the machines of its audit; null: it has no audit. */
interface JudgedRun extends NamedRun {
  readonly audit: NetworkAudit | null;
}

/**
 * Effect of a difference. `refused`: the figures mean other things. `forceable`: --force compares them. `warned`: they
 * are compared, and the difference of the figures may be its own.
 */
type Weight = 'refused' | 'forceable' | 'warned';

interface Row {
  readonly what: string;
  readonly weight: Weight;
  /** Null: not known, which is no difference. */
  readonly of: (run: JudgedRun) => string | null;
  /** Behind a warning: what it does to the figures. */
  readonly effect?: string;
}

/** In the order in which they are told. */
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
 * Refuses runs whose figures cannot be compared.
 * @param isForced Lets benchmark and model differ.
 * @returns Remaining differences, in words; empty: the runs are comparable.
 * @throws MlperfError `ERR_CONFIG_INVALID` with all that differs.
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
    ({ text, weight }) => `${text}${weight === 'forceable' ? ' (--force lets it)' : ''}`,
  );
  throw configInvalid(
    `these runs measured different things, so their figures cannot be compared: ${texts.join('; ')}`,
  );
}

/** The conclusion that the figures of an INVALID run allow, by its cause. */
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

/** Runs that are INVALID: alike settings do not make their figures a result. */
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

/** Runs whose SUT answered others as well: alike settings do not make their loads alike. */
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

/** Runs whose machines and link are not known. */
function unknown(runs: readonly JudgedRun[]): string[] {
  const folders = runs.flatMap(({ folder, audit }) => (audit === null ? [folder] : []));
  if (folders.length === 0) return [];
  return [
    `machines and link are not known of ${folders.join(', ')}: there is no ${RUN_FILES.audit}`,
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

/** In the other scenarios a rate decides how long a run is, and not what it is. A closed loop has none. */
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
