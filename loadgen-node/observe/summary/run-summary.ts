import { z } from 'zod';
import { SCENARIOS, type Scenario } from '../../../shared/domain/scenario.ts';
import type { Verdict, VerdictReason } from '../../loadgen/engine/test-outcome.ts';
import type { GeneratorCeiling, GeneratorHealth } from '../../loadgen/health/generator-health.ts';
import { FIGURE_NAMES, type RunFigures } from '../figures/figure-names.ts';
import type { StepFigures } from '../figures/step-figures.ts';
import { LATENCY_PARTS, type LatencySplit } from '../split/latency-parts.ts';
import { SERVER_PARTS, type ServerStatistics } from '../split/server-statistics.ts';
import type { ThresholdResult } from '../thresholds/judge-thresholds.ts';

/** Version of the form of `longhaul_summary.json`; a reader of it refuses others. */
export const SUMMARY_SCHEMA_VERSION = 1;

/** Arrivals that are not LoadGen's, and what their steps came to. */
export interface LoadTest {
  readonly arrivals: string;
  readonly steps: readonly StepFigures[] | null;
}

/** A verdict whose reasons come with what to do about them. */
export interface AdvisedVerdict extends Verdict {
  readonly reasons: readonly AdvisedReason[];
}

/** A reason of a verdict; `advice` is absent in summaries of versions that did not keep it, empty where no setting helps. */
export interface AdvisedReason extends VerdictReason {
  readonly advice?: string | undefined;
}

/** The result of a run, for programs; {@link RUN_SUMMARY} says what each field is. */
export interface RunSummary {
  readonly schemaVersion: typeof SUMMARY_SCHEMA_VERSION;
  readonly longhaul: string;
  readonly runId: string;
  readonly protocol?: 'longhaul' | 'oip' | undefined;
  readonly startedAt: string;
  readonly benchmark: string;
  readonly scenario: Scenario;
  readonly mode: string;
  readonly round: string;
  readonly division: string;
  readonly sutName: string;
  readonly result: 'VALID' | 'INVALID' | 'INTERRUPTED';
  readonly verdict: AdvisedVerdict;
  readonly loadgenVerdict: Verdict;
  readonly figures: RunFigures;
  /** Null: LoadGen's arrivals. Absent in summaries of versions that knew no others. */
  readonly loadTest?: LoadTest | null | undefined;
  readonly contractErrors: number;
  readonly peakTargetQps: number | null;
  readonly thresholds: readonly ThresholdResult[];
  readonly targetPercentile: number | null;
  readonly latencyBoundNs: number | null;
  readonly isGeneratorBound: boolean;
  readonly generatorBoundReason: string;
  readonly split: LatencySplit | null;
  readonly health: GeneratorHealth | null;
  readonly ceiling: GeneratorCeiling | null;
  readonly accuracy: {
    readonly text: string;
    readonly value: number;
    readonly target: number;
    readonly isMet: boolean;
  } | null;
  readonly nodes: readonly {
    readonly address: string;
    readonly name: string;
    readonly model: string;
    readonly issuedSamples: number;
    readonly completedSamples: number;
    readonly failedSamples: number;
    readonly server?:
      | {
          readonly name: string;
          readonly version: string;
          readonly statistics: ServerStatistics | null;
        }
      | undefined;
  }[];
  readonly settings: readonly {
    readonly key: string;
    readonly value: string;
    readonly source: string;
  }[];
  readonly audit: readonly {
    readonly rule: string;
    readonly verdict: string;
    readonly text: string;
  }[];
  readonly notes: readonly string[];
  readonly records: {
    readonly file: string;
    readonly rows: number;
    readonly parts: readonly number[];
  } | null;
}

const ns = z.number().describe('ns');

const reason = z.strictObject({
  rule: z.string().describe('stable word of the rule'),
  text: z.string(),
  needed: z.string(),
  seen: z.string(),
  key: z.string().nullable().describe("LoadGen's name of the setting that changes it"),
});

const verdict = z.strictObject({ isValid: z.boolean(), reasons: z.array(reason) });

const advisedReason = reason.extend({
  advice: z
    .string()
    .optional()
    .describe('setting to change, and by how much; empty: no setting helps'),
});
const advisedVerdict = z.strictObject({ isValid: z.boolean(), reasons: z.array(advisedReason) });

const setting = z.strictObject({
  key: z.string(),
  value: z.string().describe('as it is written in a configuration file'),
  source: z.string().describe('flag, file with line, or default'),
});

const statistics = z
  .strictObject({
    successCount: z.number(),
    failCount: z.number(),
    inferenceCount: z.number().describe('samples, as the server counts them'),
    batchCount: z.number().describe('runs of the model'),
    meanBatchSize: z.number().nullable(),
    meanNs: ns.nullable().describe('per request that was answered'),
    parts: z.array(z.strictObject({ part: z.enum(SERVER_PARTS), meanNs: ns.nullable() })),
  })
  .describe("the server's own, over the run, with requests of other clients in them");

