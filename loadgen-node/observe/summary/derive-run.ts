import { join } from 'node:path';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { SCENARIOS, type Scenario } from '../../../shared/domain/scenario.ts';
import { SYNTHETIC_BENCHMARKS } from '../../../shared/rules/benchmark-rules.ts';
import { openRunFolder, RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import {
  FIGURE_NAMES,
  FIGURES,
  type FigureUnit,
  type RunFigures,
  withoutRates,
} from '../figures/figure-names.ts';
import { byNode, figuresBy, figuresOf } from '../figures/figures-of-records.ts';
import { LatencyHistogram } from '../figures/latency-histogram.ts';
import { findRecords } from '../records/record-set.ts';
import type { RecordSetReader } from '../records/record-set-reader.ts';
import type { PartOfFile } from '../records/records-reader.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { latencySplit } from '../split/latency-split.ts';
import type { LatencySplit, PartFigures } from '../split/split-sums.ts';
import { lanesOfRun, type RunSummary, readSummary } from './run-summary.ts';

/**
 * Reads a run folder and recomputes all figures from its records. 10^7 records take 1 GB of memory.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`: not a run's folder; files that
 *   cannot be read, have another version, or belong to two runs.
 */
export async function deriveRun(folder: string): Promise<ReadRun> {
  const summary = readSummary(folder);
  const reader = await openRecords(folder);
  // A killed run, or one with dates in its logs' names, is recognised by its other files.
  if (summary === null && reader === null) openRunFolder(folder);
  if (reader === null) return { folder, summary, derived: null };
  try {
    checkSameRun(reader, summary, folder);
    return { folder, summary, derived: await derive(reader, summary) };
  } finally {
    await reader.close();
  }
}

/** A run folder that was read. */
export interface ReadRun {
  readonly folder: string;
  /** Null if there is none, as for a run of the C++ LoadGen or a killed one. */
  readonly summary: RunSummary | null;
  /** Null if the folder has no records. */
  readonly derived: DerivedRun | null;
}

/**
 * The records of a run; null if its folder has none. The caller closes them.
 * @throws MlperfError
 */
export async function openRecords(folder: string): Promise<RecordSetReader | null> {
  const set = findRecords(folder);
  if (set.length === 0) return null;
  // Slow to load.
  const { RecordSetReader } = await import('../records/record-set-reader.ts');
  return await RecordSetReader.open(set);
}

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` if a file belongs to another run than the summary
 *   (without a summary: than the first file).
 */
function checkSameRun(
  { files, about }: RecordSetReader,
  summary: RunSummary | null,
  folder: string,
): void {
  const runId = summary?.runId ?? about.runId;
  const other = files.find((file) => file.about.runId !== runId);
  if (other === undefined) return;
  const path = summary === null ? files[0]?.path : join(folder, RUN_FILES.runSummary);
  throw configInvalid(
    `${other.path} has the records of run ${other.about.runId}, but ${path} is of run ${runId}`,
  );
}

/** Recomputes figures, split and nodes from the records of a run alone. */
async function derive(reader: RecordSetReader, summary: RunSummary | null): Promise<DerivedRun> {
  const { files, about, rowCount, parts, cut } = reader;
  const scenario = SCENARIOS.find((one) => one === about.scenario);
  if (scenario === undefined) {
    throw configInvalid(`${files[0]?.path} names an unknown scenario "${about.scenario}"`);
  }
  const records = await reader.readAll(summary?.records?.parts);
  const measured = figuresOf(records, {
    scenario,
    lanes: lanesOfRun(summary ?? {}),
    contractErrors: summary?.contractErrors ?? 0,
  });
  // Only their counts are needed.
  const ofNodes = figuresBy(records, byNode(records, about.nodes), () => new LatencyHistogram());
  const { audit = [] } = summary ?? {};
  const isSutLost = summary?.verdict.cause?.kind === 'sut-broke';
  const figures = isSutLost ? withoutRates(measured) : measured;
  return {
    scenario,
    rowCount,
    parts,
    cut,
    figures,
    split: latencySplit(records, {
      nodeNames: about.nodes,
      isOneMachine: audit.some(
        ({ rule, verdict }) => rule === 'separate-machines' && verdict === 'broken',
      ),
      hasModel: !SYNTHETIC_BENCHMARKS.includes(about.benchmark),
      isGeneratorBound: summary?.isGeneratorBound,
    }),
    nodes: ofNodes.map(({ sampleLatency: { count } }, i) => {
      return { name: about.nodes[i] as string, completedSamples: count };
    }),
    records,
  };
}

/** Figures, split and nodes of a run by its records alone. */
export interface DerivedRun {
  readonly scenario: Scenario;
  /** Readable rows of all files, in all parts. */
  readonly rowCount: number;
  readonly parts: readonly PartOfFile[];
  /** Text on the missing rows; null if no file was truncated. */
  readonly cut: string | null;
  readonly figures: RunFigures;
  readonly split: LatencySplit | null;
  /** Samples that each node answered. */
  readonly nodes: readonly { readonly name: string; readonly completedSamples: number }[];
  /** The records that the figures are computed from. */
  readonly records: SampleRecords;
}

/**
 * Relative difference below which two sums of fractions are equal: the order of additions causes
 * it, not the records.
 */
const NOISE = 1e-12;
/** Tolerance for the split's times, which are means with fractions of ns. */
const NOISE_NS = 0.5;

/** Parts of the latency, or of the time to the first token. */
interface SplitParts {
  readonly sampleCount: number;
  readonly parts: readonly PartFigures<string>[];
}

/** A figure whose value in the summary differs from the one recomputed from the records. */
export interface SummaryDifference {
  /** Name of the figure, or its place in the split. */
  readonly what: string;
  readonly unit: FigureUnit;
  /** Null if it is missing. */
  readonly inSummary: number | null;
  readonly derived: number | null;
}

/** All figures, counts and split times that differ between a summary and its records. */
export function differencesOf(summary: RunSummary, derived: DerivedRun): SummaryDifference[] {
  const found: SummaryDifference[] = [];
  const hold = (what: string, unit: FigureUnit, written?: number, seen?: number): void => {
    if (isEqual(written, seen, unit)) return;
    found.push({ what, unit, inSummary: written ?? null, derived: seen ?? null });
  };
  for (const name of FIGURE_NAMES) {
    hold(name, FIGURES[name].unit, summary.figures[name], derived.figures[name]);
  }
  hold('rows', 'count', summary.records?.rows, derived.rowCount);
  const holdParts = (what: string, written?: SplitParts, seen?: SplitParts): void => {
    hold(`${what}: samples`, 'count', written?.sampleCount, seen?.sampleCount);
    for (const { part, ...figures } of seen?.parts ?? []) {
      const one = written?.parts.find((figure) => figure.part === part);
      for (const key of ['mean', 'typical', 'tail'] as const) {
        hold(`${what}: ${part}, ${key}`, 'ns', one?.[`${key}Ns`], figures[`${key}Ns`]);
      }
    }
  };
  holdParts('split', summary.split ?? undefined, derived.split ?? undefined);
  const [written, seen] = [summary.split?.tokens, derived.split?.tokens];
  holdParts('split to the first token', written, seen);
  for (const key of ['typicalNs', 'tailNs'] as const) {
    hold(`split per token: ${key}`, 'ns', written?.perToken?.[key], seen?.perToken?.[key]);
  }
  return found;
}

function isEqual(written: number | undefined, seen: number | undefined, unit: FigureUnit): boolean {
  if (written === undefined || seen === undefined) return written === seen;
  const noise = NOISE * Math.abs(written);
  return Math.abs(written - seen) <= (unit === 'ns' ? Math.max(noise, NOISE_NS) : noise);
}
