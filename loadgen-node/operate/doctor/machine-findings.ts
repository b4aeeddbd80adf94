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

/** Clock sources that need (almost) no system call. */
const FAST_CLOCKS = /^(tsc|kvm-clock|hyperv_clocksource_tsc_page|arch_sys_counter|xen)$/;

/** Steal share above which tails are unreliable, and above which all figures are. */
const STEAL_WARNING = 0.01;
const STEAL_ERROR = 0.1;

/** Share of other processes' work from which it is visible in tails. */
const BUSY_WARNING = 0.25;

/** Sleep state wake-up time in µs from which it is visible in latencies of 1 ms. */
const WAKE_UP_WARNING_US = 100;

/**
 * CPU weight relative to the default below which a control group is low priority; Kubernetes
 * assigns 0.39 for one whole CPU.
 */
const WEIGHT_WARNING = 0.3;

const MEMORY_MIN_BYTES = 1024 ** 3;

/**
 * Least number of open files: connections to several nodes with many streams, logs, and what
 * Node.js opens.
 */
const OPEN_FILES_MIN = 1024;

/** Text for a fact that cannot be checked. */
const UNTOLD = 'the system does not tell';
const NO_STAT = `${UNTOLD} (no /proc/stat)`;
const NOT_SHOWN = 'the kernel shows none here';
const HOST_SETS = `${NOT_SHOWN}, as in most virtual machines: the host sets the frequency`;
const HOST_DECIDES = `${NOT_SHOWN}, as in most virtual machines: the host decides`;
const NO_INTERRUPTS =
  'the system shows none here (no /proc/irq, or cards without interrupts of their own)';

/** Input of the checks: tuning facts, and the system facts that some checks need. */
type Look = TuningFacts & {
  readonly threads: number | null;
  readonly totalBytes: number | null;
  readonly pinsMemory: boolean;
  readonly isLoadgen: boolean;
};

/** Facts that are not figures. */
const TEXTS = /^(governors|clockSource|energyPreferences|hugePageMode|runtimeFlags)$/;

/**
 * A check of one fact.
 * @param keys The fact, and others reported with it.
 * @param absent Text if the fact is unknown. Null: no finding, for machines without it;
 *   undefined: judged anyway.
 */
function check<K extends keyof Look, A extends string | null | undefined>(
  id: string,
  what: string,
  keys: readonly [K, ...(keyof Look)[]],
  absent: A,
  judge: (about: Subject, value: Judged<Look[K], A>, look: Look) => DoctorFinding,
) {
  return (look: Look): DoctorFinding[] => {
    const figures = keys.filter((key) => !TEXTS.test(key)).map((key) => [key, look[key]]);
    const about = subject(id, what, figures.length > 0 ? Object.fromEntries(figures) : undefined);
    const value = look[keys[0]];
    const isUnknown = value === null || (Array.isArray(value) && value.length === 0);
    if (!isUnknown || absent === undefined)
      return [judge(about, value as Judged<Look[K], A>, look)];
    return absent === null ? [] : [about.unknown(absent)];
  };
}

type Judged<T, A> = A extends undefined ? T : NonNullable<T>;