const node = z.strictObject({
  address: z.string(),
  name: z.string(),
  model: z.string(),
  issuedSamples: z.number(),
  completedSamples: z.number(),
  failedSamples: z.number(),
  server: z
    .strictObject({
      name: z.string(),
      version: z.string(),
      statistics: statistics.nullable().describe('null where the server has none'),
    })
    .optional()
    .describe('as it describes itself; of servers of the Open Inference Protocol only'),
});

const split = z.strictObject({
  sampleCount: z.number(),
  parts: z.array(
    z.strictObject({
      part: z.enum(LATENCY_PARTS),
      meanNs: ns,
      typicalNs: ns,
      tailNs: ns,
    }),
  ),
  growsMost: z.enum(LATENCY_PARTS),
  text: z.string(),
});

const health = z.strictObject({
  cpuShare: z.number(),
  cpuWaitShare: z.number().nullish().describe('share of the time without a core; null: not known'),
  eventLoopDelay: z.strictObject({ p50Ns: ns, p99Ns: ns, maxNs: ns }),
  gc: z.strictObject({ count: z.number(), totalNs: ns, maxNs: ns }),
  stealShare: z.number().nullable(),
  backPressure: z.strictObject({ socketNs: ns, creditNs: ns }).nullable(),
  seconds: z.array(
    z.strictObject({
      atNs: ns,
      cpuShare: z.number(),
      cpuWaitShare: z.number().nullish(),
      eventLoopDelayMaxNs: ns,
      gcNs: ns,
    }),
  ),
});

const ceiling = z.strictObject({
  measuredAt: z.string(),
  measuredOn: z.string(),
  inProcessQps: z.number(),
  loopbackQps: z.number(),
  isDisturbed: z
    .boolean()
    .optional()
    .describe('true: other processes took the CPUs while it was measured'),
});

const loadTest = z.strictObject({
  arrivals: z.string().describe('as they were asked for'),
  steps: z
    .array(
      z.strictObject({
        rate: z.string().describe('queries per second: 100, or 10-100 where it changes evenly'),
        fromNs: ns,
        toNs: ns,
        offeredQps: z.number().describe('mean rate that the step asks for'),
        dueQueries: z.number(),
        dueQps: z.number(),
        completedQps: z.number().describe('samples completed while the step lasted, per second'),
        p50Ns: ns.nullable().describe('of the queries that were due in the step'),
        p99Ns: ns.nullable(),
        maxNs: ns.nullable(),
        lagP99Ns: ns.nullable().describe("issued - scheduled: LoadGen's own lateness"),
        lost: z.number(),
        isKeptUp: z
          .boolean()
          .nullable()
          .describe(
            'nothing lost, and at least 95 % of what was due completed while it lasted; null: nothing was due',
          ),
      }),
    )
    .nullable()
    .describe('null: arrivals without steps, or no records'),
});

/** What `longhaul_summary.json` holds: the result of a run, for programs. Every figure follows from the records beside it. */
export const RUN_SUMMARY: z.ZodType<RunSummary> = z.strictObject({
  schemaVersion: z.literal(SUMMARY_SCHEMA_VERSION),
  longhaul: z.string().describe('version'),
  runId: z.string(),
  protocol: z
    .enum(['longhaul', 'oip'])
    .optional()
    .describe(
      'oip: the Open Inference Protocol; absent in summaries of older builds, all longhaul',
    ),
  startedAt: z.string().describe('ISO 8601'),
  benchmark: z.string(),
  scenario: z.enum(SCENARIOS),
  mode: z.string(),
  round: z.string(),
  division: z.string(),
  sutName: z.string(),
  result: z.enum(['VALID', 'INVALID', 'INTERRUPTED']),
  verdict: advisedVerdict,
  loadgenVerdict: verdict.describe("LoadGen's own, which ignores logged errors"),
  figures: z.partialRecord(z.enum(FIGURE_NAMES), z.number()),
  loadTest: loadTest
    .nullish()
    .describe("arrivals that are not LoadGen's Poisson: no scenario of MLPerf; null: LoadGen's"),
  contractErrors: z
    .number()
    .describe('responses that broke the contract: part of the figure errors, and in no record'),
  peakTargetQps: z
    .number()
    .nullable()
    .describe("what LoadGen's own search for the peak found; null in other modes"),
  thresholds: z
    .array(
      z.strictObject({
        text: z.string().describe('as it was written'),
        figure: z.string(),
        isMet: z.boolean(),
        needed: z.number().describe('in the unit of the figure'),
        seen: z.number().nullable().describe('null: the run has no such figure'),
        seenText: z.string(),
      }),
    )
    .describe("of the user's own; they are in no verdict"),
  targetPercentile: z.number().nullable().describe('0 to 1'),
  latencyBoundNs: z.number().nullable().describe('Server: ns'),
  isGeneratorBound: z.boolean(),
  generatorBoundReason: z.string(),
  split: split.nullable().describe('null where the SUT told no times'),
  health: health.nullable(),
  ceiling: ceiling.nullable().describe('of this machine; null: never measured'),
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
