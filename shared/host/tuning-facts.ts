import { posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  FactFolder,
  kibIn,
  type MachineSource,
  parseCpuList,
  positiveValue,
} from './machine-source.ts';
import { lineSchema } from './system-facts.ts';

const amount = z.number().positive().nullable();
const share = z.number().min(0).max(1).nullable();
const counted = z.number().min(0).nullable();
/** Ample: kernels have half a dozen governors, and few flags. */
const WORDS_MAX = 64;
const words = z.array(lineSchema).max(WORDS_MAX);

/** Form of {@link TuningFacts}, as it comes from another machine. */
export const tuningFactsSchema = z.object({
  /** Frequency governors of all processors, each once, sorted: `performance`. */
  governors: words,
  /** Of the processor that is bound lowest, in MHz: what it may reach, and what its hardware could. */
  limitMhz: amount,
  hardwareMhz: amount,
  /** `tsc`, `kvm-clock`, `hpet`, ... */
  clockSource: lineSchema.nullable(),
  /** Share of the processors' time that the hypervisor took over a short moment, 0 to 1. */
  stealShare: share,
  /** Share of that time in which processors worked, 0 to 1. */
  busyShare: share,
  /** Processors that the process may use by its affinity. */
  usableCpus: amount,
  /** Processors by the smallest quota of the control groups on the way up; null also where there is none. */
  quotaCpus: amount,
  /** Periods of that quota since its group began, and those in which it was throttled. */
  quotaPeriods: counted,
  throttledPeriods: counted,
  /** Share of the processors that the control group gets when they are short, against that of others: 1 is the kernel's default. */
  cpuWeight: amount,
  /** Cores behind the processors that the process may use; fewer than those where it may use both threads of a core. */
  usableCores: amount,
  /** NUMA nodes that the processors which it may use lie on. */
  usableNumaNodes: amount,
  /** Processors that the kernel keeps free of what is not put there (isolcpus=); null where there is no such list. */
  isolatedCpus: counted,
  /** Of the processors that the process may use, those that are isolated. */
  usableIsolatedCpus: counted,
  /** Processors that take interrupts of network cards; null if unreadable. */
  interruptCpus: amount,
  /** Of the processors that the process may use, those that take such interrupts. */
  usableInterruptCpus: counted,
  /** True where irqbalance runs, which moves interrupts by itself; null where it is not to be seen. */
  hasIrqBalancer: z.boolean().nullable(),
  /** The longest time in µs in which a processor wakes up from the sleep states that are allowed. */
  wakeUpUsMax: amount,
  /** Preferences of the processors' own frequency control, each word once, sorted: `performance`. */
  energyPreferences: words,
  /** Transparent huge pages: `always`, `madvise`, `never`. */
  hugePageMode: lineSchema.nullable(),
  /** Bytes of the machine that lie in swap; 0 also where there is none. */
  swapUsedBytes: counted,
  /** Bytes of the process that lie in swap. */
  swappedBytes: counted,
  /** Soft limit of locked memory of the process; {@link UNLIMITED_BYTES} where there is none. */
  lockedBytesMax: amount,
  /** Soft limit of open files of the process. */
  openFilesMax: amount,
  /** Memory that can be used without swapping. */
  availableBytes: amount,
  /** Largest buffers that TCP gives a socket by itself. */
  tcpReceiveBytesMax: amount,
  tcpSendBytesMax: amount,
  /** Names of the flags that Node.js was started with. */
  runtimeFlags: words,
});

/**
 * Setup and current activity of a machine, as far as they matter to a measurement. Null, or an empty list:
 * unreadable.
 */
export type TuningFacts = z.infer<typeof tuningFactsSchema>;

/** Number of bytes that means "no limit". */
export const UNLIMITED_BYTES: number = Number.MAX_SAFE_INTEGER;

/** Over how long steal and load are looked at. Shorter, a tick of the kernel's clock (10 ms) would be 10 % of it. */
const MOMENT_MS = 250;

