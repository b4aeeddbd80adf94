import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareVerb } from '../../../../loadgen-node/cli/compare.ts';
import { reportVerb } from '../../../../loadgen-node/cli/report.ts';
import { nodeSettings } from '../../../../loadgen-node/present/compare/compare-runs.ts';
import { curveFindings } from '../../../../loadgen-node/present/curve/curve-findings.ts';
import type { LoadPoint } from '../../../../loadgen-node/present/curve/load-point.ts';
import { writeCurve } from '../../../../loadgen-node/present/curve/write-curve.ts';
import { writeKept } from '../../../../loadgen-node/search/kept-file.ts';
import { findPeak } from '../../../../loadgen-node/search/peak/find-peak.ts';
import { peakText } from '../../../../loadgen-node/search/peak/print-peak.ts';
import { searchLines, writePeakFile } from '../../../../loadgen-node/search/peak/search-peak.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';
import { verbHere } from '../../../scenes/host/processes.ts';
import { CURVE_POINTS, curvePoint, curveReport } from '../../../scenes/simulated-run/curve.ts';
import { ASKED, delaySearch, searchDelay } from '../../../scenes/simulated-run/queue.ts';
import { aboutOf, END, searchOf, steady } from '../../../scenes/simulated-run/steady-probe.ts';

const ABOUT = aboutOf('2026-11-20T08:00:00.000Z');
const SEARCH = delaySearch(ASKED[1], 0.1);
const IDENTITY = { latency: '100 ms', benchmark: '"delay"', 'models of the nodes': 'delay' };

const LATE = { rule: 'generator-bound', text: 'late', needed: '', seen: '', key: null };

/** The folder of a search that is simulated with this seed. */
async function peakFolder(seed: number, others?: string) {
  const folder = tempFolder();
  const result = await searchDelay(SEARCH, seed);
  const probes = result.probes.map((probe) =>
    others === undefined ? probe : { ...probe, others },
  );
  writePeakFile(folder, { about: ABOUT, identity: IDENTITY, search: SEARCH, probes });
  return { folder, result };
}

function curveFolder(
  points: readonly LoadPoint[] = CURVE_POINTS,
  identity: Readonly<Record<string, string>> = IDENTITY,
): string {
  const folder = tempFolder();
  const report = curveReport(points);
  const { unit, boundNs, percentile } = report;
  writeCurve(folder, report);
  writeKept(join(folder, 'longhaul_curve.json'), {
    ...{ format: 'longhaul-curve-3', about: ABOUT, identity, unloadedNs: null },
    ...{ unit, boundNs, percentile, ended: null, points, ...curveFindings(report) },
  });
  return folder;
}

// Goal: the result of a search is read again as it was printed, and two of one kind are compared.
// Method: simulated searches, kept as the verbs keep them; the commands inside this process.
describe('a search that is read again', () => {
  it('is printed as find-peak printed it, from its probes alone', async () => {
    const { folder, result } = await peakFolder(3);
    const { code, stdout } = await verbHere(reportVerb, folder);
    expect(code).toBe(0);
    const lines = searchLines({ search: SEARCH, probes: result.probes }, folder);
    expect(stdout).toBe(`${lines.join('\n')}\n${peakText(SEARCH, result, folder)}`);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`curve.svg in ${folder} `);
    const json = JSON.parse((await verbHere(reportVerb, folder, '--json')).stdout);
    expect(json).toMatchObject({ about: ABOUT, value: result.value, ending: 'found' });
  });

  it('says that it is not at its end', async () => {
    const { folder, result } = await peakFolder(3);
    const probes = result.probes.slice(0, 3);
    writePeakFile(folder, { about: ABOUT, identity: IDENTITY, search: SEARCH, probes });
    expect((await verbHere(reportVerb, folder)).stdout).toContain('Broken off: the same command');
    await expect(verbHere(compareVerb, folder, folder)).rejects.toThrow('not at its end');
  });

  it('is printed as curve printed it, with its page', async () => {
    const folder = curveFolder();
    const page = join(tempFolder(), 'page.html');
    const { stdout } = await verbHere(reportVerb, folder, '--html', page);
    expect(stdout).toMatch(/^queries\/s +done\/s/);
    expect(stdout).toContain('Peak   40 queries/s (40 samples/s completed) keeps the bound');
    expect(readFileSync(page, 'utf8')).toContain('Latency over throughput');
    await expect(verbHere(reportVerb, folder, '--csv', page)).rejects.toThrow('--csv is for runs');
  });
});

