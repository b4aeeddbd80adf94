import { posix } from 'node:path';
import type { MachineSource } from './machine-source.ts';
import { FactFolder, positiveValue } from './read-values.ts';

const GROUPS = '/sys/fs/cgroup';

/** What a group has unless it is told another. Source: Linux, cgroup-v2: cpu.weight; cgroup 1: cpu.shares. */
const WEIGHT_DEFAULT = 100;
const SHARES_DEFAULT = 1024;

/** Fields of TuningFacts; null where no group has a quota. */
type Quota = Readonly<Record<'quotaCpus' | 'quotaPeriods' | 'throttledPeriods', number | null>>;

/**
 * What the control groups of this process let it use of the processors: the smallest quota and weight of its own group
 * and all above it, as far as they are to be seen.
 */
export async function controlGroupFacts(source: MachineSource) {
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
