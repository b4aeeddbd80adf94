import { rounded } from '../../../shared/base/figures/figure-text.ts';
import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import { type DoctorFinding, subject } from './finding.ts';

/** A sleep from which a processor wakes up more slowly is seen in latencies of a millisecond. */
const WAKE_UP_WARNING_US = 100;

/** Below this share of the default a control group is meant for what may wait; Kubernetes gives 0.39 for one whole CPU. */
const WEIGHT_WARNING = 0.3;

/** Where the process runs, what else uses its processors, and how they sleep. @param threads Hardware threads of the machine */
export function placementFindings(tuning: TuningFacts, threads: number | null): DoctorFinding[] {
  return [
    cores(tuning),
    numaNodes(tuning),
    isolated(tuning),
    interrupts(tuning, threads),
    sleepStates(tuning),
    energyPreference(tuning),
    weight(tuning),
  ].filter((finding) => finding !== null);
}

function cores({ usableCores, usableCpus }: TuningFacts): DoctorFinding {
  const about = subject('cores', 'Cores', { usableCores, usableCpus });
  if (usableCores === null || usableCpus === null) return about.unknown('the system does not tell');
  return usableCores < usableCpus
    ? about.ok(
        `${usableCpus} CPUs are threads of ${usableCores} cores`,
        'one thread of each core alone (taskset, CPUAffinity=): what runs on the other one takes its time',
      )
    : about.ok(`${usableCores}, each with one usable thread`);
}

function numaNodes({ usableNumaNodes }: TuningFacts): DoctorFinding {
  const about = subject('numa', 'NUMA nodes', { usableNumaNodes });
  if (usableNumaNodes === null) return about.unknown('the system does not tell');
  return usableNumaNodes > 1
    ? about.ok(
        `the process may run on ${usableNumaNodes}`,
        "the card's own node alone: numactl --cpunodebind=N --membind=N; /sys/class/net/DEV/device/numa_node names it",
      )
    : about.ok('1');
}

function isolated({
  isolatedCpus,
  usableIsolatedCpus,
  usableCpus,
}: TuningFacts): DoctorFinding | null {
  const about = subject('isolated-cpus', 'Isolated CPUs', { isolatedCpus, usableIsolatedCpus });
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
}

function interrupts(
  { interruptCpus, usableInterruptCpus, usableCpus, hasIrqBalancer }: TuningFacts,
  threads: number | null,
): DoctorFinding {
  const about = subject('nic-interrupts', 'Interrupts of cards', {
    interruptCpus,
    usableInterruptCpus,
    usableCpus,
  });
  if (interruptCpus === null || usableInterruptCpus === null) {
    return about.unknown(
      'the system shows none here (no /proc/irq, or cards without interrupts of their own)',
    );
  }
  const balancer = hasIrqBalancer === true ? '; irqbalance moves them' : '';
  if (usableInterruptCpus === 0) {
    return about.ok(`on ${interruptCpus} CPUs, none of this process${balancer}`);
  }
  const seen = `on ${usableInterruptCpus} of the ${usableCpus ?? '?'} CPUs of this process${balancer}`;
  const advice =
    hasIrqBalancer === true
      ? 'keep irqbalance off the CPUs of the process (IRQBALANCE_BANNED_CPULIST), or stop it and set /proc/irq/N/smp_affinity_list'
      : 'move them to other CPUs: echo LIST | sudo tee /proc/irq/N/smp_affinity_list; /proc/interrupts names N';
  // Who has the whole machine shares it with interrupts; who was given CPUs of its own meant to have them alone.
  const isPinned = threads !== null && usableCpus !== null && usableCpus < threads;
  if (isPinned) return about.warning(seen, advice);
  return (threads ?? 0) > 2 ? about.ok(seen, advice) : about.ok(seen);
}

function sleepStates({ wakeUpUsMax }: TuningFacts): DoctorFinding {
  const about = subject('sleep-states', 'Sleep states of CPUs', { wakeUpUsMax });
  if (wakeUpUsMax === null) {
    return about.unknown(
      'the kernel shows none here, as in most virtual machines: the host decides',
    );
  }
  const seen = `up to ${wakeUpUsMax} µs to wake up`;
  return wakeUpUsMax > WAKE_UP_WARNING_US
    ? about.warning(seen, 'sudo cpupower idle-set -D 10, until the next boot')
    : about.ok(seen);
}

/** Where the processors have no such control the governor says all. */
function energyPreference({ energyPreferences }: TuningFacts): DoctorFinding | null {
  const about = subject('energy-preference', 'Energy preference');
  const seen = energyPreferences.join(', ');
  if (seen === '') return null;
  return seen === 'performance'
    ? about.ok(seen)
    : about.warning(
        `${seen}: the processor raises its frequency late`,
        'echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference',
      );
}

function weight({ cpuWeight }: TuningFacts): DoctorFinding | null {
  const about = subject('cpu-weight', 'CPU weight of the control group', { cpuWeight });
  if (cpuWeight === null) return null;
  const seen = `${rounded(cpuWeight, 2)} of the default`;
  return cpuWeight < WEIGHT_WARNING
    ? about.warning(
        `${seen}: others go first where CPUs are short`,
        'docker: --cpu-shares 1024 or more; Kubernetes: requests.cpu of whole CPUs; systemd: CPUWeight=100',
      )
    : about.ok(seen);
}
