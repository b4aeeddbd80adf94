import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { at } from '../../../shared/base/at.ts';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { distFolder } from '../../../shared/base/files/package-files.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import type { LinkConditions } from './link-conditions.ts';
import type { SweepValues } from './sweep-settings.ts';
import {
  call,
  netemArgs,
  queuePackets,
  type SweepLink,
  type TapCounts,
  whyNoNetem,
  whyNoTc,
} from './tc-link.ts';

/**
 * Maker of the links of a sweep: `tc` on an interface of the user, or a link to a namespace with a
 * node of the sweep's own.
 */
export type ChosenLinkMaker = { readonly with: 'tc'; readonly device: string } | NamespaceLinkMaker;

/**
 * Decides what makes the links, and looks whether this machine can make them.
 * @param sut Addresses of the user's nodes; empty: sweep starts one.
 * @throws MlperfError `ERR_CONFIG_INVALID`; `ERR_NOT_INSTALLED` naming everything that is missing
 */
export async function chooseLinkMaker(
  { with: asked, device, lossSeed }: SweepValues,
  sut: readonly string[],
): Promise<ChosenLinkMaker> {
  if (sut.length > 0) return await chooseDevice(asked, device, sut);
  if (device !== undefined) {
    throw configInvalid('--device is for --sut: a node that sweep starts has a link of its own');
  }
  const missing = missingForNamespaces();
  const noNetem = missing.length > 0 ? undefined : await whyNoNetem();
  const isTap = asked === 'tap' || (asked === 'auto' && noNetem !== undefined);
  if (isTap) missing.push(...missingForTap(noNetem));
  else if (noNetem !== undefined) missing.push(`${noNetem}; --with tap does not need it`);
  if (missing.length > 0) throw lacking(missing);
  return isTap ? { with: 'tap', lossSeed } : { with: 'netem' };
}

async function chooseDevice(
  asked: SweepValues['with'],
  device: string | undefined,
  sut: readonly string[],
): Promise<ChosenLinkMaker> {
  if (asked === 'tap') {
    throw configInvalid('--with tap makes a link to a node that sweep starts: leave --sut out');
  }
  if (device === undefined) {
    const host = splitAddress(at(sut, 0))?.host ?? '';
    const [, way] = / dev (\S+)/.exec((await call('ip', ['route', 'get', host])).text) ?? [];
    const hint = way === undefined ? '' : ` (${host} is reached by ${way})`;
    throw configInvalid(
      `--sut needs --device: the network interface that leads to it and that tc may shape${hint}; without --sut a node is started on this machine`,
    );
  }
  const missing = isRoot() ? await whyNoTc(device) : NO_ROOT;
  if (missing !== undefined) throw lacking([missing]);
  return { with: 'tc', device };
}

const NO_ROOT = 'root (start it with sudo)';

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Commands that links to a namespace are made with, and the packages that have them. */
const COMMANDS = { ip: 'iproute2', unshare: 'util-linux', nsenter: 'util-linux' };

function missingForNamespaces(): string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const commands = Object.entries(COMMANDS).filter(([name]) => !hasCommand(name));
  return [
    ...(isRoot() ? [] : [NO_ROOT]),
    ...commands.map(([name, from]) => `the command ${name} (package ${from})`),
  ];
}

/** @param noNetem Why a link in user space is what is left; undefined where it was asked for. */
function missingForTap(noNetem: string | undefined): string[] {
  const missing = [
    ...(hasCommand('python3') ? [] : ['the command python3']),
    ...(existsSync('/dev/net/tun') ? [] : ['/dev/net/tun (kernel module tun)']),
  ];
  if (missing.length === 0) return [];
  const why = noNetem === undefined ? '' : ` (${noNetem})`;
  return missing.map((one) => `${one}, for a link in user space${why}`);
}

function hasCommand(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

function lacking(missing: readonly string[]): MlperfError {
  return new MlperfError(
    'ERR_NOT_INSTALLED',
    `sweep shapes the link by tc and network namespaces of Linux, as root. Missing here: ${missing.join('; ')}`,
  );
}

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

/**
 * How the link to a namespace is made: by the kernel's netem, or by TAP devices and a program
 * between them.
 */
type NamespaceLinkMaker =
  | { readonly with: 'netem' }
  | { readonly with: 'tap'; readonly lossSeed: number };

/**
 * A network namespace for a SUT node, and the link to it. LoadGen stays where it is: one end of the link is here, the other in
 * the namespace. They are unnamed and do not outlive this process: the kernel takes back namespace, interfaces and netem.
 */
export class SutNamespace implements SweepLink {
  /** Address of the namespace's end. */
  readonly sutAddress: string;
  /** Command and arguments before those of a program that runs in the namespace. */
  readonly inside: readonly string[];
  readonly #holder: ChildProcess;
  readonly #maker: NamespaceLinkMaker;
  /**
   * /30 network of the two ends, of those set aside for measurements (RFC 2544): another one for
   * each process.
   */
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

  /**
   * Takes the link and the namespace away. Programs that still run in it keep it without a link.
   */
  async close(): Promise<void> {
    await this.release();
    this.#holder.stdin?.end();
  }
}

/**
 * Waits for the first output of a program.
 * @throws MlperfError `ERR_NOT_INSTALLED` with its stderr
 */
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
