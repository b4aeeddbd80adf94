import { posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { formOf, fraction, line, quantity, readFacts, rowsOf, tally, words } from './fact-kinds.ts';
import { FactFolder, type MachineSource, parseCpuList, positiveValue } from './machine-source.ts';

/** Most words of a list: kernels have half a dozen governors, and few flags. */
const WORDS_MAX = 64;
const wordList = z.array(line).max(WORDS_MAX);

/** Number of bytes that means "no limit". */
export const UNLIMITED_BYTES: number = Number.MAX_SAFE_INTEGER;

const fact = rowsOf<Look>();

const CPUS = 'sys/devices/system/cpu';
const MEMORY = 'proc/meminfo';

/**
 * Setup and current activity of a machine that affect a measurement. Null, or an empty list:
 * unreadable.
 */
const TUNING_FACTS = {
  /** Distinct frequency governors of all processors, sorted: `performance`. */
  governors: fact(wordList, ({ policies }) => policyWords(policies, 'scaling_governor')),
  /**
   * For the processor with the lowest limit, MHz: its allowed maximum, and its hardware maximum.
   */
  limitMhz: fact(quantity, ({ lowest }) => lowest.limitMhz),
  hardwareMhz: fact(quantity, ({ lowest }) => lowest.hardwareMhz),
  /** `tsc`, `kvm-clock`, `hpet`, ... */
  clockSource: fact(words, ({ root }) =>
    root.line('sys/devices/system/clocksource/clocksource0/current_clocksource'),
  ),
  /** Share of CPU time that the hypervisor took in a short interval, 0 to 1. */
  stealShare: fact(fraction, ({ shares }) => shares.steal),
  /** Share of CPU time that was busy in that interval, 0 to 1. */
  busyShare: fact(fraction, ({ shares }) => shares.busy),
  /** Processors in the process's affinity mask. */
  usableCpus: fact(quantity, ({ allowed }) => allowed.length || null),
  /**
   * Processors by the smallest quota of its control group and the groups above it; null also
   * without a quota.
   */
  quotaCpus: fact(quantity, ({ groups }) => groups.quotaCpus),
  /** Periods of that quota since its group began, and the throttled ones. */
  quotaPeriods: fact(tally, ({ groups }) => groups.quotaPeriods),
  throttledPeriods: fact(tally, ({ groups }) => groups.throttledPeriods),
  /**
   * CPU weight of the control group relative to others under contention: 1 is the kernel's default.
   */
  cpuWeight: fact(quantity, ({ groups }) => groups.cpuWeight),
  /** Cores of the usable processors; fewer than processors if both threads of a core are usable. */
  usableCores: fact(quantity, coresOf),
  /** NUMA nodes of the usable processors. */
  usableNumaNodes: fact(quantity, numaNodesOf),
  /** Processors isolated by the kernel (isolcpus=); null without such a list. */
  isolatedCpus: fact(tally, ({ isolated }) => isolated?.length ?? null),
  /** Isolated ones among the usable processors. */
  usableIsolatedCpus: fact(tally, ({ allowed, isolated }) => countShared(allowed, isolated)),
  /** Processors that handle network interrupts; null if unreadable. */
  interruptCpus: fact(quantity, ({ interrupted }) => interrupted?.length ?? null),
  /** Those among the usable processors. */
  usableInterruptCpus: fact(tally, ({ allowed, interrupted }) => countShared(allowed, interrupted)),
  /** True if irqbalance runs, which moves interrupts; null if unknown. */
  hasIrqBalancer: fact(z.literal(true).nullable(), async ({ root }) =>
    (await root.in('run/irqbalance').names()).length > 0 ? true : null,
  ),
  /** Longest wake-up time of an allowed sleep state, µs. */
  wakeUpUsMax: fact(quantity, wakeUpUsMax),
  /**
   * Distinct energy preferences of the processors' own frequency control, sorted: `performance`.
   */
  energyPreferences: fact(wordList, ({ policies }) =>
    policyWords(policies, 'energy_performance_preference'),
  ),
  /** Transparent huge pages: `always`, `madvise`, `never`. */
  hugePageMode: fact(words, ({ root }) =>
    root.line('sys/kernel/mm/transparent_hugepage/enabled', /\[(\w+)\]/),
  ),
  /** Swapped bytes of the machine; 0 also without swap. */
  swapUsedBytes: fact(tally, async ({ root }) => {
    const total = await root.kib(MEMORY, 'SwapTotal');
    const free = await root.kib(MEMORY, 'SwapFree');
    return total === null || free === null ? null : Math.max(0, total - free);
  }),
  /** Swapped bytes of the process. */
  swappedBytes: fact(tally, ({ root }) => root.kib('proc/self/status', 'VmSwap')),
  /** Soft limit of the process's locked memory; {@link UNLIMITED_BYTES} if unlimited. */
  lockedBytesMax: fact(quantity, async ({ root }) => {
    const text = await root.text('proc/self/limits', /^Max locked memory\s+(\d+|unlimited)\s/m);
    return text === 'unlimited' ? UNLIMITED_BYTES : positiveValue(text);
  }),
  /** Soft limit of the process's open files. */
  openFilesMax: fact(quantity, ({ root }) =>
    root.number('proc/self/limits', /^Max open files\s+(\d+)\s/m),
  ),
  /** Memory available without swapping. */
  availableBytes: fact(
    quantity,
    async ({ root }) => (await root.kib(MEMORY, 'MemAvailable')) || null,
  ),
  /** Largest socket buffers that TCP's auto-tuning allows. */
  tcpReceiveBytesMax: fact(quantity, ({ root }) => bufferMax(root, 'tcp_rmem')),
  tcpSendBytesMax: fact(quantity, ({ root }) => bufferMax(root, 'tcp_wmem')),
  /** Names of the flags that Node.js was started with. */
  runtimeFlags: fact(wordList, ({ runtimeFlags }) => [...runtimeFlags]),
};

/** Schema of {@link TuningFacts}, for another machine's message. */
export const tuningFactsSchema = formOf(TUNING_FACTS);
export type TuningFacts = z.infer<typeof tuningFactsSchema>;

/** Reads the facts within half a second. Never rejects for unreadable ones. */
export async function readTuningFacts(
  source: MachineSource,
  runtimeFlags: readonly string[],
): Promise<TuningFacts> {
  const look = await lookAt(new FactFolder(source), runtimeFlags);
  return tuningFactsSchema.parse(await readFacts(TUNING_FACTS, look));
}

/** Inputs that several facts share. */
async function lookAt(root: FactFolder, runtimeFlags: readonly string[]) {
  const shares = await sharesOf(root);
  const frequencies = root.in(`${CPUS}/cpufreq`);
  const policies = (await frequencies.names(/^policy\d+$/)).map((name) => frequencies.in(name));
  // Without isolated processors the file exists and is empty.
  const isIsolating = (await root.in(CPUS).names(/^isolated$/)).length > 0;
  return {
    root,
    runtimeFlags,
    shares,
    policies,
    lowest: await lowestLimit(policies),
    groups: await groupLimits(root),
    allowed: await root.cpuList('proc/self/status', /^Cpus_allowed_list:\s*(\S+)$/m),
    isolated: isIsolating ? await root.cpuList(`${CPUS}/isolated`) : null,
    interrupted: await interruptedCpus(root),
  };
}

type Look = Awaited<ReturnType<typeof lookAt>>;

/**
 * Names of this process's flags, including NODE_OPTIONS; values may hold paths and are not
 * reported.
 */
export function ownRuntimeFlags(): string[] {
  const fromEnvironment = (process.env['NODE_OPTIONS'] ?? '').split(/\s+/);
  return [...process.execArgv, ...fromEnvironment]
    .map((flag) => /^--[\w-]{1,100}/.exec(flag)?.[0])
    .filter((name) => name !== undefined)
    .slice(0, WORDS_MAX);
}

/** Distinct words in a file of the frequency policies. */
async function policyWords(policies: readonly FactFolder[], name: string): Promise<string[]> {
  const found = await Promise.all(policies.map((policy) => policy.line(name)));
  return [...new Set(found.filter((word) => word !== null))].sort().slice(0, WORDS_MAX);
}

async function lowestLimit(policies: readonly FactFolder[]) {
  let lowest: Record<'limitMhz' | 'hardwareMhz', number | null> = {
    limitMhz: null,
    hardwareMhz: null,
  };
  // Small cores of a mixed processor are slower by nature: a setting lowers the share.
  let lowestShare = Number.POSITIVE_INFINITY;
  for (const policy of policies) {
    const limitKhz = await policy.number('scaling_max_freq');
    const hardwareKhz = await policy.number('cpuinfo_max_freq');
    if (limitKhz === null || hardwareKhz === null) continue;
    if (limitKhz / hardwareKhz >= lowestShare) continue;
    lowestShare = limitKhz / hardwareKhz;
    lowest = { limitMhz: limitKhz / 1000, hardwareMhz: hardwareKhz / 1000 };
  }
  return lowest;
}

/** Interval for steal and load. In a shorter one, a kernel tick (10 ms) would be 10 %. */
const MOMENT_MS = 250;

async function sharesOf(root: FactFolder) {
  const before = processorTicks(await root.text('proc/stat'));
  // Without counters there is no need to wait.
  if (before !== null) await sleep(MOMENT_MS);
  const after = before && processorTicks(await root.text('proc/stat'));
  return { steal: tickShare('steal', before, after), busy: tickShare('busy', before, after) };
}

type Ticks = ReturnType<typeof processorTicks>;

/**
 * Times of all processors since boot; null if a sandbox hides them. Source: Linux, proc(5),
 * /proc/stat; guest time is part of user time.
 */
export function processorTicks(stat: string | null) {
  const line = /^cpu\s+(.+)$/m.exec(stat ?? '')?.[1] ?? '';
  const fields = line.trim().split(/\s+/).slice(0, 8).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = fields;
  if (fields.length < 8 || fields.some((field) => !Number.isFinite(field))) return null;
  const total = fields.reduce((sum, field) => sum + field, 0);
  return { total, busy: user + nice + system + irq + softIrq, steal };
}

/** Share of CPU time between two readings, 0 to 1; null if unknown. */
export function tickShare(of: 'steal' | 'busy', before: Ticks, after: Ticks): number | null {
  if (before === null || after === null || after.total <= before.total) return null;
  return Math.min(1, Math.max(0, (after[of] - before[of]) / (after.total - before.total)));
}

/** The third number of `4096 131072 33554432`. */
function bufferMax(root: FactFolder, name: string): Promise<number | null> {
  return root.number(`proc/sys/net/ipv4/${name}`, /^\S+\s+\S+\s+(\S+)/);
}

const GROUPS = '/sys/fs/cgroup';

/**
 * Weights of a group without a setting. Source: Linux, cgroup-v2: cpu.weight; cgroup 1: cpu.shares.
 */
const WEIGHT_DEFAULT = 100;
const SHARES_DEFAULT = 1024;

const NO_QUOTA = { quotaCpus: null, quotaPeriods: null, throttledPeriods: null };

/** The smallest quota and weight of the process's control group and the visible groups above it. */
async function groupLimits({ source }: FactFolder) {
  let quota: Record<keyof typeof NO_QUOTA, number | null> = NO_QUOTA;
  let cpuWeight: number | null = null;
  for (const path of cpuGroupFolders((await source.text('/proc/self/cgroup')) ?? '')) {
    const group = new FactFolder(source, path);
    const weight = await weightOf(group);
    if (weight !== null) cpuWeight = Math.min(weight, cpuWeight ?? weight);
    const quotaCpus = await quotaOf(group);
    if (quotaCpus === null || quotaCpus >= (quota.quotaCpus ?? Number.POSITIVE_INFINITY)) continue;
    quota = {
      quotaCpus,
      quotaPeriods: await group.counter('cpu.stat', /^nr_periods (\d+)$/m),
      throttledPeriods: await group.counter('cpu.stat', /^nr_throttled (\d+)$/m),
    };
  }
  return { ...quota, cpuWeight };
}

/**
 * Folders of the control groups that may limit a process's CPU time: its own first, then those
 * above it; some may be missing. In a container's namespace the process's group is the root, `/`.
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

function countShared(allowed: readonly number[], cpus: readonly number[] | null): number | null {
  if (cpus === null || allowed.length === 0) return null;
  return allowed.filter((cpu) => cpus.includes(cpu)).length;
}

/** Most processors that are read: more would mean many small reads. */
const CPUS_READ_MAX = 1024;

async function coresOf({ root, allowed }: Look): Promise<number | null> {
  const cores = new Set<string>();
  for (const cpu of allowed.slice(0, CPUS_READ_MAX)) {
    const siblings = await root.line(`${CPUS}/cpu${cpu}/topology/thread_siblings_list`);
    if (siblings === null) return null;
    cores.add(siblings);
  }
  return cores.size || null;
}

async function numaNodesOf({ root, allowed }: Look): Promise<number | null> {
  const nodes = root.in('sys/devices/system/node');
  let count = 0;
  for (const name of await nodes.names(/^node\d+$/)) {
    const cpus = await nodes.cpuList(`${name}/cpulist`);
    if (cpus.some((cpu) => allowed.includes(cpu))) count += 1;
  }
  return count || null;
}

/** Processors that handle the cards' interrupts: the effective ones, else the allowed ones. */
async function interruptedCpus(root: FactFolder): Promise<readonly number[] | null> {
  const cpus = new Set<number>();
  for (const name of await root.in('sys/class/net').names()) {
    for (const irq of await interruptsOf(root.in(`sys/class/net/${name}/device`))) {
      const interrupt = root.in(`proc/irq/${irq}`);
      const list =
        (await interrupt.line('effective_affinity_list')) ??
        (await interrupt.line('smp_affinity_list'));
      for (const cpu of parseCpuList(list)) cpus.add(cpu);
    }
  }
  return cpus.size === 0 ? null : [...cpus];
}

/** Interrupt numbers of a device; a virtio card's belong to the PCI device above it. */
async function interruptsOf(device: FactFolder): Promise<readonly string[]> {
  const own = await device.in('msi_irqs').names();
  if (own.length > 0) return own;
  const target = await device.source.target(device.path);
  return target === null ? [] : device.source.names(`${posix.dirname(target)}/msi_irqs`);
}

/** Source: Linux, admin-guide/pm/cpuidle: `latency` in µs, `disable`. */
async function wakeUpUsMax({ root, allowed }: Look): Promise<number | null> {
  const states = root.in(`${CPUS}/cpu${allowed[0] ?? 0}/cpuidle`);
  let longest = 0;
  for (const state of await states.names()) {
    if ((await states.text(`${state}/disable`)) === '1') continue;
    longest = Math.max(longest, (await states.number(`${state}/latency`)) ?? 0);
  }
  return longest || null;
}
