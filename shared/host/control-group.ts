import { posix } from 'node:path';
import type { MachineSource } from './machine-source.ts';
import { positiveValue } from './read-values.ts';

const GROUPS = '/sys/fs/cgroup';

/** What the control groups of this process let it use of the processors. */
export interface ControlGroupFacts {
  /** Processors by the smallest quota on the way up; null without one. */
  readonly quotaCpus: number | null;
  /** Of the group with that quota, since it began. */
  readonly quotaPeriods: number | null;
  readonly throttledPeriods: number | null;
  /** The smallest weight on the way up, against the kernel's default; null unknown. */
  readonly cpuWeight: number | null;
}

/** What a group has unless it is told another. Source: Linux, cgroup-v2: cpu.weight; cgroup 1: cpu.shares. */
const WEIGHT_DEFAULT = 100;
const SHARES_DEFAULT = 1024;

/** Reads cgroup 2, then cgroup 1: of the process's own group and all above it, as far as they are to be seen. */
export async function controlGroupFacts(source: MachineSource): Promise<ControlGroupFacts> {
  let smallest: Omit<ControlGroupFacts, 'cpuWeight'> = {
    quotaCpus: null,
    quotaPeriods: null,
    throttledPeriods: null,
  };
  let cpuWeight: number | null = null;
  for (const folder of await groupFolders(source)) {
    const weight = await weightOf(source, folder);
    if (weight !== null) cpuWeight = Math.min(weight, cpuWeight ?? weight);
    const quotaCpus = await quotaOf(source, folder);
    if (quotaCpus === null || quotaCpus >= (smallest.quotaCpus ?? Number.POSITIVE_INFINITY))
      continue;
    const stat = (await source.text(`${folder}/cpu.stat`)) ?? '';
    smallest = {
      quotaCpus,
      quotaPeriods: counterIn(stat, 'nr_periods'),
      throttledPeriods: counterIn(stat, 'nr_throttled'),
    };
  }
  return { ...smallest, cpuWeight };
}

/** Inside a container's namespace the process's group is the root, `/`. */
async function groupFolders(source: MachineSource): Promise<string[]> {
  const text = (await source.text('/proc/self/cgroup')) ?? '';
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

async function quotaOf(source: MachineSource, folder: string): Promise<number | null> {
  const [quota, period] = ((await source.text(`${folder}/cpu.max`)) ?? '').split(' ');
  const micros =
    positiveValue(quota) ?? positiveValue(await source.text(`${folder}/cpu.cfs_quota_us`));
  const perMicros =
    positiveValue(period) ?? positiveValue(await source.text(`${folder}/cpu.cfs_period_us`));
  return micros === null || perMicros === null ? null : micros / perMicros;
}

async function weightOf(source: MachineSource, folder: string): Promise<number | null> {
  const weight = positiveValue(await source.text(`${folder}/cpu.weight`));
  if (weight !== null) return weight / WEIGHT_DEFAULT;
  const shares = positiveValue(await source.text(`${folder}/cpu.shares`));
  return shares === null ? null : shares / SHARES_DEFAULT;
}

function counterIn(stat: string, name: string): number | null {
  const digits = new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1];
  return digits === undefined ? null : Number(digits);
}
