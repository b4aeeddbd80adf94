import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { call, netemArgs, type SweepLink, whyNoNetem } from './link-commands.ts';
import type { LinkConditions } from './link-conditions.ts';

/** Interface on which both directions of a connection leave: each passes it once. */
export const LOOPBACK = 'lo';

/** Queueing disciplines that a kernel puts on an interface by itself, and puts back. */
const DEFAULT_KINDS: readonly string[] = ['noqueue', 'mq', 'pfifo_fast', 'fq_codel', 'fq'];

/**
 * Waits until the pipe to this process closes, however it ends, and then takes the discipline away. In a process group of its
 * own: Ctrl-C is for this process, which tells it.
 */
const GUARD = 'cat > /dev/null; exec tc qdisc del dev "$0" root';

/**
 * Link conditions by the kernel's netem on a network interface that the user named, until they are released or this process
 * ends.
 *
 * An interface shapes what leaves through it. On loopback that is each direction; elsewhere it is queries alone, so the delay
 * of the whole round trip is put there.
 */
export class TcLink implements SweepLink {
  readonly #device: string;
  #guard: ChildProcess | undefined;

  constructor(device: string) {
    this.#device = device;
  }

  /** @throws MlperfError `ERR_NOT_INSTALLED` where the kernel, the tool or the rights are missing */
  async shape(link: LinkConditions): Promise<void> {
    const device = this.#device;
    const why = await whyNoTc(device);
    if (why !== undefined) throw new MlperfError('ERR_NOT_INSTALLED', why);
    // First the guard: nothing is left behind whatever happens between the two.
    this.#guard = spawn('sh', ['-c', GUARD, device], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(this.#guard, 'spawn');
    const delayNs = device === LOOPBACK ? link.delayNs : 2 * link.delayNs;
    const netem = ['root', 'netem', ...netemArgs(link, delayNs)];
    const added = await call('tc', ['qdisc', 'add', 'dev', device, ...netem]);
    if (added.isOk) return;
    await this.#endGuard();
    throw new MlperfError('ERR_NOT_INSTALLED', `tc refuses netem on ${device}: ${added.text}`);
  }

  /**
   * Takes the conditions back.
   * @throws MlperfError `ERR_NOT_INSTALLED` when that failed: the interface is still slow
   */
  async release(): Promise<null> {
    const code = await this.#endGuard();
    if (code === 0) return null;
    throw new MlperfError(
      'ERR_NOT_INSTALLED',
      `tc did not take netem back (exit code ${code}): run "tc qdisc del dev ${this.#device} root"`,
    );
  }

  /** Lets the guard do its work; returns its exit code, 0 where there is none. */
  async #endGuard(): Promise<number | null> {
    const guard = this.#guard;
    this.#guard = undefined;
    if (guard === undefined) return 0;
    if (guard.exitCode !== null) return guard.exitCode;
    const ended = once(guard, 'exit');
    guard.stdin?.end();
    const [code] = (await ended) as [number | null];
    return code;
  }
}

/** Says why tc cannot shape an interface; undefined where it can. The interface stays as it is. */
export async function whyNoTc(device: string): Promise<string | undefined> {
  const shown = await call('tc', ['-j', 'qdisc', 'show', 'dev', device]);
  if (!shown.isOk) return `tc cannot be used on ${device}: ${shown.text}`;
  const kind = rootKind(shown.text);
  if (kind !== undefined && !DEFAULT_KINDS.includes(kind)) {
    return `${device} has a queueing discipline already (${kind}), which would be lost`;
  }
  return await whyNoNetem();
}

/** Kind of the root discipline in what `tc -j qdisc show` prints; undefined where it names none. */
function rootKind(json: string): string | undefined {
  try {
    const list = JSON.parse(json) as { kind?: string; root?: boolean }[];
    return list.find(({ root }) => root === true)?.kind;
  } catch {
    return 'unknown';
  }
}
