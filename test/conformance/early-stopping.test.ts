import { expect, it } from 'vitest';
import {
  allowedOver,
  minPassingQueries,
} from '../../loadgen-node/loadgen/results/early-stopping.ts';
import { readGolden, sha256OfUint64 } from '../scenes/simulated-run/golden.ts';

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

// Goal: early stopping asks for as many queries as LoadGen does. Method: all golden rows.
it('early stopping equals LoadGen in every golden row', () => {
  const golden = readGolden<GoldenEarlyStopping>('early-stopping.json');
  expect(golden.rows.length).toBeGreaterThan(100);
  for (const [over, percentile, tolerance, confidence, expected] of golden.rows) {
    const question = { over, percentile, tolerance, confidence };
    const needed = minPassingQueries(over, percentile - tolerance, confidence);
    expect({ ...question, needed }).toEqual({ ...question, needed: expected });
  }
  for (const row of golden.incremental) {
    const { p: percentile, d: tolerance, c: confidence } = row;
    const needed = Array.from({ length: row.t_to - row.t_from + 1 }, (_, i) =>
      minPassingQueries(row.t_from + i, percentile - tolerance, confidence),
    );
    expect(sha256OfUint64(needed)).toBe(row.h_sha256_i64le);
  }
  // As many above the bound are allowed as LoadGen discards, and one.
  for (const [queries, percentile, , isEnough, over] of golden.single_multi_stream_choice.rows) {
    if (!isEnough) continue;
    expect(allowedOver(queries, percentile)).toBe(over);
  }
});
