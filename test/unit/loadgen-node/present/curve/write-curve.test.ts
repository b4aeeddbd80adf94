import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { curveFindings } from '../../../../../loadgen-node/present/curve/curve-findings.ts';
import {
  curveEnd,
  pointHeader,
  pointLines,
} from '../../../../../loadgen-node/present/curve/curve-text.ts';
import { drawCurve } from '../../../../../loadgen-node/present/curve/draw-curve.ts';
import type { LoadPoint } from '../../../../../loadgen-node/present/curve/load-point.ts';
import {
  curveCsv,
  renderCurvePage,
  renderCurvePicture,
  writeCurve,
} from '../../../../../loadgen-node/present/curve/write-curve.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  CURVE_POINTS,
  curvePoint,
  curveReport,
  tokenCurveReport,
} from '../../../../scenes/simulated-run/curve.ts';

// Goal: table, plot, page, picture and CSV say the same of the points, and knee and peak are what
// they say.
describe('curve for people', () => {
  it('finds knee and peak', () => {
    const { knee, kneeText, peak, peakText } = curveReport().findings;
    expect([knee?.load, peak?.load]).toEqual([40, 40]);
    expect(kneeText).toContain('At 40 queries/s');
    expect(peakText).toContain(
      '40 queries/s (40 samples/s completed) keeps the bound of 50 ms at p99',
    );
    expect(peakText).toContain(
      'The next load, 60 queries/s (60 samples/s completed): p99 is 90 ms',
    );
  });

  it('names of two bounds the one that the next load misses', () => {
    const { peakText } = tokenCurveReport().findings;
    const next = peakText.slice(peakText.indexOf('The next load'));
    expect(next).toMatch(/^The next load, 40 queries\/s \(.*\): p99 of TPOT is 39\.6 ms/);
    expect(next).not.toContain('TTFT');
  });

  it('draws no knee beyond the peak, as of a short probe that completed more than its load', () => {
    const points = CURVE_POINTS.slice(0, 3);
    const short = curvePoint(4, 35, 12, { samplesPerSecond: 44 });
    const beyond = curvePoint(5, 60, 90);
    const { knee, peak } = curveReport([...points, short, beyond]).findings;
    expect(knee?.load).toBe(35);
    const searched = { peak: points[2] ?? null, peakText: 'As confirmed.' };
    const curve = { ...curveReport(), points: [...points, short, beyond] };
    expect(curveFindings(curve, searched).knee).toBe(null);
    expect(peak?.load).toBe(35);
  });

  it('says where there is none', () => {
    const some = curveReport(CURVE_POINTS.slice(3, 4)).findings;
    expect(some.peakText).toMatch(/^None: no load kept the bound of 50 ms at p99; the lowest/);
    expect(some.kneeText).toContain('Not known');
    const all = curveReport(CURVE_POINTS.slice(0, 3)).findings;
    expect(all.peakText).toContain('No higher load missed it');
    expect(all.kneeText).toMatch(/^None up to 40 queries\/s/);
    const wide = curveReport([curvePoint(1, 10, 48)]).findings;
    expect(wide.peakText).toContain('Its interval reaches above the bound');
    const point = curvePoint(1, 10, 29.5);
    const latencies = point.latencies.map((figure) => ({ ...figure, highNs: null }));
    const { peakText } = curveReport([{ ...point, latencies }]).findings;
    expect(peakText).toContain('the upper end of its interval is unknown: a longer point');
    expect(peakText).not.toContain('reaches above');
  });

  it('names LoadGen first where it was the limit at the lowest load, and then knows no knee', () => {
    const late = (number: number, load: number, ms: number) =>
      curvePoint(number, load, ms, {
        ...{ isGeneratorBound: true, why: 'LoadGen was the limit: p99 of its lag is 23 ms' },
      });
    const points = [late(1, 270, 79), late(2, 540, 90), late(3, 1100, 95), late(4, 2200, 99)];
    const own = [curvePoint(5, 4400, 220), curvePoint(6, 8800, 500), curvePoint(7, 17_600, 900)];
    const report = curveReport([...points, ...own]);
    const { knee, kneeText, peakText } = report.findings;
    expect(peakText).toBe(
      'Not known: LoadGen was the limit already at 270 queries/s (270 samples/s completed), the lowest load (p99 of its lag is 23 ms), so what the SUT keeps is not seen.',
    );
    expect(knee).toBeNull();
    expect(kneeText).toMatch(/^Not known: LoadGen was the limit at 2200 queries\/s, beside/);
    const page = renderCurvePage(report);
    expect(page).toContain('<dt>Peak under the bound</dt><dd>not known</dd>');
    expect(page).toContain('<dt>Knee</dt><dd>not known</dd>');
    const above = curveReport([curvePoint(1, 10, 10), late(2, 20, 60)]).findings.peakText;
    expect(above).toMatch(/LoadGen was the limit: .* the peak of the SUT may lie higher\.$/);
  });

  it('has no knee beyond its peak, nor where latency falls with the load', () => {
    const beyond = [
      curvePoint(1, 10, 10),
      curvePoint(2, 20, 11),
      curvePoint(3, 400, 60),
      curvePoint(4, 800, 200),
    ];
    const { knee, kneeText, peak } = curveReport(beyond).findings;
    expect([knee, peak?.load]).toEqual([null, 20]);
    expect(kneeText).toMatch(/^None up to the peak:/);
    const falling = [
      curvePoint(1, 4400, 22, { meanNs: 2e6 }),
      curvePoint(2, 8800, 14, { meanNs: 5e6 }),
      curvePoint(3, 17_600, 40),
    ];
    expect(curveReport(falling).findings.kneeText).toBe(
      'Not known: latency is lower at 8800 queries/s than at 4400 queries/s; the curve does not rise.',
    );
  });

  it('draws no line that runs backwards', () => {
    const falls = CURVE_POINTS.map((point) =>
      point.isOverloaded ? { ...point, samplesPerSecond: 30 } : point,
    );
    const { drawing } = drawCurve(curveReport(falls), curveReport(falls).findings, {
      ...{ name: 'latency', ns: 50e6, percentile: 0.99 },
    });
    const lines = [...drawing.text.matchAll(/class="series [^"]*" d="M([^"]*)"/g)];
    expect(lines).toHaveLength(3);
    for (const [, path = ''] of lines) {
      const places = path.split('L').map((pair) => Number.parseFloat(pair));
      expect(places).toHaveLength(4);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
  });

  it('fits a terminal of 80 columns', () => {
    const report = curveReport();
    const plot = curveEnd(report, report.findings, 'results/x').split('\n').slice(0, 22);
    for (const line of [pointHeader(report), ...plot]) expect(line.length).toBeLessThanOrEqual(80);
    const text = plot.join('\n');
    for (const sign of ['P peak and knee', '^ queue grew', 'x LoadGen-bound', '--- bound 50 ms']) {
      expect(text).toContain(sign);
    }
    for (const one of CURVE_POINTS) {
      const [line = '', why = ''] = pointLines(report, one);
      expect(line.length).toBeLessThanOrEqual(80);
      expect(why.trim()).toBe(one.why);
    }
  });

  it('says of which points the SUT answered others as well', () => {
    const report = curveReport();
    expect(curveEnd(report, report.findings, 'x')).not.toContain('Others');
    const others =
      'node a answered 90 samples of others meanwhile, among them a LoadGen at 10.0.0.3';
    const [first, ...rest] = CURVE_POINTS as [LoadPoint, ...LoadPoint[]];
    const points = [{ ...first, others }, ...rest];
    expect(
      pointLines(report, points[0] as LoadPoint)
        .at(-1)
        ?.trim(),
    ).toBe(others);
    expect(curveEnd({ ...report, points }, report.findings, 'x')).toContain(
      'Others The SUT answered others as well in 1 point: the curve is not that of the SUT alone.',
    );
  });

  it('shows every point on the page, and lets no text be anything else', () => {
    const page = renderCurvePage(curveReport());
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
    const picture = renderCurvePicture(curveReport());
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="500"/);
    expect(picture).not.toContain('var(');
    expect(picture).toContain('.series.c1, .mark.c1 { stroke: #1d5fbf; }');
    expect(picture).toContain('LoadGen was the limit');
  });

  it('shows both times of a token model over tokens per second', () => {
    const report = tokenCurveReport();
    expect(report.findings.peak?.load).toBe(20);
    expect(report.findings.peakText).toContain(
      '20 queries/s (5,000 tokens/s completed) keeps the bound of TTFT 450 ms and TPOT 38 ms at p99: p99 of TTFT is 119 ms',
    );
    expect(report.findings.peakText).toContain('p99 of TPOT is 39.6 ms');
    const end = curveEnd(report, report.findings, 'x');
    expect(pointHeader(report)).toBe(
      'queries/s tokens/s  queries  TTFT p50      p99  TPOT p50      p99   good lost',
    );
    for (const line of [pointHeader(report), ...end.split('\n').slice(0, 42)]) {
      expect(line.length).toBeLessThanOrEqual(80);
    }
    for (const text of ['TTFT p99   --- bound 450 ms', 'TPOT p99   --- bound 38 ms']) {
      expect(end).toContain(text);
    }
    expect(end).toContain('longhaul_curve.html, curve.csv, curve.svg, curve-tpot.svg in ');
    expect(end.match(/completed tokens\/s/g)).toHaveLength(2);
    const page = renderCurvePage(report);
    for (const text of ['Time to the first token over', 'Time per output token over', 'TPOT p99']) {
      expect(page).toContain(text);
    }
    expect(page).toContain('9,000 tokens/s');
    const [head = '', , third] = curveCsv(report).split('\r\n');
    expect(head).toContain(',ttft_p99_ns,ttft_p99_low_ns,ttft_p99_high_ns,tpot_p50_ns,');
    expect(head).toContain(',goodput,goodput_per_s,tokens_per_s,goodput_tokens_per_s,');
    expect(third).toContain(',1,18,5000,4500,');
    const folder = tempFolder();
    writeCurve(folder, report);
    expect(readdirSync(folder).sort()).toEqual([
      ...['curve-tpot.svg', 'curve.csv', 'curve.svg', 'longhaul_curve.html'],
    ]);
  });

  it('makes CSV', () => {
    const lines = curveCsv(curveReport()).split('\r\n');
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(
      /^asked_qps,scheduled_per_s,completed_per_s,completed_low_per_s,completed_high_per_s,queries,lost,p50_ns,/,
    );
    expect(lines[1]).toBe(
      '10,10,10,,,100,0,3000000,2700000,3300000,7000000,6300000,7700000,10000000,9000000,11000000,4000000,100000,10000000000,0.995,9.95,false,false,',
    );
    expect(lines[5]).toContain('"not kept up with: ""a, b"""');
  });
});
