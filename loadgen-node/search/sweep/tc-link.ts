import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { rounded } from '../../../shared/base/text.ts';
import type { LinkConditions } from './link-conditions.ts';
import type { CellResult } from './sweep-file.ts';

/** Interface on which both directions of a connection leave: each passes it once. */
export const LOOPBACK = 'lo';

/** Queueing disciplines that a kernel puts on an interface by itself, and puts back. */
const DEFAULT_KINDS: readonly string[] = ['noqueue', 'mq', 'pfifo_fast', 'fq_codel', 'fq'];

/**
 * Waits until the pipe to this process closes, however it ends, and then takes the discipline away. In a process group of its
 * own: Ctrl-C is for this process, which ends it.
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

  /**
   * @throws MlperfError `ERR_NOT_INSTALLED` where the kernel, the tool or the rights are missing
   */
  async shape(link: LinkConditions): Promise<void> {
    const device = this.#device;
    const why = await whyNoTc(device);
    if (why !== undefined) throw new MlperfError('ERR_NOT_INSTALLED', why);
    // First the guard, so that the rules are removed whatever happens between the two.
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

/** Counts of a link in user space. */
export type TapCounts = NonNullable<CellResult['tap']>;

/** The link between LoadGen and the SUT, whose conditions a sweep sets. */
export interface SweepLink {
  /** @throws MlperfError `ERR_NOT_INSTALLED` */
  shape(link: LinkConditions): Promise<void>;
  /** Takes the conditions back. @returns What a link in user space did; null of netem */
  release(): Promise<TapCounts | null>;
}

const CALL_TIMEOUT_MS = 10_000;

/** How a command ended. */
interface CallResult {
  readonly isOk: boolean;
  /** Its output, or why it failed in one line. */
  readonly text: string;
}

/** Runs a command of the system to its end; one that is not installed fails like any other. */
export function call(command: string, args: readonly string[]): Promise<CallResult> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: CALL_TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve({ isOk: true, text: stdout });
      else resolve({ isOk: false, text: (stderr || error.message).trim().split('\n').join('; ') });
    });
  });
}

/**
 * Default of packets that wait: Linux's default of an interface, and netem's own
 * default.
 */
const QUEUE_PACKETS = 1_000;
const PACKET_BYTES = 1_500;
/** Rate that the packets on a link without a limit are counted for. */
const RATE_ASSUMED = 25e9;

/**
 * Packets that an end of a link has to hold. An emulated link keeps what is delayed in the same queue as what waits.
 * @param delayNs Delay that this end adds.
 */
export function queuePackets({ bitsPerSecond }: LinkConditions, delayNs: number): number {
  const flying = ((bitsPerSecond ?? RATE_ASSUMED) / 8 / PACKET_BYTES) * (delayNs / 1e9);
  return QUEUE_PACKETS + Math.ceil(flying);
}

/**
 * Arguments behind `tc qdisc add dev IF root netem`.
 * @param delayNs Delay of what leaves through the interface.
 */
export function netemArgs(link: LinkConditions, delayNs: number): string[] {
  const args = ['limit', String(queuePackets(link, delayNs))];
  if (delayNs > 0) args.push('delay', `${Math.round(delayNs / 1e3)}us`);
  if (link.lossShare > 0) args.push('loss', `${rounded(link.lossShare * 100, 6)}%`);
  if (link.bitsPerSecond !== null) args.push('rate', `${Math.round(link.bitsPerSecond)}bit`);
  return args;
}

/**
 * Says why the kernel has no netem for us; undefined where it has. Tries it in a network namespace
 * that ends with the try.
 */
export async function whyNoNetem(): Promise<string | undefined> {
  const script = 'ip link set lo up && tc qdisc add dev lo root netem delay 1ms';
  const tried = await call('unshare', ['--net', 'sh', '-c', script]);
  return tried.isOk
    ? undefined
    : `netem cannot be used here: ${tried.text} (kernel module sch_netem, command tc of iproute2)`;
}
