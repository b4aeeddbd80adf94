import type { TuningFacts } from '../../../shared/host/tuning-facts.ts';
import { type DoctorFinding, shareInPercent, subject } from './finding.ts';

/** Clock sources that are read without a system call, or nearly so. */
const FAST_CLOCKS = new Set([
  'tsc',
  'kvm-clock',
  'hyperv_clocksource_tsc_page',
  'arch_sys_counter',
  'xen',
]);

/** Steal above which tails are not to be trusted, and above which nothing is. */
const STEAL_WARNING = 0.01;
const STEAL_ERROR = 0.1;

/** Work of other processes from which on they are seen in a tail. */
const BUSY_WARNING = 0.25;

/** True where other processes take so much of the CPUs that a measurement would show them. */
export function isBusyNow({ busyShare }: TuningFacts): boolean {
  return (busyShare ?? 0) > BUSY_WARNING;
}

/** What the processors of a machine will do to a measurement. @param threads Hardware threads of the machine */
export function processorFindings(tuning: TuningFacts, threads: number | null): DoctorFinding[] {
  return [
    governor(tuning),
    frequencyLimit(tuning),
    usableProcessors(tuning, threads),
    quota(tuning),
    otherLoad(tuning),
    steal(tuning),
    clockSource(tuning),
  ];
}

function governor({ governors }: TuningFacts): DoctorFinding {
  const about = subject('cpu-governor', 'CPU governor');
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
}

function frequencyLimit({ limitMhz, hardwareMhz }: TuningFacts): DoctorFinding {
  const about = subject('cpu-frequency-limit', 'CPU frequency limit', { limitMhz, hardwareMhz });
  if (limitMhz === null || hardwareMhz === null) return about.unknown('the kernel shows none here');
  return limitMhz < 0.99 * hardwareMhz
    ? about.warning(
        `${limitMhz} MHz of ${hardwareMhz} MHz`,
        `sudo cpupower frequency-set -u ${hardwareMhz}MHz, or measure with the limit on purpose`,
      )
    : about.ok(`none below the ${hardwareMhz} MHz of the hardware`);
}

function usableProcessors({ usableCpus }: TuningFacts, threads: number | null): DoctorFinding {
  const about = subject('cpus', 'Usable CPUs', { usableCpus, threads });
  const count = usableCpus ?? threads;
  if (count === null) return about.unknown('the system does not tell');
  const of = threads !== null && usableCpus !== null && usableCpus < threads;
  const seen = of ? `${count} of ${threads}, by CPU affinity` : String(count);
  return count < 2
    ? about.warning(
        `${seen}: the thread that issues and takes the time shares it with all else`,
        'give the process two or more CPUs (taskset, cpuset, size of the virtual machine)',
      )
    : about.ok(seen);
}

function quota({ quotaCpus, quotaPeriods, throttledPeriods }: TuningFacts): DoctorFinding {
  const figures = { quotaCpus, quotaPeriods, throttledPeriods };
  const about = subject('cpu-quota', 'CPU quota of the control group', figures);
  if (quotaCpus === null) return about.ok('none that is to be seen here');
  const advice = 'no CPU limit for the container (docker: no --cpus; Kubernetes: no limits.cpu)';
  const cpus = `${Number(quotaCpus.toFixed(2))} CPUs`;
  if ((throttledPeriods ?? 0) > 0) {
    const seen = `${cpus}; throttled in ${throttledPeriods} of ${quotaPeriods} periods since the start`;
    return about.warning(`${seen}: each stops the process for up to 100 ms`, advice);
  }
  return about.warning(`${cpus}; not throttled so far, which a run may change`, advice);
}

function otherLoad(tuning: TuningFacts): DoctorFinding {
  const { busyShare } = tuning;
  const about = subject('other-load', 'Load of other processes', { busyShare });
  if (busyShare === null) return about.unknown('the system does not tell (no /proc/stat)');
  const seen = `CPUs were busy for ${shareInPercent(busyShare)} of a quarter of a second`;
  return isBusyNow(tuning)
    ? about.warning(seen, 'end what else runs here; "top" names it')
    : about.ok(seen);
}

function steal({ stealShare }: TuningFacts): DoctorFinding {
  const about = subject('steal', 'Steal time', { stealShare });
  if (stealShare === null) return about.unknown('the system does not tell (no /proc/stat)');
  const seen = `the hypervisor took ${shareInPercent(stealShare)} of the CPU time just now`;
  const advice = 'use dedicated CPUs, another host, or hardware: this cannot be mended from inside';
  if (stealShare >= STEAL_ERROR)
    return about.error(`${seen}: tails are the host's, not yours`, advice);
  return stealShare >= STEAL_WARNING ? about.warning(seen, advice) : about.ok(seen);
}

function clockSource({ clockSource: source }: TuningFacts): DoctorFinding {
  const about = subject('clock-source', 'Clock source');
  if (source === null) return about.unknown('the system does not tell');
  return FAST_CLOCKS.has(source)
    ? about.ok(source)
    : about.warning(
        `${source}: every reading of the clock is slow`,
        'echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource (if it is offered there)',
      );
}
