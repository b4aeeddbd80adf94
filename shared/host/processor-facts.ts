import { z } from 'zod';
import { formOf, line, list, positive, quantity, readFacts, rowsOf, words } from './fact-kinds.ts';
import {
  cleanText,
  FactFolder,
  joined,
  type MachineSource,
  positiveValue,
} from './machine-source.ts';

/**
 * One kind of cache (`L1d`, `L1i`, `L2`, `L3`): bytes of one, their number, hardware threads that
 * share one.
 */
const cache = z.object({ name: line, bytes: positive, count: positive, sharedByThreads: positive });
type CacheFacts = z.infer<typeof cache>;

const fact = rowsOf<Look>();

/** Facts of all processors together. */
const PROCESSOR = {
  model: fact(words, ({ model }) => model),
  /** As Node.js names it: `x64`, `arm64`. */
  architecture: fact(words, ({ source }) => source.os.architecture),
  sockets: fact(quantity, ({ sockets }) => sockets),
  /** Cores and hardware threads of all sockets. */
  cores: fact(quantity, ({ first }) => first.length || null),
  threads: fact(quantity, ({ online, source }) => online.length || source.os.threads || null),
  numaNodes: fact(quantity, async ({ source }) => {
    const nodes = new FactFolder(source, '/sys/devices/system/node');
    return (await nodes.cpuList('online')).length || null;
  }),
  baseMhz: fact(quantity, ({ base: [mhz] }) => mhz),
  maxMhz: fact(quantity, ({ maxMhz }) => maxMhz),
  /** Source of the frequencies. */
  frequencyHow: fact(words, ({ base: [, how], maxMhz }) => {
    const maxHow = maxMhz === null ? null : 'max: cpufreq/cpuinfo_max_freq';
    return joined([how && `base: ${how}`, maxHow], '; ');
  }),
  caches: fact(list(cache), ({ cpus, first }) => cachesOf(cpus, first)),
};

export const processorForm = formOf(PROCESSOR);

/** Reads `/proc/cpuinfo` and `/sys/devices/system/cpu`. */
export async function processorFacts(source: MachineSource) {
  return await readFacts(PROCESSOR, await lookAt(source));
}

/** Inputs that several facts share. */
async function lookAt(source: MachineSource) {
  const cpus = new FactFolder(source, '/sys/devices/system/cpu');
  const listed = await cpus.cpuList('online');
  const named = (await cpus.names(/^cpu\d+$/)).map((name) => Number(name.slice(3)));
  const online = listed.length > 0 ? listed : named;
  const model = modelOf((await source.text('/proc/cpuinfo')) ?? '', source.os.model);
  const cpu = cpus.in(`cpu${online[0] ?? 0}`);
  return {
    ...{ source, cpus, online, model },
    ...(await coresOf(cpus, online)),
    base: await baseMhz(cpu, model),
    maxMhz: await mhzIn(cpu, 'cpufreq/cpuinfo_max_freq'),
  };
}

type Look = Awaited<ReturnType<typeof lookAt>>;

/**
 * Cores by implementer and part, as `/proc/cpuinfo` numbers them. Source: Arm's MIDR_EL1 of each
 * core.
 */
const ARM_CORES: Readonly<Record<string, string>> = {
  '0x41 0xd03': 'Arm Cortex-A53',
  '0x41 0xd05': 'Arm Cortex-A55',
  '0x41 0xd07': 'Arm Cortex-A57',
  '0x41 0xd08': 'Arm Cortex-A72',
  '0x41 0xd09': 'Arm Cortex-A73',
  '0x41 0xd0a': 'Arm Cortex-A75',
  '0x41 0xd0b': 'Arm Cortex-A76',
  '0x41 0xd0c': 'Arm Neoverse-N1',
  '0x41 0xd40': 'Arm Neoverse-V1',
  '0x41 0xd41': 'Arm Cortex-A78',
  '0x41 0xd42': 'Arm Cortex-A78AE',
  '0x41 0xd49': 'Arm Neoverse-N2',
  '0x41 0xd4f': 'Arm Neoverse-V2',
  '0xc0 0xac3': 'Ampere-1',
  '0xc0 0xac4': 'Ampere-1a',
};

