import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError, messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { OWN_LOG_PREFIX } from '../loadgen/logs/read/run-folder.ts';
import { DetailLog } from '../loadgen/logs/write/detail-log.ts';

/**
 * Environment variable of a test process: parent's process id and number of earlier tests, as
 * `4711.0`.
 */
const MARK = 'LONGHAUL_TEST_OF';
const [parent, earlier] = process.env[MARK]?.split('.').map(Number) ?? [];
// For this process only: removed so that its children do not inherit it.
delete process.env[MARK];

/** Message from a test process. */
type TestMessage =
  /** LoadGen's test begins; its logs are in this folder. */
  | { readonly folder: string }
  /** Another test follows. */
  | { readonly again: true };

/** Signals that end a run cleanly; any other signal that ends its process is a crash, or a kill. */
const ORDERLY: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

/** Exit codes not used by Node.js itself. */
const OWN_CODES: ReadonlySet<number> = new Set(Object.values(EXIT));

/** Number of signals that kill a test process. */
const SIGNALS_MAX = 3;

/**
 * True in the process of one test by the C++ LoadGen, which supports one test per process and may
 * crash. From the first call on, the process ends with its parent, as by SIGTERM.
 */
export function isTestProcess(): boolean {
  if (parent === undefined) return false;
  if (process.listenerCount('disconnect') > 0) return true;
  const end = (): void => void process.kill(process.pid, 'SIGTERM');
  process.once('disconnect', end);
  if (process.ppid !== parent) end();
  process.channel?.unref();
  return true;
}

/** Number of this command's earlier tests; 0 in any other process. */
export function earlierTests(): number {
  return earlier ?? 0;
}

/** Thrown if the work continues with another test, which needs its own process. */
export class NextTest extends Error {}

/**
 * Does the work of a command. With the C++ LoadGen, each test runs in its own process, which
 * continues where the last one ended.
 * @param isDriven True for the C++ LoadGen.
 * @param work Throws {@link NextTest} if it needs a second test.
 * @param flagsOf As for {@link inTestProcess}.
 * @returns Result of `work`; in the parent, and if another test follows, only the exit code
 * @throws MlperfError as {@link inTestProcess}; errors of `work`
 */
export async function eachTest<T>(
  isDriven: boolean,
  work: () => Promise<T>,
  flagsOf?: (number: number) => readonly string[],
): Promise<T | { readonly exitCode: number }> {
  if (!isDriven) return await work();
  if (!isTestProcess()) return await inTestProcess(flagsOf);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NextTest)) throw error;
    tellParent({ again: true });
    return { exitCode: EXIT.valid };
  }
}

/** Flags with which each test continues a search in this folder. */
export function resumingIn(output: string): (number: number) => readonly string[] {
  return (number) => ['--output', output, ...(number === 0 ? [] : ['--resume'])];
}

/** Sends a message to the parent, if this is a test process. */
export function tellParent(message: TestMessage): void {
  if (isTestProcess()) process.send?.(message);
}

/**
 * Starts this command again in a process for one test, and waits for its end; again for each
 * further test. That process uses the screen; signals are forwarded to it.
 * @param flagsOf Extra flags by number of earlier tests.
 * @returns Exit code of the last process
 * @throws MlperfError `ERR_TEST_CRASHED` if LoadGen or Node.js crashed, or was killed; the run's
 *   folder then records it
 */
export async function inTestProcess(
  flagsOf: (number: number) => readonly string[] = () => [],
): Promise<{ readonly exitCode: number }> {
  const relay = relaySignals();
  try {
    for (let number = 0; ; number += 1) {
      const { exitCode, goesOn } = await oneTest(flagsOf(number), number, relay.handTo);
      if (!goesOn) return { exitCode };
      const signalled = relay.exitCode();
      if (signalled !== undefined) return { exitCode: signalled };
    }
  } finally {
    relay.end();
  }
}

async function oneTest(
  flags: readonly string[],
  number: number,
  handSignalsTo: (child: ChildProcess) => void,
) {
  const args = [...process.execArgv, ...process.argv.slice(1), ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // A terminal's Ctrl-C goes to the whole group; here only this process handles it, and forwards
    // it.
    detached: true,
    env: { ...process.env, [MARK]: `${process.pid}.${number}` },
  });
  handSignalsTo(child);
  let folder: string | undefined;
  let goesOn = false;
  child.on('message', (message: TestMessage) => {
    if ('folder' in message) folder = message.folder;
    else goesOn = true;
  });
  const { code, signal } = await endOf(child);
  const exitCode = code ?? ORDERLY[signal as NodeJS.Signals];
  if (exitCode !== undefined && OWN_CODES.has(exitCode)) return { exitCode, goesOn };
  throw crashed(signal ?? `exit code ${code}`, folder);
}

function endOf(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    const closed = new Promise((done) => child.once('disconnect', done));
    // Its last message may arrive after its exit.
    child.once('exit', (code, signal) => void closed.then(() => resolve({ code, signal })));
  });
}

/** Forwards signals to the current test process. */
function relaySignals() {
  let child: ChildProcess | undefined;
  const seen: NodeJS.Signals[] = [];
  const handOn = (signal: NodeJS.Signals): void => {
    seen.push(signal);
    child?.kill(seen.length < SIGNALS_MAX ? signal : 'SIGKILL');
  };
  for (const signal of Object.keys(ORDERLY)) process.on(signal, handOn);
  return {
    handTo: (next: ChildProcess): void => {
      child = next;
    },
    /** Exit code of the first signal; undefined without one. */
    exitCode: () => (seen[0] === undefined ? undefined : ORDERLY[seen[0]]),
    end: (): void => {
      for (const signal of Object.keys(ORDERLY)) process.off(signal, handOn);
    },
  };
}

/** @param folder Folder of the run; undefined if LoadGen's test had not begun. */
function crashed(how: string, folder: string | undefined): MlperfError {
  const why = `the process of the C++ LoadGen's test ended by ${how}${likelyCause(how)}`;
  if (folder === undefined) {
    return new MlperfError('ERR_TEST_CRASHED', `${why}, before the run began`);
  }
  const broken = `the run broke off and is INVALID: ${why}`;
  const kept = noteInLogs(folder, broken);
  return new MlperfError('ERR_TEST_CRASHED', `${broken}; ${kept}`);
}

function likelyCause(how: string): string {
  if (how === 'SIGKILL') return ' (killed: by a person, or by the kernel for want of memory)';
  return how === 'SIGSEGV' || how === 'SIGABRT' || how === 'SIGBUS' || how === 'SIGFPE'
    ? ' (a crash of LoadGen, or of Node.js)'
    : '';
}

/**
 * Records in longhaul's own logs that the run broke off; LoadGen's stay unchanged. @returns The
 * log's path
 */
function noteInLogs(folder: string, text: string): string {
  const summary = join(folder, `${OWN_LOG_PREFIX}summary.txt`);
  try {
    appendFileSync(summary, `\nINCOMPLETE: ${text}\n`);
    const detail = join(folder, `${OWN_LOG_PREFIX}detail.txt`);
    // The last line of a killed process may be incomplete.
    const file = { append: (line: string) => appendFileSync(detail, `\n${line}`) };
    new DetailLog(file, () => 0).error('error_runtime', text);
    return `${summary} says so too`;
  } catch (error) {
    return `the logs in ${folder} do not say so, because they could not be written: ${messageOf(error)}`;
  }
}
