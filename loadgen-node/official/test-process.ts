import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError, messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { OWN_LOG_PREFIX } from '../loadgen/logs/read/run-folder.ts';
import { DetailLog } from '../loadgen/logs/write/detail-log.ts';

/** Environment of the process of a test: the id of its parent, and how many tests came before, as `4711.0`. */
const MARK = 'LONGHAUL_TEST_OF';
const [parent, earlier] = process.env[MARK]?.split('.').map(Number) ?? [];
// For this process alone, not for those that it starts.
delete process.env[MARK];

/** Message of the process of a test. */
type TestMessage =
  /** LoadGen's test begins, with logs in this folder. */
  | { readonly folder: string }
  /** The work is not done: another test follows. */
  | { readonly again: true };

/** Signals that end a run in order; any other signal that ends its process is a crash, or a kill. */
const ORDERLY: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

/** Exit codes that Node.js does not use for itself. */
const OWN_CODES: ReadonlySet<number> = new Set(Object.values(EXIT));

/** So many signals kill the process of a test. */
const SIGNALS_MAX = 3;

/**
 * Whether this is the process of one test by the C++ LoadGen, which runs one test per process and may crash. From the first call on
 * the process ends with its parent, as by SIGTERM.
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

/** Tests of this command before that of this process; 0 in any other process. */
export function earlierTests(): number {
  return earlier ?? 0;
}

/** The work goes on with another test, which needs a process of its own. */
export class NextTest extends Error {}

/**
 * Does the work of a command. Where the C++ LoadGen makes its tests, each is made by a process of its own, which goes on where the
 * one before ended.
 * @param isDriven Whether it is the C++ LoadGen.
 * @param work Throws {@link NextTest} where it needs a second test.
 * @param flagsOf As for {@link inTestProcess}.
 * @returns What `work` does; in the parent, and where another test follows, the exit code alone
 * @throws MlperfError as {@link inTestProcess}; what `work` throws
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

/** Flags with which each test goes on with a search in this folder. */
export function resumingIn(output: string): (number: number) => readonly string[] {
  return (number) => ['--output', output, ...(number === 0 ? [] : ['--resume'])];
}

/** Tells the parent of a test's process, if this is one. */
export function tellParent(message: TestMessage): void {
  if (isTestProcess()) process.send?.(message);
}

/**
 * Starts this command again, in a process for one test, and waits for its end; once more for each further test. The screen is that
 * process's; signals go to it.
 * @param flagsOf Added to those of this command, by the number of tests before.
 * @returns The exit code of the last one
 * @throws MlperfError `ERR_TEST_CRASHED` where LoadGen or Node.js crashed, or somebody killed it; the folder of the run then says so
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
    // A terminal's Ctrl-C goes to the whole group: here to this process alone, which hands it on.
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
    // Its last message may come after its end.
    child.once('exit', (code, signal) => void closed.then(() => resolve({ code, signal })));
  });
}

/** Hands signals on to the process of the test, of several to the present one. */
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
    /** Of the first signal; undefined: there was none. */
    exitCode: () => (seen[0] === undefined ? undefined : ORDERLY[seen[0]]),
    end: (): void => {
      for (const signal of Object.keys(ORDERLY)) process.off(signal, handOn);
    },
  };
}

/** @param folder Of the run; undefined: LoadGen's test had not begun. */
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

/** Says in longhaul's own logs that the run broke off; LoadGen's stay as they are. @returns Where it stands */
function noteInLogs(folder: string, text: string): string {
  const summary = join(folder, `${OWN_LOG_PREFIX}summary.txt`);
  try {
    appendFileSync(summary, `\nINCOMPLETE: ${text}\n`);
    const detail = join(folder, `${OWN_LOG_PREFIX}detail.txt`);
    // The last line of a process that was killed may have no end.
    const file = { append: (line: string) => appendFileSync(detail, `\n${line}`) };
    new DetailLog(file, () => 0).error('error_runtime', text);
    return `${summary} says so too`;
  } catch (error) {
    return `this could not be written: ${messageOf(error)}`;
  }
}