/** Reads what there is to read, within half a second. Never rejects for what it cannot read. */
export async function readTuningFacts(
  source: MachineSource,
  runtimeFlags: readonly string[],
): Promise<TuningFacts> {
  const textOf = async (path: string): Promise<string> => (await source.text(path)) ?? '';
  const before = processorTicks(await textOf('/proc/stat'));
  // Without counters there is no need to wait.
  if (before !== null) await sleep(MOMENT_MS);
  const after = before === null ? null : processorTicks(await textOf('/proc/stat'));
  const status = await textOf('/proc/self/status');
  const memory = await textOf('/proc/meminfo');
  const limits = await textOf('/proc/self/limits');
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1]);
  const system = new FactFolder(source, '/sys/devices/system');
  const [total, free] = [kibIn(memory, 'SwapTotal'), kibIn(memory, 'SwapFree')];
  const locked = /^Max locked memory\s+(\d+|unlimited)\s/m.exec(limits)?.[1];
  const hugePages = await textOf('/sys/kernel/mm/transparent_hugepage/enabled');
  return tuningFactsSchema.parse({
    ...(await frequencyFacts(system.in('cpu/cpufreq'))),
    clockSource: await system.line('clocksource/clocksource0/current_clocksource'),
    ...shares(before, after),
    usableCpus: allowed.length || null,
    ...(await placementFacts(source, allowed)),
    ...(await controlGroupFacts(source)),
    hugePageMode: /\[(\w+)\]/.exec(hugePages)?.[1] ?? null,
    swapUsedBytes: total === null || free === null ? null : Math.max(0, total - free),
    swappedBytes: kibIn(status, 'VmSwap'),
    lockedBytesMax: locked === 'unlimited' ? UNLIMITED_BYTES : positiveValue(locked),
    openFilesMax: positiveValue(/^Max open files\s+(\d+)\s/m.exec(limits)?.[1]),
    availableBytes: kibIn(memory, 'MemAvailable') || null,
    tcpReceiveBytesMax: bufferMax(await textOf('/proc/sys/net/ipv4/tcp_rmem')),
    tcpSendBytesMax: bufferMax(await textOf('/proc/sys/net/ipv4/tcp_wmem')),
    runtimeFlags,
  });
}

/** Names of the flags of this process, those of NODE_OPTIONS among them; values may hold paths, and are not reported. */
export function ownRuntimeFlags(): string[] {
  const fromEnvironment = (process.env['NODE_OPTIONS'] ?? '').split(/\s+/);
  return [...process.execArgv, ...fromEnvironment]
    .map((flag) => /^--[\w-]{1,100}/.exec(flag)?.[0])
    .filter((name) => name !== undefined)
    .slice(0, WORDS_MAX);
}

/** Reads the frequency policies of all processors. */
async function frequencyFacts(
  policies: FactFolder,
): Promise<Pick<TuningFacts, 'governors' | 'limitMhz' | 'hardwareMhz' | 'energyPreferences'>> {
  const governors = new Set<string>();
  const preferences = new Set<string>();
  let lowest: { limitMhz: number; hardwareMhz: number; share: number } | undefined;
  for (const name of await policies.names(/^policy\d+$/)) {
    const policy = policies.in(name);
    const governor = await policy.line('scaling_governor');
    if (governor !== null) governors.add(governor);
    const preference = await policy.line('energy_performance_preference');
    if (preference !== null) preferences.add(preference);
    const limitKhz = await policy.number('scaling_max_freq');
    const hardwareKhz = await policy.number('cpuinfo_max_freq');
    if (limitKhz === null || hardwareKhz === null) continue;
    const share = limitKhz / hardwareKhz;
    // Small cores of a mixed processor are slower by nature: the share is what a setting lowers.
    if (lowest === undefined || share < lowest.share) {
      lowest = { limitMhz: limitKhz / 1000, hardwareMhz: hardwareKhz / 1000, share };
    }
  }
  const sorted = (found: ReadonlySet<string>): string[] => [...found].sort().slice(0, WORDS_MAX);
  return {
    governors: sorted(governors),
    limitMhz: lowest?.limitMhz ?? null,
    hardwareMhz: lowest?.hardwareMhz ?? null,
    energyPreferences: sorted(preferences),
  };
}

interface Ticks {
  readonly total: number;
  readonly busy: number;
  readonly steal: number;
}

