import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { latencySplit } from '../../../../../loadgen-node/observe/split/latency-split.ts';
import { serverStatistics } from '../../../../../loadgen-node/observe/split/server-statistics.ts';
import type { RunSummary } from '../../../../../loadgen-node/observe/summary/run-summary.ts';
import { renderHeatMap } from '../../../../../loadgen-node/present/report/render-heat-map.ts';
import { renderReport } from '../../../../../loadgen-node/present/report/report-folder.ts';
import { sizesOfBatches } from '../../../../../loadgen-node/present/report/sections/batch-sizes.ts';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { oipStatistics } from '../../../../scenes/oip-server/oip-audit-facts.ts';
import { auditFacts, nodeEvidence } from '../../../../scenes/simulated-run/audit-facts.ts';
import { partRecords, queueRecords } from '../../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

// Goal: a report says what the summary says, whatever it is made of, and nothing that a SUT or a
// user wrote is more than text. Method: simulated queues; the page as a text. test/outside/browser
// looks at it in a browser.

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)> ' onfocus='x \u0000\u202e\ud800</title></style>`;

const queue = { seed: 3, arrivalQps: 90, serviceNs: 8e6 };

function tagsOf(page: string): string[] {
  return [...page.matchAll(/<\/?([a-z][a-z0-9]*)/g)].map(([tag]) => tag);
}

/** The page but for the script of its charts. */
function withoutScript(page: string): string {
  return page.replace(/<script type="module">.*<\/script>/s, '');
}

/** The same summary with every text replaced, in all depths; fixed words of our own are kept. */
function withTexts(summary: RunSummary, text: string): RunSummary {
  const keep = new Set(['scenario', 'protocol', 'result', 'part', 'growsMost', 'file']);
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
    expect(withoutScript(page)).not.toMatch(/NaN|Infinity|undefined/);
    expect(page).toContain(`<h1>delay, ${scenario}</h1>`);
  });

  it('says of LoadGen what the screen says', () => {
    const summary = reportSummary(null);
    const clean = renderReport({ summary, records: null });
    expect(clean).toContain('<p>LoadGen was not the limit.</p>');
    const health = { ...(summary.health as NonNullable<RunSummary['health']>), cpuWaitShare: 0.5 };
    const disturbed = renderReport({ summary: { ...summary, health }, records: null });
    expect(disturbed).toContain(
      '<p>LoadGen was not the limit, but other work held its core: it was ready and waited 50 % of the time.</p>',
    );
  });

  it('draws throughput in Offline, and no latency over time', () => {
    const records = queueRecords({ ...queue, rowCount: 500, arrivalQps: 0 });
    const page = renderReport({ summary: reportSummary(records, 'Offline'), records });
    expect(page).toContain('<h3>Throughput over time</h3>');
    expect(page).not.toContain('<h3>Latency over time</h3>');
  });

  it('has the p99.9 of the many samples of one query, and of no few queries', () => {
    const offline = reportSummary(null, 'Offline');
    const figures = { ...offline.figures, queries: 1, samples: 1000, lost: 0, 'p99.9': 5e6 };
    const tile = '<dt>Latency, p99.9</dt>';
    expect(renderReport({ summary: { ...offline, figures }, records: null })).toContain(tile);
    const few = { ...figures, samples: 1000, lost: 1 };
    expect(renderReport({ summary: { ...offline, figures: few }, records: null })).not.toContain(
      tile,
    );
  });

  it('counts every sample that never completed as lost, and says which were answered with an error', () => {
    const summary = reportSummary(null);
    const [node] = summary.nodes;
    const counts = { issuedSamples: 9145, completedSamples: 9121, failedSamples: 3 };
    const nodes = [{ ...(node as (typeof summary.nodes)[number]), ...counts }];
    const page = renderReport({ summary: { ...summary, nodes }, records: null });
    const [, table] = page.split('<h2 id="nodes">');
    expect(table).toMatch(/>lost<.*>of them with an error<.*>9,145<.*>24<\/td><td[^>]*>3<\/td>/s);
  });

  it('draws CPU and memory of the nodes that told of them, and leaves out what no node told', () => {
    const summary = reportSummary(null);
    const [node] = summary.nodes as [RunSummary['nodes'][number]];
    const page = renderReport({ summary, records: null });
    expect(page).toContain('<h3>CPU of the SUT nodes</h3>');
    expect(page).toContain('<h3>Memory of the SUT nodes</h3>');
    expect(page).toContain('At most: sut-a 329 MiB.');
    expect(page).toMatch(/>cores busy<.*>memory<.*<td[^>]*>1\.3\d<\/td><td[^>]*>329 MiB</s);
    const { usage: _, ...silent } = node;
    const none = renderReport({ summary: { ...summary, nodes: [silent] }, records: null });
    expect(none).not.toMatch(/of the SUT nodes|>cores busy</);
    const many = Array.from({ length: 12 }, (_, i) => ({ ...node, name: `sut-${i}` }));
    const crowded = renderReport({
      summary: { ...summary, nodes: [...many, silent] },
      records: null,
    });
    expect(crowded).toContain('The first 8 of 12 nodes; the table has all.');
  });

  it('shows statistics of servers as theirs, and only where there are any', () => {
    const summary = reportSummary(null);
    const statistics = serverStatistics(oipStatistics());
    const server = { name: HOSTILE, version: '2.60.0', statistics };
    const nodes = summary.nodes.map((node) => ({ ...node, server }));
    const ofServers: RunSummary = { ...summary, protocol: 'oip', nodes, split: null };
    const page = renderReport({ summary: ofServers, records: null });
    expect(page).toContain('>What the servers report about themselves</h2>');
    expect(page).toContain('including requests of other clients');
    expect(page).toContain('the Open Inference Protocol has none of the other end');
    // They tell no times of single queries: there is nothing to split.
    expect(page).not.toContain('Where the time went');
    expect(page).toMatch(/<td[^>]*>6\.6 ms<\/td>/);
    expect(tagsOf(page)).not.toContain('img');
    expect(renderReport({ summary, records: null })).not.toContain('say of themselves');
  });

  it('shows no parts of a latency where many samples were left out for their times', () => {
    const split = latencySplit(partRecords([{ compute: 9e6 }, { compute: 9e6, network: -1e6 }]));
    const page = renderReport({ summary: { ...reportSummary(null), split }, records: null });
    expect(page).toContain(
      '<p>Where the time went is not known: of 1 of 2 samples, SUT nodes reported more time than passed.</p>',
    );
    expect(page).not.toContain('Typical: around the median');
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
      advice: 'Lower the rate.',
    };
    const late = {
      ...{ rule: 'generator-bound', text: 'LoadGen itself was late: lag is too large.' },
      ...{ needed: '1 ms', seen: '2 ms', key: null, advice: '' },
    };
    const summary = reportSummary(null, 'Server', {
      result: 'INVALID',
      verdict: { isValid: false, cause: null, reasons: [reason, late] },
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
    const { key: _, ...texts } = reason;
    const shown = ['INVALID', ...Object.values(texts), 'lag is too large.', ...summary.notes];
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
    const verdict = { isValid: false, cause: null, reasons };
    const summary = reportSummary(null, 'Server', { verdict });
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
    expect(withoutScript(page)).not.toMatch(
      /<script|<link|<img|<iframe|\sstyle=|url\(|@import|https?:/,
    );
  });

  it('brings the script of its charts with it, which the policy knows by its hash', () => {
    const records = queueRecords({ ...queue, rowCount: 500 });
    const page = renderReport({ summary: reportSummary(records), records });
    const script = /<script type="module">(.*)<\/script>/s.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page).toContain(`; script-src &#39;sha256-${hash}&#39;`);
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(script).not.toMatch(/import|sourceMappingURL|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });

  it('begins with the verdict and the three figures that matter', () => {
    const records = queueRecords({ ...queue, rowCount: 5000 });
    const summary = reportSummary(records, 'Server', { labels: { commit: '4f2a9c1' } });
    const page = renderReport({ summary, records });
    const [head = ''] = page.split('<section');
    const texts = head.replaceAll(/<style>.*<\/style>/gs, '').replaceAll(/<[^>]*>/g, ' ');
    expect(texts).toMatch(
      /commit=4f2a9c1.*delay, Server.*VALID.*Samples completed per second.*the metric of the scenario; [^ ]+ \/s scheduled.*Latency, p99.*bound 100 ms.*Samples answered *5,000 *all 5,000 that were issued/s,
    );
    expect(head).not.toContain('completed_qps');
    expect(page.indexOf('id="notes"')).toBeGreaterThan(page.indexOf('id="settings"'));
  });

  it('says what was measured on what, and marks what it does not know', () => {
    const summary = reportSummary(null);
    expect(renderReport({ summary, records: null })).toContain(
      'There is no network_audit.json beside the summary',
    );
    const node = nodeEvidence('sut-a');
    const description = node.description as NonNullable<typeof node.description>;
    const settings = { workerCount: '2', batchSizeMax: '8', providers: 'cpu' };
    const nodes = [{ ...node, description: { ...description, settings } }];
    const audit = composeAudit(auditFacts(nodes));
    const page = renderReport({ summary, records: null, audit });
    const [, table = ''] = page.split('<h2 id="machines">');
    const text = table.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/Processor a processor a processor Cores 2 2 Memory 8 GiB 8 GiB/);
    expect(text).toMatch(/Workers - 2 .*Batch size - up to 8/);
    expect(text).toMatch(
      /Link: to 10\.0\.1\.1; at best TCP connect 2 ms, question and answer 2\.5 ms/,
    );
  });
});

