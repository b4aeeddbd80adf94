import { describe, expect, it } from 'vitest';
import type { RecordedSet } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import { recordsOfSet } from '../../../loadgen-node/observe/records/sample-records.ts';
import { LATENCY_PARTS } from '../../../loadgen-node/observe/split/latency-parts.ts';
import { latencySplit } from '../../../loadgen-node/observe/split/latency-split.ts';
import { rowsOfRecords, type SplitRows } from '../../../loadgen-node/observe/split/split-sums.ts';
import { recordedRun } from '../../scenes/simulated-run/recorded-run.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';
import { startPinnedSut } from './pinned.ts';

// Goal: the parts of 10^5 latencies sum to them within 1 % or 20 µs, none below zero; 5 ms of delay
// on the link each way are 10 ms of network and nothing else. Method: a SUT node of its own, the
// engine in this process. By `npm run test:outside why`.

const SERVED = ['--benchmark', 'delay', '--delay-model', 'fixed:1ms'];

/** Typical lengths of the parts. */
function typical(set: RecordedSet): Record<string, number> {
  const parts = latencySplit(recordsOfSet(set))?.parts ?? [];
  return Object.fromEntries(parts.map(({ part, typicalNs }) => [part, typicalNs]));
}

describe('the split of latency', () => {
  it('sums to the latency of each of 10^5 queries', async () => {
    const { address } = await startPinnedSut(...SERVED);
    const { set } = await recordedRun([address], 'delay', {
      scenario: 'Server',
      serverTargetQps: 5_000,
      serverTargetLatencyNs: 1e9,
      minQueryCount: 100_000,
    });
    const parts = new Float64Array(LATENCY_PARTS.length);
    const records = recordsOfSet(set);
    const [rows] = rowsOfRecords(records) as [SplitRows];
    let known = 0;
    let outside = 0;
    let belowZero = 0;
    for (let i = 0; i < rows.rowCount; i += 1) {
      const latencyNs = rows.readParts(i, parts);
      const sumNs = parts.reduce((a, b) => a + b, 0);
      if (!Number.isNaN(latencyNs)) known += 1;
      if (!(Math.abs(sumNs - latencyNs) <= Math.max(0.01 * latencyNs, 20e3))) outside += 1;
      if (Math.min(...parts) < 0) belowZero += 1;
    }
    expect({ known, outside, belowZero }).toEqual({
      known: rows.rowCount,
      outside: 0,
      belowZero: 0,
    });
    expect(known).toBeGreaterThanOrEqual(100_000);
    console.info(latencySplit(records)?.text);
  });

  it('shows 5 ms of link delay each way as network', async () => {
    const { address } = await startPinnedSut(...SERVED);
    const settings = { scenario: 'SingleStream', minQueryCount: 500 } as const;
    const near = typical((await recordedRun([address], 'delay', settings)).set);
    const shim = await TcpShim.start(address, { oneWayMs: 5 });
    const far = typical((await recordedRun([shim.address], 'delay', settings)).set);
    shim.stop();
    const grownNs = LATENCY_PARTS.map((part) => (far[part] ?? 0) - (near[part] ?? 0));
    console.info(
      'grown by, in ns:',
      Object.fromEntries(LATENCY_PARTS.map((p, i) => [p, Math.round(grownNs[i] ?? 0)])),
    );
    LATENCY_PARTS.forEach((part, i) => {
      // The shim's timers hold every message up to 3 ms longer than asked for.
      const [least, most] = part === 'network' ? [10e6, 16e6] : [-1e6, 1e6];
      expect(grownNs[i], part).toBeGreaterThanOrEqual(least);
      expect(grownNs[i], part).toBeLessThanOrEqual(most);
    });
  });
});
