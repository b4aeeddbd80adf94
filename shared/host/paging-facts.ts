import type { MachineSource } from './machine-source.ts';
import { positiveValue } from './read-values.ts';

/** What stands for "no limit" among numbers of bytes. */
export const UNLIMITED_BYTES: number = Number.MAX_SAFE_INTEGER;

/** How the kernel gives memory to a process and takes it away. */
export interface PagingFacts {
  /** Transparent huge pages: `always`, `madvise`, `never`. */
  readonly hugePageMode: string | null;
  /** Bytes of the machine that lie in swap; 0 also where there is none. */
  readonly swapUsedBytes: number | null;
  /** Bytes of the process that lie in swap. */
  readonly swappedBytes: number | null;
  /** Soft limit of locked memory of the process; {@link UNLIMITED_BYTES} where there is none. */
  readonly lockedBytesMax: number | null;
}

const HUGE_PAGES = '/sys/kernel/mm/transparent_hugepage/enabled';

/** What the caller has read already. */
interface ProcessTexts {
  /** `/proc/meminfo`, `/proc/self/status`, `/proc/self/limits` */
  readonly memory: string;
  readonly status: string;
  readonly limits: string;
}

/** Reads what is set for memory; of what was not read nothing is known. */
export async function pagingFacts(
  source: MachineSource,
  { memory, status, limits }: ProcessTexts,
): Promise<PagingFacts> {
  const total = kibIn(memory, 'SwapTotal');
  const free = kibIn(memory, 'SwapFree');
  const locked = /^Max locked memory\s+(\d+|unlimited)\s/m.exec(limits)?.[1];
  return {
    hugePageMode: /\[(\w+)\]/.exec((await source.text(HUGE_PAGES)) ?? '')?.[1] ?? null,
    swapUsedBytes: total === null || free === null ? null : Math.max(0, total - free),
    swappedBytes: kibIn(status, 'VmSwap'),
    lockedBytesMax: locked === 'unlimited' ? UNLIMITED_BYTES : positiveValue(locked),
  };
}

/** A line such as `SwapFree:  1024 kB`, in bytes. */
function kibIn(text: string, key: string): number | null {
  const digits = new RegExp(`^${key}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1];
  return digits === undefined ? null : Number(digits) * 1024;
}
