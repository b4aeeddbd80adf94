import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type EfficiencySide,
  readInProcessSide,
  type SideRun,
  sideFile,
} from '../../../../../loadgen-node/search/efficiency/efficiency-file.ts';
import {
  efficiencyReport,
  readEfficiency,
} from '../../../../../loadgen-node/search/efficiency/efficiency-report.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { keptProbe, searchOf } from '../../../../scenes/simulated-run/steady-probe.ts';
import { sideOf } from './sides.ts';

// Goal: a program that reads a file of efficiency knows its form by its version, and one of another
// version is called that.
const RUN: SideRun = {
  ...{ load: 80, isValid: true, whyInvalid: null, split: null, folder: 'run_1' },
  figures: { completed_qps: 80, p50: 4e6, p99: 9e6 },
};
const SEARCH = { search: searchOf(15e6), probes: [keptProbe(0, 100)] };

function measured(kind: EfficiencySide['kind'], other: Partial<EfficiencySide> = {}) {
  return sideOf(kind, { search: SEARCH, runs: [RUN], ...other });
}

const written = (document: object): string => {
  const path = join(tempFolder(), 'closed.json');
  writeFileSync(path, JSON.stringify(document));
  return path;
};

describe('the file of a comparison', () => {
  it('has a version, which another form of it changes', () => {
    const asked = { scenario: 'Offline', benchmark: 'delay', isOneMachine: false };
    const runs = { search: null };
    const sides = [measured('in-process', runs), measured('network', runs)] as const;
    const { text, json } = efficiencyReport(asked, ...sides);
    const { schemaVersion, comparison, network } = json;
    const [figure] = comparison.figures;
    const { efficiency } = comparison;
    const parts = { json, comparison, efficiency, figure, network };
    const keysOf = ([name, part]: [string, unknown]) => [name, Object.keys(part ?? {}).join(' ')];
    const keys = Object.entries({ ...parts, run: network.runs[0] }).map(keysOf);
    expect({ schemaVersion, ...Object.fromEntries(keys) }).toMatchInlineSnapshot(`
      {
        "comparison": "efficiency figures parts warnings",
        "efficiency": "value low high",
        "figure": "figure inProcess network",
        "json": "schemaVersion longhaul scenario benchmark notes inProcess network comparison",
        "network": "kind sutName measuredAt machine model question search runs",
        "run": "load isValid whyInvalid split folder figures",
        "schemaVersion": 3,
      }
    `);
    expect(readEfficiency(written(json))).toMatchObject({ text, benchmark: 'delay' });
  });
});

describe('the file of a side', () => {
  it('is read as it was written', () => {
    const side = measured('in-process');
    expect(readInProcessSide(written(sideFile(side)))).toEqual(side);
  });

  it.each([
    [
      'of another version, whatever its form',
      { schemaVersion: 3, longhaul: '0.1.0', side: { kind: 'in-process' } },
      'closed.json has version 3; this longhaul reads version 4 of what "longhaul efficiency --in-process-only" writes: measure that side again',
    ],
    [
      'without a version',
      { cells: [] },
      'closed.json was not written by "longhaul efficiency --in-process-only": schemaVersion must be a number; there is none',
    ],
    [
      'of another form',
      { ...sideFile(sideOf('in-process')), side: {} },
      'closed.json was not written by "longhaul efficiency --in-process-only": side.kind',
    ],
    ['of the other side', sideFile(sideOf('network')), 'was measured over a network'],
  ])('is refused %s', (_case, document, message) => {
    expect(() => readInProcessSide(written(document))).toThrow(message);
  });
});
