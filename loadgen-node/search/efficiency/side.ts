import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX } from '../../../shared/base/files/read-file.ts';
import { readJsonFile } from '../../../shared/base/files/read-json-file.ts';
import { LATENCY_PARTS } from '../../observe/split/latency-parts.ts';
import { type Question, questionDifferences } from '../kept-file.ts';
import type { PeakResult } from '../peak/peak-search.ts';

const ns = z.number();

/** Percentiles of the latencies of a run, in ns. */
const latencies = z.strictObject({ meanNs: ns, p50Ns: ns, p90Ns: ns, p99Ns: ns, p999Ns: ns });

const split = z.strictObject({
  sampleCount: z.number(),
  parts: z
    .array(z.strictObject({ part: z.enum(LATENCY_PARTS), meanNs: ns, typicalNs: ns, tailNs: ns }))
    .readonly(),
  growsMost: z.enum(LATENCY_PARTS),
  text: z.string(),
});

/** One run of a side. */
const run = z.strictObject({
  /** Server: queries per second that were asked for; null elsewhere. */
  load: z.number().nullable(),
  isValid: z.boolean(),
  /** First reason of a run that is INVALID; null of others. */
  whyInvalid: z.string().nullable(),
  /** Completed samples per second. */
  samplesPerSecond: z.number(),
  latency: latencies,
  /** Null where no run records are kept or the SUT told no times. */
  split: split.nullable(),
  folder: z.string(),
});

/** What a search found, without its probes' details. */
const search = z.strictObject({
  ending: z.string(),
  /** What the confirming run measured: Server: its scheduled samples per second. Null: no load was confirmed. */
  value: z.number().nullable(),
  interval: z.strictObject({ low: z.number(), high: z.number().nullable() }).nullable(),
  confidence: z.number(),
  limitText: z.string(),
  probes: z.array(
    z.strictObject({
      kind: z.string(),
      load: z.number(),
      verdict: z.string(),
      queries: z.number(),
      percentileNs: ns,
      why: z.string(),
    }),
  ),
});

/** One side of a comparison: everything that was measured in process, or over the network. */
const side = z.strictObject({
  kind: z.enum(['in-process', 'network']),
  sutName: z.string(),
  measuredAt: z.string(),
  machine: z.strictObject({
    hostname: z.string(),
    cpuModel: z.string(),
    cpuCount: z.number(),
    /** Changes at every start of the machine; empty where it is not known. */
    bootId: z.string(),
  }),
  /** `configuration` is the name of the SUT's configuration: equal for equal settings and model. */
  model: z.strictObject({ name: z.string(), sha256: z.string(), configuration: z.string() }),
  /** Settings of the runs by name, as text: both sides have to have the same. */
  question: z.record(z.string(), z.string()),
  /** Server; null elsewhere. */
  search: search.nullable(),
  /** Offline, SingleStream, MultiStream: the runs in their order. Server: runs at fixed loads. */
  runs: z.array(run),
});

/** What `longhaul efficiency --in-process-only` leaves for the other machine. */
const SIDE_FILE = z.strictObject({ schemaVersion: z.literal(2), longhaul: z.string(), side });

export type EfficiencySide = z.infer<typeof side>;
export type SideRun = z.infer<typeof run>;
export type SideSearch = z.infer<typeof search>;
export type RunLatencies = z.infer<typeof latencies>;

/** The file of a side. */
export function sideFile(longhaul: string, measured: EfficiencySide): z.infer<typeof SIDE_FILE> {
  return { schemaVersion: 2, longhaul, side: measured };
}

/**
 * Reads what was measured in process on another machine.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` where it is no such file
 */
export function readInProcessSide(path: string): EfficiencySide {
  const wrong = ' was not written by "longhaul efficiency --in-process-only"';
  const { side: read } = readJsonFile(path, SIDE_FILE, FILE_BYTES_MAX.document, wrong);
  if (read.kind === 'in-process') return read;
  throw configInvalid(`--in-process ${path} was measured over a network`);
}

/** A search as it is kept. */
export function searchOf(result: PeakResult): SideSearch {
  const { ending, value, interval, confidence, limitText, probes } = result;
  return {
    ending,
    value,
    interval: interval && {
      low: interval.low,
      high: Number.isFinite(interval.high) ? interval.high : null,
    },
    confidence,
    limitText,
    probes: probes.map(({ kind, load, verdict, queries, percentileNs, why }) => {
      return { kind, load, verdict, queries, percentileNs, why };
    }),
  };
}

/**
 * Refuses to compare what is not the same: another model, other settings of the SUT, other seeds or settings of the runs.
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
