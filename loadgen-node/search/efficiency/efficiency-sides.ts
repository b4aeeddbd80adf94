import { join } from 'node:path';
import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { readVersionedFile } from '../../../shared/base/files/read-file.ts';
import type { InProcessNode } from '../../../shared/domain/in-process-node.ts';
import { type HostEvidence, thisHost } from '../../../shared/host/host-facts.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import { planSizeProblems } from '../../loadgen/settings/plan-size.ts';
import { BOUND_NAMES } from '../../loadgen/settings/query-bounds.ts';
import type { RunFigures } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import { LATENCY_SPLIT } from '../../observe/split/split-sums.ts';
import { describeNode } from '../../run/ask-nodes.ts';
import { expecting, HEADROOM, isTooShort, seenRate } from '../../run/expected-rate.ts';
import type { RunHost } from '../../run/host/host.ts';
import { replaceEarlierRun } from '../../run/keep/earlier-run.ts';
import { type RunReport, tellProblems } from '../../run/keep/run-report.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { inProcessSut, nodesOf, type RunSut } from '../../run/run-sut.ts';
import { measureSut, type RunObservers } from '../../run/session.ts';
import { type Question, questionDifferences } from '../kept-file.ts';
import type { PeakResult } from '../peak/peak-result.ts';
import { closedInterval, type RunProbe } from '../peak/peak-search.ts';
import { atLoad, runProbes } from '../peak/run-probes.ts';

/** Measures one side: by probes of a search, and by whole runs. */
export interface SideMeasurer {
  readonly kind: 'in-process' | 'network';
  readonly sutName: string;
  readonly machine: EfficiencySide['machine'];
  readonly model: EfficiencySide['model'];
  readonly probe: RunProbe;
  /**
   * A whole run, so long at least.
   * @param load Server: queries per second; null elsewhere.
   * @param name Of its folder, below that of the side.
   * @throws MlperfError as `longhaul run`; `ERR_SUT_LOST` for a run without a result
   */
  run(load: number | null, name: string, runNs: number): Promise<SideRun>;
}

/** Terminal and output folder of a side. */
export interface SideContext {
  readonly host: RunHost;
  /** Folder of the side. */
  readonly output: string;
}

/** The side without a network. */
export function inProcessSide(
  prepared: PreparedRun,
  node: InProcessNode,
  { host, output }: SideContext,
): SideMeasurer {
  const { name, sha256 } = node.model;
  const onProgress: RunObservers['onProgress'] = ({ elapsedNs, issuedQueries, generatedQueries }) =>
    host.progress?.(
      'in process',
      `${(elapsedNs / 1e9).toFixed(0)} s, ${issuedQueries} of ${generatedQueries} queries issued`,
    );
  const sutOf = (): RunSut => inProcessSut(node, prepared);
  const expected: ExpectedRate = { qps: null };
  return {
    kind: 'in-process',
    sutName: node.name,
    machine: machineOf(thisHost()),
    model: { name, sha256, configuration: node.configuration },
    probe: runProbes(prepared, { host, sutOf, output, keepsProbes: false }),
    async run(load, runName, runNs) {
      const at = { load, runNs, output: join(output, runName) };
      const plan = { ...planAt(prepared.plan, at), keepsRecords: true };
      const report = await longEnough(plan, load, expected, host, (sized) =>
        measureSut(sized, prepared, sutOf(), host, { onProgress }),
      );
      return sideRun(load, report, [node.name]);
    },
  };
}

/**
 * The side over the network. Waits until the node is ready.
 * @throws MlperfError where the node is not ready, or does not report its model and configuration
 */
export async function networkSide(
  prepared: PreparedRun,
  { host, output }: SideContext,
): Promise<SideMeasurer> {
  const { model, host: machine, sutName } = await describeNode(prepared, host);
  const sutOf = (plan: RunPlan): Promise<RunSut> => nodesOf(plan, prepared);
  const expected: ExpectedRate = { qps: null };
  return {
    kind: 'network',
    sutName,
    machine: machineOf(machine),
    model,
    probe: runProbes(prepared, { host, sutOf, output, keepsProbes: false }),
    async run(load, runName, runNs) {
      const plan = planAt(prepared.plan, { load, runNs, output: join(output, runName) });
      const report = await longEnough(plan, load, expected, host, async (sized) =>
        measureSut(sized, prepared, await sutOf(sized), host),
      );
      return sideRun(load, report);
    },
  };
}