function modelOf(cpuinfo: string, byNode: string | undefined): string | null {
  const entryOf = (key: string): string | null =>
    cleanText(new RegExp(`^${key}\\s*:(.*)$`, 'm').exec(cpuinfo)?.[1]);
  const named = entryOf('model name') ?? cleanText(byNode);
  if (named !== null && named !== 'unknown') return named.replace(/\s+/g, ' ');
  // The kernel lists ARM cores per thread: a machine may have two kinds.
  const arm = /^CPU implementer\s*:\s*(\S+)$(?:\n(?!CPU implementer).*)*?\nCPU part\s*:\s*(\S+)$/gm;
  const kinds = [...cpuinfo.matchAll(arm)].map(
    ([, implementer, part]) =>
      ARM_CORES[`${implementer} ${part}`.toLowerCase()] ??
      `ARM core with implementer ${implementer}, part ${part}`,
  );
  // POWER has its own key.
  return joined(kinds, ' + ') ?? entryOf('cpu');
}

/** Number of sockets, and the first hardware thread of each core. */
async function coresOf(cpus: FactFolder, online: readonly number[]) {
  const packages = new Set<string>();
  const siblings = new Map<string, number>();
  for (const cpu of online) {
    const topology = cpus.in(`cpu${cpu}/topology`);
    const threads =
      (await topology.text('core_cpus_list')) ?? (await topology.text('thread_siblings_list'));
    if (threads !== null && !siblings.has(threads)) siblings.set(threads, cpu);
    // Some ARM machines write -1 for unknown.
    const socket = await topology.text('physical_package_id', /^(\d+)$/);
    if (socket !== null) packages.add(socket);
  }
  return { sockets: packages.size || null, first: [...siblings.values()] };
}

/** The base frequency, a property of the processor, and its source. */
async function baseMhz(cpu: FactFolder, model: string | null) {
  // Intel puts the base frequency into the name: `... @ 2.20GHz`.
  const named = positiveValue(/@\s*(\d+(?:\.\d+)?)\s*GHz/i.exec(model ?? '')?.[1]);
  const bases = [
    [await mhzIn(cpu, 'cpufreq/base_frequency'), 'cpufreq/base_frequency'],
    [await cpu.number('acpi_cppc/nominal_freq'), 'acpi_cppc/nominal_freq'],
    [named && Math.round(named * 1000), 'the name of the model'],
  ] as const;
  return bases.find(([mhz]) => mhz !== null) ?? ([null, null] as const);
}

async function mhzIn(cpu: FactFolder, name: string): Promise<number | null> {
  const khz = await cpu.number(name);
  return khz && Math.round(khz / 1000);
}

/**
 * Caches of the cores of these hardware threads. Each is counted once, by the list of threads that
 * share it.
 */
async function cachesOf(cpus: FactFolder, threads: readonly number[]): Promise<CacheFacts[]> {
  const seen = new Set<string>();
  const kinds = new Map<string, CacheFacts>();
  for (const cpu of threads) {
    const folder = cpus.in(`cpu${cpu}/cache`);
    for (const index of await folder.names(/^index\d+$/)) {
      const cache = await cacheOf(folder.in(index));
      const sharing = `${cache?.name} ${await folder.text(`${index}/shared_cpu_list`)}`;
      if (cache === null || seen.has(sharing)) continue;
      seen.add(sharing);
      const key = `${cache.name} ${cache.bytes} ${cache.sharedByThreads}`;
      kinds.set(key, { ...cache, count: (kinds.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...kinds.values()];
}

async function cacheOf(folder: FactFolder): Promise<CacheFacts | null> {
  const level = await folder.text('level', /^([1-9])$/);
  const type = await folder.text('type', /^(Data|Instruction|Unified)$/);
  const bytes = sizeIn(await folder.text('size'));
  const sharedByThreads = (await folder.cpuList('shared_cpu_list')).length;
  if (level === null || type === null || bytes === null || sharedByThreads === 0) return null;
  const suffix = type === 'Unified' ? '' : type.charAt(0).toLowerCase();
  return { name: `L${level}${suffix}`, bytes, count: 1, sharedByThreads };
}

/** Bytes of a size as the kernel writes it: `1024K`, `32M`. */
function sizeIn(text: string | null): number | null {
  const [, digits, unit = ''] = /^(\d+)([KMG]?)B?$/i.exec(text ?? '') ?? [];
  const power = ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase());
  return positiveValue(`${Number(digits) * 1024 ** power}`);
}
