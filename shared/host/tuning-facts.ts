import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { controlGroupFacts } from './control-group.ts';
import type { MachineSource } from './machine-source.ts';
import { type PagingFacts, pagingFacts } from './paging-facts.ts';
import { type PlacementFacts, placementFacts } from './placement-facts.ts';
import { parseCpuList, positiveValue, readNumber, readText } from './read-values.ts';

/**
 * How a machine is set up and what goes on there now, as far as it matters to a measurement. Null, or an empty list:
 * nobody could read it.
 */
export interface TuningFacts extends PlacementFacts, PagingFacts {
  /** Frequency governors of all processors, each once, sorted: `performance`. */
  readonly governors: readonly string[];
  /** Of the processor that is bound lowest, in MHz: what it may reach, and what its hardware could. */
  readonly limitMhz: number | null;
  readonly hardwareMhz: number | null;
  /** `tsc`, `kvm-clock`, `hpet`, ... */
  readonly clockSource: string | null;
  /** Share of the processors' time that the hypervisor took over a short moment, 0 to 1. */
  readonly stealShare: number | null;
  /** Share of that time in which processors worked, 0 to 1. */
  readonly busyShare: number | null;
  /** Processors that the process may use by its affinity. */
  readonly usableCpus: number | null;
  /** Processors by the quota of the control group; null also where it has none. */
  readonly quotaCpus: number | null;
  /** Periods of the quota since the group began, and those in which it was throttled. */
  readonly quotaPeriods: number | null;
  readonly throttledPeriods: number | null;
  /** Share of the processors that the control group gets when they are short, against that of others: 1 is the kernel's default. */
  readonly cpuWeight: number | null;
  /** Soft limit of open files of the process. */
  readonly openFilesMax: number | null;
  /** Memory that can be used without swapping. */
  readonly availableBytes: number | null;
  /** Largest buffers that TCP gives a socket by itself. */
  readonly tcpReceiveBytesMax: number | null;
  readonly tcpSendBytesMax: number | null;
  /** Names of the flags that Node.js was started with. */
  readonly runtimeFlags: readonly string[];
}

/** Over how long steal and load are looked at. Shorter, a tick of the kernel's clock (10 ms) would be 10 % of it. */
const MOMENT_MS = 250;

/** Kernels have half a dozen. */
const GOVERNORS_MAX = 64;

const CPU_FREQUENCY = '/sys/devices/system/cpu/cpufreq';
const CLOCK_SOURCE = '/sys/devices/system/clocksource/clocksource0/current_clocksource';

/** Reads what there is to read, within half a second. Never rejects for what it cannot read. */
export async function readTuningFacts(
  source: MachineSource,
  runtimeFlags: readonly string[],
): Promise<TuningFacts> {
  const before = processorTicks(await source.text('/proc/stat'));
  // Where nothing counts there is nothing to wait for.
  if (before !== null) await sleep(MOMENT_MS);
  const after = before === null ? null : processorTicks(await source.text('/proc/stat'));
  const status = (await source.text('/proc/self/status')) ?? '';
  const memory = (await source.text('/proc/meminfo')) ?? '';
  const limits = (await source.text('/proc/self/limits')) ?? '';
  const allowed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? null);
  const availableKib = positiveValue(/^MemAvailable:\s*(\d+) kB$/m.exec(memory)?.[1]);
  return tuningFactsSchema.parse({
    ...(await frequencyFacts(source)),
    clockSource: await readText(source, CLOCK_SOURCE),
    ...shares(before, after),
    usableCpus: allowed.length === 0 ? null : allowed.length,
    ...(await placementFacts(source, allowed)),
    ...(await pagingFacts(source, { memory, status, limits })),
    ...(await controlGroupFacts(source)),
    openFilesMax: positiveValue(/^Max open files\s+(\d+)\s/m.exec(limits)?.[1]),
    availableBytes: availableKib === null ? null : availableKib * 1024,
    tcpReceiveBytesMax: await bufferMax(source, 'tcp_rmem'),
    tcpSendBytesMax: await bufferMax(source, 'tcp_wmem'),
    runtimeFlags: [...runtimeFlags],
  });
}

