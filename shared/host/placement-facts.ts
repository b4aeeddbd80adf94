import { posix } from 'node:path';
import type { MachineSource } from './machine-source.ts';
import { parseCpuList, readNumber, readText } from './read-values.ts';

const CPUS = '/sys/devices/system/cpu';
const NODES = '/sys/devices/system/node';
const INTERFACES = '/sys/class/net';

/** More processors than a machine of ours has would make many small reads. */
const CPUS_READ_MAX = 1024;

/** On which processors a process runs, and what else uses them. */
export interface PlacementFacts {
  /** Cores behind the processors that the process may use; fewer than those where it may use both threads of a core. */
  readonly usableCores: number | null;
  /** NUMA nodes that the processors which it may use lie on. */
  readonly usableNumaNodes: number | null;
  /** Processors that the kernel keeps free of what is not put there (isolcpus=); null where there is no such list. */
  readonly isolatedCpus: number | null;
  /** Of the processors that the process may use, those that are isolated. */
  readonly usableIsolatedCpus: number | null;
  /** Processors that take interrupts of network cards; null where nobody could read it. */
  readonly interruptCpus: number | null;
  /** Of the processors that the process may use, those that take such interrupts. */
  readonly usableInterruptCpus: number | null;
  /** True where irqbalance runs, which moves interrupts by itself; null where it is not to be seen. */
  readonly hasIrqBalancer: boolean | null;
  /** The longest time in µs in which a processor wakes up from the sleep states that are allowed. */
  readonly wakeUpUsMax: number | null;
  /** What the processors' own frequency control is asked to prefer, each word once, sorted: `performance`. */
  readonly energyPreferences: readonly string[];
}

/** Reads `/sys` and `/proc/irq`. @param allowed Processors that the process may use; none where nobody knows them */
export async function placementFacts(
  source: MachineSource,
  allowed: readonly number[],
): Promise<PlacementFacts> {
  const isolated = await isolatedCpus(source);
  const interrupts = await interruptCpus(source);
  const shared = (of: ReadonlySet<number> | null): number | null =>
    of === null || allowed.length === 0 ? null : allowed.filter((cpu) => of.has(cpu)).length;
  return {
    usableCores: await coresOf(source, allowed),
    usableNumaNodes: await numaNodesOf(source, allowed),
    isolatedCpus: isolated?.size ?? null,
    usableIsolatedCpus: shared(isolated),
    interruptCpus: interrupts?.size ?? null,
    usableInterruptCpus: shared(interrupts),
    hasIrqBalancer: (await source.names('/run/irqbalance')).length > 0 ? true : null,
    wakeUpUsMax: await wakeUpUsMax(source, allowed[0] ?? 0),
    energyPreferences: await energyPreferences(source),
  };
}

/** The file is there, and empty, where nothing is isolated. */
async function isolatedCpus(source: MachineSource): Promise<ReadonlySet<number> | null> {
  if (!(await source.names(CPUS)).includes('isolated')) return null;
  return new Set(parseCpuList(await source.text(`${CPUS}/isolated`)));
}

async function coresOf(source: MachineSource, allowed: readonly number[]): Promise<number | null> {
  const cores = new Set<string>();
  for (const cpu of allowed.slice(0, CPUS_READ_MAX)) {
    const siblings = await readText(source, `${CPUS}/cpu${cpu}/topology/thread_siblings_list`);
    if (siblings === null) return null;
    cores.add(siblings);
  }
  return cores.size === 0 ? null : cores.size;
}

async function numaNodesOf(
  source: MachineSource,
  allowed: readonly number[],
): Promise<number | null> {
  const usable = new Set(allowed);
  let count = 0;
  for (const name of await source.names(NODES)) {
    if (!/^node\d+$/.test(name)) continue;
    const cpus = parseCpuList(await source.text(`${NODES}/${name}/cpulist`));
    if (cpus.some((cpu) => usable.has(cpu))) count += 1;
  }
  return count === 0 ? null : count;
}

/** Where interrupts of cards go: of each, where the kernel has put it, else where it may. */
async function interruptCpus(source: MachineSource): Promise<ReadonlySet<number> | null> {
  const cpus = new Set<number>();
  for (const name of await source.names(INTERFACES)) {
    for (const irq of await interruptsOf(source, `${INTERFACES}/${name}/device`)) {
      const list =
        (await readText(source, `/proc/irq/${irq}/effective_affinity_list`)) ??
        (await readText(source, `/proc/irq/${irq}/smp_affinity_list`));
      for (const cpu of parseCpuList(list)) cpus.add(cpu);
    }
  }
  return cpus.size === 0 ? null : cpus;
}

/** Numbers of the interrupts of a device; those of a virtio card belong to the PCI device above it. */
async function interruptsOf(source: MachineSource, device: string): Promise<readonly string[]> {
  const own = await source.names(`${device}/msi_irqs`);
  if (own.length > 0) return own;
  const target = await source.target(device);
  return target === null ? [] : source.names(`${posix.dirname(target)}/msi_irqs`);
}

/** Source: Linux, admin-guide/pm/cpuidle: `latency` in µs, `disable`. */
async function wakeUpUsMax(source: MachineSource, cpu: number): Promise<number | null> {
  const folder = `${CPUS}/cpu${cpu}/cpuidle`;
  let longest: number | null = null;
  for (const state of await source.names(folder)) {
    if ((await source.text(`${folder}/${state}/disable`)) === '1') continue;
    const latency = await readNumber(source, `${folder}/${state}/latency`);
    if (latency !== null) longest = Math.max(longest ?? 0, latency);
  }
  return longest;
}

async function energyPreferences(source: MachineSource): Promise<readonly string[]> {
  const words = new Set<string>();
  for (const name of await source.names(`${CPUS}/cpufreq`)) {
    if (!/^policy\d+$/.test(name)) continue;
    const word = await readText(source, `${CPUS}/cpufreq/${name}/energy_performance_preference`);
    if (word !== null) words.add(word);
  }
  return [...words].sort().slice(0, 64);
}
