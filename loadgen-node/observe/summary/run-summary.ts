import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { readVersionedFile, writeText } from '../../../shared/base/files/read-file.ts';
import { jsonText } from '../../../shared/base/text.ts';
import { SCENARIOS } from '../../../shared/domain/scenario.ts';
import { CAUSE_KINDS } from '../../loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { GENERATOR_CEILING, GENERATOR_HEALTH } from '../../loadgen/results/generator-health.ts';
import { type Lane, wholeLane } from '../../loadgen/settings/lanes.ts';
import {
  type BoundName,
  boundNsOn,
  namedBounds,
  type QueryBound,
} from '../../loadgen/settings/query-bounds.ts';
import { THRESHOLD_RESULT } from '../figures/condition.ts';
import { FIGURE_NAMES } from '../figures/figure-names.ts';
import { STEP_FIGURES } from '../figures/step-figures.ts';
import { CPP_ENGINE } from '../network-audit.ts';
import { PROTOCOL_NAME } from '../protocol-name.ts';
import { SERVER_STATISTICS } from '../split/server-statistics.ts';
import { LATENCY_SPLIT } from '../split/split-sums.ts';

/** Format version of `longhaul_summary.json`; readers refuse others. */
export const SUMMARY_SCHEMA_VERSION = 1;

const reason = z.strictObject({
  rule: z.string().describe('stable word of the rule'),
  text: z.string(),
  needed: z.string(),
  seen: z.string(),
  key: z.string().nullable().describe("LoadGen's name of the setting that changes it"),
});

const verdict = z.strictObject({ isValid: z.boolean(), reasons: z.array(reason) });

const advisedReason = reason.extend({
  advice: z.string().describe('setting to change, and by how much; empty: no setting helps'),
});
const advisedVerdict = z.strictObject({
  isValid: z.boolean(),
  cause: z
    .strictObject({ kind: z.enum(CAUSE_KINDS), text: z.string() })
    .nullable()
    .describe('why the performance run is INVALID, in few words; null: the reasons tell'),
  reasons: z.array(advisedReason),
});

const setting = z.strictObject({
  key: z.string(),
  value: z.string().describe('as it is written in a configuration file'),
  source: z.string().describe('flag, file with line, or default'),
});

const usagePoint = z.strictObject({
  atNs: z
    .number()
    .describe('end of its second, in ns since the first query of the performance run'),
  cores: z.number().describe('cores that the node kept busy, its worker processes included'),
  residentBytes: z.number().describe('resident memory of the same processes'),
  machineCores: z.number().optional().describe('cores of the machine that were not idle'),
});

const node = z.strictObject({
  address: z.string(),
  name: z.string(),
  model: z.string(),
  issuedSamples: z.number(),
  completedSamples: z.number(),
  failedSamples: z.number(),
  usage: z
    .array(usagePoint)
    .optional()
    .describe('once a second, in long runs less often; absent: the node does not report it'),
  server: z
    .strictObject({
      name: z.string(),
      version: z.string(),
      statistics: SERVER_STATISTICS.nullable().describe('null if the server has none'),
    })
    .optional()
    .describe('as it describes itself; of servers of the Open Inference Protocol only'),
});

const loadTest = z.strictObject({
  arrivals: z.string().describe('as requested'),
  steps: z.array(STEP_FIGURES).nullable().describe('null: arrivals without steps, or no records'),
});

/**
 * Schema of `longhaul_summary.json`, the machine-readable result of a run. Every figure follows
 * from the records beside it.
 */
export const RUN_SUMMARY = z.strictObject({
  schemaVersion: z.literal(SUMMARY_SCHEMA_VERSION),
  longhaul: z.string().describe('version'),
  runId: z.string(),
  protocol: PROTOCOL_NAME.describe('oip: the Open Inference Protocol'),
  startedAt: z.string().describe('ISO 8601'),
  benchmark: z.string(),
  scenario: z.enum(SCENARIOS),
  mode: z.string(),
  round: z.string(),
  division: z.string(),
  engine: CPP_ENGINE.optional().describe(
    "the C++ LoadGen that issued the queries, as in network_audit.json; absent: longhaul's own engine did",
  ),
  sutName: z.string(),
  labels: z.record(z.string(), z.string()).describe("the user's words about the run"),
  result: z.enum(['VALID', 'INVALID', 'INTERRUPTED']),
  verdict: advisedVerdict,
  rows: z
    .array(z.tuple([z.string(), z.string()]))
    .describe(
      'result for people: label (empty: as above) and text of each line, the verdict first',
    ),
  keyNotes: z.array(z.string()).describe('notes that change what the figures mean'),
  loadgenVerdict: verdict.describe("LoadGen's own, which ignores logged errors"),
  figures: z.partialRecord(z.enum(FIGURE_NAMES), z.number()),
  loadTest: loadTest
    .nullable()
    .describe("arrivals that are not LoadGen's Poisson: no scenario of MLPerf; null: LoadGen's"),
  contractErrors: z
    .number()
    .describe('responses that broke the contract: part of the figure errors, and in no record'),
  peakTargetQps: z
    .number()
    .nullable()
    .describe("what LoadGen's own search for the peak found; null in other modes"),
  thresholds: z.array(THRESHOLD_RESULT).describe("of the user's own; they are in no verdict"),
  targetPercentile: z.number().nullable().describe('0 to 1'),
  latencyBoundNs: z.number().nullable().describe('Server: ns'),
  tokenBounds: z
    .strictObject({ ttftNs: z.number(), tpotNs: z.number() })
    .nullable()
    .describe('Server of a token model: both hold at targetPercentile'),
  isGeneratorBound: z.boolean(),
  generatorBoundReason: z.string(),
  split: LATENCY_SPLIT.nullable().describe('null if the SUT reported no times'),
  health: GENERATOR_HEALTH.nullable(),
  ceiling: GENERATOR_CEILING.nullable().describe('of this machine; null: never measured'),
  accuracy: z
    .strictObject({ text: z.string(), value: z.number(), target: z.number(), isMet: z.boolean() })
    .nullable(),
  nodes: z.array(node),
  settings: z.array(setting),
  audit: z.array(z.strictObject({ rule: z.string(), verdict: z.string(), text: z.string() })),
  notes: z.array(z.string()),
  records: z
    .strictObject({ file: z.string(), rows: z.number(), parts: z.array(z.number()) })
    .nullable()
    .describe('parts: those that the figures are of; null: no performance phase, or none kept'),
});