function planAt(
  plan: RunPlan,
  at: { readonly load: number | null; readonly runNs: number; readonly output: string },
): RunPlan {
  const { load, runNs, output } = at;
  const settings = load === null ? plan.settings : atLoad(plan.settings, load);
  const minDurationMs = Math.max(settings.minDurationMs, Math.ceil(runNs / 1e6));
  return { ...plan, output, settings: { ...settings, minDurationMs } };
}

/** Rate that the runs of a side expect, once one was too short; null: the requested one. */
interface ExpectedRate {
  qps: number | null;
}

/** Runs in place of one that was too short. */
const RUNS_MAX = 4;

/** A run; one without a load that LoadGen planned too short is made again with the rate that was measured. */
async function longEnough(
  plan: RunPlan,
  load: number | null,
  expected: ExpectedRate,
  host: Pick<RunHost, 'report'>,
  measure: (plan: RunPlan) => Promise<RunReport>,
): Promise<RunReport> {
  for (let number = 1; ; number += 1) {
    const { settings } = plan;
    const sized = expected.qps === null ? settings : expecting(settings, expected.qps);
    const report = await measure({ ...plan, settings: sized });
    tellProblems(report, host);
    const qps = Number((Math.max(seenRate(report), expected.qps ?? 0) * HEADROOM).toPrecision(4));
    const stands = load !== null || report.outcome.isInterrupted || !isTooShort(report);
    const cannotGrow = number >= RUNS_MAX || planSizeProblems(expecting(settings, qps)).length > 0;
    if (stands || seenRate(report) <= 0 || cannotGrow) return report;
    host.report(`the run was too short: made again with ${qps}/s expected`);
    expected.qps = qps;
    replaceEarlierRun(plan.output, { report: () => {} });
  }
}

function machineOf(host: HostEvidence | null): EfficiencySide['machine'] {
  return {
    hostname: host?.hostname ?? 'unknown',
    cpuModel: host?.cpuModel ?? 'unknown',
    cpuCount: host?.cpuCount ?? 0,
    bootId: host?.bootId ?? '',
  };
}

/** @param nodeNames Names in the split, where the records have none. */
function sideRun(
  load: number | null,
  { outcome, records, plan: { output: folder } }: RunReport,
  nodeNames?: readonly string[],
): SideRun {
  const { performance, verdicts } = outcome;
  if (outcome.isInterrupted) {
    throw new MlperfError('ERR_INTERRUPTED', 'a run was interrupted: no comparison is possible');
  }
  if (performance === null || performance.counts.completedSamples === 0) {
    throw new MlperfError('ERR_SUT_LOST', `no sample completed in ${folder}`);
  }
  const figures = figuresOfOutcome(performance);
  const { completed_qps: samplesPerSecond = 0, mean = 0, p50 = 0, p90 = 0, p99 = 0 } = figures;
  const { tokens_per_second: tokensPerSecond = null } = figures;
  const { isGeneratorBound } = performance;
  const about = { isGeneratorBound, ...(nodeNames !== undefined && { nodeNames }) };
  return {
    load,
    isValid: verdicts.longhaul.isValid,
    whyInvalid: whyInvalid(outcome, figures),
    samplesPerSecond,
    tokensPerSecond,
    tokenTimes: tokenTimesOf(figures),
    latency: { meanNs: mean, p50Ns: p50, p90Ns: p90, p99Ns: p99, p999Ns: figures['p99.9'] ?? 0 },
    split: records === null ? null : latencySplit(records, about),
    folder,
  };
}

function tokenTimesOf(figures: RunFigures): SideRun['tokenTimes'] {
  const { ttft_p50: ttftP50Ns, ttft_p99: ttftP99Ns } = figures;
  const { tpot_p50: tpotP50Ns, tpot_p99: tpotP99Ns } = figures;
  if (ttftP50Ns === undefined || ttftP99Ns === undefined) return null;
  if (tpotP50Ns === undefined || tpotP99Ns === undefined) return null;
  return { ttftP50Ns, ttftP99Ns, tpotP50Ns, tpotP99Ns };
}

/**
 * First reason of a run that is INVALID; for one that was too short also the flag that makes it
 * longer.
 */
function whyInvalid(
  { verdicts, performance }: TestOutcome,
  { completed_qps: samplesPerSecond = 0, samples = 1, queries = 1 }: RunFigures,
): string | null {
  const { reasons } = verdicts.longhaul;
  const first = reasons[0]?.text ?? null;
  const wasShort = reasons.some(({ rule }) => rule === 'min-duration');
  if (!wasShort || performance?.summary.scenario === 'Server') return first;
  const inQueries = performance?.summary.scenario === 'MultiStream' ? queries / samples : 1;
  const expected = Number((samplesPerSecond * inQueries * HEADROOM).toPrecision(3));
  return `${first} LoadGen plans what it expects: --target-qps ${expected} makes the run long enough.`;
}

