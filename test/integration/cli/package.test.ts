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
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { VERB_NAMES } from '../../../loadgen-node/cli/verbs.ts';
import { writeManifest } from '../../../loadgen-node/run/judge/self-check.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: what npm packs is all that is needed: protos, worker entries and both halves are found from
// an installation, and LoadGen needs no ONNX Runtime. Method: pack, unpack into empty folders, give
// them this checkout's dependencies with and without ONNX Runtime, run from elsewhere.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
let tarball = '';
/** Path of the bin of an installation with ONNX Runtime. */
let installed = '';
let elsewhere = '';

/**
 * Packages of an installation without development tools, of which ONNX Runtime is one, by the lock
 * file.
 */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(packages)
    .filter(([path, { dev }]) => dev !== true && path.lastIndexOf('node_modules/') === 0)
    .map(([path]) => path.slice('node_modules/'.length));
}

/**
 * Unpacks the tarball into a folder of its own and links this checkout's packages beside it.
 * @param added Packages that the user installs as well.
 * @returns Path of its bin.
 */
function install(...added: string[]): string {
  const modules = join(suiteFolder(), 'a folder', 'node_modules');
  const target = join(modules, 'longhaul');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  for (const name of [...productionPackages(), ...added]) {
    const source = join(root, 'node_modules', name);
    // Of other systems.
    if (!existsSync(source)) continue;
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(source, link);
  }
  return join(target, 'dist', 'loadgen-node', 'main.js');
}

/** A user's program; each expected error shows that types are known, not `any`. */
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

beforeAll(() => {
  elsewhere = suiteFolder();
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', elsewhere];
  execFileSync('npm', pack, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  const name = readdirSync(elsewhere).find((file) => file.endsWith('.tgz'));
  tarball = join(elsewhere, name ?? 'npm packed nothing');
  installed = install('onnxruntime-node');
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
    const strict = ['--noEmit', '--strict', '--target', 'es2023'];
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
    const main = install();
    writeManifest(join(dirname(main), '..'));
    const unchanged = await longhaul(['loadgen', 'self-check'], { main, cwd: elsewhere });
    expect(unchanged).toMatchObject({ code: 0, stderr: '' });
    expect(unchanged.stdout).toMatch(/SHA-256 [0-9a-f]{64}\nunmodified/);
    appendFileSync(join(dirname(main), 'loadgen', 'engine', 'verdicts.js'), '\n// Changed.\n');
    const changed = await longhaul(['loadgen', 'self-check'], { main, cwd: elsewhere });
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

const EFFICIENCY = ['--scenario', 'server', '--latency', '100ms'];

/** Loads the command of every verb, in one process. */
const LOAD_VERBS = `
const { wholeProgram } = await import(process.argv[1]);
const { commands } = await wholeProgram();
console.log(JSON.stringify(commands.map((verb) => verb.name())));`;

describe('an installation without ONNX Runtime', () => {
  let main = '';
  beforeAll(() => {
    main = install();
  });

  it('has all verbs', () => {
    const table = pathToFileURL(join(dirname(main), 'cli', 'verbs.js')).href;
    const args = ['--input-type=module', '--eval', LOAD_VERBS, table];
    const text = execFileSync(process.execPath, args, { cwd: elsewhere, encoding: 'utf8' });
    expect(JSON.parse(text)).toEqual(VERB_NAMES);
  });

  it('gives the one command that installs it where it is needed', async () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>;
    };
    const command = `npm install onnxruntime-node@${peerDependencies['onnxruntime-node']}`;
    const cache = ['--cache-dir', testCacheFolder()];
    const output = (name: string): string[] => ['--output', join(elsewhere, name), ...cache];
    const models = [
      ['sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0', ...cache],
      ['efficiency', '--benchmark', 'digits', ...EFFICIENCY, ...output('no-efficiency')],
      ['demo', ...output('no-demo')],
    ];
    const ends = models.map((args) => longhaul(args, { main, cwd: elsewhere }));
    for (const { code, stderr } of await Promise.all(ends)) {
      expect(code, stderr).toBe(6);
      expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^longhaul: .*is not installed: run "/);
      expect(stderr.trimEnd().endsWith(`${command}"`), stderr).toBe(true);
    }
  });

  it('gives the one command that installs OpenTelemetry, before a node is asked', async () => {
    const args = ['run', '--sut', '127.0.0.1:1', '--benchmark', 'null', '--target-qps', '1'];
    const output = ['--output', join(elsewhere, 'no-otel')];
    const flags = [...args, '--division', 'open', '--otel', ...output];
    const { code, stderr } = await longhaul(flags, { main, cwd: elsewhere });
    expect(code, stderr).toBe(6);
    expect(stderr).toMatch(
      /^longhaul: --otel needs packages of OpenTelemetry that are not installed: run: npm install '@opentelemetry\/sdk-trace-base@\^2[^']*' .*'@opentelemetry\/exporter-trace-otlp-proto@[^']*'\n$/,
    );
  });

  it('measures, and serves what is no model', async () => {
    const node = await SutNodeProcess.start('packed', ['--benchmark', 'null'], { main });
    try {
      const test = ['--scenario', 'SingleStream', '--mode', 'performance'];
      const run = ['run', '--sut', node.address, '--benchmark', 'null', ...test];
      const output = join(elsewhere, 'without-runtime');
      const args = [...run, '--min-duration', '100ms', '--output', output];
      const { code, stderr } = await longhaul(args, { main, cwd: elsewhere });
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
    // By its own path, which npx calls: it makes the file executable only when it sees this folder
    // for the first time, so a clone that is built again must come out of the build executable.
    const direct = execFileSync(path, ['--version'], { cwd: root, encoding: 'utf8' });
    expect(direct.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
