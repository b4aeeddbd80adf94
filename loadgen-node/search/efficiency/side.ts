import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError, outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/make-folder.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import { LATENCY_PARTS } from '../../observe/split/latency-parts.ts';
import type { LatencySplit } from '../../observe/split/split-sums.ts';
import type { PeakResult } from '../peak/peak-search.ts';

/** Where a side was measured. */
export interface SideMachine {
  readonly hostname: string;
  readonly cpuModel: string;
  readonly cpuCount: number;
  /** Changes at every start of the machine; empty where it is not known. */
  readonly bootId: string;
}

/** What a side measured. */
export interface SideModel {
  readonly name: string;
  readonly sha256: string;
  /** Name of the SUT's configuration: equal for equal settings and model. */
  readonly configuration: string;
}

/** Percentiles of the latencies of a run, in ns. */
export interface RunLatencies {
  readonly meanNs: number;
  readonly p50Ns: number;
  readonly p90Ns: number;
  readonly p99Ns: number;
  readonly p999Ns: number;
}

/** One run of a side. */
export interface SideRun {
  /** Server: queries per second that were asked for; null elsewhere. */
  readonly load: number | null;
  readonly isValid: boolean;
  /** First reason of a run that is INVALID; null of others. */
  readonly whyInvalid: string | null;
  /** Completed samples per second. */
  readonly samplesPerSecond: number;
  readonly latency: RunLatencies;
  /** Null where no run records are kept or the SUT told no times. */
  readonly split: LatencySplit | null;
  readonly folder: string;
}

/** What a search found, without its probes' details. */
export interface SideSearch {
  readonly ending: string;
  /** What the confirming run measured: Server: its scheduled samples per second. Null: no load was confirmed. */
  readonly value: number | null;
  readonly interval: { readonly low: number; readonly high: number | null } | null;
  readonly confidence: number;
  readonly limitText: string;
  readonly probes: readonly {
    readonly kind: string;
    readonly load: number;
    readonly verdict: string;
    readonly queries: number;
    readonly percentileNs: number;
    readonly why: string;
  }[];
}

/** One side of a comparison: everything that was measured in process, or over the network. */
export interface EfficiencySide {
  readonly kind: 'in-process' | 'network';
  readonly sutName: string;
  readonly measuredAt: string;
  readonly machine: SideMachine;
  readonly model: SideModel;
  /** Settings of the runs by name, as text: both sides have to have the same. */
  readonly question: Readonly<Record<string, string>>;
  /** Server; null elsewhere. */
  readonly search: SideSearch | null;
  /** Offline, SingleStream, MultiStream: the runs in their order. Server: runs at fixed loads. */
  readonly runs: readonly SideRun[];
}

/** What `longhaul efficiency --in-process-only` leaves for the other machine. */
interface SideFile {
  readonly schemaVersion: 2;
  readonly longhaul: string;
  readonly side: EfficiencySide;
}

const ns = z.number();

const split = z.strictObject({
  sampleCount: z.number(),
  parts: z.array(
    z.strictObject({ part: z.enum(LATENCY_PARTS), meanNs: ns, typicalNs: ns, tailNs: ns }),
  ),
  growsMost: z.enum(LATENCY_PARTS),
  text: z.string(),
});

const run = z.strictObject({
  load: z.number().nullable(),
  isValid: z.boolean(),
  whyInvalid: z.string().nullable(),
  samplesPerSecond: z.number(),
  latency: z.strictObject({ meanNs: ns, p50Ns: ns, p90Ns: ns, p99Ns: ns, p999Ns: ns }),
  split: split.nullable(),
  folder: z.string(),
});

const search = z.strictObject({
  ending: z.string(),
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

const SIDE_FILE: z.ZodType<SideFile> = z.strictObject({
  schemaVersion: z.literal(2),
  longhaul: z.string(),
  side: z.strictObject({
    kind: z.enum(['in-process', 'network']),
    sutName: z.string(),
    measuredAt: z.string(),
    machine: z.strictObject({
      hostname: z.string(),
      cpuModel: z.string(),
      cpuCount: z.number(),
      bootId: z.string(),
    }),
    model: z.strictObject({ name: z.string(), sha256: z.string(), configuration: z.string() }),
    question: z.record(z.string(), z.string()),
    search: search.nullable(),
    runs: z.array(run),
  }),
});

/** @throws MlperfError `ERR_OUTPUT` */
export function writeJson(path: string, value: object): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}

/** The file of a side. */
export function sideFile(longhaul: string, side: EfficiencySide): SideFile {
  return { schemaVersion: 2, longhaul, side };
}

/**
 * Reads what was measured in process on another machine.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` where it is no such file
 */
export function readInProcessSide(path: string): EfficiencySide {
  let text: string;
  try {
    text = readBoundedText(path, FILE_BYTES_MAX.document);
  } catch (error) {
    const why = describeSystemError(error);
    throw new MlperfError('ERR_CONFIG_FILE', `cannot read ${path}: ${why}`, { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new MlperfError('ERR_CONFIG_INVALID', `--in-process ${path} is no JSON: ${error}`, {
      cause: error,
    });
  }
  const checked = SIDE_FILE.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--in-process ${path} was not written by "longhaul efficiency --in-process-only": ${issue?.path.join('.')}: ${issue?.message}`,
    );
  }
  if (checked.data.side.kind === 'in-process') return checked.data.side;
  throw new MlperfError('ERR_CONFIG_INVALID', `--in-process ${path} was measured over a network`);
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
  const differences = [
    ...difference('model (SHA-256)', inProcess.model.sha256, network.model.sha256),
    ...difference('SUT configuration', inProcess.model.configuration, network.model.configuration),
  ];
  const names = new Set([...Object.keys(inProcess.question), ...Object.keys(network.question)]);
  for (const name of names) {
    differences.push(...difference(name, inProcess.question[name], network.question[name]));
  }
  if (differences.length === 0) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `the two sides are not the same, and cannot be compared:\n${differences.join('\n')}`,
  );
}

function difference(
  name: string,
  inside: string | undefined,
  outside: string | undefined,
): string[] {
  if (inside === outside) return [];
  return [`${name}: in process ${inside ?? 'not set'}, over the network ${outside ?? 'not set'}`];
}
