import { describe, expect, it } from 'vitest';
import type { TestOutcome } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { latencyStatistics } from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';
import type { LaneRequest } from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { NetworkAudit } from '../../../../../loadgen-node/observe/network-audit.ts';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import {
  composeSummary,
  figuresOfRun,
  type RunReport,
} from '../../../../../loadgen-node/run/keep/run-report.ts';
import { planRun } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { printReport } from '../../../../../loadgen-node/run/screen/print-report.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import {
  auditFacts,
  hostFacts,
  nodeEvidence,
} from '../../../../scenes/simulated-run/audit-facts.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

// Goal: somebody who sees a result for the first time reads verdict, request, answers, latency and
// what to change, in short lines. Method: runs under simulated time, printed as `longhaul run`
// does, with a plan and evidence made for them.

/** Lines that people see; ten, with the verdict eleven. */
const LINES_MAX = 11;
const COLUMNS_MAX = 100;

interface Scene {
  readonly flags?: Readonly<Record<string, string>>;
  readonly settings?: Partial<TestSettings>;
  readonly serviceNs?: (sample: number) => number;
  readonly isOneMachine?: boolean;
  readonly lanes?: readonly LaneRequest[];
  readonly report?: Partial<RunReport>;
}

async function reportOf(scene: Scene): Promise<RunReport> {
  const { flags = {}, settings = {}, serviceNs = () => 3e6, isOneMachine = false, lanes } = scene;
  const { values } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: {
      ...{ benchmark: 'digits', sut: '10.0.0.2:1', targetQps: '100', minDuration: '10s' },
      ...{ output: 'results/first', ...flags },
    },
  });
  const plan = planRun(values);
  const test = simulatedTest({ ...plan.settings, ...settings }, { serviceNs });
  const outcome: TestOutcome = await test.run({ lanes });
  const host = isOneMachine ? { host: hostFacts('loadgen', { bootId: 'boot of sut-a' }) } : {};
  const node = nodeEvidence('sut-a');
  const description = node.description && {
    ...node.description,
    settings: { workerCount: '1', threadsPerWorker: '1', providers: 'cpu' },
  };
  const facts = auditFacts([{ ...node, description }]);
  const loadgenNode = { ...facts.loadgenNode, ...host };
  const nodes = [{ address: node.address, name: 'sut-a', model: 'digits', ...COUNTS }];
  const summary = reportSummary(null, plan.settings.scenario, { nodes });
  return {
    ...{ plan, outcome, summary, records: null, problems: [], accuracy: {} },
    ...figuresOfRun(outcome, plan, null, {}),
    dataSetCheck: {
      name: 'digits',
      folder: '',
      sampleCount: 1797,
      fileCount: 0,
      digest: '',
      list: undefined,
    },
    ...{ models: ['digits, SHA-256 ff'], nameCalls: [], keyNotes: [] },
    quality: { metric: 'top-1', target: 0.9 } as RunReport['quality'],
    notes: ['LoadGen of this run is longhaul', 'both ends counted 100 samples', 'one machine'],
    audit: composeAudit({ ...facts, loadgenNode }),
    ...scene.report,
  };
}

/** A report with tokens of so many samples: first tokens after 1, 2, 3, ... ms. */
async function tokenReport(
  count: number,
  scene: Scene = {},
  timesNs: { readonly first?: number; readonly each?: number } = {},
): Promise<RunReport> {
  const report = await reportOf(scene);
  const { performance } = report.outcome;
  if (performance === null) throw new Error('no performance phase');
  const times = (ns?: number) =>
    latencyStatistics(Float64Array.from({ length: count }, (_, i) => ns ?? (i + 1) * 1e6));
  const tokens = {
    ...{ tokenCount: 3072, completed: 301.007 },
    ...{ firstToken: times(timesNs.first), perOutputToken: times(timesNs.each) },
  };
  const { percentile } = performance.summary.target;
  const summary = {
    ...{ ...performance.summary, completedSampleCount: count },
    lanes: [
      {
        ...{ name: 'all', completedSamples: count, lateSamples: 0 },
        bounds: namedBounds({ boundNs: 100e6, tpotNs: 100e6, percentile }).map((bound) => ({
          ...{ ...bound, lane: null, valueNs: 0, leastNs: 0, aboveCount: 0, isMet: true },
        })),
      },
    ],
    tokens: { ...tokens, gaps: null } as NonNullable<typeof performance.summary.tokens>,
  };
  return { ...report, outcome: { ...report.outcome, performance: { ...performance, summary } } };
}

