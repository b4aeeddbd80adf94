import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiledModule } from '../../../shared/base/files/package-files.ts';

/** What a warm process says: that it is ready, what its verb writes, how the verb ended. */
interface Message {
  readonly isReady?: true;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
}

/** A command line that has ended. */
interface WarmEnded {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const idle: ChildProcess[] = [];
/** As many as tests of one file run at once, about. */
const IDLE_MAX = 4;

/**
 * Runs a command line of the compiled program in a process that did so before, if one is idle: to start one and to load the program
 * takes as much processor time as a run of a second. For verbs that nobody sends a signal, and that start no processes.
 * @param onStderr Called with all that was said on stderr until then.
 */
export async function runWarm(
  args: readonly string[],
  cwd: string | undefined,
  onStderr: (text: string) => void,
): Promise<WarmEnded> {
  const child = idle.pop() ?? start();
  let [stdout, stderr] = ['', ''];
  const code = await new Promise<number>((resolve, reject) => {
    const onExit = (status: number | null): void =>
      reject(new Error(`the process of "${args.join(' ')}" ended (${status}): ${stderr}`));
    const onMessage = (message: Message): void => {
      stdout += message.stdout ?? '';
      if (message.stderr !== undefined) {
        stderr += message.stderr;
        onStderr(stderr);
      }
      if (message.code === undefined) return;
      child.removeListener('message', onMessage);
      child.removeListener('exit', onExit);
      resolve(message.code);
    };
    child.on('message', onMessage);
    child.once('exit', onExit);
    child.send({ args, cwd });
  });
  if (idle.length < IDLE_MAX) idle.push(child);
  else child.disconnect();
  return { code, stdout, stderr };
}

/** Messages wait until it is ready; it ends with this process, by its channel. */
function start(): ChildProcess {
  const url = compiledModule('loadgen-node/cli/command-line.js').href;
  const entry = fileURLToPath(new URL('warm-longhaul.mjs', import.meta.url));
  const child = fork(entry, [url], { stdio: 'inherit' });
  child.unref();
  child.channel?.unref();
  return child;
}
