import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type EfficiencySide,
  readInProcessSide,
  type SideRun,
  type SideSearch,
  sideFile,
} from '../../../../../loadgen-node/search/efficiency/efficiency-sides.ts';
import { efficiencyReport } from '../../../../../loadgen-node/search/efficiency/efficiency-text.ts';
import { measureSides } from '../../../../../loadgen-node/search/efficiency/plan-efficiency.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { END, searchOf, steady } from '../../../../scenes/simulated-run/steady-probe.ts';

// Goal: a program that reads a file of efficiency knows its form by its version, and one of another version is called that.
const PLACE = {
  machine: { hostname: 'a', cpuModel: 'b', cpuCount: 2, bootId: 'c' },
  model: { name: 'm', sha256: 'f00', configuration: 'm/1' },
};
const RUN: SideRun = {
  ...{ load: 80, isValid: true, whyInvalid: null, samplesPerSecond: 80, tokensPerSecond: 800 },
  latency: { meanNs: 5e6, p50Ns: 4e6, p90Ns: 8e6, p99Ns: 9e6, p999Ns: 1e7 },
  tokenTimes: { ttftP50Ns: 1e6, ttftP99Ns: 2e6, tpotP50Ns: 1e5, tpotP99Ns: 2e5 },
  ...{ split: null, folder: 'run_1' },
};
const SEARCH: SideSearch = {
  ...{ ending: 'found', value: 100, tokensPerSecond: 1000, interval: { low: 95, high: 105 } },
  ...{ confidence: 0.95, limitText: 'The SUT is full.' },
  probes: [
    {
      ...{ kind: 'full', load: 100, verdict: 'keeps', queries: 1000, why: 'VALID' },
      bounds: [{ name: 'ttft', percentileNs: 2e6 }],
    },
  ],
};

function sideOf(kind: EfficiencySide['kind']): EfficiencySide {
  const measuredAt = '2026-01-01T00:00:00.000Z';
  const measured = { question: { scenario: 'Server' }, search: SEARCH, runs: [RUN] };
  return { kind, sutName: kind, measuredAt, ...PLACE, ...measured };
}

describe('the file of a comparison', () => {
  it('has a version, which another form of it changes', () => {
    const asked = { scenario: 'Server', benchmark: 'delay', isOneMachine: false };
    const report = efficiencyReport(asked, sideOf('in-process'), sideOf('network'));
    const { schemaVersion, comparison, network } = report;
    const { efficiency, latency } = comparison;
    const parts = { report, comparison, efficiency, latency, network, search: network.search };
    const measured = { run: network.runs[0], probe: network.search?.probes[0] };
    const keysOf = ([name, part]: [string, unknown]) => [name, Object.keys(part ?? {}).join(' ')];
    expect({
      schemaVersion,
      ...Object.fromEntries(Object.entries({ ...parts, ...measured }).map(keysOf)),
    }).toMatchInlineSnapshot(`
      {
        "comparison": "efficiency whyNot latency parts warnings",
        "efficiency": "value low high what inProcess network tokens band",
        "latency": "load inProcess network difference p99Low p99High pairs tokens",
        "network": "kind sutName measuredAt machine model question search runs",
        "probe": "kind load verdict queries why bounds",
        "report": "schemaVersion longhaul scenario benchmark comparison notes inProcess network",
        "run": "load isValid whyInvalid samplesPerSecond tokensPerSecond latency tokenTimes split folder",
        "schemaVersion": 2,
        "search": "ending value tokensPerSecond interval confidence limitText probes",
      }
    `);
  });
});

describe('the file of a side', () => {
  const written = (document: object): string => {
    const path = join(tempFolder(), 'closed.json');
    writeFileSync(path, JSON.stringify(document));
    return path;
  };

  it('is read as it was written', () => {
    const side = sideOf('in-process');
    expect(readInProcessSide(written(sideFile('0.1.0', side)))).toEqual(side);
  });

  it.each([
    [
      'of another version, whatever its form',
      { schemaVersion: 2, longhaul: '0.1.0', side: { kind: 'in-process' } },
      'closed.json has version 2; this longhaul reads version 3 of what "longhaul efficiency --in-process-only" writes: measure that side again',
    ],
    [
      'without a version',
      { cells: [] },
      'closed.json was not written by "longhaul efficiency --in-process-only": schemaVersion must be a number; there is none',
    ],
    [
      'of another form',
      { ...sideFile('0.1.0', sideOf('in-process')), side: {} },
      'closed.json was not written by "longhaul efficiency --in-process-only": side.kind',
    ],
    ['of the other side', sideFile('0.1.0', sideOf('network')), 'was measured over a network'],
  ])('is refused %s', (_case, document, message) => {
    expect(() => readInProcessSide(written(document))).toThrow(message);
  });
});

describe('a probe as a line on stderr', () => {
  const { stdout, stderr } = process;
  const were = [stdout.isTTY, stderr.isTTY] as const;
  afterEach(() => {
    [stdout.isTTY, stderr.isTTY] = were;
  });

  it.each([
    ['whole in a file beside a terminal', true, false, 200],
    ['cut on a terminal beside a file', false, true, 118],
  ])('is %s', async (_case, isOnTerminal, isReportOnTerminal, length) => {
    [stdout.isTTY, stderr.isTTY] = [isOnTerminal, isReportOnTerminal];
    const lines: string[] = [];
    const counts = { lostSamples: 1, issuedSamples: 1000 };
    const lost = steady(1e6, { end: { ...END, counts, faultText: 'x'.repeat(200) } });
    const side = {
      ...({ kind: 'network', sutName: 'sut', ...PLACE } as const),
      probe: () => Promise.resolve(lost),
      run: () => Promise.resolve(RUN),
    };
    const task = { search: searchOf(1e7), repeats: 1, runNs: 1, loadsOf: () => [], question: {} };
    await measureSides([side], task, { report: (line) => lines.push(line) });
    expect(lines[0]).toContain('1 of 1000 samples lost');
    expect(Math.min(200, lines[0]?.length ?? 0)).toBe(length);
  });
});
