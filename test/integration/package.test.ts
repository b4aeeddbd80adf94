import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeManifest } from '../../loadgen-node/self-check/self-check.ts';
import { longhaul } from '../support/longhaul-process.ts';
import { readRunLogs } from '../support/run-logs.ts';
import { suiteFolder } from '../support/suite-folder.ts';
import { testCacheFolder } from '../support/test-cache.ts';

// Goal: what npm packs is all that is needed: protos, worker entries and both halves are found from an
// installation. Method: pack, unpack into an empty folder, give it this checkout's dependencies, run it
// from elsewhere.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
let installed = '';
let elsewhere = '';

/** Names of the packages that an installation without development tools has, by the lock file. */
function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => dev !== true && path.lastIndexOf('node_modules/') === 0)
    .map(([path]) => path.slice('node_modules/'.length))
    .filter((name) => existsSync(join(root, 'node_modules', name)));
}

/** Makes `node_modules` with the package's own dependencies but those left out. */
function linkDependencies(modules: string, leftOut: readonly string[]): void {
  for (const name of productionPackages()) {
    if (leftOut.includes(name)) continue;
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
}

/** Unpacks the tarball as an installation and returns the path of its bin. */
function install(tarball: string, leftOut: readonly string[]): string {
  const modules = join(suiteFolder(), 'node_modules');
  const target = join(modules, 'longhaul');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  linkDependencies(modules, leftOut);
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
  installed = install(tarball, []);
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
    const main = install(tarball, []);
    writeManifest(join(dirname(main), '..'));
    const unchanged = await longhaul(['self-check'], { main, cwd: elsewhere });
    expect(unchanged).toMatchObject({ code: 0, stderr: '' });
    expect(unchanged.stdout).toMatch(/SHA-256 [0-9a-f]{64}\nunmodified/);
    appendFileSync(join(dirname(main), 'engine', 'verdicts.js'), '\n// Changed.\n');
    const changed = await longhaul(['self-check'], { main, cwd: elsewhere });
    expect(changed.code).toBe(3);
    expect(changed.stdout).toMatch(
      /MODIFIED: 1 files .*\n {2}loadgen-node\/engine\/verdicts\.js\n/,
    );
  });

  it('does the main job from an empty folder', async () => {
    const output = join(elsewhere, 'results');
    const args = ['demo', '--output', output, '--cache-dir', testCacheFolder()];
    const { code, stdout, stderr } = await longhaul(args, { main: installed, cwd: elsewhere });
    // 3 is INVALID: a machine that is busy with other things may miss the schedule.
    expect({ isEnded: code === 0 || code === 3, stderr }).toMatchObject({ isEnded: true });
    expect(stdout).toMatch(/Result +(VALID|INVALID)/);
    const [, accuracy] = /top-1 ([\d.]+) %/.exec(stdout) ?? [];
    expect(Number(accuracy)).toBeGreaterThan(93);
    expect(Number(accuracy)).toBeLessThan(99);
    expect(readRunLogs(output).accuracy).toHaveLength(1200);
  });

  it('starts its LoadGen half where ONNX Runtime is not installed, and says what the SUT half needs', async () => {
    const main = install(tarball, ['onnxruntime-node']);
    const { code, stdout } = await longhaul(['run', '--help'], { main, cwd: elsewhere });
    expect({ code, isHelp: stdout.includes('--target-qps') }).toEqual({ code: 0, isHelp: true });
    const sut = ['sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0'];
    const folder = ['--cache-dir', join(elsewhere, 'cache')];
    const ended = await longhaul([...sut, ...folder], { main, cwd: elsewhere });
    expect(ended.code).toBe(6);
    expect(ended.stderr).toMatch(/longhaul: .*onnxruntime-node.*/);
  });
});

describe('a clone', () => {
  it('runs as npx longhaul in its own folder', () => {
    const { name, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      name: string;
      bin: Record<string, string>;
    };
    expect(name).toBe('longhaul');
    const path = join(root, bin['longhaul'] ?? '');
    expect(existsSync(path)).toBe(true);
    // By its own path first: npx makes the file executable only when it sees this folder for the first
    // time, so a clone that is built again must come out of the build executable.
    const direct = execFileSync(path, ['--version'], { cwd: root, encoding: 'utf8' });
    expect(direct.trim()).toMatch(/^\d+\.\d+\.\d+$/);
    const version = execFileSync('npx', ['longhaul', '--version'], { cwd: root, encoding: 'utf8' });
    expect(version).toBe(direct);
  });
});
