import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import {
  FAULT_KINDS,
  HARMLESS,
  type NetworkPlan,
  planOfSeed,
} from '../../scenes/network/network-plan.ts';
import {
  runOverNetwork,
  type SimulatedNetworkRun,
} from '../../scenes/network/simulated-network.ts';

// LONGHAUL_SEED=123 replays one seed; LONGHAUL_SEEDS=10000 runs more of them.
const { LONGHAUL_SEED: one, LONGHAUL_SEEDS: count = '200' } = process.env;
const SEEDS =
  one === undefined ? Array.from({ length: Number(count) }, (_, i) => i + 1) : [Number(one)];

/** Rules that a run may break without any fault. */
const SPEED_AND_LENGTH = new Set([
  ...['min-duration', 'min-queries', 'latency-bound', 'early-stopping'],
  ...['not-kept-up', 'generator-bound'],
]);

/** Runs a seed, and says what is wrong with the run; nothing where all is well. */
async function faultsOfSeed(seed: number): Promise<string[]> {
  const plan = planOfSeed(seed);
  const run = await runOverNetwork(plan, tempFolder());
  const wrong = [...wrongFates(run), ...wrongCounts(run), ...wrongVerdict(run, plan)];
  return wrong.map((text) => `LONGHAUL_SEED=${seed}: ${text} (${JSON.stringify(plan)})`);
}

/**
 * Each sample ends once, as completed with its own bytes or as failed; what LoadGen gave up does
 * not end at all.
 */
function wrongFates({ samples, hasStruck }: SimulatedNetworkRun): string[] {
  const fates = [...samples.values()];
  const twice = fates.filter(({ completions, failures }) => completions + failures > 1);
  const wrong = fates.filter(({ isWrong }) => isWrong);
  return [
    ...(twice.length > 0 ? [`${twice.length} samples ended twice`] : []),
    ...(wrong.length > 0 && !hasStruck ? [`${wrong.length} samples got the bytes of others`] : []),
  ];
}

/**
 * Differences between LoadGen's counts and the facts, samples still outstanding or lost in silence.
 */
function wrongCounts({ outcome, samples, heldSamples }: SimulatedNetworkRun): string[] {
  const wrong = heldSamples
    .filter(({ most, allowed }) => most > allowed)
    .map(({ most, allowed }) => `a node held ${most} samples, and granted ${allowed}`);
  const counts = outcome?.performance?.counts;
  if (counts === undefined) return wrong;
  const completed = [...samples.values()].filter(({ completions }) => completions > 0).length;
  if (counts.issuedSamples !== samples.size) {
    wrong.push(`${counts.issuedSamples} samples issued, the QDL got ${samples.size}`);
  }
  if (counts.issuedSamples !== counts.completedSamples + counts.lostSamples) {
    wrong.push(`issued is not completed and lost: ${JSON.stringify(counts)}`);
  }
  // After the end of the issuing a response may still come that LoadGen does not wait for any more.
  if (counts.completedSamples > completed) {
    wrong.push(`${counts.completedSamples} samples completed, the QDL brought ${completed}`);
  }
  return wrong;
}

/** A fault is told, and nothing is told where there was none. */
function wrongVerdict(run: SimulatedNetworkRun, plan: NetworkPlan): string[] {
  const { outcome, error, hasStruck, isCompared } = run;
  const isHarmed = hasStruck && !HARMLESS.has(plan.fault.kind);
  if (error !== undefined) return isHarmed ? [] : [`the run did not begin: ${String(error)}`];
  const told = toldOf(run);
  if (isHarmed) {
    if (told.length === 0 && !mayGoOn(plan))
      return [`${plan.fault.kind} struck and nothing tells so`];
    const isValid = outcome?.verdicts.longhaul.isValid === true;
    return told.length > 0 && isValid ? [`VALID with ${told}`] : [];
  }
  if (!isCompared) return ['the counts of both ends were not compared'];
  return told.length > 0 ? [`a run without a fault tells ${told}`] : [];
}

/** Findings of the run other than those on speed and length. */
function toldOf({ outcome, strayCount }: SimulatedNetworkRun): string[] {
  const { lostSamples = 0, contractErrors = 0 } = outcome?.performance?.counts ?? {};
  const rules = outcome?.verdicts.longhaul.reasons.map(({ rule }) => rule) ?? [];
  return [
    ...rules.filter((rule) => !SPEED_AND_LENGTH.has(rule)),
    ...(lostSamples > 0 ? [`${lostSamples} lost`] : []),
    ...(contractErrors > 0 ? [`${contractErrors} contract errors`] : []),
    ...(strayCount > 0 ? [`${strayCount} stray responses`] : []),
  ];
}

/**
 * The loss of one of several nodes, of which the run asked for none's work any more, may cost
 * nothing.
 */
function mayGoOn({ onNodeLoss, nodeCount }: NetworkPlan): boolean {
  return onNodeLoss === 'continue' && nodeCount > 1;
}

describe('runs over a simulated network', () => {
  it(
    `keep their promises whatever goes wrong (${SEEDS.length} seeds)`,
    async () => {
      const wrong: string[] = [];
      for (const seed of SEEDS) wrong.push(...(await faultsOfSeed(seed)));
      expect(wrong).toEqual([]);
    },
    10_000 + SEEDS.length * 200,
  );

  it.skipIf(one !== undefined)('meet each kind of fault', async () => {
    const plans = SEEDS.map(planOfSeed);
    expect(new Set(plans.map(({ fault }) => fault.kind))).toEqual(new Set(FAULT_KINDS));
    expect(new Set(plans.map(({ settings }) => settings.scenario)).size).toBe(4);
  });

  it('are the same again with the same seed', async () => {
    const digest = async (): Promise<string> => {
      const { outcome, samples } = await runOverNetwork(
        planOfSeed(SEEDS[0] as number),
        tempFolder(),
      );
      const { performance } = outcome ?? {};
      const seen = [...samples, performance?.counts, performance?.durationNs];
      return createHash('sha256').update(JSON.stringify(seen)).digest('hex');
    };
    expect(await digest()).toBe(await digest());
  });
});
