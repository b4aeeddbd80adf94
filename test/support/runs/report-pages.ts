import { earlyStoppingOfServer } from '../../../loadgen-node/loadgen/results/early-stopping.ts';
import { figuresOf } from '../../../loadgen-node/observe/figures/figures-of-records.ts';
import { latencySplit } from '../../../loadgen-node/observe/split/latency-split.ts';
import type { RunSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { renderComparison } from '../../../loadgen-node/present/compare/compare-folders.ts';
import { compareRuns } from '../../../loadgen-node/present/compare/compare-runs.ts';
import type { ComparedRun } from '../../../loadgen-node/present/compare/resampled-run.ts';
import {
  type HeatMapInput,
  renderHeatMap,
} from '../../../loadgen-node/present/report/render-heat-map.ts';
import { renderReport } from '../../../loadgen-node/present/report/report-folder.ts';
import { formatExactNs } from '../../../shared/base/text.ts';
import { queueRecords } from './queue-records.ts';
import { reportSummary } from './report-summary.ts';

const BOUND_NS = 100e6;
const PERCENTILE = 0.99;

/** What the rules say of these figures: no picture may call a run VALID that misses its bound. */
function verdictOf({
  p99 = 0,
  overlatency = 0,
  queries = 0,
}: RunSummary['figures']): Pick<RunSummary, 'result' | 'verdict' | 'loadgenVerdict'> {
  const stopping = earlyStoppingOfServer(queries, Math.round(overlatency * queries), PERCENTILE);
  const bound = { needed: formatExactNs(BOUND_NS), seen: formatExactNs(p99) };
  const rules = [
    {
      rule: 'latency-bound',
      what: 'The latency bound was missed',
      isMet: p99 <= BOUND_NS,
      ...bound,
    },
    { rule: 'early-stopping', what: 'Too few queries', ...stopping },
  ];
  const reasons = rules
    .filter(({ isMet }) => !isMet)
    .map(({ rule, what, needed, seen }) => {
      const text = `${what}: needed is ${needed}, seen was ${seen}.`;
      return { rule, text, needed, seen, key: 'server_target_qps' };
    });
  const verdict = { isValid: reasons.length === 0, reasons };
  return { result: verdict.isValid ? 'VALID' : 'INVALID', verdict, loadgenVerdict: verdict };
}

/** A run of a simulated queue at this load, 0 to 1. */
function queueRun(folder: string, rowCount: number, load: number, nodes = 1): ComparedRun {
  const serviceNs = 8e6;
  const arrivalQps = (load * nodes * 1e9) / serviceNs;
  const records = queueRecords({ seed: rowCount + nodes, rowCount, arrivalQps, serviceNs, nodes });
  const nodeNames = Array.from({ length: nodes }, (_, i) => `sut-${'abcdefgh'[i]}`);
  const figures = figuresOf(records, { scenario: 'Server', latencyBoundNs: BOUND_NS });
  const summary = reportSummary(records, 'Server', {
    ...verdictOf(figures),
    notes: ['simulated M/M/1 queues: no run of a SUT'],
    split: latencySplit(records, { nodeNames }),
    sutName: `Network SUT: ${nodeNames.join(', ')}`,
    nodes: nodeNames.map((name, i) => ({
      address: `10.0.0.${i + 2}:50051`,
      name,
      model: 'delay, no file',
      issuedSamples: Math.ceil((rowCount - i) / nodes),
      completedSamples: Math.ceil((rowCount - i) / nodes),
      failedSamples: 0,
    })),
  });
  return { folder, summary, records };
}

/** A report of a simulated run. */
export function reportPage(rowCount: number): string {
  return renderReport(queueRun('', rowCount, 0.7, 2));
}

/** A comparison of two simulated runs. */
export function comparisonPage(): string {
  const runs = [queueRun('results/before', 5000, 0.6), queueRun('results/after', 5001, 0.75)];
  return renderComparison({
    comparison: compareRuns(runs, 200),
    notes: [
      'simulated, not measured',
      ...runs
        .filter(({ summary }) => summary.result !== 'VALID')
        .map(({ folder, summary }) => `${folder}: ${summary.result}: the figures are no result`),
    ],
    conditions: [],
    failures: [],
  });
}

/** A heat map of a peak over delay, rate and loss. */
export function heatMapPage(): string {
  const cells = [1, 0.93, 0.7, 0.41].map((byDelay) =>
    [1, 0.82, 0.35, 0.2].map((byRate) => ({
      value: 1180 * byDelay * byRate,
      interval: [1150 * byDelay * byRate, 1200 * byDelay * byRate] as const,
    })),
  );
  const rows: HeatMapInput['cells'][number][] = cells;
  return renderHeatMap({
    title: 'Peak of a simulated SUT over the link',
    rowLabel: 'delay',
    columnLabel: 'rate, loss',
    rows: ['0 ms', '1 ms', '5 ms', '10 ms'],
    columns: ['1 Gbit/s', '1 Gbit/s, 0.1 %', '100 Mbit/s', '100 Mbit/s, 0.1 %'],
    cells: [
      ...rows.slice(0, 3),
      [
        ...(rows[3] as HeatMapInput['cells'][number]).slice(0, 3),
        { word: 'none', why: 'no load keeps the bound of 15 ms' },
      ],
    ],
    unit: 'queries/s',
    notes: ['simulated, not measured'],
  });
}