/** Times of all processors since the start. Source: Linux, proc(5), /proc/stat; guest time is in user time. */
function processorTicks(stat: string): Ticks | null {
  const line = /^cpu\s+(.+)$/m.exec(stat)?.[1];
  const fields = (line ?? '').trim().split(/\s+/).slice(0, 8).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = fields;
  if (fields.length < 8 || fields.some((field) => !Number.isFinite(field))) return null;
  const total = fields.reduce((sum, field) => sum + field, 0);
  return { total, busy: user + nice + system + irq + softIrq, steal };
}

function shares(
  before: Ticks | null,
  after: Ticks | null,
): Pick<TuningFacts, 'stealShare' | 'busyShare'> {
  const total = (after?.total ?? 0) - (before?.total ?? 0);
  if (before === null || after === null || total <= 0) return { stealShare: null, busyShare: null };
  const share = (ticks: number): number => Math.min(1, Math.max(0, ticks / total));
  return {
    stealShare: share(after.steal - before.steal),
    busyShare: share(after.busy - before.busy),
  };
}

/** The third number of `4096 131072 33554432`. */
function bufferMax(text: string): number | null {
  return positiveValue(text.split(/\s+/)[2]);
}

const GROUPS = '/sys/fs/cgroup';

/** Weights of a group without a setting. Source: Linux, cgroup-v2: cpu.weight; cgroup 1: cpu.shares. */
const WEIGHT_DEFAULT = 100;
const SHARES_DEFAULT = 1024;

/** Fields of TuningFacts; null where no group has a quota. */
type Quota = Readonly<Record<'quotaCpus' | 'quotaPeriods' | 'throttledPeriods', number | null>>;

/**
 * Processors that the control groups allow this process: the smallest quota and weight of its own group
 * and all above it, as far as they are to be seen.
 */
async function controlGroupFacts(source: MachineSource) {
  let quota: Quota = { quotaCpus: null, quotaPeriods: null, throttledPeriods: null };
  let cpuWeight: number | null = null;
  for (const path of await groupFolders(source)) {
    const group = new FactFolder(source, path);
    const weight = await weightOf(group);
    if (weight !== null) cpuWeight = Math.min(weight, cpuWeight ?? weight);
    const quotaCpus = await quotaOf(group);
    if (quotaCpus === null || quotaCpus >= (quota.quotaCpus ?? Number.POSITIVE_INFINITY)) continue;
    const stat = (await group.text('cpu.stat')) ?? '';
    quota = {
      quotaCpus,
      quotaPeriods: counterIn(stat, 'nr_periods'),
      throttledPeriods: counterIn(stat, 'nr_throttled'),
    };
  }
  return { ...quota, cpuWeight };
}

function counterIn(stat: string, name: string): number | null {
  const digits = new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1];
  return digits === undefined ? null : Number(digits);
}

async function groupFolders(source: MachineSource): Promise<string[]> {
  return cpuGroupFolders((await source.text('/proc/self/cgroup')) ?? '');
}

/**
 * Folders of the control groups that may limit a process's CPU time: its own first, then those above it; some may not be there. Inside a
 * container's namespace the process's group is the root, `/`.
 * @param text Content of /proc/self/cgroup.
 */
export function cpuGroupFolders(text: string): string[] {
  const folders: string[] = [];
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (controllers === '') folders.push(...upwards(GROUPS, path));
    else if (controllers.split(',').includes('cpu')) {
      folders.push(...upwards(`${GROUPS}/cpu`, path), ...upwards(`${GROUPS}/cpu,cpuacct`, path));
    }
  }
  return folders;
}

function upwards(root: string, path: string): string[] {
  const folders: string[] = [];
  for (let at = posix.normalize(path); ; at = posix.dirname(at)) {
    folders.push(posix.join(root, at));
    if (at === '/') return folders;
  }
}

/** Processors that a group may use: cgroup 2, then cgroup 1. */
async function quotaOf(group: FactFolder): Promise<number | null> {
  const [quota, period] = ((await group.text('cpu.max')) ?? '').split(' ');
  const micros = positiveValue(quota) ?? (await group.number('cpu.cfs_quota_us'));
  const perMicros = positiveValue(period) ?? (await group.number('cpu.cfs_period_us'));
  return micros === null || perMicros === null ? null : micros / perMicros;
}

