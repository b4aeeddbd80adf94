import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { listVerb } from '../../../../../loadgen-node/cli/linked.ts';
import { planRun } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import {
  recordedSettings,
  writeRunRecord,
} from '../../../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { dataFile } from '../../../../../shared/base/files/package-files.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import { mlperfConfOf } from '../../../../../shared/rules/rounds/rounds.ts';
import { suiteFolder } from '../../../../scenes/host/folders.ts';
import { verbHere } from '../../../../scenes/host/processes.ts';

// Goal: a run by the C++ LoadGen has the settings of the round and of the checkout, as a run by
// longhaul has them; what that LoadGen cannot do is refused. Method: a linked LoadGen whose files
// are there, and which is never loaded.

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Writes what `loadgen link` writes, for v4.1. @param mlperfConf Text of the checkout's. @returns
 * The cache folder
 */
function linkedV41(mlperfConf: string, cacheFolder = suiteFolder(), version = '4.1'): string {
  const inferenceDir = suiteFolder();
  writeFileSync(join(inferenceDir, 'mlperf.conf'), mlperfConf);
  const folder = join(cacheFolder, 'loadgen', version);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'bridge.node'), 'no module');
  const build = {
    ...{ version, gitRevision: '379ee5345a', gitStatus: '', buildDate: '2026-11-24' },
    ...{ sha1OfFiles: '', compiler: '12.2.0', library: 'libstdc++ 12' },
  };
  const manifest = {
    ...{
      inferenceDir,
      commit: '379ee5345a',
      tree: 'ab',
      tag: version === '6.0.17' ? null : `v${version}`,
      changes: [],
    },
    ...{ hasBuiltInConf: false, librarySha256: 'ab' },
    bridgeSha256: sha256(readFileSync(dataFile('loadgen-node/official/native/bridge.cc'))),
    ...{ addonSha256: sha256('no module'), build },
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return cacheFolder;
}

const CONF = mlperfConfOf('v4.1') as string;

function plan(cacheDir: string, flags: Readonly<Record<string, string>> = {}) {
  const all = { ...{ sut: '10.0.1.1:50051', benchmark: 'digits', targetQps: '100' }, ...flags };
  const { values, settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: { engine: 'cpp', cacheDir, ...all },
  });
  return planRun(values, { asked: settings });
}

describe('a run by the C++ LoadGen of v4.1', () => {
  const cacheFolder = linkedV41(CONF);

  it('of a benchmark that no round has keeps its own bound', () => {
    const { settings, round } = plan(cacheFolder);
    expect(settings.serverTargetLatencyNs).toBe(100e6);
    expect(round).toBe('v4.1');
    // The lengths are those of the checkout's mlperf.conf.
    expect(settings.minDurationMs).toBe(600_000);
  });

  it('keeps it, too, where only comments and the order of lines differ', () => {
    const lines = CONF.split('\n').filter((line) => !line.startsWith('#'));
    const other = linkedV41(`# another text\n${lines.reverse().join('\n')}\n`);
    expect(plan(other).settings.serverTargetLatencyNs).toBe(100e6);
  });

  it('of a benchmark of the round has the bound of the round', () => {
    const { settings } = plan(cacheFolder, { benchmark: 'resnet50' });
    expect(settings.serverTargetLatencyNs).toBe(15e6);
  });

  it('has what a checkout says that is not the round', () => {
    const other = linkedV41(`${CONF}\n*.Server.target_latency = 33\n`);
    expect(plan(other).settings.serverTargetLatencyNs).toBe(33e6);
  });

  it('of one that is told a bound has that bound', () => {
    expect(plan(cacheFolder, { targetLatency: '7ms' }).settings.serverTargetLatencyNs).toBe(7e6);
  });

  it.each([
    [{ extendUntilDecided: 'true' }, '--extend-until-decided'],
    [{ mode: 'find-peak' }, '--mode find-peak: use longhaul find-peak'],
    [{ runs: '3' }, '--runs: make them one by one'],
    [{ round: 'v5.1' }, '--round v5.1: the linked C++ LoadGen is version 4.1'],
  ])('refuses %o', (flags, message) => {
    expect(() => plan(cacheFolder, flags)).toThrow(message);
  });

  it('is refused where none is linked', () => {
    expect(() => plan(suiteFolder())).toThrow('no C++ LoadGen is linked');
  });
});

