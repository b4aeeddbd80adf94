import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { InProcessNode } from '../../../shared/domain/in-process-node.ts';
import type { HostEvidence } from '../../../shared/host/host-facts.ts';
import { thisHost } from '../../../shared/host/host-facts.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { RunFigures } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import { describeNode } from '../../run/ask-nodes.ts';
import type { RunHost } from '../../run/host/host.ts';
import type { RunReport } from '../../run/keep/run-report.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { inProcessSut, nodesOf, type RunSut } from '../../run/run-sut.ts';
import { measureSut, type RunObservers } from '../../run/session.ts';
import type { RunProbe } from '../peak/probe.ts';
import { atLoad } from '../peak/probe-settings.ts';
import { runProbes } from '../peak/run-probes.ts';
import type { EfficiencySide, SideRun } from './side.ts';

/** What measures one side: probes of a search, and whole runs. */
export interface SideMeasurer {
  readonly kind: 'in-process' | 'network';
  readonly sutName: string;
  readonly machine: EfficiencySide['machine'];
  readonly model: EfficiencySide['model'];
  readonly probe: RunProbe;
  /**
   * A whole run.
   * @param load Server: queries per second; null elsewhere.
   * @param name Of its folder, below that of the side.
   * @throws MlperfError as `longhaul run`; `ERR_SUT_LOST` for a run that measured nothing
   */
  run(load: number | null, name: string): Promise<SideRun>;
}

/** What both sides need of a verb. */
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
  return {
    kind: 'in-process',
    sutName: node.name,
    machine: machineOf(thisHost()),
    model: { name, sha256, configuration: node.configuration },
    probe: runProbes(prepared, { host, sutOf, output, keepsProbes: false }),
    async run(load, runName) {
      const plan = { ...planAt(prepared.plan, load, join(output, runName)), keepsRecords: true };
      const report = await measureSut(plan, prepared, sutOf(), host, { onProgress });
      return sideRun(load, report, [node.name]);
    },
  };
}

/**
 * The side over the network. Waits until the node is ready.
 * @throws MlperfError where the node is not ready, or does not tell its model and configuration
 */
export async function networkSide(
  prepared: PreparedRun,
  { host, output }: SideContext,
): Promise<SideMeasurer> {
  const { model, host: machine, sutName } = await describeNode(prepared, host);
  const sutOf = (plan: RunPlan): RunSut => nodesOf(plan, prepared);
  return {
    kind: 'network',
    sutName,
    machine: machineOf(machine),
    model,
    probe: runProbes(prepared, { host, sutOf, output, keepsProbes: false }),
    async run(load, runName) {
      const plan = planAt(prepared.plan, load, join(output, runName));
      return sideRun(load, await measureSut(plan, prepared, sutOf(plan), host));
    },
  };
}

function planAt(plan: RunPlan, load: number | null, output: string): RunPlan {
  const settings = load === null ? plan.settings : atLoad(plan.settings, load);
  return { ...plan, output, settings };
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
    throw new MlperfError('ERR_INTERRUPTED', 'a run was interrupted: nothing can be compared');
  }
  if (performance === null || performance.counts.completedSamples === 0) {
    throw new MlperfError('ERR_SUT_LOST', `no sample completed in ${folder}`);
  }
  const figures = figuresOfOutcome(performance);
  const { completed_qps: samplesPerSecond = 0, mean = 0, p50 = 0, p90 = 0, p99 = 0 } = figures;
  const names = nodeNames === undefined ? {} : { nodeNames };
  return {
    load,
    isValid: verdicts.longhaul.isValid,
    whyInvalid: whyInvalid(outcome, figures),
    samplesPerSecond,
    latency: { meanNs: mean, p50Ns: p50, p90Ns: p90, p99Ns: p99, p999Ns: figures['p99.9'] ?? 0 },
    split: records === null ? null : latencySplit(records, names),
    folder,
  };
}

/** Queries per second that are expected, as a multiple of those that were seen: LoadGen plans as many as it expects. */
const HEADROOM = 1.3;

/** First reason of a run that is INVALID; for one that was too short also the flag that makes it longer. */
function whyInvalid(
  { verdicts, performance }: TestOutcome,
  { completed_qps: samplesPerSecond = 0, samples = 1, queries = 1 }: RunFigures,
): string | null {
  const { reasons } = verdicts.longhaul;
  const first = reasons[0]?.text ?? null;
  const isTooShort = reasons.some(({ rule }) => rule === 'min-duration');
  if (!isTooShort || performance?.summary.scenario === 'Server') return first;
  const inQueries = performance?.summary.scenario === 'MultiStream' ? queries / samples : 1;
  const expected = Number((samplesPerSecond * inQueries * HEADROOM).toPrecision(3));
  return `${first} LoadGen plans what it expects: --target-qps ${expected} makes the run long enough.`;
}
