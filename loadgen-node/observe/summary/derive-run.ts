import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { SCENARIOS, type Scenario } from '../../../shared/domain/scenario.ts';
import { openRunFolder, RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import type { RunFigures } from '../figures/figure-names.ts';
import { figuresOf } from '../figures/figures-of-records.ts';
import type { PartOfFile, RecordsReader } from '../records/records-reader.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { latencySplit } from '../split/latency-split.ts';
import type { LatencySplit } from '../split/split-sums.ts';
import type { RunSummary } from './run-summary.ts';
import { readSummary } from './summary-file.ts';

/** What the records of a run say, derived from nothing but them. */
export interface DerivedRun {
  readonly path: string;
  readonly scenario: Scenario;
  /** Rows of the file that could be read, of all parts. */
  readonly rowCount: number;
  readonly parts: readonly PartOfFile[];
  /** What is missing of the file, in words; null for a whole one. */
  readonly cut: string | null;
  readonly figures: RunFigures;
  readonly split: LatencySplit | null;
  readonly nodes: readonly NodeShare[];
  /** Those that the figures are of. */
  readonly records: SampleRecords;
}

/** Samples that a node answered. */
export interface NodeShare {
  readonly name: string;
  readonly completedSamples: number;
}

/** A run folder as it is read again: what its summary says, and what its records say. */
export interface ReadRun {
  readonly folder: string;
  /** Null: there is none, as of a run of the C++ LoadGen or of one that was killed. */
  readonly summary: RunSummary | null;
  /** Null: there are no records. */
  readonly derived: DerivedRun | null;
}

/**
 * Reads a run folder and derives all figures from its records again. 10^7 records take 1 GB of memory.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`: no folder of a run; files that cannot be read, are of another
 *   version, or of two runs.
 */
export async function deriveRun(folder: string): Promise<ReadRun> {
  const hasOwnFiles = [RUN_FILES.records, RUN_FILES.runSummary].some((name) =>
    existsSync(join(folder, name)),
  );
  // A run that was killed, or one whose logs carry dates in their names, is told by its other files.
  if (!hasOwnFiles) openRunFolder(folder);
  const summary = readSummary(folder);
  const reader = await openRecords(folder);
  if (reader === null) return { folder, summary, derived: null };
  try {
    checkSameRun(reader, summary, folder);
    return { folder, summary, derived: await derive(reader, summary) };
  } finally {
    await reader.close();
  }
}

/** The records of a run; null where its folder has none. The caller closes them. @throws MlperfError */
export async function openRecords(folder: string): Promise<RecordsReader | null> {
  const path = join(folder, RUN_FILES.records);
  if (!existsSync(path)) return null;
  const { RecordsReader } = await import('../records/records-reader.ts');
  return await RecordsReader.open(path);
}

function checkSameRun(
  { path, about }: RecordsReader,
  summary: RunSummary | null,
  folder: string,
): void {
  if (summary === null || summary.runId === about.runId) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${path} has the records of run ${about.runId}, but ${join(folder, RUN_FILES.runSummary)} is of run ${summary.runId}`,
  );
}

async function derive(reader: RecordsReader, summary: RunSummary | null): Promise<DerivedRun> {
  const { path, about, rowCount, parts, cut } = reader;
  const scenario = SCENARIOS.find((one) => one === about.scenario);
  if (scenario === undefined) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `${path} is of the scenario "${about.scenario}", which there is not`,
    );
  }
  const records = await reader.readAll(summary?.records?.parts);
  const figures = figuresOf(records, {
    scenario,
    latencyBoundNs: summary?.latencyBoundNs ?? null,
    contractErrors: summary?.contractErrors ?? 0,
  });
  return {
    path,
    scenario,
    rowCount,
    parts,
    cut,
    figures,
    split: latencySplit(records, { nodeNames: about.nodes }),
    nodes: sharesOf(records, about.nodes),
    records,
  };
}

function sharesOf({ node, completedNs }: SampleRecords, names: readonly string[]): NodeShare[] {
  const counts = new Array<number>(names.length).fill(0);
  for (let row = 0; row < node.length; row += 1) {
    const index = node[row] as number;
    if (index >= 0 && index < counts.length && !Number.isNaN(completedNs[row])) {
      counts[index] = (counts[index] as number) + 1;
    }
  }
  return names.map((name, i) => ({ name, completedSamples: counts[i] as number }));
}