/** All checks, in report order. */
const CHECKS = [
  check('cpu-governor', 'CPU governor', ['governors'], HOST_SETS, (about, governors) => {
    const isFast = governors.join() === 'performance';
    const advice = 'sudo cpupower frequency-set -g performance';
    const why = ': frequency follows load, so the first queries after a pause are slower';
    return about.okIf(isFast, governors.join(', '), advice, why);
  }),
  check(
    'cpu-frequency-limit',
    'CPU frequency limit',
    ['limitMhz', 'hardwareMhz'],
    NOT_SHOWN,
    (about, limitMhz, { hardwareMhz }) => {
      if (hardwareMhz === null) return about.unknown(NOT_SHOWN);
      if (limitMhz >= 0.99 * hardwareMhz) {
        return about.ok(`none below the ${hardwareMhz} MHz of the hardware`);
      }
      const advice = `sudo cpupower frequency-set -u ${hardwareMhz}MHz, or measure with the limit on purpose`;
      return about.warning(`${limitMhz} MHz of ${hardwareMhz} MHz`, advice);
    },
  ),
  check('cpus', 'Usable CPUs', ['usableCpus', 'threads'], undefined, (about, usable, look) => {
    const count = usable ?? look.threads;
    if (count === null) return about.unknown(UNTOLD);
    const isPart = look.threads !== null && count < look.threads;
    const seen = isPart ? `${count} of ${look.threads}, by CPU affinity` : String(count);
    const advice =
      'give the process two or more CPUs (taskset, cpuset, size of the virtual machine)';
    const why = ': the thread that issues and takes the time shares it with all else';
    return about.okIf(count >= 2, seen, advice, why);
  }),
  check(
    'cpu-quota',
    'CPU quota of the control group',
    ['quotaCpus', 'quotaPeriods', 'throttledPeriods'],
    undefined,
    (about, quotaCpus, { quotaPeriods, throttledPeriods }) => {
      if (quotaCpus === null) return about.ok('none visible here');
      const throttled =
        (throttledPeriods ?? 0) > 0
          ? `throttled in ${throttledPeriods} of ${quotaPeriods} periods since the start: each stops the process for up to 100 ms`
          : 'not throttled so far, which a run may change';
      const advice =
        'no CPU limit for the container (docker: no --cpus; Kubernetes: no limits.cpu)';
      return about.warning(`${Number(quotaCpus.toFixed(2))} CPUs; ${throttled}`, advice);
    },
  ),
  check('other-load', 'Load of other processes', ['busyShare'], NO_STAT, (about, busy) => {
    const seen = `CPUs were busy for ${shareInPercent(busy)} of a quarter of a second`;
    return about.okIf(busy <= BUSY_WARNING, seen, 'end what else runs here; "top" names it');
  }),
  check('steal', 'Steal time', ['stealShare'], NO_STAT, (about, steal) => {
    const seen = `the hypervisor took ${shareInPercent(steal)} of the CPU time just now`;
    const advice =
      'use dedicated CPUs, another host, or hardware: this cannot be mended from inside';
    return steal >= STEAL_ERROR
      ? about.error(`${seen}: tails are the host's, not yours`, advice)
      : about.okIf(steal < STEAL_WARNING, seen, advice);
  }),
  check('clock-source', 'Clock source', ['clockSource'], UNTOLD, (about, source) => {
    const advice =
      'echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource (if it is offered there)';
    return about.okIf(
      FAST_CLOCKS.test(source),
      source,
      advice,
      ': every reading of the clock is slow',
    );
  }),
  check('cores', 'Cores', ['usableCores', 'usableCpus'], UNTOLD, (about, cores, { usableCpus }) => {
    if (usableCpus === null) return about.unknown(UNTOLD);
    const advice =
      'one thread of each core alone (taskset, CPUAffinity=): what runs on the other one takes its time';
    return cores < usableCpus
      ? about.ok(`${usableCpus} CPUs are threads of ${cores} cores`, advice)
      : about.ok(`${cores}, each with one usable thread`);
  }),
  check('numa', 'NUMA nodes', ['usableNumaNodes'], UNTOLD, (about, nodes) => {
    const advice =
      "the card's own node alone: numactl --cpunodebind=N --membind=N; /sys/class/net/DEV/device/numa_node names it";
    return nodes > 1 ? about.ok(`the process may run on ${nodes}`, advice) : about.ok('1');
  }),
  check(
    'isolated-cpus',
    'Isolated CPUs',
    ['isolatedCpus', 'usableIsolatedCpus'],
    null,
    (about, isolatedCpus, { usableIsolatedCpus, usableCpus }) => {
      if (isolatedCpus === 0) return about.ok('none (no isolcpus=)');
      const own = usableIsolatedCpus ?? 0;
      if (own > 1) {
        return about.warning(
          `${own} of the ${usableCpus ?? own} CPUs of this process are isolated: the kernel does not spread threads over isolated CPUs, so all threads stay on one`,
          'pin each thread to a CPU (taskset -p), or keep other processes away with cpusets (AllowedCPUs=) in place of isolcpus=',
        );
      }
      const advice =
        'to run this process on isolated CPUs, use taskset, or CPUAffinity= in its systemd unit';
      return own === 1
        ? about.ok(`${isolatedCpus}, one of them for this process`)
        : about.ok(`${isolatedCpus}, none of them for this process`, advice);
    },
  ),
  check(
    'nic-interrupts',
    'Interrupts of cards',
    ['interruptCpus', 'usableInterruptCpus', 'usableCpus'],
    NO_INTERRUPTS,
    (
      about,
      interruptCpus,
      { usableInterruptCpus: shared, usableCpus, threads, hasIrqBalancer },
    ) => {
      if (shared === null) return about.unknown(NO_INTERRUPTS);
      const balancer = hasIrqBalancer ? '; irqbalance moves them' : '';
      if (shared === 0) {
        return about.ok(`on ${interruptCpus} CPUs, none of this process${balancer}`);
      }
      const seen = `on ${shared} of the ${usableCpus ?? '?'} CPUs of this process${balancer}`;
      const advice = hasIrqBalancer
        ? 'keep irqbalance off the CPUs of the process (IRQBALANCE_BANNED_CPULIST), or stop it and set /proc/irq/N/smp_affinity_list'
        : 'move them to other CPUs: echo LIST | sudo tee /proc/irq/N/smp_affinity_list; /proc/interrupts names N';
      // Isolation applies to exclusive CPUs; a whole machine is always shared with interrupts.
      const isPinned = threads !== null && usableCpus !== null && usableCpus < threads;
      if (isPinned) return about.warning(seen, advice);
      return (threads ?? 0) > 2 ? about.ok(seen, advice) : about.ok(seen);
    },
  ),
  check('sleep-states', 'Sleep states of CPUs', ['wakeUpUsMax'], HOST_DECIDES, (about, us) => {
    const advice = 'sudo cpupower idle-set -D 10, until the next boot';
    return about.okIf(us <= WAKE_UP_WARNING_US, `up to ${us} µs to wake up`, advice);
  }),
  // On processors without this control the governor decides.
  check('energy-preference', 'Energy preference', ['energyPreferences'], null, (about, words) => {
    const isFast = words.join() === 'performance';
    const advice =
      'echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference';
    const why = ': the processor raises its frequency late';
    return about.okIf(isFast, words.join(', '), advice, why);
  }),
  check('cpu-weight', 'CPU weight of the control group', ['cpuWeight'], null, (about, weight) => {
    const seen = `${rounded(weight, 2)} of the default`;
    const advice =
      'docker: --cpu-shares 1024 or more; Kubernetes: requests.cpu of whole CPUs; systemd: CPUWeight=100';
    return about.okIf(
      weight >= WEIGHT_WARNING,
      seen,
      advice,
      ': others go first where CPUs are short',
    );
  }),
  check('memory', 'Memory', ['availableBytes', 'totalBytes'], UNTOLD, (about, available, look) => {
    const of = look.totalBytes === null ? '' : ` of ${bytesText(look.totalBytes)}`;
    const advice = 'end other programs on this machine: swapping ruins latencies';
    const seen = `${bytesText(available)}${of} free to use`;
    return about.okIf(available >= MEMORY_MIN_BYTES, seen, advice);
  }),
  check('huge-pages', 'Transparent huge pages', ['hugePageMode'], UNTOLD, (about, mode) => {
    if (mode !== 'always') return about.ok(mode);
    const advice =
      'echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled, and compare a run with each';
    return about.ok('always: the kernel may stop a process to make one', advice);
  }),
  check('swap', 'Swap', ['swapUsedBytes', 'swappedBytes'], undefined, (about, used, look) => {
    if (used === null && look.swappedBytes === null) return about.unknown(UNTOLD);
    const own = look.swappedBytes ?? 0;
    if (own > 0) {
      return about.warning(
        `${bytesText(own)} of this process are in swap: each access to such a page waits for a disk`,
        'free memory, then start the process again; sudo swapoff -a, or MemorySwapMax=0 in its systemd unit, keeps the process out of swap',
      );
    }
    if (!used) return about.ok('none in use');
    const advice =
      'sudo sysctl -w vm.swappiness=1, or sudo swapoff -a if the machine has enough memory';
    return about.ok(`${bytesText(used)} of the machine are in swap, none of this process`, advice);
  }),
  check(
    'locked-memory',
    'Limit of locked memory',
    ['lockedBytesMax'],
    UNTOLD,
    (about, max, look) => {
      if (max === UNLIMITED_BYTES) return about.ok('none');
      const advice =
        'none, where a device is to reach memory by itself (RDMA, pinned buffers): ulimit -l unlimited, LimitMEMLOCK=infinity';
      return about.ok(bytesText(max), look.pinsMemory ? advice : null);
    },
  ),
  check('open-files', 'Open-file limit', ['openFilesMax'], UNTOLD, (about, max) => {
    const advice = `ulimit -n ${OPEN_FILES_MIN} (service: LimitNOFILE=)`;
    return about.okIf(max >= OPEN_FILES_MIN, String(max), advice);
  }),
  // Measured on 2 cores (docs/benchmarks.md): p99 of the dispatch lag falls to a half or a third up
  // to 5,000 queries/s.
  check('node-flags', 'Flags of Node.js', ['runtimeFlags'], undefined, (about, flags, look) => {
    const seen = flags.join(' ') || 'none';
    const node = `node ${NODE_FLAGS.join(' ')}`;
    if (!hasYoungGenerationFlag(flags)) {
      const advice = `start it by the program longhaul itself, or by: ${node} ...`;
      return about.warning(seen, `large samples may meet long pauses; ${advice}`);
    }
    const isSingle = flags.some((flag) => /^--single[-_]threaded[-_]gc$/.test(flag));
    const advice = `with few cores, p99 of the dispatch lag is lower by: ${node} --single-threaded-gc dist/loadgen-node/main.js run ...`;
    return about.ok(seen, look.isLoadgen && !isSingle ? advice : null);
  }),
];

/** True if other processes use so much CPU that measurements would show it. */
export function isBusyNow({ busyShare }: TuningFacts): boolean {
  return (busyShare ?? 0) > BUSY_WARNING;
}

/** A machine with its known facts. */
interface Machine {
  readonly facts: SystemFacts;
  /** Null if only the machine's description is known. */
  readonly tuning: TuningFacts | null;
  readonly isLoadgen: boolean;
}

/** All findings about one machine. */
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
    // Only memory for direct device access must be locked: longhaul and ONNX Runtime on CPUs need
    // none.
    pinsMemory: accelerators.length > 0 || network.interfaces.some(({ hasRdma }) => hasRdma),
    isLoadgen,
  };
  return [machine, ...CHECKS.flatMap((one) => one(look))];
}