/** More flags than anybody gives. */
const FLAGS_MAX = 64;

/** Names of the flags of this process, those of NODE_OPTIONS among them; values may hold paths, and are not told. */
export function ownRuntimeFlags(): string[] {
  const fromEnvironment = (process.env['NODE_OPTIONS'] ?? '').split(/\s+/);
  return [...process.execArgv, ...fromEnvironment]
    .map((flag) => /^--[\w-]{1,100}/.exec(flag)?.[0])
    .filter((name) => name !== undefined)
    .slice(0, FLAGS_MAX);
}

async function frequencyFacts(
  source: MachineSource,
): Promise<Pick<TuningFacts, 'governors' | 'limitMhz' | 'hardwareMhz'>> {
  const governors = new Set<string>();
  let lowest: { readonly limitKhz: number; readonly hardwareKhz: number } | undefined;
  for (const name of await source.names(CPU_FREQUENCY)) {
    if (!/^policy\d+$/.test(name)) continue;
    const folder = `${CPU_FREQUENCY}/${name}`;
    const governor = await readText(source, `${folder}/scaling_governor`);
    if (governor !== null) governors.add(governor);
    const limitKhz = await readNumber(source, `${folder}/scaling_max_freq`);
    const hardwareKhz = await readNumber(source, `${folder}/cpuinfo_max_freq`);
    if (limitKhz === null || hardwareKhz === null) continue;
    const share = limitKhz / hardwareKhz;
    // Small cores of a mixed processor are slower by nature: the share is what a setting lowers.
    if (lowest === undefined || share < lowest.limitKhz / lowest.hardwareKhz) {
      lowest = { limitKhz, hardwareKhz };
    }
  }
  return {
    governors: [...governors].sort().slice(0, GOVERNORS_MAX),
    limitMhz: lowest === undefined ? null : lowest.limitKhz / 1000,
    hardwareMhz: lowest === undefined ? null : lowest.hardwareKhz / 1000,
  };
}

interface Ticks {
  readonly total: number;
  readonly busy: number;
  readonly steal: number;
}

/** Times of all processors since the start. Source: Linux, proc(5), /proc/stat; guest time is in user time. */
function processorTicks(stat: string | null): Ticks | null {
  const line = /^cpu\s+(.+)$/m.exec(stat ?? '')?.[1];
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
async function bufferMax(source: MachineSource, name: string): Promise<number | null> {
  const text = await source.text(`/proc/sys/net/ipv4/${name}`);
  return positiveValue((text ?? '').split(/\s+/)[2]);
}

const word = z
  .string()
  .max(1024)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');
const amount = z.number().positive().nullable();
const share = z.number().min(0).max(1).nullable();
const counted = z.number().min(0).nullable();

/** Form of {@link TuningFacts}, as it comes from another machine. */
export const tuningFactsSchema: z.ZodType<TuningFacts> = z.object({
  governors: z.array(word).max(GOVERNORS_MAX),
  limitMhz: amount,
  hardwareMhz: amount,
  clockSource: word.nullable(),
  stealShare: share,
  busyShare: share,
  usableCpus: amount,
  quotaCpus: amount,
  quotaPeriods: counted,
  throttledPeriods: counted,
  cpuWeight: amount,
  usableCores: amount,
  usableNumaNodes: amount,
  isolatedCpus: counted,
  usableIsolatedCpus: counted,
  interruptCpus: amount,
  usableInterruptCpus: counted,
  hasIrqBalancer: z.boolean().nullable(),
  wakeUpUsMax: amount,
  energyPreferences: z.array(word).max(GOVERNORS_MAX),
  hugePageMode: word.nullable(),
  swapUsedBytes: counted,
  swappedBytes: counted,
  lockedBytesMax: amount,
  openFilesMax: amount,
  availableBytes: amount,
  tcpReceiveBytesMax: amount,
  tcpSendBytesMax: amount,
  runtimeFlags: z.array(word).max(FLAGS_MAX),
});
