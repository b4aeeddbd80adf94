import { describe, expect, it } from 'vitest';
import { type MeasuredNode, nodeMetrics } from '../../../../sut-node/operations/node-metrics.ts';
import { Observations } from '../../../../sut-node/operations/observations.ts';
import { NodeStatus } from '../../../../sut-node/server/describe/node-offer.ts';
import { TEST_SETTINGS } from '../../../scenes/sut-node/sut-node.ts';

// Goal: the metrics tell what the node counted, in base units, each time they are requested.
// Method: a node that is numbers, its metrics as Prometheus would read them.

const TOTALS = {
  runCount: 1,
  streamCount: 2,
  queryCount: 3,
  partCount: 4,
  sampleCount: 50,
  payloadBytes: 600,
  completedCount: 44,
  failedByCode: [0, 3, 2, 1, 0],
  droppedCount: 0,
  responseBytes: 77,
};

function scene() {
  const observations = new Observations();
  const status = new NodeStatus();
  const node = {
    facts: {
      name: 'sut-a',
      identity: 'one',
      settings: TEST_SETTINGS,
      offer: {
        benchmark: 'digits',
        model: 'small "one"',
        encodings: [],
        responseEncoding: { form: 'raw', compression: 'identity' },
      },
    },
    status,
    model: () => undefined as ReturnType<MeasuredNode['model']>,
    totals: () => TOTALS,
    queue: () => ({
      waitingSamples: 5,
      outstandingSamples: 6,
      outstandingBytes: 700,
      creditSamples: 8,
      creditBytes: 900,
    }),
    oipRequests: () => new Map([['ok', 5]]),
    oipStreamCount: () => 0,
    streamCount: () => 1,
    connectionCount: () => 2,
    refusedCalls: () => new Map([['token', 9]]),
    refusedConnections: () => new Map([['address', 8]]),
    workers: () => ({ count: 3, replacedCount: 4 }),
  };
  const registry = nodeMetrics(node, observations);
  /** Lines of a metric, without its name's prefix. */
  const read = async (metric: string): Promise<string[]> => {
    const lines = (await registry.metrics()).split('\n');
    return lines
      .filter((line) => line.startsWith(`longhaul_sut_${metric}`))
      .map((line) => line.slice('longhaul_sut_'.length));
  };
  return { node, status, observations, registry, read };
}

describe('nodeMetrics', () => {
  it.each([
    ['queries_total', ['queries_total 3']],
    ['samples_received_total', ['samples_received_total 50']],
    ['samples_completed_total', ['samples_completed_total 44']],
    ['response_bytes_total', ['response_bytes_total 77']],
    [
      'samples_failed_total',
      [
        'samples_failed_total{reason="unspecified"} 0',
        'samples_failed_total{reason="bad-sample"} 3',
        'samples_failed_total{reason="inference"} 2',
        'samples_failed_total{reason="limit"} 1',
        'samples_failed_total{reason="draining"} 0',
      ],
    ],
    ['calls_refused_total', ['calls_refused_total{reason="token"} 9']],
    ['connections_refused_total', ['connections_refused_total{reason="address"} 8']],
    ['queue_samples', ['queue_samples 5']],
    ['outstanding_bytes', ['outstanding_bytes 700']],
    ['credit_samples', ['credit_samples 8']],
    ['queue_limit_samples', [`queue_limit_samples ${TEST_SETTINGS.queueSamplesMax}`]],
    ['open_', ['open_streams 1', 'open_connections 2']],
    ['workers', ['workers_replaced_total 4', 'workers 3']],
  ])('tells %s, twice the same', async (metric, lines) => {
    const { read } = scene();
    expect(await read(metric)).toEqual(lines);
    expect(await read(metric)).toEqual(lines);
  });

  it('tells the state, and follows it', async () => {
    const { read, status } = scene();
    expect(await read('state{state="loading"}')).toEqual(['state{state="loading"} 1']);
    status.set('NODE_STATE_READY', '');
    expect(await read('state')).toEqual([
      'state{state="loading"} 0',
      'state{state="warming_up"} 0',
      'state{state="ready"} 1',
      'state{state="draining"} 0',
      'state{state="failed"} 0',
    ]);
  });

  it('says what the node is, and what it has loaded once it has', async () => {
    const { node, read } = scene();
    const [before] = await read('info');
    expect(before).toContain('model="small \\"one\\"",provider="cpu",sha256="",configuration=""');
    node.model = () => ({ sha256: 'ab', isStandIn: false, tensors: { inputs: [], outputs: [] } });
    const after = await read('info');
    expect(after).toHaveLength(1);
    expect(after[0]).toMatch(/sha256="ab",configuration="digits\/small .*\/[0-9a-f]{8}"\} 1$/);
  });

  it('counts batches by their size', async () => {
    const { observations, read } = scene();
    for (const size of [1, 3, 5_000]) observations.batch(size);
    const lines = await read('batch_size_samples');
    expect(lines[0]).toBe('batch_size_samples_bucket{le="1"} 1');
    expect(lines).toContain('batch_size_samples_bucket{le="2"} 1');
    expect(lines).toContain('batch_size_samples_bucket{le="4"} 2');
    expect(lines).toContain('batch_size_samples_bucket{le="4096"} 2');
    expect(lines.slice(-3)).toEqual([
      'batch_size_samples_bucket{le="+Inf"} 3',
      'batch_size_samples_sum 5004',
      'batch_size_samples_count 3',
    ]);
  });

  it('tells durations in seconds, by phase', async () => {
    const { observations, read } = scene();
    observations.sample({
      receiveNs: 0,
      queueNs: 10_000,
      batchWaitNs: 10_001,
      preprocessNs: 1e6,
      computeNs: 1.5e9,
      postprocessNs: 60e9,
      sendNs: 5e3,
    });
    const bucket = 'sample_duration_seconds_bucket';
    const lines = await read('sample_duration_seconds');
    for (const line of [
      `${bucket}{phase="queue",le="0.00001"} 1`,
      `${bucket}{phase="batch_wait",le="0.00001"} 0`,
      `${bucket}{phase="batch_wait",le="0.00002"} 1`,
      `${bucket}{phase="compute",le="1"} 0`,
      `${bucket}{phase="compute",le="2"} 1`,
      `${bucket}{phase="postprocess",le="10"} 0`,
      `${bucket}{phase="postprocess",le="+Inf"} 1`,
      'sample_duration_seconds_sum{phase="compute"} 1.5',
      'sample_duration_seconds_count{phase="send"} 1',
    ]) {
      expect(lines).toContain(line);
    }
  });

  it('has the metrics of the process, and no gauge with the name of a counter', async () => {
    const { registry } = scene();
    const text = await registry.metrics();
    expect(text).toContain('\nprocess_resident_memory_bytes ');
    const gauges = [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    expect(gauges.length).toBeGreaterThan(20);
    expect(gauges.filter((name) => name?.endsWith('_total'))).toEqual([]);
  });
});
