import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { packInto } from '../../scenes/host/repository.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: what `npm pack` makes is what users install, with ONNX Runtime and without, and the two
// measure each other. Method: a real tarball, real installations in empty folders whose paths have
// a blank, by the lines of deploy/README.md, and a real run over loopback, all by npm and npx.

const root = join(distFolder(), '..');

interface OwnManifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
const manifest = readJson<OwnManifest>(join(root, 'package.json'));
const { packages: locked } = readJson<{
  packages: Record<string, { version: string; license?: string; dev?: boolean }>;
}>(join(root, 'package-lock.json'));
const runtime = manifest.peerDependencies['onnxruntime-node'] ?? 'none';

describe('what the package depends on', () => {
  it('is a version each, the one that is tested here', () => {
    const { '': _own, ...others } = locked;
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(`${name} ${version}`).toBe(`${name} ${others[`node_modules/${name}`]?.version}`);
    expect(manifest.devDependencies['onnxruntime-node']).toBe(runtime);
    expect(others['node_modules/onnxruntime-node']?.version).toBe(runtime);
  });

  it('has licences that somebody looked at', () => {
    const known = /^(\(?(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0)\b.*)$/;
    // libvips, as shared libraries beside sharp.
    const shared = /^LGPL-3\.0-or-later|^Apache-2\.0 AND LGPL-3\.0-or-later/;
    const unknown = Object.entries(locked)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { license = 'none' }]) => `${path}: ${license}`)
      .filter((line) => {
        const license = line.slice(line.indexOf(': ') + 2);
        return !known.test(license) && !(line.includes('@img/sharp') && shared.test(license));
      });
    expect(unknown).toEqual([]);
  });
});

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line as a shell does, in a folder. */
function say(line: string, cwd: string): Said {
  const options = { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], options);
  return { status, stdout, stderr };
}

/**
 * Lines of deploy/README.md that install, with the tarball that was packed here; LoadGen's is the
 * first.
 */
function installLines(tarball: string): string[] {
  const page = readFileSync(join(root, 'deploy', 'README.md'), 'utf8');
  return [...page.matchAll(/^.*npm install \.\.\/longhaul-.*$/gm)].map(([line]) =>
    line.replace(/\.\.\/longhaul-\S+\.tgz/, `'${tarball}'`),
  );
}

const hasRegistry = say('npm ping --fetch-retries=0 --fetch-timeout=5000', root).status === 0;

describe.skipIf(!hasRegistry)(`the package (needs npm's registry)`, () => {
  let loadgen = '';
  let sut = '';

  beforeAll(() => {
    const tarball = packInto(suiteFolder());
    [loadgen = '', sut = ''] = installLines(tarball).map((line) => {
      const folder = join(suiteFolder(), 'an empty folder');
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), '{}');
      expect(say(line, folder)).toMatchObject({ status: 0 });
      return folder;
    });
  });

  it('is what was built', () => {
    for (const folder of [loadgen, sut]) {
      const { status, stdout } = say('npx longhaul loadgen self-check', folder);
      expect({ status, stdout }).toEqual({
        status: 0,
        stdout: expect.stringContaining('unmodified'),
      });
    }
  });

  it('brings ONNX Runtime where it is named, of its own version, and nowhere else', () => {
    const modules = (folder: string): string => join(folder, 'node_modules');
    expect(readdirSync(modules(loadgen)).filter((name) => /onnx|vite/.test(name))).toEqual([]);
    const installed = readJson<{ version: string }>(
      join(modules(sut), 'onnxruntime-node', 'package.json'),
    );
    expect(installed.version).toBe(runtime);
    const other = say('npm install onnxruntime-node@1.20.0 --ignore-scripts', loadgen);
    expect(other).toMatchObject({ status: 1, stderr: expect.stringContaining('ERESOLVE') });
    // A later installation does not bring it either.
    expect(say('npm install tinyqueue', loadgen).status).toBe(0);
    expect(existsSync(join(modules(loadgen), 'onnxruntime-node'))).toBe(false);
  });

  it('says how it is added, in a line that adds it', () => {
    const { status, stderr } = say('npx longhaul demo', loadgen);
    expect(status).toBe(6);
    const [, line = ''] = /: run "(.*)"\n$/.exec(stderr) ?? [];
    expect(line).toMatch(/npm install onnxruntime-node@/);
    expect(say(`${line} --dry-run`, loadgen)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`add onnxruntime-node ${runtime}`),
    });
  });

  it('does the main job by one command', () => {
    const { status, stdout } = say('npx longhaul demo --output demo', sut);
    expect([0, 3]).toContain(status);
    const [, accuracy] = /top-1 ([\d.]+) %/.exec(stdout) ?? [];
    expect(Number(accuracy)).toBeGreaterThan(93);
    expect(Number(accuracy)).toBeLessThan(99);
    expect(readRunLogs(join(sut, 'demo')).accuracy).toHaveLength(1200);
  });

  it('measures without ONNX Runtime, and serves after it was pruned', async () => {
    const prune = 'node node_modules/longhaul/deploy/prune-onnxruntime.mjs';
    expect(say(`${prune} node_modules`, loadgen)).toMatchObject({ status: 6 });
    expect(say(prune, sut)).toMatchObject({ status: 2 });
    expect(say(`${prune} node_modules`, sut)).toMatchObject({ status: 0 });
    const napi = join(sut, 'node_modules/onnxruntime-node/bin/napi-v6');
    expect(readdirSync(napi)).toEqual([process.platform]);
    const node = await startNode(sut);
    try {
      const run = `npx longhaul run --sut ${node.address} --benchmark digits --scenario Server`;
      const line = `${run} --target-qps 20 --min-duration 3s --mode submission`;
      const { status, stdout } = say(`${line} --output 'results/a b'`, loadgen);
      // 3 is INVALID: a machine that is busy with other things may miss the schedule.
      expect([0, 3]).toContain(status);
      expect(stdout).toMatch(/SUT +Network SUT: packed/);
      expect(readRunLogs(join(loadgen, 'results', 'a b')).accuracy).toHaveLength(1200);
    } finally {
      node.stop();
    }
  });
});

/** A SUT node by npx, and what ends it with all its processes: npx passes no signal on. */
async function startNode(cwd: string): Promise<{ address: string; stop: () => void }> {
  const args = ['longhaul', 'sut', '--benchmark', 'digits', '--listen', '127.0.0.1:0', '--json'];
  const child: ChildProcess = spawn('npx', [...args, '--node', 'packed'], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  };
  let said = '';
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      said += text.toString();
      const line = said.split('\n').find((one) => one.includes('"ready"'));
      if (line !== undefined) resolve((JSON.parse(line) as { address: string }).address);
    });
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`the node is not ready: ${said}`)), 120_000).unref();
  }).catch((error: unknown) => {
    stop();
    throw error;
  });
  return { address, stop };
}
