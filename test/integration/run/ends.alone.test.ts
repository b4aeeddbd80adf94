import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder, tempFolder } from '../../scenes/host/folders.ts';
import { LonghaulProcess, SutNodeProcess } from '../../scenes/host/processes.ts';

// Goal: whatever ends a run, and whatever breaks behind its last answer, verdict and figures are on
// the screen, what is missing is told. Method: real processes, disks and users; defects that are
// planted in them.

const MAIN = fileURLToPath(compiledModule('loadgen-node/main.js'));
const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? '' : ' (needs root)';
const nodes: SutNodeProcess[] = [];

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
});

let nullNode: Promise<SutNodeProcess> | undefined;

/** A node without a model, for all tests here. */
async function node(): Promise<string> {
  nullNode ??= SutNodeProcess.start('sut-a', ['--benchmark', 'null']);
  const started = await nullNode;
  if (!nodes.includes(started)) nodes.push(started);
  await started.process.says(/is ready/);
  return started.address;
}

interface Asked {
  readonly output?: string;
  readonly seconds?: number;
  /** Words before the program's path. */
  readonly before?: readonly string[];
  readonly flags?: readonly string[];
}

async function startRun({ output = suiteFolder(), seconds = 2, before, flags = [] }: Asked) {
  const args = ['--sut', await node(), '--benchmark', 'null', '--target-qps', '100'];
  const length = ['--min-duration', `${seconds}s`, '--no-extend-until-decided'];
  const run = new LonghaulProcess([
    ...(before ?? [process.execPath]),
    ...[MAIN, 'run', ...args, ...length, '--warm-up', '0s', '--output', output, ...flags],
  ]);
  return { run, output };
}

/** A script that Node runs before the program. */
function preloading(script: string): string[] {
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

describe('a defect of longhaul that nobody catches', () => {
  it('in the middle of a run ends it in order', async () => {
    const before = preloading(`
      const { write } = process.stderr;
      process.stderr.write = (text, ...rest) => {
        if (String(text).startsWith('performance run')) {
          process.stderr.write = write;
          setTimeout(() => { throw new Error('planted'); }, 500);
        }
        return write.call(process.stderr, text, ...rest);
      };`);
    const { run, output } = await startRun({ before, seconds: 20 });
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^longhaul: internal error, please report it: Error: planted$/m);
    expect(stdout).toMatch(/^INTERRUPTED/);
    expect(stdout).toMatch(/none lost/);
    expect(readFileSync(join(output, 'mlperf_log_summary.txt'), 'utf8')).toMatch(/INCOMPLETE/);
    expect(readFileSync(join(output, 'mlperf_log_detail.txt'), 'utf8')).toMatch(
      /longhaul itself broke, which ended the test: planted/,
    );
  });

  it('behind the last answer leaves the result and its files', async () => {
    const before = preloading(`
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const write = fs.writeFileSync;
      fs.writeFileSync = (path, ...rest) => {
        if (String(path).endsWith('network_audit.json')) Promise.reject(new Error('planted'));
        return write(path, ...rest);
      };
      syncBuiltinESMExports();`);
    const { run, output } = await startRun({ before });
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^longhaul: internal error, please report it: Error: planted$/m);
    expect(stdout).toMatch(/^(IN)?VALID +null, Server/);
    expect(stdout).toMatch(/^Answered +\d+ of \d+ queries, none lost$/m);
    expect(readFileSync(join(output, 'longhaul_summary.json'), 'utf8')).toMatch(/"p99"|latency/);
  });
});

describe('a disk', () => {
  it('whose folder is removed in the middle of a run costs the files, not the result', async () => {
    const { run, output } = await startRun({ seconds: 4 });
    await run.says(/performance run/);
    rmSync(output, { recursive: true });
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(6);
    expect(stdout).toMatch(/^(IN)?VALID +null, Server/);
    expect(stdout).toMatch(/none lost/);
    expect(stdout).toMatch(/^Files +\S+, not whole: what is missing stands below$/m);
    for (const name of ['mlperf_log_detail.txt', 'network_audit.json', 'longhaul_report.html']) {
      expect(stderr).toMatch(new RegExp(`^longhaul: cannot write .*${name}: `, 'm'));
    }
  });

  /** A file system of so many kB. */
  function tmpfs(options: string): string {
    const folder = tempFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
    onTestFinished(() => void execFileSync('umount', ['-l', folder]));
    return folder;
  }

  it.runIf(isRoot)(`that fills up costs what does not fit${asRoot}`, async () => {
    const disk = tmpfs('size=600k');
    const { run, output } = await startRun({ seconds: 4, output: join(disk, 'run') });
    await run.says(/performance run/);
    try {
      writeFileSync(join(disk, 'fill'), Buffer.alloc(600_000));
    } catch {
      // It is full now.
    }
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(6);
    expect(stdout).toMatch(/none lost/);
    expect(stderr).toMatch(/^longhaul: cannot write \S+longhaul_report.html: the disk is full$/m);
    expect(() => readFileSync(join(output, 'longhaul_report.html'))).toThrow('ENOENT');
  });

  it.runIf(isRoot).each<[string, string, RegExp]>([
    ['too small', 'size=100k', /the run writes \d+ kB or more, and \d+ kB are free there: name an/],
    ['read-only', 'ro', /cannot be written \(.*\): the file system is read-only/],
  ])(`that is %s is refused before anything starts${asRoot}`, async (_case, options, text) => {
    const output = join(tmpfs(options), 'run');
    for (const verb of ['run', 'find-peak', 'curve']) {
      const flags = verb === 'run' ? ['--target-qps', '10'] : ['--latency', '15ms'];
      const args = ['--sut', await node(), '--benchmark', 'null', '--output', output, ...flags];
      const { ended } = new LonghaulProcess([process.execPath, MAIN, verb, ...args]);
      const { code, stdout, stderr } = await ended;
      expect([code, stdout]).toEqual([6, '']);
      expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(text)]);
    }
  });
});

describe('a process', () => {
  it.runIf(isRoot)(`of a user without a home folder runs${asRoot}`, async () => {
    const user = '1000730000';
    const folder = tempFolder();
    execFileSync('chmod', ['777', folder]);
    const onEnd = () => rmSync(`/tmp/longhaul-cache-${user}`, { recursive: true, force: true });
    onTestFinished(onEnd);
    const drop = ['setpriv', '--reuid', user, '--regid', '0', '--clear-groups'];
    const before = [...drop, 'env', '-i', `PATH=${process.env['PATH']}`, process.execPath];
    const { run } = await startRun({ before, output: join(folder, 'run') });
    const { code, stdout, stderr } = await run.ended;
    expect([0, 3]).toContain(code);
    expect(stdout).toMatch(/none lost/);
    expect(stderr).not.toMatch(/internal error/);
  });

  it('of few open files says so', async () => {
    // As many as Node.js needs for itself.
    const most = process.versions.node.startsWith('20.') ? 20 : 23;
    const before = ['sh', '-c', `ulimit -n ${most}; exec "$0" "$@"`, process.execPath];
    const { code, stderr } = await (await startRun({ before })).run.ended;
    expect(code).toBe(6);
    expect(stderr).toContain(
      'longhaul: this process has reached its limit of open files: raise "ulimit -n"\n',
    );
  });
});
