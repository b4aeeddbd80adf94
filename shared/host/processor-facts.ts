import { armModel } from './arm-cores.ts';
import { cacheFacts } from './cache-facts.ts';
import type { MachineSource } from './machine-source.ts';
import { cleanText, parseCpuList, positiveValue, readNumber } from './read-values.ts';
import type { ProcessorFacts } from './system-facts.ts';

const CPUS = '/sys/devices/system/cpu';

/** Reads `/proc/cpuinfo` and `/sys/devices/system/cpu`. */
export async function processorFacts(source: MachineSource): Promise<ProcessorFacts> {
  const cpuinfo = (await source.text('/proc/cpuinfo')) ?? '';
  const online = await onlineCpus(source);
  const model = modelOf(cpuinfo, source.os.model);
  const cores = await coresOf(source, online);
  const nodes = parseCpuList(await source.text('/sys/devices/system/node/online')).length;
  return {
    model,
    architecture: source.os.architecture,
    sockets: cores.sockets,
    cores: cores.first.length || null,
    threads: online.length || source.os.threads || null,
    numaNodes: nodes || null,
    ...(await frequencies(source, model, online[0] ?? 0)),
    caches: await cacheFacts(source, cores.first),
  };
}

async function onlineCpus(source: MachineSource): Promise<readonly number[]> {
  const online = parseCpuList(await source.text(`${CPUS}/online`));
  if (online.length > 0) return online;
  const names = await source.names(CPUS);
  return names.filter((name) => /^cpu\d+$/.test(name)).map((name) => Number(name.slice(3)));
}

/** First value of a key in `/proc/cpuinfo`. */
function cpuinfoValue(cpuinfo: string, key: string): string | null {
  const line = new RegExp(`^${key}\\s*:(.*)$`, 'm').exec(cpuinfo);
  return cleanText(line?.[1]);
}

function modelOf(cpuinfo: string, byNode: string | undefined): string | null {
  const named = cpuinfoValue(cpuinfo, 'model name') ?? cleanText(byNode);
  if (named !== null && named !== 'unknown') return named.replace(/\s+/g, ' ');
  const arm = armModels(cpuinfo);
  if (arm.length > 0) return arm.join(' + ');
  // POWER has its own key.
  return cpuinfoValue(cpuinfo, 'cpu');
}

/** Kinds of ARM cores, which the kernel numbers thread by thread: a machine may have two. */
function armModels(cpuinfo: string): readonly string[] {
  const pattern =
    /^CPU implementer\s*:\s*(\S+)$(?:\n(?!CPU implementer).*)*?\nCPU part\s*:\s*(\S+)$/gm;
  const cores = [...cpuinfo.matchAll(pattern)];
  return [...new Set(cores.map(([, implementer = '', part = '']) => armModel(implementer, part)))];
}

interface Cores {
  readonly sockets: number | null;
  /** The first hardware thread of each core. */
  readonly first: readonly number[];
}

async function coresOf(source: MachineSource, online: readonly number[]): Promise<Cores> {
  const packages = new Set<string>();
  const siblings = new Map<string, number>();
  for (const cpu of online) {
    const topology = `${CPUS}/cpu${cpu}/topology`;
    const threads =
      (await source.text(`${topology}/core_cpus_list`)) ??
      (await source.text(`${topology}/thread_siblings_list`));
    if (threads !== null && !siblings.has(threads)) siblings.set(threads, cpu);
    const socket = await source.text(`${topology}/physical_package_id`);
    // Some ARM machines write -1: they do not know.
    if (socket !== null && /^\d+$/.test(socket)) packages.add(socket);
  }
  return { sockets: packages.size || null, first: [...siblings.values()] };
}

type Frequencies = Pick<ProcessorFacts, 'baseMhz' | 'maxMhz' | 'frequencyHow'>;

/** Frequencies that are properties of the processor; the one of this moment says nothing. */
async function frequencies(
  source: MachineSource,
  model: string | null,
  cpu: number,
): Promise<Frequencies> {
  const folder = `${CPUS}/cpu${cpu}`;
  const inMhz = (kHz: number | null): number | null =>
    kHz === null ? null : Math.round(kHz / 1e3);
  const max = inMhz(await readNumber(source, `${folder}/cpufreq/cpuinfo_max_freq`));
  const intel = inMhz(await readNumber(source, `${folder}/cpufreq/base_frequency`));
  const cppc = await readNumber(source, `${folder}/acpi_cppc/nominal_freq`);
  const named = ghzInName(model);
  const base = [
    [intel, 'base: cpufreq/base_frequency'],
    [cppc, 'base: acpi_cppc/nominal_freq'],
    [named, 'base: the name of the model'],
  ] as const;
  const [baseMhz, baseHow] = base.find(([value]) => value !== null) ?? [null, null];
  const how = [baseHow, max === null ? null : 'max: cpufreq/cpuinfo_max_freq'];
  return {
    baseMhz,
    maxMhz: max,
    frequencyHow: how.filter((one) => one !== null).join('; ') || null,
  };
}

/** Intel writes the base frequency into the name: `... @ 2.20GHz`. */
function ghzInName(model: string | null): number | null {
  const ghz = positiveValue(/@\s*(\d+(?:\.\d+)?)\s*GHz/i.exec(model ?? '')?.[1]);
  return ghz === null ? null : Math.round(ghz * 1000);
}
