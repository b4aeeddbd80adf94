import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { type Ended, LonghaulProcess } from '../../scenes/host/processes.ts';

/** Cores of the two nodes: each has one for itself, unless a burner is put there. */
export const SUT_CORE = 0;
export const LOADGEN_CORE = 1;

const main = fileURLToPath(compiledModule('loadgen-node/main.js'));

/** Why processes cannot be bound to cores here, or undefined. */
export function whyNotPinned(): string | undefined {
  if (spawnSync('taskset', ['-c', '0', 'true']).status !== 0) return 'no taskset';
  if (process.getuid?.() !== 0) return 'needs root, to keep other work off the cores';
  return availableParallelism() < 2 ? 'one core only' : undefined;
}

/**
 * On one core, in a session of its own, and ahead of all that was not started here, which must not
 * decide a test: Linux may share cores out by session first. Of those that are started here each
 * gets an equal share of its core.
 */
function pinned(core: number, ...args: readonly string[]): string[] {
  const ahead = 'echo -19 2>/dev/null >/proc/self/autogroup; exec nice -n -19 taskset -c "$@"';
  return ['setsid', 'sh', '-c', ahead, 'sh', String(core), process.execPath, ...args];
}

/** Starts a SUT node on its core. It ends with the test. */
export async function startPinnedSut(
  ...args: readonly string[]
): Promise<{ readonly address: string; readonly node: LonghaulProcess }> {
  const verb = ['sut', '--listen', '127.0.0.1:0', '--node', 'sut-a', ...args];
  const sut = new LonghaulProcess(pinned(SUT_CORE, main, ...verb));
  onTestFinished(async () => {
    sut.kill('SIGKILL');
    await sut.ended;
  });
  const address = await new Promise<string>((resolve, reject) => {
    sut.child.on('message', (message: { type: string; address: string }) => {
      if (message.type === 'listening') resolve(message.address);
    });
    void sut.ended.then(({ stderr }) => reject(new Error(`the SUT node ended: ${stderr}`)));
  });
  return { address, node: sut };
}

/**
 * Starts `longhaul run --benchmark delay` on LoadGen's core.
 * @param nodeFlags For Node itself.
 * @param group Folder of a control group to run in.
 */
export function startPinnedRun(
  address: string,
  flags: readonly string[],
  nodeFlags: readonly string[] = [],
  group?: string,
): LonghaulProcess {
  const target = [
    'run',
    '--sut',
    address,
    '--benchmark',
    'delay',
    '--sample-bytes',
    '16',
    '--verbose',
  ];
  const args = [...target, '--output', tempFolder(), ...flags];
  const command = pinned(LOADGEN_CORE, ...nodeFlags, main, ...args);
  if (group === undefined) return new LonghaulProcess(command);
  const join = `echo $$ >${group}/cgroup.procs; exec "$@"`;
  return new LonghaulProcess(['sh', '-c', join, 'sh', ...command]);
}

/** As {@link startPinnedRun}, to its end. */
export function runPinned(...run: Parameters<typeof startPinnedRun>): Promise<Ended> {
  return startPinnedRun(...run).ended;
}

/** Processes that take all they get of a core, until the test ends. */
export function burn(core: number, count: number): void {
  for (let i = 0; i < count; i += 1) {
    const [program, ...args] = pinned(core, '-e', 'for (;;);');
    const burner: ChildProcess = spawn(program as string, args, { stdio: 'ignore' });
    onTestFinished(() => {
      burner.kill('SIGKILL');
    });
  }
}
