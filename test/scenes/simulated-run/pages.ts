import { latencySplit } from '../../../loadgen-node/observe/split/latency-split.ts';
import { compareRuns } from '../../../loadgen-node/present/compare/compare-runs.ts';
import { renderComparison } from '../../../loadgen-node/present/compare/render-comparison.ts';
import type { ComparedRun } from '../../../loadgen-node/present/compare/resampled-run.ts';
import { runSeries } from '../../../loadgen-node/present/compare/run-series.ts';
import { renderCurvePage } from '../../../loadgen-node/present/curve/write-curve.ts';
import { renderHeatMap } from '../../../loadgen-node/present/report/render-heat-map.ts';
import { renderReport } from '../../../loadgen-node/present/report/report-folder.ts';
import { composeAudit } from '../../../loadgen-node/run/audit/compose-audit.ts';
import { formatExactNs } from '../../../shared/base/text.ts';
import { auditFacts, nodeEvidence } from './audit-facts.ts';
import { curveReport } from './curve.ts';
import { queueRecords } from './records.ts';
import { nodeUsage, reportSummary } from './summary.ts';
import { type TokenQueue, tokenRecords } from './token-queue.ts';

const BOUND_NS = 100e6;

/**
 * A run of a simulated queue at this load, 0 to 1; INVALID where it misses its bound, as no picture
 * may hide.
 */
function queueRun(folder: string, rowCount: number, load: number, nodes = 1): ComparedRun {
  const serviceNs = 8e6;
  const arrivalQps = (load * nodes * 1e9) / serviceNs;
  const records = queueRecords({ seed: rowCount + nodes, rowCount, arrivalQps, serviceNs, nodes });
  const nodeNames = Array.from({ length: nodes }, (_, i) => `sut-${'abcdefgh'[i]}`);
  const summary = reportSummary(records, 'Server', {
    notes: ['simulated M/M/1 queues: no run of a SUT'],
    settings: [{ key: 'targetQps', value: String(arrivalQps), source: '--target-qps' }],
    split: latencySplit(records, { nodeNames }),
    sutName: `Network SUT: ${nodeNames.join(', ')}`,
    nodes: nodeNames.map((name, i) => {
      const samples = Math.ceil((rowCount - i) / nodes);
      const counts = { issuedSamples: samples, completedSamples: samples, failedSamples: 0 };
      const model = 'delay, no file';
      return { address: `10.0.0.${i + 2}:50051`, name, model, ...counts, usage: nodeUsage(i) };
    }),
  });
  const { p99 = 0 } = summary.figures;
  const isValid = p99 <= BOUND_NS;
  const [needed, seen] = [formatExactNs(BOUND_NS), formatExactNs(p99)];
  const text = `The latency bound was missed: needed is ${needed}, seen was ${seen}.`;
  const missed = { rule: 'latency-bound', text, needed, seen, key: 'server_target_qps' };
  const reasons = isValid ? [] : [missed];
  const cause = { kind: 'load', text: 'the latency bound was missed' } as const;
  const verdict = {
    isValid,
    cause: isValid ? null : cause,
    reasons: reasons.map((reason) => ({ ...reason, advice: 'Lower --target-qps.' })),
  };
  const result = isValid ? 'VALID' : 'INVALID';
  return {
    folder,
    summary: { ...summary, result, verdict, loadgenVerdict: { isValid, reasons } },
    records,
  };
}

/** The page of a made-up curve. */
export function curvePage(): string {
  return renderCurvePage(curveReport());
}

/** A report of a simulated run. */
export function reportPage(rowCount: number): string {
  const settings = {
    ...{ workerCount: '2', threadsPerWorker: '1', providers: 'cpu' },
    ...{ batchSizeMax: '16', batchDelayUsMax: '0' },
  };
  const nodes = ['sut-a', 'sut-b'].map((name, i) => {
    const node = nodeEvidence(name);
    const description = node.description as NonNullable<typeof node.description>;
    return { ...node, address: `10.0.0.${i + 2}:50051`, description: { ...description, settings } };
  });
  const audit = composeAudit(auditFacts(nodes));
  return renderReport({ ...queueRun('', rowCount, 0.7, 2), audit });
}

/** A report of a simulated token model by continuous batching. */
export function tokenReportPage(rowCount: number): string {
  const queue: TokenQueue = {
    ...{ sequences: 48, firstTokenNs: 25e6, tokenNs: 18e6, perSequenceNs: 4e5 },
    length: { law: 'geometric', mean: 240 },
    seed: 3,
  };
  const records = tokenRecords(queue, 4.2, rowCount);
  const summary = reportSummary(records, 'Server', {
    ...{ benchmark: 'llama2-70b', tokenBounds: { ttftNs: 450e6, tpotNs: 40e6 }, split: null },
    notes: ['a simulated token model: no run of a SUT'],
    settings: [
      { key: 'targetQps', value: '4.2', source: '--target-qps' },
      { key: 'ttft', value: '450ms', source: '--ttft' },
      { key: 'tpot', value: '40ms', source: '--tpot' },
    ],
  });
  return renderReport({ summary, records });
}

/** A trend of five simulated runs, one of them slower. */
export function trendPage(): string {
  const loads = [0.6, 0.61, 0.6, 0.75, 0.62];
  const runs = loads.map((load, i) => {
    const { summary, ...run } = queueRun(`results/nightly-${i + 1}`, 5000 + i, load);
    const startedAt = `2026-11-2${i}T02:00:00.000Z`;
    return { ...run, summary: { ...summary, startedAt, labels: { commit: `4f2a9c${i}` } } };
  });
  const comparison = compareRuns(runs, 200);
  return renderComparison({
    comparison,
    cautions: ['rate is 75 in results/nightly-1 and 93.8 in results/nightly-4: another load'],
    notes: ['simulated, not measured'],
    ...{ conditions: [], failures: [], isRefused: false },
    ...{ series: runSeries(comparison, 'commit'), by: 'commit' },
  });
}

/** A comparison of two simulated runs. */
export function comparisonPage(): string {
  const runs = [queueRun('results/before', 5000, 0.6), queueRun('results/after', 5001, 0.75)];
  const invalid = runs
    .filter(({ summary }) => summary.result !== 'VALID')
    .map(({ folder, summary }) => `${folder}: ${summary.result}: the figures are no result`);
  return renderComparison({
    comparison: compareRuns(runs, 200),
    notes: ['simulated, not measured', ...invalid],
    cautions: ['rate is 75 in results/before and 93.75 in results/after: another load'],
    ...{ conditions: [], failures: [] },
    ...{ isRefused: false, series: [], by: null },
  });
}

/** A heat map of a peak over delay, rate and loss; the last cell has no peak. */
export function heatMapPage(): string {
  const cells = [1, 0.93, 0.7, 0.41].map((byDelay) =>
    [1, 0.82, 0.35, 0.2].map((byRate) => {
      if (byDelay * byRate < 0.1) return { word: 'none', why: 'no load keeps the bound of 15 ms' };
      const at = (peak: number): number => peak * byDelay * byRate;
      return { value: at(1180), interval: [at(1150), at(1200)] as const };
    }),
  );
  return renderHeatMap({
    title: 'Peak of a simulated SUT over the link',
    rowLabel: 'delay',
    columnLabel: 'rate, loss',
    rows: ['0 ms', '1 ms', '5 ms', '10 ms'],
    columns: ['1 Gbit/s', '1 Gbit/s, 0.1 %', '100 Mbit/s', '100 Mbit/s, 0.1 %'],
    cells,
    unit: 'queries/s',
    notes: ['simulated, not measured'],
  });
}
