import { describe, expect, it } from 'vitest';
import { LatencyHistogram } from '../../../../../loadgen-node/observe/figures/latency-histogram.ts';
import type { WindowCounts } from '../../../../../loadgen-node/observe/live/live-snapshot.ts';
import { LiveMetrics } from '../../../../../loadgen-node/present/live/live-metrics.ts';
import type { LiveRunFacts } from '../../../../../loadgen-node/present/live/live-state.ts';
import { liveSecond } from '../../../../scenes/simulated-run/summary.ts';

// Goal: Prometheus reads what happened, over several runs of one command. Method: the text of a
// scrape.

const FACTS: LiveRunFacts = {
  title: 'run_1',
  benchmark: 'digits',
  scenario: 'Server',
  mode: 'PerformanceOnly',
  output: 'results/run_1',
};

function countsOf(latenciesNs: readonly number[]): WindowCounts {
  const latency = new LatencyHistogram();
  for (const ns of latenciesNs) latency.add(ns);
  return {
    latencyCounts: latency.counts,
    latencySumNs: latency.sumNs,
    lagCounts: new LatencyHistogram().counts,
    lagSumNs: 0,
    partSumsNs: new Float64Array(11).fill(1e9),
    splitCount: 2,
  };
}

/** Value of a series by its name with labels; undefined where it is absent. */
function numberOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

describe('LiveMetrics', () => {
  it('counts over all runs, and shows the moment of the last one', async () => {
    const metrics = new LiveMetrics();
    metrics.apply({ kind: 'begin', facts: FACTS });
    metrics.apply({ kind: 'nodes', names: ['sut-a', 'sut-b'] });
    metrics.apply({ kind: 'snapshot', snapshot: liveSecond(1), counts: countsOf([16_384, 1e6]) });
    metrics.apply({
      kind: 'end',
      verdict: { state: 'VALID', cause: null, reasons: [], figures: [] },
    });
    metrics.apply({ kind: 'begin', facts: { ...FACTS, title: 'run_2' } });
    const second = liveSecond(2, { targetPerS: null });
    metrics.apply({ kind: 'snapshot', snapshot: second, counts: countsOf([20e9]) });
    const text = await metrics.registry.metrics();
    const value = (name: string): number | undefined => numberOf(text, `longhaul_loadgen_${name}`);
    expect(value('runs_total')).toBe(2);
    expect(value('runs_ended_total{verdict="valid"}')).toBe(1);
    expect(value('runs_ended_total{verdict="invalid"}')).toBe(0);
    expect(value('samples_completed_total')).toBe(300);
    expect(value('queries_issued_total')).toBe(308);
    expect(value('outstanding_samples')).toBe(second.outstanding);
    expect(value('target_queries_per_second')).toBeUndefined();
    expect(value('latency_bound_seconds')).toBe(0.015);
    expect(value('latency_part_seconds_total{part="network"}')).toBe(2);
    expect(value('latency_split_samples_total')).toBe(4);
    expect(
      value('info{version="0.1.0",benchmark="digits",scenario="Server",mode="PerformanceOnly"}'),
    ).toBe(1);
  });

  it('has the labels of the run as Prometheus takes them', async () => {
    const metrics = new LiveMetrics();
    const labels = { commit: '4f2a9c1', 'git.branch': 'a "b"' };
    metrics.apply({ kind: 'begin', facts: { ...FACTS, labels } });
    const text = await metrics.registry.metrics();
    expect(text).toContain('label_commit="4f2a9c1",label_git_branch="a \\"b\\""} 1');
  });

  it('has histograms in seconds whose buckets add up', async () => {
    const metrics = new LiveMetrics();
    metrics.apply({ kind: 'begin', facts: FACTS });
    const counts = countsOf([16_383, 16_384, 1e6, 20e9]);
    metrics.apply({ kind: 'snapshot', snapshot: liveSecond(1), counts });
    const text = await metrics.registry.metrics();
    const name = 'longhaul_loadgen_sample_latency_seconds';
    expect(text).toContain(`# TYPE ${name} histogram`);
    expect(numberOf(text, `${name}_bucket{le="0.000016384"}`)).toBe(1);
    expect(numberOf(text, `${name}_bucket{le="0.000024576"}`)).toBe(2);
    expect(numberOf(text, `${name}_bucket{le="0.001048576"}`)).toBe(3);
    expect(numberOf(text, `${name}_bucket{le="+Inf"}`)).toBe(4);
    expect(numberOf(text, `${name}_count`)).toBe(4);
    expect(numberOf(text, `${name}_sum`)).toBeCloseTo(20.001, 2);
  });

  it('can be read before a run began', async () => {
    const text = await new LiveMetrics().registry.metrics();
    expect(numberOf(text, 'longhaul_loadgen_runs_total')).toBe(0);
    expect(text).not.toContain('longhaul_loadgen_info{');
    expect(text).toContain('process_cpu_seconds_total');
    // Those of Node would be of the thread that serves them.
    expect(text).not.toContain('nodejs_');
  });
});