async function weightOf(group: FactFolder): Promise<number | null> {
  const weight = await group.number('cpu.weight');
  if (weight !== null) return weight / WEIGHT_DEFAULT;
  const shares = await group.number('cpu.shares');
  return shares === null ? null : shares / SHARES_DEFAULT;
}

/** More processors than a machine of ours has would make many small reads. */
const CPUS_READ_MAX = 1024;

/**
 * On which processors a process runs, and what else uses them: fields of TuningFacts.
 * @param allowed Processors that the process may use; empty if unknown
 */
async function placementFacts(source: MachineSource, allowed: readonly number[]) {
  const cpus = new FactFolder(source, '/sys/devices/system/cpu');
  // Without isolated processors the file is there, and empty.
  const isIsolating = (await cpus.names(/^isolated$/)).length > 0;
  const isolated = isIsolating ? new Set(await cpus.cpuList('isolated')) : null;
  const interrupts = await interruptCpus(source);
  const usable = new Set(allowed);
  const shared = (of: ReadonlySet<number> | null): number | null =>
    of === null || allowed.length === 0 ? null : allowed.filter((cpu) => of.has(cpu)).length;
  return {
    usableCores: await coresOf(cpus, allowed),
    usableNumaNodes: await numaNodesOf(new FactFolder(source, '/sys/devices/system/node'), usable),
    isolatedCpus: isolated?.size ?? null,
    usableIsolatedCpus: shared(isolated),
    interruptCpus: interrupts?.size ?? null,
    usableInterruptCpus: shared(interrupts),
    hasIrqBalancer: (await source.names('/run/irqbalance')).length > 0 ? true : null,
    wakeUpUsMax: await wakeUpUsMax(cpus.in(`cpu${allowed[0] ?? 0}/cpuidle`)),
  };
}

async function coresOf(cpus: FactFolder, allowed: readonly number[]): Promise<number | null> {
  const cores = new Set<string>();
  for (const cpu of allowed.slice(0, CPUS_READ_MAX)) {
    const siblings = await cpus.line(`cpu${cpu}/topology/thread_siblings_list`);
    if (siblings === null) return null;
    cores.add(siblings);
  }
  return cores.size || null;
}

async function numaNodesOf(nodes: FactFolder, usable: ReadonlySet<number>): Promise<number | null> {
  let count = 0;
  for (const name of await nodes.names(/^node\d+$/)) {
    const cpus = await nodes.cpuList(`${name}/cpulist`);
    if (cpus.some((cpu) => usable.has(cpu))) count += 1;
  }
  return count || null;
}

/** Where interrupts of cards go: of each, where the kernel has put it, else where it may. */
async function interruptCpus(source: MachineSource): Promise<ReadonlySet<number> | null> {
  const interfaces = new FactFolder(source, '/sys/class/net');
  const interrupts = new FactFolder(source, '/proc/irq');
  const cpus = new Set<number>();
  for (const name of await interfaces.names()) {
    for (const irq of await interruptsOf(interfaces.in(`${name}/device`))) {
      const list =
        (await interrupts.line(`${irq}/effective_affinity_list`)) ??
        (await interrupts.line(`${irq}/smp_affinity_list`));
      for (const cpu of parseCpuList(list)) cpus.add(cpu);
    }
  }
  return cpus.size === 0 ? null : cpus;
}

/** Numbers of the interrupts of a device; those of a virtio card belong to the PCI device above it. */
async function interruptsOf(device: FactFolder): Promise<readonly string[]> {
  const own = await device.in('msi_irqs').names();
  if (own.length > 0) return own;
  const target = await device.source.target(device.path);
  return target === null ? [] : device.source.names(`${posix.dirname(target)}/msi_irqs`);
}

/** Source: Linux, admin-guide/pm/cpuidle: `latency` in µs, `disable`. */
async function wakeUpUsMax(states: FactFolder): Promise<number | null> {
  let longest = 0;
  for (const state of await states.names()) {
    if ((await states.text(`${state}/disable`)) === '1') continue;
    longest = Math.max(longest, (await states.number(`${state}/latency`)) ?? 0);
  }
  return longest || null;
}