const COUNTS = { issuedSamples: 100, completedSamples: 100, failedSamples: 0 };

/** The row of a label. */
function rowOf(text: string, label: string): string | undefined {
  const line = text.split('\n').find((one) => one.startsWith(label.padEnd(14)));
  return line?.slice(14);
}

describe('the result of a run', () => {
  it('tells the bounds of Interactive by the name that the run was asked for', async () => {
    const flags = { benchmark: 'llama2-70b-interactive', minDuration: '1s' };
    const report = await reportOf({ flags, settings: { useTokenLatencies: false } });
    expect(printReport(report)).toMatch(/^(IN)?VALID +llama2-70b-interactive, Server, /);
    const summary = composeSummary(report, {
      ...{ audit: report.audit as NetworkAudit, ceiling: null, nodeNames: [], startedAt: '' },
      ...{ kept: { records: null, rowsInFile: null }, usage: [] },
    });
    expect(summary.benchmark).toBe('llama2-70b-interactive');
  });

  it('has the verdict with what was measured first, then at most ten lines of at most 100 columns', async () => {
    const text = printReport(await reportOf({ isOneMachine: true }));
    const lines = text.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^VALID {9}digits, Server, 100 queries\/s for [\d.]+ s \(network division\)$/,
    );
    expect(lines.map((line) => line.slice(0, 14).trim())).toEqual([
      ...['VALID', 'Requested', 'Answered', 'Throughput', 'Latency', 'Time went', 'LoadGen'],
      ...['SUT', 'Notes', 'Files'],
    ]);
    expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(COLUMNS_MAX);
  });

  it('has the times of tokens among the results, before what was measured and the files', async () => {
    const text = printReport(await tokenReport(1000));
    const labels = text.split('\n').map((line) => line.slice(0, 14).trim());
    const order = ['Latency', 'Tokens', 'First token', 'Per token', 'Time went', 'SUT', 'Files'];
    expect(labels.filter((label) => order.includes(label))).toEqual(order);
    expect(rowOf(text, 'Tokens')).toBe('3,072 output tokens, 301.01 per second');
    expect(rowOf(text, 'First token')).toMatch(
      /^p50 501 ms +p90 901 ms +p99 991 ms +p99\.9 1 s +\(bound [\d.]+ m?s at p99\)$/,
    );
  });

  it('has a dash for times of tokens that cannot be', async () => {
    const report = await tokenReport(100, {}, { first: 0, each: -30_178_689 });
    const text = printReport(report, { isVerbose: true });
    for (const label of ['First token', 'Per token']) {
      expect(rowOf(text, label)).toMatch(/^p50 - +p90 - +p99 - +\(bound/);
    }
  });

  it('has no rate where the SUT was gone before the end', async () => {
    const gone = (sample: number): number => (sample < 400 ? 3e6 : Number.NaN);
    const report = await reportOf({ serviceNs: gone });
    expect(report.outcome.performance?.counts.completedSamples).toBe(400);
    const text = printReport(report, { isVerbose: true });
    expect(rowOf(text, 'Throughput')).toBe('none: the SUT was gone before the end');
    expect(rowOf(text, 'LoadGen')).toBe('not judged: the SUT was gone before the end');
    expect(rowOf(text, 'Load')).toMatch(/: - samples\/s scheduled, - completed, /);
    const rates = Object.keys(report.figures).filter((name) => /qps|per_second/.test(name));
    expect(rates).toEqual([]);
    expect(report.figures.p99).toBe(3e6);
    expect(Object.keys((await reportOf({})).figures)).toContain('completed_qps');
  });

  it('has no p99.9 of so few samples that it would be the largest', async () => {
    const text = printReport(await tokenReport(999), { isVerbose: true });
    expect(rowOf(text, 'Per token')).toMatch(/p99 990 ms +\(/);
    expect(text).not.toContain('p99.9');
  });

  it('has the p99.9 of the many samples of one query', async () => {
    const scene = { flags: { scenario: 'Offline' }, serviceNs: (sample: number) => sample * 9.5e6 };
    expect(printReport(await reportOf(scene), { isVerbose: true })).toMatch(/^Latency .* p99\.9 /m);
  });

  it('tells each bound with its lane where there are several', async () => {
    const lane = (name: string, first: number, end: number, boundNs: number) => ({
      ...{ name, share: (end - first) / 100, samples: { first, end } },
      bounds: namedBounds({ boundNs, percentile: 0.9 }),
    });
    const lanes = [lane('short', 0, 40, 2e6), lane('long', 40, 100, 9e6)];
    const text = printReport(await reportOf({ lanes }), { isVerbose: true });
    expect(rowOf(text, 'Latency')).toMatch(
      /; bound 2 ms at p90 of lane short: \d{3} above; bound 9 ms at p90 of lane long: 0 above$/,
    );
    expect(rowOf(text, 'Bound')).toMatch(
      /^2 ms at the 90th percentile of lane short: seen 3 ms, \d{3} queries above the bound$/,
    );
    expect(text).toMatch(/^INVALID .*: the latency bound of short was missed$/m);
  });

  it('has the figures at the percentile that the bound holds at', async () => {
    const flags = { targetLatencyPercentile: '97.5' };
    const text = printReport(await reportOf({ flags }));
    expect(rowOf(text, 'Latency')).toMatch(
      /^p50 3 ms, p90 3 ms, p97.5 3 ms, p99 3 ms, max 3 ms; bound 100 ms at p97.5/,
    );
    const ofTokens = printReport(
      await tokenReport(1000, { settings: { serverTargetLatencyPercentile: 0.95 } }),
    );
    expect(rowOf(ofTokens, 'First token')).toMatch(/p95 951 ms .*at p95\)$/);
  });

  it('explains a schedule that is not at the requested rate, and only that', async () => {
    const short = printReport(await reportOf({}));
    expect(rowOf(short, 'Requested')).toMatch(
      /^100 queries\/s for at least 10 s; LoadGen's fixed seed draws 9\d\.\d in so short a run$/,
    );
    const settings = { minDurationMs: 600_000 };
    const long = printReport(await reportOf({ settings }));
    expect(rowOf(long, 'Requested')).toBe('100 queries/s for at least 10 s');
  });

  it('tells how long the load lasted, not how long its answers took', async () => {
    const [first] = printReport(await reportOf({})).split('\n');
    expect(first).toMatch(/, 100 queries\/s for [\d.]+ s \(/);
    const [late] = printReport(await reportOf({ serviceNs: () => 20e9 })).split('\n');
    expect(late).toMatch(/, 100 queries\/s for (9\.\d*|10) s, ended after (29\.\d*|30) s \(/);
  });

  it('has the least number of queries where it takes longer than the shortest duration', async () => {
    const flags = { minDuration: '2s', minQueryCount: '1000' };
    expect(rowOf(printReport(await reportOf({ flags })), 'Requested')).toMatch(
      /^100 queries\/s for at least 2 s and 1,000 queries/,
    );
  });

  it('says nothing of a shortest duration of 0, as of TEST06', async () => {
    const requested = async (scenario: string): Promise<string | undefined> => {
      const report = await reportOf({ flags: { scenario } });
      const settings = { ...report.plan.settings, minDurationMs: 0, minQueryCount: 100 };
      return rowOf(printReport({ ...report, plan: { ...report.plan, settings } }), 'Requested');
    };
    expect(await requested('Server')).toMatch(/^100 queries\/s for at least 100 queries/);
    expect(await requested('Offline')).toMatch(/samples\/s expected$/);
    expect(await requested('SingleStream')).toBe(
      'one query after the other, for at least 100 queries',
    );
  });

  it('says what the SUT is, what it uses of its machine, and what both ends share', async () => {
    const text = printReport(await reportOf({ isOneMachine: true }));
    expect(rowOf(text, 'SUT')).toBe('sut-a at sut-a.example:50051, digits, 1 worker, 1 of 2 cores');
    expect(rowOf(text, 'Notes')).toBe(
      'one machine: LoadGen and SUT share 2 cores, no network was measured; 2 more: --verbose',
    );
  });

  it('shows notes that change what the figures mean, and counts the others', async () => {
    const plain = printReport(await reportOf({}));
    expect(rowOf(plain, 'Notes')).toBe('3, which change no figure: --verbose');
    const keyNotes = ['the model is a stand-in'];
    const told = printReport(await reportOf({ report: { keyNotes } }));
    expect(rowOf(told, 'Notes')).toBe('the model is a stand-in; 2 more: --verbose');
  });

  it('adds all that is known with --verbose, behind the same lines', async () => {
    const report = await reportOf({});
    const all = printReport(report, { isVerbose: true });
    expect(all.startsWith(printReport(report, { otherNotes: 'below' }))).toBe(true);
    expect(all).toMatch(/^Dispatch lag /m);
    expect(all).toMatch(/^Model +digits, SHA-256 ff$/m);
    expect(all).toMatch(/^All notes +LoadGen of this run is longhaul\n +both ends counted/m);
  });

  it.each([
    [
      'Offline',
      /^VALID.*Offline, 1,?\d* samples in/,
      /samples in one query: 100 samples\/s expected/,
    ],
    [
      'SingleStream',
      /^INVALID.*\(open division: SingleStream is in no other\)/,
      /^one query after/,
    ],
  ] as const)('tells of %s what it asks for', async (scenario, first, requested) => {
    const serviceNs = scenario === 'Offline' ? (sample: number) => sample * 9.5e6 : undefined;
    const text = printReport(
      await reportOf({ flags: { scenario }, ...(serviceNs && { serviceNs }) }),
    );
    expect(text).toMatch(first);
    expect(rowOf(text, 'Requested')).toMatch(requested);
  });
});

describe('the result of an INVALID run', () => {
  it('has the rule in its first line where there is no cause, and each number once', async () => {
    const settings = { minDurationMs: 1000, minQueryCount: 100 };
    const text = printReport(await reportOf({ settings }));
    expect(text.split('\n')[0]).toMatch(/^INVALID {7}digits, Server.*: too few queries$/);
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /Needs \d+ more queries if all of them are within the bound: set --min-query-count/,
    );
  });

  it('names each reason in the order in which to change something', async () => {
    // One of two queries is late, and the run is too short for early stopping.
    const report = await reportOf({
      flags: { targetLatency: '10ms' },
      serviceNs: (sample) => (sample % 2 === 0 ? 20e6 : 1e6),
    });
    const lines = printReport(report).split('\n');
    expect(lines[0]).toMatch(/^INVALID {7}digits, Server.*: the latency bound was missed$/);
    expect(lines[1]).toMatch(/^ {2}1\. The latency bound was missed: needed is .*, seen was /);
    expect(lines[2]).toMatch(/^ {5}.*--target-qps/);
    // Early stopping asks for more queries only because of those.
    expect(lines[3]).toBe('');
  });

  it('tells why samples failed where the verdict names the first reason only', async () => {
    const report = await reportOf({ flags: { targetLatency: '1ms' } });
    const withFailures = (...texts: { text: string; count: number }[]): string => {
      const { performance } = report.outcome;
      if (performance === null) throw new Error('it has a performance run');
      const failures = [{ code: 'model-failed' as const, count: 9, texts }];
      const outcome = { ...report.outcome, performance: { ...performance, failures } };
      return printReport({ ...report, outcome });
    };
    const [one, other] = [
      { text: 'out of memory', count: 5 },
      { text: 'no such input', count: 4 },
    ];
    expect(withFailures(one, other)).toMatch(
      /^Failures {6}5 model-failed: out of memory\n {14}4 model-failed: no such input$/m,
    );
    expect(withFailures({ ...one, count: 9 })).not.toContain('Failures');
  });

  it('advises no flags where the verb has none', async () => {
    const report = await reportOf({ flags: { targetLatency: '1ms' } });
    expect(printReport(report, { advises: false })).not.toContain('--target');
    expect(printReport(report)).toContain('--target');
  });

  it('says that nobody set the bound of a model of the user', async () => {
    const own = await reportOf({ flags: { benchmark: 'custom' }, serviceNs: () => 200e6 });
    const text = printReport(own);
    expect(text).toContain("You set no bound, so longhaul's default holds: --target-latency");
    expect(rowOf(text, 'Latency')).toContain('(default: --target-latency sets it)');
    const said = { benchmark: 'custom', targetLatency: '150ms' };
    const bound = printReport(await reportOf({ flags: said, serviceNs: () => 200e6 }));
    expect(bound).not.toContain('You set no bound');
  });
});
