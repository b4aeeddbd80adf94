import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { call, netemArgs, queuePackets, type SweepLink, type TapCounts } from './link-commands.ts';
import type { LinkConditions } from './link-conditions.ts';

/** Holds a namespace until the pipe to this process closes, however it ends. */
const HOLD = 'ip link set lo up && echo ready && exec cat > /dev/null';

/**
 * A veth pair between this namespace and that of process $1, netem on both ends: $0 the interface here, $2 and $3 the addresses,
 * $4 the arguments of netem. It ends with either namespace.
 */
const VETH = `ip link add "$0" type veth peer name lan0 netns "$1"
ip addr add "$2" dev "$0"
tc qdisc add dev "$0" root netem $4
ip link set "$0" up
exec nsenter --net="/proc/$1/ns/net" sh -ec '
  ip addr add "$0" dev lan0
  tc qdisc add dev lan0 root netem $1
  ip link set lan0 up' "$3" "$4"`;

/** Program of a link in user space, for kernels without netem. */
const TAP_LINK = join(distFolder(), '..', 'deploy', 'two-hosts', 'tap-link.py');

/** How the link to a namespace is made: by the kernel's netem, or by TAP devices and a program between them. */
export type NamespaceLinkMaker =
  | { readonly with: 'netem' }
  | { readonly with: 'tap'; readonly lossSeed: number };

/**
 * A network namespace for a SUT node, and the link to it. LoadGen stays where it is: one end of the link is here, the other in
 * the namespace. Nothing of it has a name or outlives this process: the kernel takes back namespace, interfaces and netem.
 */
export class SutNamespace implements SweepLink {
  /** Address of the namespace's end. */
  readonly sutAddress: string;
  /** Command and arguments before those of a program that runs in the namespace. */
  readonly inside: readonly string[];
  readonly #holder: ChildProcess;
  readonly #maker: NamespaceLinkMaker;
  /** /30 network of the two ends, of those set aside for measurements (RFC 2544): another one for each process. */
  readonly #network = `198.18.${(process.pid >> 6) & 0xff}`;
  readonly #lowByte = (process.pid & 0x3f) << 2;
  readonly #device = `lh${process.pid}`;
  #tap: ChildProcess | undefined;
  #tapSaid = '';
  #hasVeth = false;

  private constructor(holder: ChildProcess, maker: NamespaceLinkMaker) {
    this.#holder = holder;
    this.#maker = maker;
    this.sutAddress = `${this.#network}.${this.#lowByte + 2}`;
    this.inside = ['nsenter', `--net=/proc/${holder.pid}/ns/net`];
  }

  /** @throws MlperfError `ERR_NOT_INSTALLED` where this machine makes no namespace */
  static async make(maker: NamespaceLinkMaker): Promise<SutNamespace> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', HOLD], {
      // Ctrl-C is for this process: the link stays until the run has ended.
      detached: true,
      stdio: 'pipe',
    });
    await ready(holder, 'a network namespace cannot be made');
    return new SutNamespace(holder, maker);
  }

  /** Puts a link of these conditions in the place of the one that there is. */
  async shape(link: LinkConditions): Promise<void> {
    await this.release();
    const near = `${this.#network}.${this.#lowByte + 1}/30`;
    const far = `${this.sutAddress}/30`;
    if (this.#maker.with === 'tap') return await this.#openTap(link, near, far, this.#maker);
    this.#hasVeth = true;
    const netem = netemArgs(link, link.delayNs).join(' ');
    const args = [this.#device, String(this.#holder.pid), near, far, netem];
    const made = await call('sh', ['-ec', VETH, ...args]);
    if (made.isOk) return;
    await this.release();
    throw new MlperfError('ERR_NOT_INSTALLED', `the link cannot be made: ${made.text}`);
  }

  async #openTap(
    link: LinkConditions,
    near: string,
    far: string,
    { lossSeed }: { readonly lossSeed: number },
  ): Promise<void> {
    const { delayNs, bitsPerSecond, lossShare } = link;
    const conditions = [delayNs / 1e6, bitsPerSecond === null ? 'inf' : bitsPerSecond / 1e6];
    const ends = ['/proc/self/ns/net', near, `/proc/${this.#holder.pid}/ns/net`, far];
    const others = [lossShare, lossSeed, queuePackets(link, delayNs)];
    const tap = spawn('python3', [TAP_LINK, ...ends, ...[...conditions, ...others].map(String)], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#tap = tap;
    await ready(tap, 'the link in user space cannot be made');
    this.#tapSaid = '';
    tap.stdout.on('data', (text) => {
      this.#tapSaid += text;
    });
  }

  /** Takes the link away. @returns What a link in user space did; null of netem */
  async release(): Promise<TapCounts | null> {
    if (this.#hasVeth) {
      this.#hasVeth = false;
      await call('ip', ['link', 'del', this.#device]);
    }
    const tap = this.#tap;
    if (tap === undefined) return null;
    this.#tap = undefined;
    if (tap.exitCode === null && tap.signalCode === null) {
      const closed = once(tap, 'close');
      tap.kill('SIGTERM');
      await closed;
    }
    return this.#tapSaid === '' ? null : (JSON.parse(this.#tapSaid) as TapCounts);
  }

  /** Takes the link and the namespace away. Programs that still run in it keep it without a link. */
  async close(): Promise<void> {
    await this.release();
    this.#holder.stdin?.end();
  }
}

/** Waits until a program says on stdout that it is ready. @throws MlperfError `ERR_NOT_INSTALLED` with what it said on stderr */
async function ready(program: ChildProcess, what: string): Promise<void> {
  let stderr = '';
  program.stderr?.on('data', (text) => {
    stderr += text;
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new MlperfError('ERR_NOT_INSTALLED', `${what}: ${why}`));
    program.stdout?.once('data', () => resolve());
    program.once('error', ({ message }) => fail(message));
    program.once('close', (code) => fail(stderr.trim().split('\n').at(-1) || `exit code ${code}`));
  });
}
