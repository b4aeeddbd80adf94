import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeManifest } from '../../loadgen-node/self-check/self-check.ts';
import { longhaul } from '../support/longhaul-process.ts';
import { readRunLogs } from '../support/run-logs.ts';
import { testCacheFolder } from '../support/test-cache.ts';

// Goal: what npm packs is all that is needed: protos, worker entries and both halves are found from an
// installation. Method: pack, unpack into an empty folder, give it this checkout's dependencies, run it
// from elsewhere.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
let installed = '';
let elsewhere = '';

/** Makes `node_modules` with every dependency of this checkout but those left out. */
function linkDependencies(modules: string, leftOut: readonly string[]): void {
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.') || leftOut.includes(name) || name === 'longhaul') continue;
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
}

/** Unpacks the tarball as an installation and returns the path of its bin. */
function install(tarball: string, leftOut: readonly string[]): string {
  const modules = join(mkdtempSync(join(tmpdir(), 'longhaul-installed-')), 'node_modules');
  const target = join(modules, 'longhaul');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  linkDependencies(modules, leftOut);
  return join(target, 'dist', 'loadgen-node', 'main.js');
}

let tarball = '';
beforeAll(() => {
  elsewhere = mkdtempSync(join(tmpdir(), 'longhaul-elsewhere-'));
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
    expect(files).toContain('package/LICENSE');
    expect(files.filter((file) => /^package\/test|tsbuildinfo|(?<!\.d)\.ts$/.test(file))).toEqual(
      [],
    );
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
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/Result +VALID/);
    const [, accuracy] = /top-1 (0\.\d+)/.exec(stdout) ?? [];
    expect(Number(accuracy)).toBeGreaterThan(0.93);
    expect(Number(accuracy)).toBeLessThan(0.99);
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
    expect(existsSync(join(root, bin['longhaul'] ?? ''))).toBe(true);
    const version = execFileSync('npx', ['longhaul', '--version'], { cwd: root, encoding: 'utf8' });
    expect(version.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
