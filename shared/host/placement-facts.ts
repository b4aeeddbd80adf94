import { posix } from 'node:path';
import type { MachineSource } from './machine-source.ts';
import { FactFolder, parseCpuList } from './read-values.ts';

/** More processors than a machine of ours has would make many small reads. */
const CPUS_READ_MAX = 1024;

/**
 * On which processors a process runs, and what else uses them: fields of TuningFacts.
 * @param allowed Processors that the process may use; none where nobody knows them
 */
export async function placementFacts(source: MachineSource, allowed: readonly number[]) {
  const cpus = new FactFolder(source, '/sys/devices/system/cpu');
  // The file is there, and empty, where nothing is isolated.
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
