import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { LinkConditions } from './link-conditions.ts';
import { netemArgs } from './netem-args.ts';

/** Queueing disciplines that a kernel puts on an interface by itself, and puts back. */
const DEFAULT_KINDS: readonly string[] = ['noqueue', 'mq', 'pfifo_fast', 'fq_codel', 'fq'];
const CALL_TIMEOUT_MS = 10_000;

/**
 * Waits until the pipe to this process closes, however it ends, and then takes the discipline away. In a process group of its
 * own: Ctrl-C is for this process, which tells it.
 */
const GUARD = 'cat > /dev/null; exec tc qdisc del dev "$0" root';

/** Link conditions by the kernel's netem on a network interface, until {@link stop} or the end of this process. */
export class TcLink {
  readonly #guard: ChildProcess;
  readonly #device: string;

  private constructor(guard: ChildProcess, device: string) {
    this.#guard = guard;
    this.#device = device;
  }

  /**
   * @param device Network interface that the user named.
   * @throws MlperfError `ERR_NOT_INSTALLED` where the kernel, the tool or the rights are missing
   */
  static async start(device: string, link: LinkConditions): Promise<TcLink> {
    const why = await whyNoTc(device);
    if (why !== undefined) throw new MlperfError('ERR_NOT_INSTALLED', why);
    // First the guard: nothing is left behind whatever happens between the two.
    const guard = spawn('sh', ['-c', GUARD, device], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(guard, 'spawn');
    const added = await tc([
      'qdisc',
      'add',
      'dev',
      device,
      'root',
      'netem',
      ...netemArgs(device, link),
    ]);
    if (added.isOk) return new TcLink(guard, device);
    await endGuard(guard);
    throw new MlperfError('ERR_NOT_INSTALLED', `tc refuses netem on ${device}: ${added.text}`);
  }

  /**
   * Takes the conditions back.
   * @throws MlperfError `ERR_NOT_INSTALLED` when that failed: the interface is still slow
   */
  async stop(): Promise<void> {
    const code = await endGuard(this.#guard);
    if (code === 0) return;
    throw new MlperfError(
      'ERR_NOT_INSTALLED',
      `tc did not take netem back (exit code ${code}): run "tc qdisc del dev ${this.#device} root"`,
    );
  }
}

/**
 * Says why tc cannot shape an interface; undefined where it can. Tries it in a network namespace of its own, so that the
 * interface stays as it is.
 */
export async function whyNoTc(device: string): Promise<string | undefined> {
  const shown = await tc(['-j', 'qdisc', 'show', 'dev', device]);
  if (!shown.isOk) return `tc cannot be used on ${device}: ${shown.text}`;
  const kind = rootKind(shown.text);
  if (kind !== undefined && !DEFAULT_KINDS.includes(kind)) {
    return `${device} has a queueing discipline already (${kind}), which would be lost`;
  }
  const script = 'ip link set lo up && tc qdisc add dev lo root netem delay 1ms';
  const tried = await call('unshare', ['--net', 'sh', '-c', script]);
  return tried.isOk ? undefined : `netem cannot be used here: ${tried.text}`;
}

/** Kind of the root discipline in what `tc -j qdisc show` prints; undefined where it is not told. */
function rootKind(json: string): string | undefined {
  try {
    const list = JSON.parse(json) as { kind?: string; root?: boolean }[];
    return list.find(({ root }) => root === true)?.kind;
  } catch {
    return 'unknown';
  }
}

interface CallResult {
  readonly isOk: boolean;
  /** Output, or why it failed: one line. */
  readonly text: string;
}

function tc(args: readonly string[]): Promise<CallResult> {
  return call('tc', args);
}

function call(command: string, args: readonly string[]): Promise<CallResult> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: CALL_TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve({ isOk: true, text: stdout });
      else resolve({ isOk: false, text: oneLine(stderr || error.message) });
    });
  });
}

function oneLine(text: string): string {
  return text.trim().split('\n').join('; ');
}

/** Lets the guard do its work; returns its exit code. */
async function endGuard(guard: ChildProcess): Promise<number | null> {
  if (guard.exitCode !== null) return guard.exitCode;
  const ended = once(guard, 'exit');
  guard.stdin?.end();
  const [code] = (await ended) as [number | null];
  return code;
}
