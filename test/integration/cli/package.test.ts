import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { derivePackages, writePackage } from '../../../deploy/packages/derive-package.ts';
import { installedEntries, readLock } from '../../../deploy/packages/lock-file.ts';
import { ROLES } from '../../../deploy/packages/roles.ts';
import { VERB_NAMES } from '../../../loadgen-node/cli/verbs.ts';
import { writeManifest } from '../../../loadgen-node/run/judge/self-check.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../support/process/longhaul-process.ts';
import { suiteFolder } from '../../support/process/suite-folder.ts';
import { testCacheFolder } from '../../support/process/test-cache.ts';
import { readRunLogs } from '../../support/runs/run-logs.ts';

// Goal: what npm packs is all that is needed: protos, worker entries and both halves are found from an
// installation. Method: pack, unpack into an empty folder, give it this checkout's dependencies, run it
// from elsewhere.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
let installed = '';
let elsewhere = '';

/** Where an installation without development tools has packages, by the lock file. */
function productionPaths(): string[] {
  return Object.entries(readLock(root))
    .filter(([path, { dev }]) => dev !== true && path !== '')
    .map(([path]) => path);
}

/** Puts those of this checkout's packages into a `node_modules` that stand directly below its own. */
function linkPackages(modules: string, paths: readonly string[]): void {
  for (const path of paths) {
    if (path.lastIndexOf('node_modules/') !== 0 || !existsSync(join(root, path))) continue;
    const name = path.slice('node_modules/'.length);
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
}

/** Unpacks the tarball as an installation and returns the path of its bin. */
function install(tarball: string): string {
  const modules = join(suiteFolder(), 'node_modules');
  const target = join(modules, 'longhaul');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  linkPackages(modules, productionPaths());
  return join(target, 'dist', 'loadgen-node', 'main.js');
}

/** What a user writes; each expected error shows that types are known, not `any`. */
const APP = `
import { createQdl, openSamples, startTest, type ResponseSink, type SystemUnderTest } from 'longhaul';
class Mine implements SystemUnderTest {
  name() { return Promise.resolve('mine'); }
  start(_sink: ResponseSink) { return Promise.resolve(); }
  issueQuery() {}
  flushQueries() {}
  stop() { return Promise.resolve(); }
}
const qsl = await openSamples({ benchmark: 'null' });
const qdl = createQdl({ nodes: ['127.0.0.1:1'] }, qsl);
for (const sut of [new Mine(), qdl]) {
  const test = await startTest({ sut, qsl, output: 'run', settings: { scenario: 'Offline' } });
  const p99: number | undefined = test.figures.p99;
  // @ts-expect-error A figure may be absent.
  const certain: number = test.figures.p99;
  console.log(p99, certain, test.records?.completedNs.length, test.audit?.rules.length);
}
// @ts-expect-error There is no such scenario.
await startTest({ sut: qdl, qsl, output: 'run', settings: { scenario: 'Servr' } });
`;

let tarball = '';
beforeAll(() => {
  elsewhere = suiteFolder();
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', elsewhere];
  execFileSync('npm', pack, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  const name = readdirSync(elsewhere).find((file) => file.endsWith('.tgz'));
  tarball = join(elsewhere, name ?? 'npm packed nothing');
  installed = install(tarball);
});

describe('the packed package', () => {
  it('holds no tests, no sources and no build information', () => {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n');
    expect(files).toContain('package/proto/mlperf/network/v1/sut.proto');
    expect(files).toContain('package/proto/descriptor/services.bin');
    expect(files).toContain('package/LICENSE');
    expect(files).toContain('package/docs/examples/own-sut.mjs');
    expect(files.filter((file) => /^package\/test|tsbuildinfo|(?<!\.d)\.ts$/.test(file))).toEqual(
      [],
    );
  });

  it('is a library with types, for both ways in which TypeScript finds modules', () => {
    const app = join(dirname(installed), '..', '..', '..', '..');
    const nodeTypes = join('node_modules', '@types', 'node');
    // The user's own; they may be there already, by a dependency that has them.
    if (!existsSync(join(app, nodeTypes))) symlinkSync(join(root, nodeTypes), join(app, nodeTypes));
    writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(app, 'app.ts'), APP);
    const strict = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023'];
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    for (const resolution of ['nodenext', 'bundler']) {
      const modules = resolution === 'bundler' ? 'esnext' : resolution;
      const how = ['--module', modules, '--moduleResolution', resolution, '--types', 'node'];
      const checked = spawnSync(process.execPath, [tsc, ...strict, ...how, 'app.ts'], { cwd: app });
      expect({ resolution, said: checked.stdout.toString() }).toEqual({ resolution, said: '' });
    }
    const names = 'console.log(Object.keys(await import("longhaul")).join())';
    const args = ['--input-type=module', '--eval', names];
    const said = execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8' });
    expect(said.trim().split(',')).toEqual(expect.arrayContaining(['startTest', 'createQdl']));
  });

  it('checks itself, and says which file was changed', async () => {
    const main = install(tarball);
    writeManifest(join(dirname(main), '..'));
    const unchanged = await longhaul(['self-check'], { main, cwd: elsewhere });
    expect(unchanged).toMatchObject({ code: 0, stderr: '' });
    expect(unchanged.stdout).toMatch(/SHA-256 [0-9a-f]{64}\nunmodified/);
    appendFileSync(join(dirname(main), 'loadgen', 'engine', 'verdicts.js'), '\n// Changed.\n');
    const changed = await longhaul(['self-check'], { main, cwd: elsewhere });
    expect(changed.code).toBe(3);
    expect(changed.stdout).toMatch(
      /MODIFIED: 1 files .*\n {2}loadgen-node\/loadgen\/engine\/verdicts\.js\n/,
    );
  });

  it('starts its demonstration from an empty folder, and ends it at Ctrl-C with all that it started', async () => {
    const args = ['demo', '--output', join(elsewhere, 'demo'), '--cache-dir', testCacheFolder()];
    const demo = spawnLonghaul(args, { main: installed, cwd: elsewhere });
    await demo.says(/accuracy run:/);
    demo.kill('SIGINT');
    const { code, stdout } = await demo.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('INTERRUPTED');
    expect(stdout).toMatch(/sut-demo at 127\.0\.0\.1:\d+/);
  });
});

/** Loads the command of every verb that a package has, in one process. */
const LOAD_VERBS = `
const { VERB_NAMES, verbCommands, absentVerbCommands } = await import(process.argv[1]);
const verbs = await verbCommands(VERB_NAMES, () => {});
console.log(JSON.stringify([verbs, absentVerbCommands()].map((all) => all.map((verb) => verb.name()))));`;

function verbsOf(main: string): { readonly has: string[]; readonly lacks: string[] } {
  const table = pathToFileURL(join(dirname(main), 'cli', 'verbs.js')).href;
  const args = ['--input-type=module', '--eval', LOAD_VERBS, table];
  const text = execFileSync(process.execPath, args, { cwd: elsewhere, encoding: 'utf8' });
  const [has = [], lacks = []] = JSON.parse(text) as string[][];
  return { has, lacks };
}

describe('the packages of a role', () => {
  const mains = new Map<string, string>();
  const mainOf = (name: string): string => mains.get(name) ?? `no package ${name}`;

  beforeAll(() => {
    const unpacked = dirname(dirname(dirname(installed)));
    const packed = readdirSync(unpacked, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll(sep, '/'))
      .filter((path) => statSync(join(unpacked, path)).isFile());
    const project = { root, packed, revision: 'test' };
    const lock = readLock(root);
    for (const derived of derivePackages(project, ROLES)) {
      const { name } = derived.manifest;
      if (name === 'longhaul') continue;
      const modules = join(suiteFolder(), 'a folder', 'node_modules');
      writePackage(project, derived, join(modules, name));
      writeManifest(join(modules, name, 'dist'));
      // What an installation of this one has, and nothing else that this checkout has by chance.
      linkPackages(modules, Object.keys(installedEntries(lock, derived.manifest)));
      mains.set(name, join(modules, name, 'dist', 'loadgen-node', 'main.js'));
    }
  });

  it('have all verbs without ONNX Runtime, or those of a SUT node without LoadGen', () => {
    const loadgen = verbsOf(mainOf('longhaul-loadgen'));
    expect(loadgen).toEqual({ has: VERB_NAMES, lacks: [] });
    const sut = verbsOf(mainOf('longhaul-sut'));
    expect(sut.has).toEqual(expect.arrayContaining(['sut', 'prepare', 'config', 'self-check']));
    expect([...sut.has, ...sut.lacks].sort()).toEqual([...loadgen.has].sort());
    const modules = join(mainOf('longhaul-sut'), '..', '..', '..', '..');
    const absent = [
      'apache-arrow',
      'age-encryption',
      'tar',
      'longhaul-sut/dist/loadgen-node/loadgen/engine',
    ];
    expect(absent.filter((name) => existsSync(join(modules, name)))).toEqual([]);
  });

  it('say which package has a verb, and how ONNX Runtime is installed', async () => {
    const sut = mainOf('longhaul-sut');
    const absent = await longhaul(['run', '--sut', 'a:1', '--json'], { main: sut, cwd: elsewhere });
    const text = 'the package longhaul-sut has no verb "run": install longhaul or longhaul-loadgen';
    expect(absent).toMatchObject({ code: 6, stderr: `longhaul: ${text}\n` });
    expect(JSON.parse(absent.stdout)).toMatchObject({ error: { message: text }, exitCode: 6 });
    const cache = ['--cache-dir', testCacheFolder()];
    const models = [
      ['sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0', ...cache],
      ['demo', '--output', join(elsewhere, 'no-demo'), ...cache],
    ];
    const main = mainOf('longhaul-loadgen');
    const ends = models.map((args) => longhaul(args, { main, cwd: elsewhere }));
    for (const { code, stderr } of await Promise.all(ends)) {
      expect(code).toBe(6);
      expect(stderr).toMatch(/longhaul: .*run ".*npm install onnxruntime-node@\d+\.\d+\.\d+"\n$/);
    }
  });

  it('measure each other', async () => {
    const main = mainOf('longhaul-sut');
    const node = await SutNodeProcess.start('packed', ['--benchmark', 'null'], { main });
    try {
      const test = [
        '--scenario',
        'SingleStream',
        '--mode',
        'performance',
        '--min-duration',
        '100ms',
      ];
      const run = ['run', '--sut', node.address, '--benchmark', 'null', ...test];
      const output = join(elsewhere, 'by-role');
      const { code, stderr } = await longhaul([...run, '--output', output], {
        main: mainOf('longhaul-loadgen'),
        cwd: elsewhere,
      });
      expect({ isEnded: code === 0 || code === 3, stderr }).toMatchObject({ isEnded: true });
      expect(readRunLogs(output).summary).toContain('longhaul');
    } finally {
      await node.stop();
    }
  });
});

describe('a clone', () => {
  it('has a program of its name that can be executed', () => {
    const { name, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      name: string;
      bin: Record<string, string>;
    };
    expect(name).toBe('longhaul');
    const path = join(root, bin['longhaul'] ?? '');
    expect(existsSync(path)).toBe(true);
    // By its own path, which npx calls: it makes the file executable only when it sees this folder for the first
    // time, so a clone that is built again must come out of the build executable.
    const direct = execFileSync(path, ['--version'], { cwd: root, encoding: 'utf8' });
    expect(direct.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
