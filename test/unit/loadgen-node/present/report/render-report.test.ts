import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { serverStatistics } from '../../../../../loadgen-node/observe/split/server-statistics.ts';
import type { RunSummary } from '../../../../../loadgen-node/observe/summary/run-summary.ts';
import { renderHeatMap } from '../../../../../loadgen-node/present/report/render-heat-map.ts';
import { renderReport } from '../../../../../loadgen-node/present/report/report-folder.ts';
import { oipStatistics } from '../../../../scenes/oip-server/oip-audit-facts.ts';
import { queueRecords } from '../../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

// Goal: a report says what the summary says, whatever it is made of, and nothing that a SUT or a user wrote is more than text.
// Method: simulated queues; the page as a text. test/browser looks at it in a browser.

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)> ' onfocus='x \u0000\u202e\ud800</title></style>`;

const queue = { seed: 3, arrivalQps: 90, serviceNs: 8e6 };

function tagsOf(page: string): string[] {
  return [...page.matchAll(/<\/?([a-z][a-z0-9]*)/g)].map(([tag]) => tag);
}

/** The same summary with every text replaced, in all depths; fixed words of our own are kept. */
function withTexts(summary: RunSummary, text: string): RunSummary {
  const keep = new Set(['scenario', 'result', 'part', 'growsMost', 'file']);
  const replaced = JSON.stringify(summary, (key, value: unknown) =>
    typeof value === 'string' && !keep.has(key) ? text : value,
  );
  const copy = JSON.parse(replaced) as RunSummary;
  return { ...copy, notes: summary.notes.map(() => text) };
}

describe('renderReport', () => {
  it.each([
    ['no row', 0, 'Server'],
    ['one row', 1, 'Server'],
    ['two rows', 2, 'SingleStream'],
    ['many rows', 30_000, 'Server'],
    ['queries of several samples', 800, 'MultiStream'],
    ['one query', 5000, 'Offline'],
  ] as const)('stays below 500 kB with %s', (_, rowCount, scenario) => {
    const arrivalQps = scenario === 'Offline' ? 0 : 90;
    const samplesPerQuery = scenario === 'MultiStream' ? 8 : 1;
    const records = queueRecords({ ...queue, rowCount, arrivalQps, samplesPerQuery });
    const page = renderReport({ summary: reportSummary(records, scenario), records });
    expect(page.length).toBeLessThan(500_000);
    expect(page).not.toMatch(/NaN|Infinity|undefined/);
    expect(page).toContain(`${scenario}: Network SUT: sut-a</h1>`);
  });

  it('says of LoadGen what the screen says', () => {
    const summary = reportSummary(null);
    const clean = renderReport({ summary, records: null });
    expect(clean).toContain('<p>LoadGen: not generator-bound.</p>');
    const health = { ...(summary.health as NonNullable<RunSummary['health']>), cpuWaitShare: 0.5 };
    const disturbed = renderReport({ summary: { ...summary, health }, records: null });
    expect(disturbed).toContain(
      '<p>LoadGen: not generator-bound, but other work held its core: it was ready and waited 50 % of the time.</p>',
    );
  });

  it('draws throughput in Offline, and no latency over time', () => {
    const records = queueRecords({ ...queue, rowCount: 500, arrivalQps: 0 });
    const page = renderReport({ summary: reportSummary(records, 'Offline'), records });
    expect(page).toContain('<h3>Throughput over time</h3>');
    expect(page).not.toContain('<h3>Latency over time</h3>');
  });

  it('counts every sample that never completed as lost, and says which were answered as failed', () => {
    const summary = reportSummary(null);
    const [node] = summary.nodes;
    const counts = { issuedSamples: 9145, completedSamples: 9121, failedSamples: 3 };
    const nodes = [{ ...(node as (typeof summary.nodes)[number]), ...counts }];
    const page = renderReport({ summary: { ...summary, nodes }, records: null });
    const [, table] = page.split('<h2 id="nodes">');
    expect(table).toMatch(
      />lost<.*>of them answered as failed<.*>9,145<.*>24<\/td><td[^>]*>3<\/td>/s,
    );
  });

  it('shows statistics of servers as theirs, and only where there are any', () => {
    const summary = reportSummary(null);
    const statistics = serverStatistics(oipStatistics());
    const server = { name: HOSTILE, version: '2.60.0', statistics };
    const nodes = summary.nodes.map((node) => ({ ...node, server }));
    const ofServers: RunSummary = { ...summary, protocol: 'oip', nodes, split: null };
    const page = renderReport({ summary: ofServers, records: null });
    expect(page).toContain('>What the servers say of themselves</h2>');
    expect(page).toContain('requests of other clients are');
    expect(page).toContain('the Open Inference Protocol leaves none of the other');
    expect(page).toMatch(
      /tells no times of single queries.*<a href="#servers">What the servers say/,
    );
    expect(page).toMatch(/<td[^>]*>6\.6 ms<\/td>/);
    expect(tagsOf(page)).not.toContain('img');
    expect(renderReport({ summary, records: null })).not.toContain('say of themselves');
  });

  it('says what is missing without records, and where no sample was completed', () => {
    const without = renderReport({ summary: reportSummary(null), records: null });
    expect(without).toContain('Missing: latency by percentile');
    const records = queueRecords({ ...queue, rowCount: 20, lostShare: 1 });
    const lost = renderReport({ summary: reportSummary(records), records });
    expect(lost).toContain('No sample of the 20 in the records was completed');
  });

  it('shows verdict, reasons, notes, settings and audit', () => {
    const reason = {
      rule: 'latency-bound',
      text: 'The bound was missed.',
      needed: '15 ms',
      seen: '28 ms',
      key: 'server_target_qps',
    };
    const summary = reportSummary(null, 'Server', {
      result: 'INVALID',
      verdict: { isValid: false, reasons: [reason] },
      isGeneratorBound: true,
      generatorBoundReason: 'lag is too large.',
      peakTargetQps: 123.4,
      thresholds: [
        {
          text: 'p99 < 9ms',
          figure: 'p99',
          isMet: false,
          needed: 9e6,
          seen: 1e7,
          seenText: '10 ms',
        },
      ],
    });
    const page = renderReport({ summary, records: null });
    const shown = ['INVALID', ...Object.values(reason), 'lag is too large.', ...summary.notes];
    const others = ['longhaul.yaml:4', 'not provable', '123 queries/s', 'seen 10 ms'];
    for (const text of [...shown, ...others]) expect(page).toContain(text);
  });

  it('gives the advice of the run in place of names of settings, each once', () => {
    const reason = { text: '', needed: '', seen: '', key: 'server_target_qps' };
    const reasons = [
      { ...reason, rule: 'latency-bound', advice: 'The table of steps tells where.' },
      { ...reason, rule: 'early-stopping', advice: 'The table of steps tells where.' },
      { ...reason, rule: 'min-queries', advice: '' },
    ];
    const summary = reportSummary(null, 'Server', { verdict: { isValid: false, reasons } });
    const page = renderReport({ summary, records: null });
    expect(page.match(/What changes it<\/dt><dd>The table of steps tells where\./g)).toHaveLength(
      1,
    );
    expect(page.match(/What changes it/g)).toHaveLength(1);
    expect(page).not.toContain('server_target_qps');
  });

  it('takes no markup from any text of a summary', () => {
    const records = queueRecords({ ...queue, rowCount: 200 });
    const summary = reportSummary(records);
    const harmless = renderReport({ summary: withTexts(summary, 'harmless'), records });
    const hostile = renderReport({ summary: withTexts(summary, HOSTILE), records });
    expect(hostile).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(tagsOf(hostile)).toEqual(tagsOf(harmless));
    for (const unshown of ['\u0000', '\u202e', '\ud800']) expect(hostile).not.toContain(unshown);
    expect(hostile).not.toMatch(/='[^']*onfocus/);
  });

  it('needs nothing but itself: the policy lets in its one style sheet', () => {
    const page = renderReport({ summary: reportSummary(null), records: null });
    const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page).toContain(`default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;`);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\sstyle=|url\(|@import|https?:/);
  });
});

describe('renderHeatMap', () => {
  it('shows values with their intervals, their share of the first cell, and why a cell has no value', () => {
    const page = renderHeatMap({
      title: HOSTILE,
      rowLabel: 'delay',
      columnLabel: 'rate',
      rows: ['0 ms', '5 ms'],
      columns: ['1 Gbit/s'],
      cells: [
        [{ value: 400, interval: [390, 410] }],
        [{ word: 'none', why: 'no load keeps <the> bound' }],
      ],
      unit: 'queries/s',
      notes: ['loopback'],
    });
    expect(page).toContain('390 to 410');
    expect(page).toContain(
      'Small: where the limit lies, and the share of the first cell (0 ms, 1 Gbit/s).',
    );
    expect(page).toContain('>390 to 410, 100 %</text>');
    expect(page).toContain('no load keeps &lt;the&gt; bound');
    expect(page).not.toMatch(/<script>|<img|NaN/);
  });

  it('speaks of no share where the first cell has no value, and calls one that is not measured so', () => {
    const page = renderHeatMap({
      title: 'peaks',
      rowLabel: 'delay',
      columnLabel: 'rate',
      rows: ['0 ms'],
      columns: ['1 Gbit/s', '100 Mbit/s'],
      cells: [[{ word: 'not measured', why: '' }, { value: 400 }]],
      unit: 'queries/s',
      notes: [],
    });
    expect(page).toContain('Large: queries/s. Small: where the limit lies. The stronger');
    expect(page).toContain('>not measured</text>');
    expect(page).not.toContain('>failed');
  });
});
