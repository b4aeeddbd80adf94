import type { MachineSource } from './machine-source.ts';
import { parseCpuList, parseSize } from './read-values.ts';
import type { CacheFacts } from './system-facts.ts';

const SUFFIXES: Readonly<Record<string, string>> = { Data: 'd', Instruction: 'i', Unified: '' };

/**
 * Reads the caches of the processors. Each is counted once, by the list of those that share it.
 * @param cpus One hardware thread of each core.
 */
export async function cacheFacts(
  source: MachineSource,
  cpus: readonly number[],
): Promise<CacheFacts[]> {
  const seen = new Set<string>();
  const kinds = new Map<string, { cache: CacheFacts; count: number }>();
  for (const cpu of cpus) {
    const folder = `/sys/devices/system/cpu/cpu${cpu}/cache`;
    for (const index of await source.names(folder)) {
      if (!/^index\d+$/.test(index)) continue;
      const one = await readCache(source, `${folder}/${index}`);
      if (one === null || seen.has(`${one.cache.name} ${one.sharing}`)) continue;
      seen.add(`${one.cache.name} ${one.sharing}`);
      const key = `${one.cache.name} ${one.cache.bytes} ${one.cache.sharedByThreads}`;
      kinds.set(key, { cache: one.cache, count: (kinds.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...kinds.values()].map(({ cache, count }) => ({ ...cache, count }));
}

async function readCache(
  source: MachineSource,
  folder: string,
): Promise<{ readonly cache: CacheFacts; readonly sharing: string } | null> {
  const level = await source.text(`${folder}/level`);
  const suffix = SUFFIXES[(await source.text(`${folder}/type`)) ?? ''];
  const bytes = parseSize(await source.text(`${folder}/size`));
  const sharing = await source.text(`${folder}/shared_cpu_list`);
  const sharedByThreads = parseCpuList(sharing).length;
  if (!/^[1-9]$/.test(level ?? '') || suffix === undefined || bytes === null || sharing === null) {
    return null;
  }
  if (sharedByThreads === 0) return null;
  return { cache: { name: `L${level}${suffix}`, bytes, count: 1, sharedByThreads }, sharing };
}
