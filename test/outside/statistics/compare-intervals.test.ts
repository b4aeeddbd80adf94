import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../../loadgen-node/present/compare/compare-runs.ts';
import type { ComparedRun } from '../../../loadgen-node/present/compare/resampled-run.ts';
import { queueRecords } from '../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../scenes/simulated-run/summary.ts';

// Goal: the 95 % intervals of a comparison hold the true difference in about 95 of 100 cases.
// Method: pairs of simulated M/M/1 queues with the same load, whose figures are equal in truth;
// latencies hang together the longer, the higher the load is. Prints the share of intervals that
// hold 0 (docs/compare.md).

const PAIRS = 200;
const REPLICATES = 300;

function queueRun(seed: number, rowCount: number, load: number): ComparedRun {
  const records = queueRecords({ seed, rowCount, arrivalQps: 1000 * load, serviceNs: 1e6 });
  return { folder: String(seed), summary: reportSummary(records), records };
}

/** Share of the pairs whose interval holds 0, by figure. */
function sharesHolding(rowCount: number, load: number): Map<string, number> {
  const holding = new Map<string, number>();
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const runs = [0, 1].map((i) => queueRun(1000 + 2 * pair + i, rowCount, load));
    for (const { figure, runs: figures } of compareRuns(runs, REPLICATES).rows) {
      const judgement = figures[1]?.judgement ?? null;
      if (judgement === null) continue;
      holding.set(figure, (holding.get(figure) ?? 0) + (judgement === 'same' ? 1 : 0));
    }
  }
  return new Map([...holding].map(([figure, count]) => [figure, count / PAIRS]));
}

describe('intervals of equal runs', () => {
  it.each([
    [2000, 0.7],
    [10_000, 0.5],
    [10_000, 0.7],
    [10_000, 0.9],
    [30_000, 0.8],
  ])('hold 0 in about 95 of 100 pairs of %i queries at load %d', (rowCount, load) => {
    const holding = sharesHolding(rowCount, load);
    const shares = [...holding];
    console.log(`${rowCount} queries, load ${load}:`, Object.fromEntries(shares));
    // Below 0.91 with 200 pairs would have a chance of 1 % at a true 0.95; the tail may be a little
    // below it.
    for (const [figure, share] of shares) expect(share, figure).toBeGreaterThanOrEqual(0.88);
    const mean = shares.reduce((sum, [, share]) => sum + share, 0) / shares.length;
    expect(mean).toBeGreaterThanOrEqual(0.93);
  });
});
