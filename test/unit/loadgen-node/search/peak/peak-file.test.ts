import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PeakProbe } from '../../../../../loadgen-node/search/peak/peak-search.ts';
import {
  hasPeakFile,
  readPeakFile,
  requireSameSearch,
  writePeakFile,
} from '../../../../../loadgen-node/search/peak/search-peak.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { aboutOf, searchOf } from '../../../../scenes/simulated-run/steady-probe.ts';

const PROBE: PeakProbe = {
  number: 0,
  kind: 'screening',
  load: 431.25,
  verdict: 'keeps',
  why: 'VALID',
  queries: 1000,
  bounds: [
    {
      ...{ name: 'latency', overQueries: 3, varianceFactor: 1.5 },
      ...{ shareLow: 0.001, shareHigh: 0.008, percentileNs: 4e6 },
    },
  ],
  meanNs: 2e6,
  latencies: [{ percentile: 0.99, valueNs: 4e6, lowNs: 3e6, highNs: null }],
  tokens: null,
  goodput: { share: 0.997, samplesPerSecond: 428, tokensPerSecond: null },
  lagP99Ns: 1e5,
  lostSamples: 0,
  samplesPerSecond: 430,
  scheduledPerSecond: 432,
  growth: null,
  durationNs: 2e9,
  explanation: null,
  folder: null,
};
const IDENTITY = { benchmark: '"delay"', 'models of the nodes': 'delay' };
const SEARCH = searchOf(15e6);
const fileOf = (probes: readonly PeakProbe[]) => ({
  about: aboutOf('2026-11-20T08:00:00.000Z'),
  ...{ identity: IDENTITY, search: SEARCH, probes },
});

// Goal: a search goes on from its file to the bit, or is refused in words.
describe('the file of a search', () => {
  it('gives the probes back as they were', () => {
    const folder = tempFolder();
    expect(hasPeakFile(folder)).toBe(false);
    const probes = [PROBE, { ...PROBE, number: 1, load: 1 / 3 }];
    writePeakFile(folder, fileOf(probes));
    expect(hasPeakFile(folder)).toBe(true);
    const file = readPeakFile(folder);
    expect(file.probes).toEqual(probes);
    expect(file.search).toEqual(SEARCH);
    requireSameSearch(folder, file, IDENTITY);
  });

  it('says that there is none', () => {
    expect(() => readPeakFile(tempFolder())).toThrow(/--resume: .* is not there/);
  });

  it('refuses another search, and names what differs', () => {
    const folder = tempFolder();
    writePeakFile(folder, fileOf([PROBE]));
    const other = { ...IDENTITY, 'models of the nodes': 'resnet50 0abc' };
    expect(() => requireSameSearch(folder, readPeakFile(folder), other)).toThrow(
      'models of the nodes was delay, is resnet50 0abc',
    );
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['is cut', (text) => text.slice(0, text.length / 2), /is not JSON/],
    ['is empty', () => '', /is not JSON/],
    ['has a wrong number', (text) => text.replace('431.25', '-1'), /probes\[0\]\.load/],
    ['lacks a probe', (text) => text.replace('"number": 0', '"number": 1'), /numbered from 0/],
    ['is of another version', (text) => text.replace('peak-5', 'peak-4'), /format/],
  ])('refuses a file that %s', (_case, spoil, message) => {
    const folder = tempFolder();
    writePeakFile(folder, fileOf([PROBE]));
    const path = join(folder, 'longhaul_peak.json');
    writeFileSync(path, spoil(readFileSync(path, 'utf8')));
    expect(() => readPeakFile(folder)).toThrow(message);
  });
});
