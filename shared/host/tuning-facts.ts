import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { controlGroupFacts } from './control-group.ts';
import type { MachineSource } from './machine-source.ts';
import { placementFacts } from './placement-facts.ts';
import { FactFolder, kibIn, parseCpuList, positiveValue } from './read-values.ts';
import { lineSchema } from './system-facts.ts';

const amount = z.number().positive().nullable();
const share = z.number().min(0).max(1).nullable();
const counted = z.number().min(0).nullable();
/** Kernels have half a dozen governors, and nobody gives more flags. */
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
  /** Processors that take interrupts of network cards; null where nobody could read it. */
  interruptCpus: amount,
  /** Of the processors that the process may use, those that take such interrupts. */
  usableInterruptCpus: counted,
  /** True where irqbalance runs, which moves interrupts by itself; null where it is not to be seen. */
  hasIrqBalancer: z.boolean().nullable(),
  /** The longest time in µs in which a processor wakes up from the sleep states that are allowed. */
  wakeUpUsMax: amount,
  /** What the processors' own frequency control is asked to prefer, each word once, sorted: `performance`. */
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
 * How a machine is set up and what goes on there now, as far as it matters to a measurement. Null, or an empty list:
 * nobody could read it.
 */
export type TuningFacts = z.infer<typeof tuningFactsSchema>;

/** What stands for "no limit" among numbers of bytes. */
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
  // Where nothing counts there is nothing to wait for.
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

/** Names of the flags of this process, those of NODE_OPTIONS among them; values may hold paths, and are not told. */
export function ownRuntimeFlags(): string[] {
  const fromEnvironment = (process.env['NODE_OPTIONS'] ?? '').split(/\s+/);
  return [...process.execArgv, ...fromEnvironment]
    .map((flag) => /^--[\w-]{1,100}/.exec(flag)?.[0])
    .filter((name) => name !== undefined)
    .slice(0, WORDS_MAX);
}

/** What the frequency policies of all processors say. */
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
