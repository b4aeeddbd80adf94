import { describe, expect, it } from 'vitest';
import {
  buildTrace,
  type SetTrace,
  type Trace,
} from '../../loadgen-node/loadgen/conformance/trace.ts';
import { parseLoadgenArgs } from '../../loadgen-node/loadgen/conformance/trace-input.ts';
import {
  AccuracyLogSelector,
  accuracyLogOffset,
  accuracyLogProbability,
} from '../../loadgen-node/loadgen/schedule/accuracy-log-selection.ts';
import { buildQueryPlan, type QueryPlan } from '../../loadgen-node/loadgen/schedule/query-plan.ts';
import { LoadableSets, type Phase } from '../../loadgen-node/loadgen/schedule/sample-order.ts';
import {
  deriveEffectiveSettings,
  type EffectiveSettings,
  type LibraryCounts,
} from '../../loadgen-node/loadgen/settings/effective-settings.ts';
import {
  LOADGEN_V41,
  LOADGEN_V61,
  type LoadgenBehaviour,
} from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import {
  doubleOfBits,
  goldenNames,
  readGolden,
  settingsOfArgs,
  sha256OfDoubles,
  sha256OfUint64,
} from '../scenes/simulated-run/golden.ts';

interface GoldenDouble {
  readonly bits: string;
}

interface GoldenSet {
  readonly set: number;
  readonly first_sample_seq: number;
  readonly loaded_count: number;
  readonly sample_distribution_end: number;
  readonly loaded_sha256: string;
  readonly generated_query_count: number;
  readonly generated_samples_per_query: number;
  readonly sample_count: number;
  readonly sample_indices_sha256: string;
  readonly scheduled_ns_sha256: string;
  readonly acc_log_val_sha256: string;
  readonly logged_seq_count: number;
  readonly logged_seq_sha256: string;
}

interface GoldenTrace {
  readonly args: Readonly<Record<string, string>>;
  readonly qsl: { readonly total: number; readonly performance: number };
  readonly effective: Readonly<Record<string, unknown>>;
  readonly accuracy_log: {
    readonly offset: GoldenDouble;
    readonly probability: GoldenDouble;
    readonly expected_queries: number;
  };
  readonly phases: readonly {
    readonly mode: string;
    readonly loadable_set_count: number;
    readonly sets: readonly GoldenSet[];
  }[];
  readonly real_run: Readonly<Record<string, unknown>> | null;
}

const FAMILIES: readonly (readonly [string, LoadgenBehaviour])[] = [
  ['loadgen-v4.1', LOADGEN_V41],
  ['loadgen-v6.1', LOADGEN_V61],
];

// Goal: settings, loaded sets, sample order, schedule and logged responses equal LoadGen's, in the
// engine and in what `longhaul loadgen trace` prints. Method: rebuild each golden trace from its
// arguments; compare hashes over the whole sequences.
describe.each(FAMILIES)('traces of %s', (folder, loadgen) => {
  it.each(goldenNames(`${folder}/trace`))('equal LoadGen in %s', (name) => {
    const golden = readGolden<GoldenTrace & Trace>(`${folder}/trace/${name}.json`);
    const library: LibraryCounts = {
      totalSampleCount: golden.qsl.total,
      performanceSampleCount: golden.qsl.performance,
    };
    const settings = deriveEffectiveSettings(
      settingsOfArgs(golden.args),
      library,
      loadgen,
    ).effective;
    expect(goldenForm(settings)).toMatchObject(comparableEffective(golden.effective));
    expect(accuracyLogOffset(settings)).toBe(doubleOfBits(golden.accuracy_log.offset.bits));
    expect(accuracyLogProbability(settings)).toEqual({
      probability: doubleOfBits(golden.accuracy_log.probability.bits),
      expectedSamples: golden.accuracy_log.expected_queries,
    });

    const selector = new AccuracyLogSelector();
    const values = new AccuracyLogSelector();
    for (const phase of golden.phases) {
      const kind: Phase = phase.mode === 'AccuracyOnly' ? 'accuracy' : 'performance';
      const sets = new LoadableSets(kind, settings, library, loadgen);
      expect(sets.count).toBe(phase.loadable_set_count);
      for (const goldenSet of phase.sets) {
        const set = sets.at(goldenSet.set);
        expect(set.distributionEnd).toBe(goldenSet.sample_distribution_end);
        expect(sha256OfUint64(set.sampleIndices)).toBe(goldenSet.loaded_sha256);
        const plan = buildQueryPlan({ phase: kind, settings, set, loadgen });
        expect(plan.generatedQueryCount).toBe(goldenSet.generated_query_count);
        expect(plan.samplesPerQuery).toBe(goldenSet.generated_samples_per_query);
        const bits = selector.select(kind, settings, goldenSet.sample_count);
        expectEqualSequences(plan, goldenSet, golden);
        expectEqualLogChoice({ bits, kind, values, goldenSet });
      }
    }
    expectEqualPrint(golden, library, loadgen);
  });
});

