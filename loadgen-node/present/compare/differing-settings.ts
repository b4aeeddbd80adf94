import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { readAudit } from '../../observe/audit/network-audit.ts';
import type { RunSummary } from '../../observe/summary/run-summary.ts';

/** A run by its folder. */
interface NamedRun {
  readonly folder: string;
  readonly summary: RunSummary;
}

/** Something that was set, and is not the same in all runs. */
export interface DifferingSetting {
  /** Key of the configuration file, or what else it is: `longhaul`, `node 1 workers`. */
  readonly name: string;
  /** In the order of the runs; null: not set, or not told. */
  readonly values: readonly (string | null)[];
}

/** Where files lie, which changes no figure. */
const PLACES: readonly string[] = ['output', 'cacheDir', 'cacheFolder'];
/** Of a node: its address, which the run's `sut` has, and its other settings again in one text. */
const NODE_PLACES: readonly string[] = ['listen', 'node', 'configuration', ...PLACES];

/** Everything that was set of the runs and their SUT nodes and differs between them. */
export function differingSettings(runs: readonly NamedRun[]): DifferingSetting[] {
  const all = runs.map((run) => new Map([...ofRun(run.summary), ...ofNodes(run.folder)]));
  const names = new Set(all.flatMap((settings) => [...settings.keys()]));
  return [...names]
    .map((name) => ({ name, values: all.map((settings) => settings.get(name) ?? null) }))
    .filter(({ values }) => new Set(values).size > 1);
}

function ofRun({ settings, longhaul, mode, round, division, nodes }: RunSummary): Pair[] {
  return [
    ...settings
      .filter(({ key }) => !PLACES.includes(key))
      .map(({ key, value }): Pair => [key, value]),
    ...Object.entries({ longhaul, mode, round, division }),
    ...nodes.map(({ model }, i): Pair => [`node ${i + 1} model`, model]),
  ];
}

type Pair = readonly [name: string, value: string];

/** As the nodes told them of themselves; nothing where the run left no audit. */
function ofNodes(folder: string): Pair[] {
  if (!existsSync(join(folder, RUN_FILES.audit))) return [];
  return readAudit(folder).nodes.flatMap(({ description }, i) => {
    if (description === null) return [];
    const settings = Object.entries(description.settings)
      .filter(([key]) => !NODE_PLACES.includes(key))
      .map(([key, value]): Pair => [`node ${i + 1} ${key}`, value]);
    const sha256 = description.model?.sha256 ?? '';
    return sha256 === '' ? settings : [[`node ${i + 1} model SHA-256`, sha256], ...settings];
  });
}

/** What two runs may not differ in, for their figures mean other things then; with `isForceable` the user may insist. */
const MUST_EQUAL: readonly {
  readonly what: string;
  readonly isForceable: boolean;
  readonly of: (summary: RunSummary) => string;
}[] = [
  { what: 'scenario', isForceable: false, of: ({ scenario }) => scenario },
  {
    what: 'latency bound',
    isForceable: false,
    of: ({ latencyBoundNs }) => (latencyBoundNs === null ? 'none' : formatNs(latencyBoundNs)),
  },
  {
    what: 'target percentile',
    isForceable: false,
    of: ({ targetPercentile }) => String(targetPercentile ?? 'none'),
  },
  { what: 'benchmark', isForceable: true, of: ({ benchmark }) => benchmark },
  { what: 'model', isForceable: true, of: modelsOf },
];

/**
 * Refuses runs whose figures cannot be compared.
 * @param isForced Lets benchmark and model differ.
 * @returns What does differ, where that was forced; for notes.
 * @throws MlperfError `ERR_CONFIG_INVALID` with all that differs.
 */
export function checkComparable(runs: readonly NamedRun[], isForced: boolean): string[] {
  const [base, ...others] = runs as [NamedRun, ...NamedRun[]];
  const differences = others.flatMap((run) => differencesOf(base, run));
  const refused = differences.filter(({ isForceable }) => !(isForceable && isForced));
  if (refused.length === 0) return differences.map(({ text }) => text);
  const texts = refused.map(
    ({ text, isForceable }) => `${text}${isForceable ? ' (--force lets it)' : ''}`,
  );
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `these runs measured different things, so their figures cannot be compared: ${texts.join('; ')}`,
  );
}

function differencesOf(base: NamedRun, run: NamedRun): { text: string; isForceable: boolean }[] {
  return MUST_EQUAL.flatMap(({ what, isForceable, of }) => {
    const [wanted, own] = [of(base.summary), of(run.summary)];
    if (own === wanted) return [];
    const text = `${what} is ${wanted} in ${base.folder} and ${own} in ${run.folder}`;
    return [{ text, isForceable }];
  });
}

function modelsOf({ nodes }: RunSummary): string {
  return [...new Set(nodes.map(({ model }) => model))].sort().join(', ') || 'not known';
}
