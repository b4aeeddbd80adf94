import { join } from 'node:path';
import { createQueryDispatchLibrary } from '../../../qdl/index.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { Terminal } from '../../../shared/base/terminal.ts';
import type { InProcessNode } from '../../../shared/domain/in-process-node.ts';
import type { HostEvidence } from '../../../shared/evidence/network-evidence.ts';
import { thisHost } from '../../../shared/host/host-facts.ts';
import type { RecordedSet } from '../../loadgen/engine/issue/issued-set.ts';
import type { TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { LatencyStatistics } from '../../loadgen/results/latency-statistics.ts';
import { joinRecords, recordsOfSet } from '../../observe/records/records-of-set.ts';
import type { SampleRecords } from '../../observe/records/sample-records.ts';
import type { LatencySplit } from '../../observe/split/latency-parts.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import { measureInProcess } from '../../run/in-process-run.ts';
import type { Interruption } from '../../run/interruption.ts';
import { measureRun } from '../../run/perform-run.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import { networkProbes } from '../peak/network-probes.ts';
import type { RunProbe } from '../peak/probe.ts';
import { atLoad } from '../peak/probe-settings.ts';
import { inProcessProbes } from './in-process-probes.ts';
import type { SideMachine, SideModel, SideRun } from './side.ts';

/** What measures one side: probes of a search, and whole runs. */
export interface SideMeasurer {
  readonly kind: 'in-process' | 'network';
  readonly sutName: string;
  readonly machine: SideMachine;
  readonly model: SideModel;
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
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  /** Folder of the side. */
  readonly output: string;
}

/** The side without a network. */
export function inProcessSide(
  prepared: PreparedRun,
  node: InProcessNode,
  context: SideContext,
): SideMeasurer {
  const { name, sha256 } = node.model;
  return {
    kind: 'in-process',
    sutName: node.name,
    machine: machineOf(thisHost()),
    model: { name, sha256, configuration: node.configuration },
    probe: inProcessProbes(prepared, node, context, context.output),
    async run(load, runName) {
      const plan = planAt(prepared.plan, load, join(context.output, runName));
      const { outcome, records } = await measureInProcess({ ...prepared, plan }, node, context);
      const split = records === null ? null : latencySplit(records, { nodeNames: [node.name] });
      return sideRun({ load, outcome, split, folder: plan.output });
    },
  };
}

/**
 * The side over the network. Waits until the node is ready.
 * @throws MlperfError where the node is not ready, or does not tell its model and configuration
 */
export async function networkSide(
  prepared: PreparedRun,
  context: SideContext,
): Promise<SideMeasurer> {
  const { terminal, interruption } = context;
  const { model, machine, sutName } = await describeNode(prepared, context);
  return {
    kind: 'network',
    sutName,
    machine,
    model,
    probe: networkProbes(prepared, { ...context, keepsProbes: false }),
    async run(load, runName) {
      const plan = planAt(prepared.plan, load, join(context.output, runName));
      const sets: SampleRecords[] = [];
      const onSet = (set: RecordedSet): number => sets.push(recordsOfSet(set));
      const { outcome } = await measureRun({ ...prepared, plan, onSet }, terminal, interruption);
      const split = sets.length === 0 ? null : latencySplit(joinRecords(sets));
      return sideRun({ load, outcome, split, folder: plan.output });
    },
  };
}

function planAt(plan: RunPlan, load: number | null, output: string): RunPlan {
  const settings = load === null ? plan.settings : atLoad(plan.settings, load);
  return { ...plan, output, settings };
}

async function describeNode(
  { plan, store }: PreparedRun,
  { terminal, interruption }: SideContext,
): Promise<Pick<SideMeasurer, 'machine' | 'model' | 'sutName'>> {
  const qdl = createQueryDispatchLibrary(plan.dispatch, store);
  try {
    await interruption.orAbort(
      qdl.connect((address, what) => terminal.status(`waiting for SUT node ${address}`, what)),
    );
    const sutName = await interruption.orAbort(qdl.name());
    const [node] = (await qdl.evidence()).nodes;
    const description = node?.description;
    const configuration = description?.settings['configuration'];
    if (!description?.model || configuration === undefined) {
      throw new MlperfError(
        'ERR_SUT_REFUSED',
        `SUT node ${node?.address ?? ''} does not tell its model and its configuration: efficiency compares only longhaul's own nodes`,
      );
    }
    const { name, sha256 } = description.model;
    return {
      sutName,
      machine: machineOf(description.host),
      model: { name, sha256, configuration },
    };
  } finally {
    await qdl.stop();
  }
}

function machineOf(host: HostEvidence | null): SideMachine {
  return {
    hostname: host?.hostname ?? 'unknown',
    cpuModel: host?.cpuModel ?? 'unknown',
    cpuCount: host?.cpuCount ?? 0,
    bootId: host?.bootId ?? '',
  };
}

function sideRun({
  load,
  outcome,
  split,
  folder,
}: {
  load: number | null;
  outcome: TestOutcome;
  split: LatencySplit | null;
  folder: string;
}): SideRun {
  const { performance, verdicts } = outcome;
  if (outcome.isInterrupted) {
    throw new MlperfError('ERR_INTERRUPTED', 'a run was interrupted: nothing can be compared');
  }
  if (performance === null || performance.counts.completedSamples === 0) {
    throw new MlperfError('ERR_SUT_LOST', `no sample completed in ${folder}`);
  }
  const { summary, counts, durationNs } = performance;
  const { rates, queryLatency, sampleLatency } = summary;
  return {
    load,
    isValid: verdicts.longhaul.isValid,
    whyInvalid: verdicts.longhaul.reasons[0]?.text ?? null,
    samplesPerSecond: rates.completed || (counts.completedSamples * 1e9) / durationNs,
    latency: latenciesOf(queryLatency ?? sampleLatency),
    split,
    folder,
  };
}

function latenciesOf({ meanNs, percentiles }: LatencyStatistics): SideRun['latency'] {
  const at = (wanted: number): number =>
    percentiles.find(({ percentile }) => percentile === wanted)?.valueNs ?? 0;
  return { meanNs, p50Ns: at(0.5), p90Ns: at(0.9), p99Ns: at(0.99), p999Ns: at(0.999) };
}
