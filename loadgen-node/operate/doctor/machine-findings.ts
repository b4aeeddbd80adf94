import { hasYoungGenerationFlag, NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import { rounded } from '../../../shared/base/text.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import { type TuningFacts, UNLIMITED_BYTES } from '../../../shared/host/tuning-facts.ts';
import {
  bytesText,
  type DoctorFinding,
  knownParts,
  type Subject,
  shareInPercent,
  subject,
} from './finding.ts';

/** Clock sources that are read without a system call, or nearly so. */
const FAST_CLOCKS = new Set([
  'tsc',
  'kvm-clock',
  'hyperv_clocksource_tsc_page',
  'arch_sys_counter',
  'xen',
]);

/** Steal above which tails are not to be trusted, and above which no figure is. */
const STEAL_WARNING = 0.01;
const STEAL_ERROR = 0.1;

/** Work of other processes from which on they are seen in a tail. */
const BUSY_WARNING = 0.25;

/** A sleep from which a processor wakes up more slowly is seen in latencies of a millisecond. */
const WAKE_UP_WARNING_US = 100;

/** Below this share of the default a control group is meant for what may wait; Kubernetes gives 0.39 for one whole CPU. */
const WEIGHT_WARNING = 0.3;

const MEMORY_MIN_BYTES = 1024 ** 3;

/** Connections of several nodes with many streams, logs, and what Node.js itself opens. */
const OPEN_FILES_MIN = 1024;

const UNTOLD = 'the system does not tell';
const NO_STAT = `${UNTOLD} (no /proc/stat)`;

/** Input of the checks: tuning facts, and the system facts that some of them need. */
type Look = TuningFacts & {
  readonly threads: number | null;
  readonly totalBytes: number | null;
  readonly pinsMemory: boolean;
  readonly isLoadgen: boolean;
};

type FigureKey = {
  [K in keyof Look]: Look[K] extends number | null ? K : never;
}[keyof Look];

/**
 * A check of one thing.
 * @param figures Keys of those that are reported with the judgement.
 * @param judge Null: no finding, where the machine has no such thing.
 */
function check(
  id: string,
  what: string,
  figures: readonly FigureKey[],
  judge: (about: Subject, look: Look) => DoctorFinding | null,
) {
  return (look: Look): DoctorFinding[] => {
    const reported = Object.fromEntries(figures.map((key) => [key, look[key]]));
    const found = judge(subject(id, what, figures.length === 0 ? undefined : reported), look);
    return found === null ? [] : [found];
  };
}

/** Checks of processors: frequency, number, quota, load, steal, clock. */
const PROCESSOR_CHECKS = [
  check('cpu-governor', 'CPU governor', [], (about, { governors }) => {
    const seen = governors.join(', ');
    if (seen === '') {
      return about.unknown(
        'the kernel shows none here, as in most virtual machines: the host sets the frequency',
      );
    }
    return seen === 'performance'
      ? about.ok(seen)
      : about.warning(
          `${seen}: frequency follows load, so the first queries after a pause are slower`,
          'sudo cpupower frequency-set -g performance',
        );
  }),
  check(
    'cpu-frequency-limit',
    'CPU frequency limit',
    ['limitMhz', 'hardwareMhz'],
    (about, { limitMhz, hardwareMhz }) => {
      if (limitMhz === null || hardwareMhz === null)
        return about.unknown('the kernel shows none here');
      return limitMhz < 0.99 * hardwareMhz
        ? about.warning(
            `${limitMhz} MHz of ${hardwareMhz} MHz`,
            `sudo cpupower frequency-set -u ${hardwareMhz}MHz, or measure with the limit on purpose`,
          )
        : about.ok(`none below the ${hardwareMhz} MHz of the hardware`);
    },
  ),
  check('cpus', 'Usable CPUs', ['usableCpus', 'threads'], (about, { usableCpus, threads }) => {
    const count = usableCpus ?? threads;
    if (count === null) return about.unknown(UNTOLD);
    const seen =
      threads !== null && count < threads
        ? `${count} of ${threads}, by CPU affinity`
        : String(count);
    return count < 2
      ? about.warning(
          `${seen}: the thread that issues and takes the time shares it with all else`,
          'give the process two or more CPUs (taskset, cpuset, size of the virtual machine)',
        )
      : about.ok(seen);
  }),
  check(
    'cpu-quota',
    'CPU quota of the control group',
    ['quotaCpus', 'quotaPeriods', 'throttledPeriods'],
    (about, { quotaCpus, quotaPeriods, throttledPeriods }) => {
      if (quotaCpus === null) return about.ok('none visible here');
      const throttled =
        (throttledPeriods ?? 0) > 0
          ? `throttled in ${throttledPeriods} of ${quotaPeriods} periods since the start: each stops the process for up to 100 ms`
          : 'not throttled so far, which a run may change';
      return about.warning(
        `${Number(quotaCpus.toFixed(2))} CPUs; ${throttled}`,
        'no CPU limit for the container (docker: no --cpus; Kubernetes: no limits.cpu)',
      );
    },
  ),
  check('other-load', 'Load of other processes', ['busyShare'], (about, { busyShare }) => {
    if (busyShare === null) return about.unknown(NO_STAT);
    const seen = `CPUs were busy for ${shareInPercent(busyShare)} of a quarter of a second`;
    return busyShare > BUSY_WARNING
      ? about.warning(seen, 'end what else runs here; "top" names it')
      : about.ok(seen);
  }),
  check('steal', 'Steal time', ['stealShare'], (about, { stealShare }) => {
    if (stealShare === null) return about.unknown(NO_STAT);
    const seen = `the hypervisor took ${shareInPercent(stealShare)} of the CPU time just now`;
    const advice =
      'use dedicated CPUs, another host, or hardware: this cannot be mended from inside';
    if (stealShare >= STEAL_ERROR) {
      return about.error(`${seen}: tails are the host's, not yours`, advice);
    }
    return stealShare >= STEAL_WARNING ? about.warning(seen, advice) : about.ok(seen);
  }),
  check('clock-source', 'Clock source', [], (about, { clockSource: source }) => {
    if (source === null) return about.unknown(UNTOLD);
    return FAST_CLOCKS.has(source)
      ? about.ok(source)
      : about.warning(
          `${source}: every reading of the clock is slow`,
          'echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource (if it is offered there)',
        );
  }),
];

/** Where the process runs, what else uses its processors, and how they sleep. */
const PLACEMENT_CHECKS = [
  check('cores', 'Cores', ['usableCores', 'usableCpus'], (about, { usableCores, usableCpus }) => {
    if (usableCores === null || usableCpus === null) return about.unknown(UNTOLD);
    return usableCores < usableCpus
      ? about.ok(
          `${usableCpus} CPUs are threads of ${usableCores} cores`,
          'one thread of each core alone (taskset, CPUAffinity=): what runs on the other one takes its time',
        )
      : about.ok(`${usableCores}, each with one usable thread`);
  }),
  check('numa', 'NUMA nodes', ['usableNumaNodes'], (about, { usableNumaNodes }) => {
    if (usableNumaNodes === null) return about.unknown(UNTOLD);
    return usableNumaNodes > 1
      ? about.ok(
          `the process may run on ${usableNumaNodes}`,
          "the card's own node alone: numactl --cpunodebind=N --membind=N; /sys/class/net/DEV/device/numa_node names it",
        )
      : about.ok('1');
  }),
  check(
    'isolated-cpus',
    'Isolated CPUs',
    ['isolatedCpus', 'usableIsolatedCpus'],
    (about, { isolatedCpus, usableIsolatedCpus, usableCpus }) => {
      if (isolatedCpus === null) return null;
      if (isolatedCpus === 0) return about.ok('none (no isolcpus=)');
      const own = usableIsolatedCpus ?? 0;
      if (own === 0) {
        const seen = `${isolatedCpus}, none of them for this process`;
        return about.ok(seen, 'if they are meant for it: taskset, or CPUAffinity= of its unit');
      }
      return own > 1
        ? about.warning(
            `${own} of the ${usableCpus ?? own} CPUs of this process: the kernel spreads no threads over isolated CPUs, all stay on one`,
            'give each thread its CPU (taskset -p), or keep others away by cpusets in place of isolcpus= (AllowedCPUs=)',
          )
        : about.ok(`${isolatedCpus}, one of them for this process`);
    },
  ),
  check(
    'nic-interrupts',
    'Interrupts of cards',
    ['interruptCpus', 'usableInterruptCpus', 'usableCpus'],
    (about, look) => {
      const { interruptCpus, usableInterruptCpus: shared, usableCpus, threads } = look;
      if (interruptCpus === null || shared === null) {
        return about.unknown(
          'the system shows none here (no /proc/irq, or cards without interrupts of their own)',
        );
      }
      const hasBalancer = look.hasIrqBalancer === true;
      const balancer = hasBalancer ? '; irqbalance moves them' : '';
      if (shared === 0)
        return about.ok(`on ${interruptCpus} CPUs, none of this process${balancer}`);
      const seen = `on ${shared} of the ${usableCpus ?? '?'} CPUs of this process${balancer}`;
      const advice = hasBalancer
        ? 'keep irqbalance off the CPUs of the process (IRQBALANCE_BANNED_CPULIST), or stop it and set /proc/irq/N/smp_affinity_list'
        : 'move them to other CPUs: echo LIST | sudo tee /proc/irq/N/smp_affinity_list; /proc/interrupts names N';
      // Who has the whole machine shares it with interrupts; who was given CPUs of its own meant to have them alone.
      const isPinned = threads !== null && usableCpus !== null && usableCpus < threads;
      if (isPinned) return about.warning(seen, advice);
      return (threads ?? 0) > 2 ? about.ok(seen, advice) : about.ok(seen);
    },
  ),
  check('sleep-states', 'Sleep states of CPUs', ['wakeUpUsMax'], (about, { wakeUpUsMax }) => {
    if (wakeUpUsMax === null) {
      return about.unknown(
        'the kernel shows none here, as in most virtual machines: the host decides',
      );
    }
    const seen = `up to ${wakeUpUsMax} µs to wake up`;
    return wakeUpUsMax > WAKE_UP_WARNING_US
      ? about.warning(seen, 'sudo cpupower idle-set -D 10, until the next boot')
      : about.ok(seen);
  }),
  check('energy-preference', 'Energy preference', [], (about, { energyPreferences }) => {
    const seen = energyPreferences.join(', ');
    // Where the processors have no such control the governor says all.
    if (seen === '') return null;
    return seen === 'performance'
      ? about.ok(seen)
      : about.warning(
          `${seen}: the processor raises its frequency late`,
          'echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference',
        );
  }),
  check('cpu-weight', 'CPU weight of the control group', ['cpuWeight'], (about, { cpuWeight }) => {
    if (cpuWeight === null) return null;
    const seen = `${rounded(cpuWeight, 2)} of the default`;
    return cpuWeight < WEIGHT_WARNING
      ? about.warning(
          `${seen}: others go first where CPUs are short`,
          'docker: --cpu-shares 1024 or more; Kubernetes: requests.cpu of whole CPUs; systemd: CPUWeight=100',
        )
      : about.ok(seen);
  }),
];

/** Checks of memory, of limits of the process, and of the flags of Node.js. */
const MEMORY_CHECKS = [
  check(
    'memory',
    'Memory',
    ['availableBytes', 'totalBytes'],
    (about, { availableBytes, totalBytes }) => {
      if (availableBytes === null) return about.unknown(UNTOLD);
      const of = totalBytes === null ? '' : ` of ${bytesText(totalBytes)}`;
      const seen = `${bytesText(availableBytes)}${of} free to use`;
      return availableBytes < MEMORY_MIN_BYTES
        ? about.warning(seen, 'end what else runs here: swapping ruins latencies')
        : about.ok(seen);
    },
  ),
  check('huge-pages', 'Transparent huge pages', [], (about, { hugePageMode }) => {
    if (hugePageMode === null) return about.unknown(UNTOLD);
    return hugePageMode === 'always'
      ? about.ok(
          'always: the kernel may stop a process to make one',
          'echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled, and compare a run with each',
        )
      : about.ok(hugePageMode);
  }),
  check(
    'swap',
    'Swap',
    ['swapUsedBytes', 'swappedBytes'],
    (about, { swapUsedBytes, swappedBytes }) => {
      if (swapUsedBytes === null && swappedBytes === null) return about.unknown(UNTOLD);
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
    },
  ),
  check(
    'locked-memory',
    'Limit of locked memory',
    ['lockedBytesMax'],
    (about, { lockedBytesMax, pinsMemory }) => {
      if (lockedBytesMax === null) return about.unknown(UNTOLD);
      if (lockedBytesMax === UNLIMITED_BYTES) return about.ok('none');
      return about.ok(
        bytesText(lockedBytesMax),
        pinsMemory
          ? 'none, where a device is to reach memory by itself (RDMA, pinned buffers): ulimit -l unlimited, LimitMEMLOCK=infinity'
          : null,
      );
    },
  ),
  check('open-files', 'Open-file limit', ['openFilesMax'], (about, { openFilesMax }) => {
    if (openFilesMax === null) return about.unknown(UNTOLD);
    return openFilesMax < OPEN_FILES_MIN
      ? about.warning(String(openFilesMax), `ulimit -n ${OPEN_FILES_MIN} (service: LimitNOFILE=)`)
      : about.ok(String(openFilesMax));
  }),
  // Measured on 2 cores (docs/benchmarks.md): p99 of the dispatch lag falls to a half or a third up to 5,000 queries/s.
  check('node-flags', 'Flags of Node.js', [], (about, { runtimeFlags, isLoadgen }) => {
    const seen = runtimeFlags.length === 0 ? 'none' : runtimeFlags.join(' ');
    const node = `node ${NODE_FLAGS.join(' ')}`;
    if (!hasYoungGenerationFlag(runtimeFlags)) {
      const advice = `start it by the program longhaul itself, or by: ${node} ...`;
      return about.warning(seen, `large samples may meet long pauses; ${advice}`);
    }
    return !isLoadgen || runtimeFlags.some((flag) => /^--single[-_]threaded[-_]gc$/.test(flag))
      ? about.ok(seen)
      : about.ok(
          seen,
          `with few cores, p99 of the dispatch lag is lower by: ${node} --single-threaded-gc dist/loadgen-node/main.js run ...`,
        );
  }),
];

/** True where other processes take so much of the CPUs that a measurement would show them. */
export function isBusyNow({ busyShare }: TuningFacts): boolean {
  return (busyShare ?? 0) > BUSY_WARNING;
}

/** A machine, as far as it was read. */
interface Machine {
  readonly facts: SystemFacts;
  /** Null where only the description of the machine is known. */
  readonly tuning: TuningFacts | null;
  readonly isLoadgen: boolean;
}

/** Everything about one machine that a run should not be surprised by. */
export function machineFindings({ facts, tuning, isLoadgen }: Machine): DoctorFinding[] {
  const { enclosure, processor, memory, network, accelerators } = facts;
  const kind = knownParts([
    processor.model ?? 'unknown processor',
    enclosure.virtualMachine === null ? null : `virtual machine (${enclosure.virtualMachine})`,
    enclosure.container === null ? null : `container (${enclosure.container})`,
  ]);
  const machine = subject('machine', 'Machine').ok(kind);
  if (tuning === null) {
    const why =
      'this node does not tell governor, clock, steal, quota and limits: it is older, or of other make';
    return [machine, subject('tuning', 'Settings of the machine').unknown(why)];
  }
  const look = {
    ...tuning,
    threads: processor.threads,
    totalBytes: memory.totalBytes,
    // Only memory that devices access directly has to be locked: longhaul and ONNX Runtime on CPUs need none.
    pinsMemory: accelerators.length > 0 || network.interfaces.some(({ hasRdma }) => hasRdma),
    isLoadgen,
  };
  const checks = [...PROCESSOR_CHECKS, ...PLACEMENT_CHECKS, ...MEMORY_CHECKS];
  return [machine, ...checks.flatMap((one) => one(look))];
}
