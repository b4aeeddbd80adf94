import { describe, expect, it } from 'vitest';
import {
  adviceFor,
  passingQueries,
} from '../../loadgen-node/loadgen/conformance/early-stopping.ts';
import { parseLoadgenArgs } from '../../loadgen-node/loadgen/conformance/loadgen-fields.ts';
import {
  buildResults,
  type ResultsMeasured,
} from '../../loadgen-node/loadgen/conformance/results.ts';
import {
  buildTrace,
  type SetTrace,
  type Trace,
} from '../../loadgen-node/loadgen/conformance/trace.ts';
import { LOADGEN_V41, LOADGEN_V61 } from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import { goldenNames, readGolden, sha256OfUint64 } from '../support/runs/golden.ts';

interface GoldenFile {
  readonly args: Readonly<Record<string, string>>;
  readonly qsl: { readonly total: number; readonly performance: number };
}

function inputOf({ args, qsl }: GoldenFile) {
  const library = { totalSampleCount: qsl.total, performanceSampleCount: qsl.performance };
  return { settings: parseLoadgenArgs(args).settings, library };
}

/** Our set with the beginnings of the sequences cut to the golden's length. */
function cutLike(ours: SetTrace, golden: SetTrace): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ours).map(([key, value]) => {
      const expected = golden[key];
      const isList = typeof value === 'object' && typeof expected === 'object';
      return [key, isList ? value.slice(0, expected.length) : value];
    }),
  );
}

// Goal: what `longhaul trace` and `longhaul results` print equals the C++ LoadGen, field by field.
// Method: the functions behind the verbs, over every golden file.
describe.each([
  ['loadgen-v4.1', LOADGEN_V41],
  ['loadgen-v6.1', LOADGEN_V61],
])('the verbs against %s', (folder, loadgen) => {
  it.each(goldenNames(`${folder}/trace`))('trace %s', (name) => {
    const golden = readGolden<GoldenFile & Trace>(`${folder}/trace/${name}.json`);
    const ours = buildTrace({ ...inputOf(golden), loadgen, isFull: false });
    expect(ours.effective).toEqual(golden.effective);
    expect(ours.accuracy_log).toEqual(golden.accuracy_log);
    const phases = ours.phases.map((phase, i) => ({
      ...phase,
      sets: phase.sets.map((set, j) => cutLike(set, golden.phases[i]?.sets[j] as SetTrace)),
    }));
    expect(phases).toEqual(golden.phases);
  });

  it.each(goldenNames(`${folder}/results`))('results %s', (name) => {
    const golden = readGolden<
      GoldenFile & { input: ResultsMeasured; summary: string; detail: string[] }
    >(`${folder}/results/${name}.json`);
    const ours = buildResults({ ...inputOf(golden), loadgen, measured: golden.input });
    expect(ours.summary).toBe(golden.summary);
    expect(ours.detail).toEqual(golden.detail);
  });
});

interface GoldenEarlyStopping {
  readonly rows: readonly (readonly [number, number, number, number, number])[];
  readonly incremental: readonly {
    readonly p: number;
    readonly d: number;
    readonly c: number;
    readonly t_from: number;
    readonly t_to: number;
    readonly h_sha256_i64le: string;
  }[];
  readonly single_multi_stream_choice: {
    readonly rows: readonly (readonly [number, number, number, boolean, number, ...unknown[]])[];
  };
}

// Goal: `longhaul early-stopping` says what LoadGen would. Method: all golden rows.
describe('early stopping', () => {
  const golden = readGolden<GoldenEarlyStopping>('early-stopping.json');

  it('needs the golden number of queries in every row', () => {
    for (const [over, percentile, tolerance, confidence, expected] of golden.rows) {
      const question = { over, percentile, tolerance, confidence };
      expect([question, passingQueries(question)]).toEqual([question, expected]);
    }
  });

  it.each(golden.incremental)('needs the golden numbers from $t_from to $t_to at $p', (row) => {
    const needed = Array.from({ length: row.t_to - row.t_from + 1 }, (_, i) =>
      passingQueries({
        over: row.t_from + i,
        percentile: row.p,
        tolerance: row.d,
        confidence: row.c,
      }),
    );
    expect(sha256OfUint64(needed)).toBe(row.h_sha256_i64le);
  });

  it('allows as many queries above the bound as LoadGen discards, and one', () => {
    for (const [queries, percentile, , isEnough, over] of golden.single_multi_stream_choice.rows) {
      if (!isEnough) continue;
      const question = { over: 0, percentile, tolerance: 0, confidence: 0.99 };
      expect(adviceFor(queries, question).allowedOver).toBe(over);
    }
  });
});
