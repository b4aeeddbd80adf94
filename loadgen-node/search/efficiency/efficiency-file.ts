import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { readVersionedFile } from '../../../shared/base/files/read-file.ts';
import { FIGURE_NAMES } from '../../observe/figures/figure-names.ts';
import { LATENCY_SPLIT } from '../../observe/split/split-sums.ts';
import { type Question, questionDifferences } from '../kept-file.ts';
import { LOAD_SEARCH, PEAK_PROBE } from '../peak/peak-search.ts';
import type { PeakFile } from '../peak/search-peak.ts';

/** One run of a side. */
const run = z.strictObject({
  /** Server: queries per second that were requested; null elsewhere. */
  load: z.number().nullable(),
  isValid: z.boolean(),
  /** First reason of a run that is INVALID; null of others. */
  whyInvalid: z.string().nullable(),
  figures: z.partialRecord(z.enum(FIGURE_NAMES), z.number()),
  /** Null where no run records are kept or the SUT reported no times. */
  split: LATENCY_SPLIT.nullable(),
  folder: z.string(),
});

/** One side of a comparison: everything that was measured in process, or over the network. */
export const EFFICIENCY_SIDE = z.strictObject({
  kind: z.enum(['in-process', 'network']),
  sutName: z.string(),
  measuredAt: z.string(),
  machine: z.strictObject({
    hostname: z.string(),
    cpuCount: z.number(),
    /** Changes at every start of the machine; empty where it is not known. */
    bootId: z.string(),
  }),
  /** `configuration` is the name of the SUT's configuration: equal for equal settings and model. */
  model: z.strictObject({ name: z.string(), sha256: z.string(), configuration: z.string() }),
  /** Settings of the runs by name, as text: both sides have to have the same. */
  question: z.record(z.string(), z.string()),
  /** As in the file of find-peak; null where there is no load to search. */
  search: z.strictObject({ search: LOAD_SEARCH, probes: z.array(PEAK_PROBE) }).nullable(),
  /** In their order. Server: at fixed loads. */
  runs: z.array(run),
});

/** As {@link EFFICIENCY_SIDE}. */
export interface EfficiencySide
  extends Omit<DeepReadonly<z.infer<typeof EFFICIENCY_SIDE>>, 'search'> {
  readonly search: Pick<PeakFile, 'search' | 'probes'> | null;
}
export type SideRun = DeepReadonly<z.infer<typeof run>>;

const SIDE_VERSION = 4;

/** File of `longhaul efficiency --in-process-only`, to be carried to the other machine. */
export const SIDE_FILE = z.strictObject({
  schemaVersion: z.literal(SIDE_VERSION),
  longhaul: z.string(),
  side: EFFICIENCY_SIDE,
});

/** The file of a side. */
export function sideFile(measured: EfficiencySide) {
  return { schemaVersion: SIDE_VERSION, longhaul: packageVersion(), side: measured };
}

/**
 * Reads what was measured in process on another machine.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` where it is no such file
 */
export function readInProcessSide(path: string): EfficiencySide {
  const { side: read } = readVersionedFile(path, SIDE_FILE, {
    version: SIDE_VERSION,
    other: ' of what "longhaul efficiency --in-process-only" writes: measure that side again',
    wrong: ' was not written by "longhaul efficiency --in-process-only"',
  });
  if (read.kind === 'in-process') return read as EfficiencySide;
  throw configInvalid(`--in-process ${path} was measured over a network`);
}

/**
 * Refuses to compare what is not the same: another model, other settings of the SUT, other seeds or
 * settings of the runs.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every difference
 */
export function requireSame(inProcess: EfficiencySide, network: EfficiencySide): void {
  const textsOf = ({ model, question }: EfficiencySide): Question => ({
    'model (SHA-256)': model.sha256,
    'SUT configuration': model.configuration,
    ...question,
  });
  const differences = questionDifferences(
    textsOf(inProcess),
    textsOf(network),
    (name, inside, outside) => `${name}: in process ${inside}, over the network ${outside}`,
  );
  if (differences.length === 0) return;
  throw configInvalid(
    `the two sides are not the same, and cannot be compared:\n${differences.join('\n')}`,
  );
}
