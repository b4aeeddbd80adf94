import type { QueryDispatchLibrary } from '../../../qdl/index.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { NodeEvidence } from '../../../shared/evidence/evidence-schema.ts';
import type { HostIdentity } from '../../../shared/host/host-facts.ts';
import { compressionBreaches } from '../../../shared/rules/check-compression.ts';
import { compressionRule } from '../../../shared/rules/compression-rules.ts';
import type { JudgedTest } from '../../loadgen/engine/test-context.ts';
import { type ExcessTimes, TOLD_TIME_TOLERANCE } from '../../loadgen/recorder/told-times.ts';
import type { AuditFacts, LoadgenCounts } from '../../observe/network-audit.ts';
import { engineEvidence } from '../../official/engine-evidence.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import { onlyTarget } from '../plan/target.ts';

/** The phases of a test; null for a phase that did not run, or has no result. */
export type Phases = Pick<JudgedTest, 'accuracy' | 'performance' | 'driver' | 'excessTimes'>;

/**
 * Gathers all known facts of a run, even one that broke off. Takes at most a second; never rejects.
 */
export async function gatherFacts(
  plan: RunPlan,
  qdl: QueryDispatchLibrary,
  host: HostIdentity,
  phases: Phases,
): Promise<AuditFacts> {
  const evidence = await qdl.evidence();
  const { form, compression } = plan.compression.encoding;
  return {
    run: {
      runId: evidence.runId,
      protocol: evidence.protocol,
      division: evidence.division,
      round: plan.round,
      benchmark: plan.rules.key,
      isOfficialBenchmark: plan.rules.isOfficial,
      scenario: plan.settings.scenario,
      mode: plan.settings.mode,
      encoding: { form, compression },
      digestPerMillion: onlyTarget(plan).dispatch.digestPerMillion,
      isComplete: evidence.isComplete,
      wasInterrupted: [phases.accuracy, phases.performance].some(
        (phase) => phase?.endCause === 'interrupted',
      ),
      issuedQueries: evidence.issuedQueries,
      issuedSamples: evidence.issuedSamples,
      loadgen: countsOf(plan, phases),
      ...(plan.linked !== undefined && {
        engine: engineEvidence(plan.linked, plan.output, phases.driver),
      }),
    },
    loadgenNode: {
      software: 'longhaul',
      softwareVersion: packageVersion(),
      components: [{ name: 'node', version: process.versions.node }],
      host: host(),
      receiveWindowBytes: evidence.receiveWindowBytes,
      settings: evidence.settings,
    },
    server: evidence.server ?? null,
    nameCalls: evidence.nameCalls,
    nodes: evidence.nodes.map((node, i) => withExcess(node, i, phases.excessTimes)),
    compression: {
      breaches: compressionBreaches(plan.compression),
      rule: compressionRule(plan.rules.key, plan.compression.round)?.text ?? null,
    },
  };
}

/** Adds LoadGen's part to a node's evidence: the latency that the node's times must fit into. */
function withExcess(
  node: NodeEvidence,
  index: number,
  excessTimes: readonly ExcessTimes[],
): NodeEvidence {
  const excess = excessTimes.find((one) => one.node === index);
  if (excess === undefined) return node;
  const { count, ofCount, toldNs, passedNs } = excess;
  const text =
    `reported more time than passed for ${count} of ${ofCount} samples, at worst ${formatNs(toldNs)} where ` +
    `${formatNs(passedNs)} passed (tolerance ${TOLD_TIME_TOLERANCE}); its times of these samples are not used`;
  return { ...node, claims: [...node.claims, { kind: 'excess-times', count, text }] };
}

/** LoadGen's counts; the search for the peak keeps the counts of only one of its runs. */
function countsOf(plan: RunPlan, phases: Phases): LoadgenCounts | null {
  if (plan.settings.mode === 'FindPeakPerformance') return null;
  const known = [phases.accuracy, phases.performance].flatMap((phase) =>
    phase === null ? [] : [phase.counts],
  );
  if (known.length === 0) return null;
  const sum = (field: keyof LoadgenCounts): number =>
    known.reduce((total, counts) => total + counts[field], 0);
  return {
    issuedQueries: sum('issuedQueries'),
    issuedSamples: sum('issuedSamples'),
    completedSamples: sum('completedSamples'),
    lostSamples: sum('lostSamples'),
  };
}