describe('of several linked LoadGens', () => {
  const cacheFolder = linkedV41(CONF);
  linkedV41(CONF, cacheFolder, '5.1.1');
  linkedV41(CONF, cacheFolder, '6.0.17');
  const versionOf = (flags: Readonly<Record<string, string>>) =>
    plan(cacheFolder, flags).linked?.manifest.build.version;

  it.each([
    [{ engine: 'cpp' }, '5.1.1'],
    [{ engine: 'CPP' }, '5.1.1'],
    [{ engine: 'cpp', round: 'v4.1' }, '4.1'],
    [{ engine: 'cpp:v4.1' }, '4.1'],
    [{ engine: 'cpp:4.1' }, '4.1'],
    [{ engine: 'cpp:6.0.17' }, '6.0.17'],
  ])('%o takes %s', (flags, version) => {
    expect(versionOf(flags)).toBe(version);
  });

  it('one that is not there is refused, with those that are', () => {
    expect(() => versionOf({ engine: 'cpp:v5.0' })).toThrow(
      'no C++ LoadGen v5.0 is linked; there is cpp:v5.1.1, cpp:v4.1, cpp:6.0.17',
    );
    expect(() => versionOf({ engine: 'c++' })).toThrow('must be longhaul, cpp, or cpp:NAME');
  });
});

describe('of linked LoadGens of which not all can be used', () => {
  const scene = (): string => {
    const cacheFolder = linkedV41(CONF);
    return linkedV41(CONF, cacheFolder, '5.1.1');
  };
  const manifestOf = (cacheFolder: string, version: string): string =>
    join(cacheFolder, 'loadgen', version, 'manifest.json');
  const versionOf = (cacheFolder: string, engine: string) =>
    plan(cacheFolder, { engine }).linked?.manifest.build.version;
  /** As another version of longhaul linked it. */
  const age = (path: string): void => {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as object;
    writeFileSync(path, JSON.stringify({ ...manifest, bridgeSha256: 'ab' }));
  };

  it('a damaged one is passed over, and told of', async () => {
    const cacheFolder = scene();
    const damaged = join(cacheFolder, 'loadgen', 'v5.0-ab-cd');
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'manifest.json'), '{ "inferenceDir": ');
    expect(versionOf(cacheFolder, 'cpp')).toBe('5.1.1');
    expect(plan(cacheFolder).configNotes[0]).toMatch(
      /^warning: .*v5\.0-ab-cd\/manifest\.json cannot be read: /,
    );
    expect(versionOf(cacheFolder, 'cpp:v4.1')).toBe('4.1');
    expect(() => versionOf(cacheFolder, 'cpp:v5.0')).toThrow('v5.0-ab-cd/manifest.json cannot be');
    const { stdout, stderr, code } = await verbHere(listVerb, '--cache-dir', cacheFolder);
    expect(stdout.split('\n').map((line) => line.slice(0, 18))).toEqual([
      '--engine cpp:v5.1.',
      '--engine cpp:v4.1 ',
      '',
    ]);
    expect(stderr).toMatch(/^warning: .*v5\.0-ab-cd\/manifest\.json cannot be read: /);
    expect(code).toBe(0);
  });

  it('one that another longhaul linked is taken last, and only by its name', async () => {
    const cacheFolder = scene();
    age(manifestOf(cacheFolder, '5.1.1'));
    expect(versionOf(cacheFolder, 'cpp')).toBe('4.1');
    expect(() => versionOf(cacheFolder, 'cpp:v5.1.1')).toThrow('another version of longhaul');
    const { stdout } = await verbHere(listVerb, '--cache-dir', cacheFolder);
    expect(stdout).toMatch(/^--engine cpp:v4\.1, and --engine cpp /);
    expect(stdout).toMatch(/ \(linked by another version of longhaul: link it again\)\n$/);
  });

  it('of two links of one name that by this longhaul is taken, also where it is older', () => {
    const cacheFolder = linkedV41(CONF);
    const older = join(cacheFolder, 'loadgen', 'older');
    cpSync(join(cacheFolder, 'loadgen', '4.1'), older, { recursive: true });
    utimesSync(join(older, 'manifest.json'), 1, 1);
    age(manifestOf(cacheFolder, '4.1'));
    expect(plan(cacheFolder).linked?.folder).toBe(older);
  });
});

describe('the record of a run by the C++ LoadGen', () => {
  const engine = {
    ...({ kind: 'cpp-loadgen', version: '4.1', commit: null, tree: null, tag: null } as const),
    ...{ librarySha256: 'ab', addonSha256: 'cd', detailLogSha256: 'ef' },
    ...{ sourcesSha256: '01', otherSamples: 0, doubts: [] },
  };

  it('names that LoadGen, and is a configuration file all the same', () => {
    const folder = suiteFolder();
    writeRunRecord(folder, 'run:\n  targetQps: 100\n', engine);
    const path = join(folder, 'longhaul_run.yaml');
    expect(parse(readFileSync(path, 'utf8'))).toMatchObject({ run: { targetQps: 100 }, engine });
    expect([...recordedSettings(path).keys()]).toEqual(['targetQps']);
  });

  it('is the one file with a section of this name', () => {
    const path = join(suiteFolder(), 'longhaul_run.yaml');
    writeFileSync(path, 'run:\n  targetQps: 100\nengine:\n  version: "4.1"\n');
    expect(() => recordedSettings(path)).toThrow('unknown section "engine"');
  });
});