describe('two searches', () => {
  it('are compared by their peaks and intervals', async () => {
    const [one, other] = [await peakFolder(3), await peakFolder(4)];
    const { stdout } = await verbHere(compareVerb, one.folder, other.folder);
    expect(stdout).toMatch(/^Base +\S+ {2}peak [\d.]+ queries\/s, limit [\d.]+ to [\d.]+$/m);
    expect(stdout).toMatch(/^Result +\S+ is higher: .*; the intervals overlap/m);
    expect(stdout).toMatch(/^Share +[\d.]+ % \([\d.]+ % to [\d.]+ %\) of the base, from/m);
  });

  it('have a limit that is unknown, and why, where LoadGen was too slow', async () => {
    const late = { isGeneratorBound: true, generatorBoundReason: 'queries went out late' };
    const search = searchOf(10e6);
    const folderOf = async (confirms: boolean, delay: string): Promise<string> => {
      const { probes } = await findPeak(search, async ({ load, kind }) =>
        (load > 500 || (kind === 'full' && !confirms)) && kind !== 'unloaded'
          ? steady(9e9, { end: { ...END, ...late }, isValid: false, reasons: [LATE] })
          : steady(1e6),
      );
      const identity = {
        ...IDENTITY,
        ...Object.fromEntries(nodeSettings({ delayModel: delay, listen: delay }, 0)),
      };
      const folder = tempFolder();
      writePeakFile(folder, { about: ABOUT, identity, search, probes });
      return folder;
    };
    const [none, found] = [
      await folderOf(false, 'exponential:5ms'),
      await folderOf(true, 'fixed:2ms'),
    ];
    const { stdout } = await verbHere(compareVerb, none, found);
    const why = /(?:at [\d.]+ queries\/s )?LoadGen was too slow$/.source;
    expect(stdout).toMatch(new RegExp(`^Base .* no peak, limit not known: ${why}`, 'm'));
    expect(stdout).toMatch(
      new RegExp(`^Other .* peak ([\\d.]+) queries/s, limit \\1 or more: ${why}`, 'm'),
    );
    // The model of the node is named, its address is not.
    expect(stdout).toContain('\nDiffer        node 1 delayModel: exponential:5ms -> fixed:2ms\n');
    expect(stdout).not.toContain('listen');
  });

  it('have intervals that are apart where their peaks are', async () => {
    const faster = [curvePoint(1, 80, 10), curvePoint(2, 100, 20), curvePoint(3, 120, 90)];
    const folders = [curveFolder(), curveFolder(faster, { ...IDENTITY, workers: '2' })];
    const { stdout } = await verbHere(compareVerb, ...folders);
    expect(stdout).toContain(`${folders[1]} is higher: +150 % from`);
    expect(stdout).toMatch(/the intervals are apart$/m);
    expect(stdout).toContain('workers: not set -> 2');
    const slower = CURVE_POINTS.map((point) => curvePoint(point.number, point.load, 500));
    const loads = await verbHere(compareVerb, curveFolder(), curveFolder(slower));
    expect(loads.stdout).toContain('has no peak: there is nothing to compare');
    expect(loads.stdout).toMatch(/^ *10 +p99 +10 ms +500 ms +\+4900 % +intervals apart$/m);
  });

  it('are not compared where the SUT was not alone in one of them', async () => {
    const others = 'SUT node a:1 answered 70 samples of others meanwhile';
    const peaks = [(await peakFolder(3)).folder, (await peakFolder(4, others)).folder];
    const shared = CURVE_POINTS.map((point) => ({ ...point, others }));
    for (const folders of [peaks, [curveFolder(), curveFolder(shared)]]) {
      const { stdout } = await verbHere(compareVerb, ...folders);
      expect(stdout).toContain(
        `Result        not comparable: the SUT was not alone in ${folders[1]}, but answered others as well`,
      );
      expect(stdout).not.toContain('is higher');
    }
  });

  it.each([
    ['another bound', { ...IDENTITY, latency: '50 ms' }, /latency: 100 ms -> 50 ms/],
    ['another benchmark', { ...IDENTITY, benchmark: '"null"' }, /benchmark: "delay" -> "null"/],
  ])('of %s are refused', async (_case, identity, message) => {
    const folders = [curveFolder(), curveFolder(CURVE_POINTS, identity)];
    await expect(verbHere(compareVerb, ...folders)).rejects.toThrow(message);
  });

  it('of different kinds, and flags for runs, are refused in words', async () => {
    const [peak, curve, run] = [(await peakFolder(3)).folder, curveFolder(), tempFolder()];
    await expect(verbHere(compareVerb, peak, curve)).rejects.toThrow('is a peak, ');
    await expect(verbHere(compareVerb, curve, run)).rejects.toThrow(`${run} is a run`);
    await expect(verbHere(compareVerb, curve, curve, '--force')).rejects.toThrow(
      '--force is for runs: peaks and curves have no such figures',
    );
    await expect(verbHere(compareVerb, curve)).rejects.toThrow('two peaks or two curves, not 1');
  });
});