/**
 * Expects the verb to print the golden file itself, with the beginnings of the sequences that it
 * has.
 */
function expectEqualPrint(
  golden: GoldenTrace & Trace,
  library: LibraryCounts,
  loadgen: LoadgenBehaviour,
): void {
  const { settings } = parseLoadgenArgs(golden.args);
  const ours = buildTrace({ settings, library, loadgen, isFull: false });
  expect(ours.effective).toEqual(golden.effective);
  expect(ours.accuracy_log).toEqual(golden.accuracy_log);
  const phases = ours.phases.map((phase, i) => ({
    ...phase,
    sets: phase.sets.map((set, j) => cutLike(set, golden.phases[i]?.sets[j] as SetTrace)),
  }));
  expect(phases).toEqual(golden.phases);
}

/** Our set with the beginnings of the sequences cut to the golden's length. */
function cutLike(ours: SetTrace, golden: SetTrace): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ours).map(([key, value]) => {
      const expected = golden[key as keyof SetTrace];
      const isList = typeof value === 'object' && typeof expected === 'object';
      return [key, isList ? value.slice(0, expected.length) : value];
    }),
  );
}

function expectEqualSequences(plan: QueryPlan, goldenSet: GoldenSet, golden: GoldenTrace): void {
  const isCut = plan.queryCount < plan.generatedQueryCount;
  expect(sha256OfUint64(plan.sampleIndices)).toBe(
    // Offline queries that LoadGen generates and never issues: the issued one is compared.
    isCut ? golden.real_run?.['issued_sample_indices_sha256'] : goldenSet.sample_indices_sha256,
  );
  const scheduledNs =
    plan.scheduledDeltaNs.length > 0
      ? plan.scheduledDeltaNs
      : Array.from({ length: plan.generatedQueryCount }, (_, i) => i * plan.periodNs);
  expect(sha256OfUint64(scheduledNs)).toBe(goldenSet.scheduled_ns_sha256);
}

function expectEqualLogChoice(choice: {
  bits: Uint8Array | null;
  kind: Phase;
  values: AccuracyLogSelector;
  goldenSet: GoldenSet;
}): void {
  const { bits, kind, values, goldenSet } = choice;
  const drawn = Array.from({ length: goldenSet.sample_count }, () => values.nextValue());
  expect(sha256OfDoubles(drawn)).toBe(goldenSet.acc_log_val_sha256);
  if (kind === 'accuracy') return; // All are logged; the golden lists only what chance would log.
  const logged: number[] = [];
  for (let i = 0; i < goldenSet.sample_count; i += 1) {
    if (bits !== null && ((bits[i >>> 3] ?? 0) >> (i & 7)) & 1) {
      logged.push(goldenSet.first_sample_seq + i);
    }
  }
  expect(logged).toHaveLength(goldenSet.logged_seq_count);
  expect(sha256OfUint64(logged)).toBe(goldenSet.logged_seq_sha256);
}

function comparableEffective(effective: GoldenTrace['effective']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(effective).map(([key, value]) =>
      typeof value === 'object' ? [key, doubleOfBits((value as GoldenDouble).bits)] : [key, value],
    ),
  );
}

function goldenForm(settings: EffectiveSettings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