const ns = z.number();

/** Percentiles of the latencies of a run, in ns. */
const latencies = z.strictObject({ meanNs: ns, p50Ns: ns, p90Ns: ns, p99Ns: ns, p999Ns: ns });

/** Times of output tokens of a run, in ns. */
const tokenTimes = z.strictObject({ ttftP50Ns: ns, ttftP99Ns: ns, tpotP50Ns: ns, tpotP99Ns: ns });

/** Names and keys of the times, in the order of tables. */
export const TOKEN_ROWS = [
  ['TTFT p50', 'ttftP50Ns'],
  ['TTFT p99', 'ttftP99Ns'],
  ['TPOT p50', 'tpotP50Ns'],
  ['TPOT p99', 'tpotP99Ns'],
] as const;

/** Names and keys of the figures, in the order of tables. */
export const LATENCY_ROWS = [
  ['mean', 'meanNs'],
  ['p50', 'p50Ns'],
  ['p90', 'p90Ns'],
  ['p99', 'p99Ns'],
  ['p99.9', 'p999Ns'],
] as const;

/** One run of a side. */
const run = z.strictObject({
  /** Server: queries per second that were requested; null elsewhere. */
  load: z.number().nullable(),
  isValid: z.boolean(),
  /** First reason of a run that is INVALID; null of others. */
  whyInvalid: z.string().nullable(),
  /** Completed samples per second. */
  samplesPerSecond: z.number(),
  /** Completed output tokens per second; null: no token model. */
  tokensPerSecond: z.number().nullable(),
  latency: latencies,
  /** Null where the times of tokens are not measured. */
  tokenTimes: tokenTimes.nullable(),
  /** Null where no run records are kept or the SUT reported no times. */
  split: LATENCY_SPLIT.nullable(),
  folder: z.string(),
});

/** Result of a search, with a summary of its probes. */
const search = z.strictObject({
  ending: z.string(),
  /**
   * Measured by the confirming run; Server: its scheduled samples per second. Null: no load was
   * confirmed.
   */
  value: z.number().nullable(),
  /** Completed output tokens per second of the same run; null as well where there are no tokens. */
  tokensPerSecond: z.number().nullable(),
  interval: z.strictObject({ low: z.number(), high: z.number().nullable() }).nullable(),
  confidence: z.number(),
  limitText: z.string(),
  probes: z.array(
    z.strictObject({
      kind: z.string(),
      load: z.number(),
      verdict: z.string(),
      queries: z.number(),
      /** The bounded times at the percentile. */
      bounds: z.array(z.strictObject({ name: z.enum(BOUND_NAMES), percentileNs: ns })),
      why: z.string(),
    }),
  ),
});

/** One side of a comparison: everything that was measured in process, or over the network. */
export const EFFICIENCY_SIDE = z.strictObject({
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

const SIDE_VERSION = 3;

/** File of `longhaul efficiency --in-process-only`, to be carried to the other machine. */
export const SIDE_FILE = z.strictObject({
  schemaVersion: z.literal(SIDE_VERSION),
  longhaul: z.string(),
  side: EFFICIENCY_SIDE,
});

export type EfficiencySide = DeepReadonly<z.infer<typeof EFFICIENCY_SIDE>>;
export type SideRun = DeepReadonly<z.infer<typeof run>>;
export type SideSearch = NonNullable<EfficiencySide['search']>;
export type RunLatencies = z.infer<typeof latencies>;
export type TokenTimes = z.infer<typeof tokenTimes>;

/** The file of a side. */
export function sideFile(longhaul: string, measured: EfficiencySide) {
  return { schemaVersion: SIDE_VERSION, longhaul, side: measured };
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
  if (read.kind === 'in-process') return read;
  throw configInvalid(`--in-process ${path} was measured over a network`);
}

/** A search as it is kept. */
export function searchOf(result: PeakResult): SideSearch {
  const { ending, value, tokensPerSecond, interval, confidence, limitText, probes } = result;
  return {
    ending,
    value,
    tokensPerSecond,
    interval: closedInterval(interval),
    confidence,
    limitText,
    probes: probes.map(({ kind, load, verdict, queries, bounds, why }) => {
      const seen = bounds.map(({ name, percentileNs }) => ({ name, percentileNs }));
      return { kind, load, verdict, queries, bounds: seen, why };
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
