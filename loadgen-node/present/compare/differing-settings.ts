import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
