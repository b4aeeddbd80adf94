import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import { UNLIMITED_BYTES } from '../../../shared/host/tuning-facts.ts';
import { bytesText, type DoctorFinding, subject } from './finding.ts';

/** What a machine does with the memory of a process: huge pages, swap, locks. */
export function pagingFindings(facts: SystemFacts, tuning: TuningFacts): DoctorFinding[] {
  return [hugePages(tuning), swap(tuning), lockedMemory(facts, tuning)];
}

function hugePages({ hugePageMode }: TuningFacts): DoctorFinding {
  const about = subject('huge-pages', 'Transparent huge pages');
  if (hugePageMode === null) return about.unknown('the system does not tell');
  return hugePageMode === 'always'
    ? about.ok(
        'always: the kernel may stop a process to make one',
        'echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled, and compare a run with each',
      )
    : about.ok(hugePageMode);
}

function swap({ swapUsedBytes, swappedBytes }: TuningFacts): DoctorFinding {
  const about = subject('swap', 'Swap', { swapUsedBytes, swappedBytes });
  if (swapUsedBytes === null && swappedBytes === null) {
    return about.unknown('the system does not tell');
  }
  const own = swappedBytes ?? 0;
  if (own > 0) {
    return about.warning(
      `${bytesText(own)} of this process lie there: each page of it waits for a disk`,
      'free memory, then start the process again; sudo swapoff -a, or MemorySwapMax=0 of its unit, keeps it out',
    );
  }
  const used = swapUsedBytes ?? 0;
  return used > 0
    ? about.ok(
        `${bytesText(used)} of the machine lie there, none of this process`,
        'sudo sysctl -w vm.swappiness=1, or swapoff -a where memory is enough',
      )
    : about.ok('none in use');
}

/** Only what devices reach by themselves has to be locked: longhaul and ONNX Runtime on CPUs lock nothing. */
function lockedMemory(
  { network, accelerators }: SystemFacts,
  { lockedBytesMax }: TuningFacts,
): DoctorFinding {
  const about = subject('locked-memory', 'Limit of locked memory', { lockedBytesMax });
  if (lockedBytesMax === null) return about.unknown('the system does not tell');
  if (lockedBytesMax === UNLIMITED_BYTES) return about.ok('none');
  const isUsed = accelerators.length > 0 || network.interfaces.some(({ hasRdma }) => hasRdma);
  return isUsed
    ? about.ok(
        bytesText(lockedBytesMax),
        'none, where a device is to reach memory by itself (RDMA, pinned buffers): ulimit -l unlimited, LimitMEMLOCK=infinity',
      )
    : about.ok(bytesText(lockedBytesMax));
}