describe('sizesOfBatches', () => {
  const node = nodeEvidence('sut-a');
  const description = node.description as NonNullable<typeof node.description>;
  const auditWith = (batchSizeMax: string) =>
    composeAudit(
      auditFacts([{ ...node, description: { ...description, settings: { batchSizeMax } } }]),
    );
  const batch = (size: number, compute: number) =>
    Array.from({ length: size }, () => ({ preprocess: 5, compute, postprocess: 7 }));

  it('takes samples with the same times of their batch for one batch', () => {
    const records = partRecords([...batch(3, 100), ...batch(1, 101), ...batch(3, 102)]);
    expect(sizesOfBatches(records, auditWith('4'))).toEqual([1, 0, 2, 0]);
  });

  it.each([
    ['a node does not say how large its batches are', batch(2, 100), ''],
    ['more samples are alike than a batch holds', batch(5, 100), '4'],
    ['a node reports no pre-processing', [{ compute: 100 }], '4'],
  ])('knows none where %s', (_, rows, sizeMax) => {
    expect(sizesOfBatches(partRecords(rows), auditWith(sizeMax))).toBeNull();
    expect(sizesOfBatches(partRecords(rows), null)).toBeNull();
  });
});

describe('a node that generates', () => {
  it('has sequences side by side, and no batches', () => {
    const node = nodeEvidence('sut-a');
    const description = node.description as NonNullable<typeof node.description>;
    const settings = { batchSizeMax: '16', batchDelayUsMax: '2000', sequencesMax: '9' };
    const audit = composeAudit(
      auditFacts([{ ...node, description: { ...description, settings } }]),
    );
    const records = partRecords([{ preprocess: 5, compute: 100, postprocess: 7 }]);
    expect(sizesOfBatches(records, audit)).toBeNull();
    const summary = reportSummary(records);
    const page = renderReport({ summary, records, audit });
    const text = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/Sequences side by side - up to 9 in a worker/);
    expect(text).not.toMatch(/Batch sizes|Batch size|Batch delay/);
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
