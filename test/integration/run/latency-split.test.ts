import { describe, expect, it } from 'vitest';
import type { RecordedSet } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import { recordsOfSet } from '../../../loadgen-node/observe/records/sample-records.ts';
import { LATENCY_PARTS } from '../../../loadgen-node/observe/split/latency-parts.ts';
import { latencySplit } from '../../../loadgen-node/observe/split/latency-split.ts';
import { rowsOfRecords, type SplitRows } from '../../../loadgen-node/observe/split/split-sums.ts';
import { recordedRun } from '../../scenes/simulated-run/recorded-run.ts';
import { NO_DELAY, startTestNode } from '../../scenes/sut-node/sut-node.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';

// Goal: over real gRPC the parts of every latency are there, none is negative, and their sum is the
// latency; what a node tells is the time that it took; what the link adds is network. Method: nodes
// without a model, times that are known.

const RECEIVE = LATENCY_PARTS.indexOf('receive');
const QUEUE = LATENCY_PARTS.indexOf('queue');
const COMPUTE = LATENCY_PARTS.indexOf('compute');
const SERVICE_NS = 2e6;

function rowsOfSet(set: RecordedSet): SplitRows {
  return rowsOfRecords(recordsOfSet(set))[0] as SplitRows; // A run of one set.
}

/** From the arrival of a sample in the node to the begin of its service. */
function untilService(parts: Float64Array): number {
  return (parts[RECEIVE] as number) + (parts[QUEUE] as number);
}

describe('the split of a run over gRPC', () => {
  it('has all parts of each of 2,000 queries, and they sum to the latency', async () => {
    const node = await startTestNode({ benchmark: 'null' });
    const { outcome, set } = await recordedRun([node.address], 'null', {
      scenario: 'SingleStream',
      minQueryCount: 2_000,
    });
    const parts = new Float64Array(LATENCY_PARTS.length);
    const rows = rowsOfSet(set);
    const worst = { errorNs: 0, leastNs: 0 };
    for (let i = 0; i < 2_000; i += 1) {
      const latencyNs = rows.readParts(i, parts);
      const errorNs = Math.abs(parts.reduce((a, b) => a + b, 0) - latencyNs);
      worst.errorNs = Math.max(worst.errorNs, errorNs);
      worst.leastNs = Math.min(worst.leastNs, ...parts);
    }
    expect(worst).toEqual({ errorNs: expect.toSatisfy((ns) => ns < 0.001), leastNs: 0 });
    expect(latencySplit(recordsOfSet(set))?.sampleCount).toBe(2_000);
    // A SingleStream query finds credit and a socket: nothing waits.
    expect(outcome.performance?.health?.backPressure).toEqual({ socketNs: 0, creditNs: 0 });
  });

  it('shows of a SUT that serves one sample after the other how long each waited and was served', async () => {
    const delay = {
      ...NO_DELAY,
      model: { kind: 'fixed', ns: SERVICE_NS } as const,
      concurrency: 1,
    };
    const node = await startTestNode({ benchmark: 'delay', delay });
    const { set } = await recordedRun([node.address], 'delay', {
      scenario: 'Offline',
      minQueryCount: 50,
      offlineExpectedQps: 1,
    });
    const rows = rowsOfSet(set);
    const first = new Float64Array(LATENCY_PARTS.length);
    rows.readParts(0, first);
    const parts = new Float64Array(LATENCY_PARTS.length);
    for (let i = 0; i < 50; i += 1) {
      rows.readParts(i, parts);
      // They arrive in one message, and are served from then on without a gap.
      const waitedNs = untilService(parts) - untilService(first);
      expect(Math.abs(waitedNs - i * SERVICE_NS)).toBeLessThan(1e3);
      expect(parts[COMPUTE]).toBeGreaterThanOrEqual(SERVICE_NS);
      expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
    }
  });

  it('shows the delay of the link as network, and nowhere else', async () => {
    const node = await startTestNode({ benchmark: 'null' });
    const shim = await TcpShim.start(node.address, { oneWayMs: 40 });
    const { set } = await recordedRun([shim.address], 'null', {
      scenario: 'SingleStream',
      minQueryCount: 12,
    });
    shim.stop();
    const typical = latencySplit(recordsOfSet(set))?.parts ?? [];
    const networkNs = typical.find(({ part }) => part === 'network')?.typicalNs ?? 0;
    expect(networkNs).toBeGreaterThanOrEqual(80e6);
    const sumNs = typical.reduce((sum, { typicalNs }) => sum + typicalNs, 0);
    expect(sumNs - networkNs).toBeLessThan(networkNs / 2);
  });
});