/** The result of a run; {@link RUN_SUMMARY} documents its fields. */
export type RunSummary = DeepReadonly<z.infer<typeof RUN_SUMMARY>>;

/** Fields of a summary, or of a part of it, with its bounds. */
export type BoundsInSummary = Partial<
  Pick<RunSummary, 'latencyBoundNs' | 'tokenBounds' | 'targetPercentile'>
>;

/** CPU and memory of a node at one time of the run. */
export type NodeUsagePoint = NonNullable<RunSummary['nodes'][number]['usage']>[number];

/** Arrivals other than LoadGen's, and the results of their steps. */
export type LoadTest = NonNullable<RunSummary['loadTest']>;

/** True if queries were due by a clock, so that LoadGen could be late; false in a closed loop. */
export function hasSchedule({
  scenario,
  round,
  loadTest: test,
}: Pick<RunSummary, 'scenario' | 'round' | 'loadTest'>): boolean {
  if (scenario === 'MultiStream') return round === 'v0.5';
  return scenario === 'Server' && test?.arrivals.startsWith('closed-loop:') !== true;
}

/** Server's bounds in a summary, or in a part of it. */
export function boundsOfRun({
  latencyBoundNs,
  tokenBounds,
  targetPercentile,
}: BoundsInSummary): readonly QueryBound[] {
  const boundNs = tokenBounds?.ttftNs ?? latencyBoundNs ?? null;
  if (boundNs === null) return [];
  // The percentile is missing only if no query was issued.
  const percentile = targetPercentile ?? Number.NaN;
  return namedBounds({ boundNs, tpotNs: tokenBounds?.tpotNs, percentile });
}

/** The lanes of a run in its summary. */
export function lanesOfRun(run: BoundsInSummary): readonly Lane[] {
  return [wholeLane(boundsOfRun(run))];
}

/** The bound on a time in ns; null if there is none. */
export function boundNsOf(name: BoundName, run: BoundsInSummary): number | null {
  return boundNsOn(name, boundsOfRun(run));
}

/** Bounds in the summary's form. */
export function boundsInSummary(
  bounds: readonly QueryBound[],
): Pick<RunSummary, 'latencyBoundNs' | 'tokenBounds'> {
  const [ttftNs, tpotNs] = [boundNsOn('ttft', bounds), boundNsOn('tpot', bounds)];
  return {
    latencyBoundNs: boundNsOn('latency', bounds),
    tokenBounds: ttftNs === null || tpotNs === null ? null : { ttftNs, tpotNs },
  };
}

/** Writes `longhaul_summary.json`. @throws MlperfError `ERR_OUTPUT` */
export function writeSummary(folder: string, summary: RunSummary): void {
  writeText(join(folder, RUN_FILES.runSummary), `${jsonText(summary, 2)}\n`);
}

/**
 * Reads the summary of a run.
 * @param folder Output folder of the run.
 * @returns Null if the folder has no summary.
 * @throws MlperfError `ERR_CONFIG_FILE` (cannot be read, is not JSON), `ERR_CONFIG_INVALID`
 * (another version, a wrong key)
 */
export function readSummary(folder: string): RunSummary | null {
  const path = join(folder, RUN_FILES.runSummary);
  if (!existsSync(path)) return null;
  return readVersionedFile(path, RUN_SUMMARY, { version: SUMMARY_SCHEMA_VERSION });
}

/** JSON Schema of `longhaul_summary.json`, published as docs/longhaul-summary.schema.json. */
export function summaryJsonSchema(): object {
  return { title: RUN_FILES.runSummary, ...z.toJSONSchema(RUN_SUMMARY) };
}
