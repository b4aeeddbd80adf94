import { describe, expect, it } from 'vitest';
import { curveFindings } from '../../../../../loadgen-node/present/curve/curve-findings.ts';
import {
  curveEnd,
  pointHeader,
  pointLines,
} from '../../../../../loadgen-node/present/curve/curve-text.ts';
import type { LoadPoint } from '../../../../../loadgen-node/present/curve/load-point.ts';
import {
  type CurveReport,
  curveCsv,
  renderCurvePage,
  renderCurvePicture,
} from '../../../../../loadgen-node/present/curve/write-curve.ts';

function point(
  number: number,
  load: number,
  p99Ms: number,
  other: Partial<LoadPoint> = {},
): LoadPoint {
  const figure = (percentile: number, share: number) => ({
    percentile,
    valueNs: p99Ms * share * 1e6,
    lowNs: p99Ms * share * 0.9e6,
    highNs: p99Ms * share * 1.1e6,
  });
  return {
    ...{ number, load, scheduledPerSecond: load, samplesPerSecond: load, rateInterval: null },
    ...{ queries: load * 10, lostSamples: 0, meanNs: p99Ms * 0.4e6, lagP99Ns: 1e5 },
    latencies: [figure(0.5, 0.3), figure(0.9, 0.7), figure(0.99, 1)],
    ...{
      isGeneratorBound: false,
      isOverloaded: false,
      why: '',
      durationNs: 10e9,
      explanation: null,
    },
    ...other,
  };
}

const POINTS = [
  point(1, 10, 10),
  point(2, 20, 12),
  point(3, 40, 20),
  point(4, 60, 90),
  point(5, 80, 3000, { isOverloaded: true, samplesPerSecond: 63, why: 'not kept up with: "a, b"' }),
  point(6, 160, 400, { isGeneratorBound: true, why: 'LoadGen was the limit: <lag>' }),
];

function reportOf(points: readonly LoadPoint[] = POINTS): CurveReport {
  const curve = { unit: 'queries/s', boundNs: 50e6, percentile: 0.99, points } as const;
  return {
    ...{ ...curve, madeBy: 'curve', findings: curveFindings(curve) },
    title: 'digits: latency over throughput',
    facts: [['SUT nodes', '<b>sut</b>']],
    notes: ['a note & more'],
  };
}

// Goal: table, plot, page, picture and CSV say the same of the points, and knee and peak are what they say.
describe('curve for people', () => {
  it('finds knee and peak', () => {
    const { knee, kneeText, peak, peakText } = reportOf().findings;
    expect([knee?.load, peak?.load]).toEqual([40, 40]);
    expect(kneeText).toContain('At 40 queries/s');
    expect(peakText).toContain(
      '40 queries/s (40 samples/s completed) keeps the bound of 50 ms at p99',
    );
    expect(peakText).toContain(
      'The next load, 60 queries/s (60 samples/s completed): p99 is 90 ms',
    );
  });

  it('says where there is none', () => {
    const some = reportOf(POINTS.slice(3, 4)).findings;
    expect(some.peakText).toMatch(/^None: no load kept the bound of 50 ms at p99; the lowest/);
    expect(some.kneeText).toContain('Not known');
    const all = reportOf(POINTS.slice(0, 3)).findings;
    expect(all.peakText).toContain('No higher load missed it');
    expect(all.kneeText).toMatch(/^Above 40 queries\/s/);
    const wide = reportOf([point(1, 10, 48)]).findings;
    expect(wide.peakText).toContain('Its interval reaches above the bound');
  });

  it('fits a terminal of 80 columns', () => {
    const report = reportOf();
    const plot = curveEnd(report, report.findings, 'results/x').split('\n').slice(0, 22);
    for (const line of [pointHeader(report), ...plot]) expect(line.length).toBeLessThanOrEqual(80);
    const text = plot.join('\n');
    for (const sign of ['P peak and knee', '^ queue grew', 'x LoadGen-bound', '--- bound 50 ms']) {
      expect(text).toContain(sign);
    }
    for (const one of POINTS) {
      const [line = '', why = ''] = pointLines(report, one);
      expect(line.length).toBeLessThanOrEqual(80);
      expect(why.trim()).toBe(one.why);
    }
  });

  it('shows every point on the page, and lets no text be anything else', () => {
    const page = renderCurvePage(reportOf());
    expect(page).toContain('a note &amp; more');
    expect(page).toContain('&lt;b&gt;sut');
    expect(page).not.toContain('<lag>');
    // Three percentiles of six points; one of LoadGen's own limit is grey.
    expect(page.match(/class="fill c3"/g)).toHaveLength(3 + 1);
    expect(page.match(/class="hollow c/g)).toHaveLength(3 + 1);
    expect(page.match(/class="band c/g)).toHaveLength(3);
    expect(page).toContain('bound 50 ms');
    expect(page).toContain('knee and peak 40/s');
  });

  it('makes a picture without variables and with colours', () => {
    const picture = renderCurvePicture(reportOf());
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="500"/);
    expect(picture).not.toContain('var(');
    expect(picture).toContain('.series.c1, .mark.c1 { stroke: #1d5fbf; }');
    expect(picture).toContain('LoadGen was the limit');
  });

  it('makes CSV', () => {
    const lines = curveCsv(reportOf()).split('\r\n');
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(
      /^asked_qps,scheduled_per_s,completed_per_s,completed_low_per_s,completed_high_per_s,queries,lost,p50_ns,/,
    );
    expect(lines[1]).toBe(
      '10,10,10,,,100,0,3000000,2700000,3300000,7000000,6300000,7700000,10000000,9000000,11000000,4000000,100000,10000000000,false,false,',
    );
    expect(lines[5]).toContain('"not kept up with: ""a, b"""');
  });
});
