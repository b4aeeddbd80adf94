import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';

const ns = z.number().describe('ns');

/** State of the LoadGen process while queries were issued: what could have made it late. */
export const GENERATOR_HEALTH = z.strictObject({
  // CPU time / elapsed time of the issuing thread, or of the process if the thread's is unknown; 1
  // is one core.
  cpuShare: z.number(),
  // Linux: run-queue wait of the issuing thread; 0.5 means that it shared its core with another
  // process.
  cpuWaitShare: z.number().nullish().describe('share of the time without a core; null: not known'),
  // Lateness of the event loop's own timers; up to 1.2 ms on an idle machine.
  eventLoopDelay: z.strictObject({ p50Ns: ns, p99Ns: ns, maxNs: ns }),
  // Garbage collection pauses, sampled in the first 0.2 s of each second; count and sum are
  // extrapolated.
  gc: z.strictObject({ count: z.number(), totalNs: ns, maxNs: ns }),
  // Share of the machine's CPU time stolen by the hypervisor; null if /proc/stat lacks it.
  stealShare: z.number().nullable(),
  // Linux: how often, and for how long in total, a cgroup limit throttled the process; null without
  // a limit.
  throttled: z
    .strictObject({ periods: z.number(), throttledPeriods: z.number(), totalNs: ns })
    .nullish()
    .describe('nr_periods, nr_throttled and throttled time of cpu.stat'),
  // Time in which queries waited for a socket although credit was available, and the reverse; null
  // without a QDL.
  backPressure: z.strictObject({ socketNs: ns, creditNs: ns }).nullable(),
  // One entry per second; the last one ends with the set.
  seconds: z.array(
    z.strictObject({
      // End of the second, in ns since the monitor began.
      atNs: ns,
      cpuShare: z.number(),
      cpuWaitShare: z.number().nullish(),
      eventLoopDelayMaxNs: ns,
      // Estimated like `gc`.
      gcNs: ns,
      // Whole process: its QDL, its logs and a live page use other threads.
      process: z
        .strictObject({
          cores: z.number().describe('cores that its threads kept busy'),
          residentBytes: z.number(),
        })
        .optional(),
    }),
  ),
});

export type GeneratorHealth = DeepReadonly<z.infer<typeof GENERATOR_HEALTH>>;

/** One second of {@link GeneratorHealth}; the last entry may be shorter. */
export type HealthSecond = GeneratorHealth['seconds'][number];

/**
 * Starts watching a set right before its first query, untimed. Returns a function that ends the
 * watch, untimed, and returns its result.
 */
export type GeneratorMonitor = () => () => GeneratorHealth;

/** Largest load of LoadGen on this machine with a null SUT; measured once by `longhaul doctor`. */
export const GENERATOR_CEILING = z.strictObject({
  // ISO 8601 date.
  measuredAt: z.string(),
  // Versions of longhaul, Node and kernel, and the processor; any change voids the figure.
  measuredOn: z.string(),
  // Queries per second of the engine alone, with an in-process SUT that answers at once.
  inProcessQps: z.number(),
  // Queries per second over loopback to a null SUT node, 16 B payloads.
  loopbackQps: z.number(),
  isDisturbed: z
    .boolean()
    .optional()
    .describe('true: other processes took the CPUs while it was measured'),
});

export type GeneratorCeiling = Readonly<z.infer<typeof GENERATOR_CEILING>>;

/**
 * Share of time spent waiting for a core above which a LoadGen without a schedule counts as
 * starved: two processes that share a core get a half each.
 */
const WAIT_SHARE_MAX = 1 / 3;
/** A thread that ran, or waited for a core, for more than this share never waited for the SUT. */
const SATURATED_SHARE = 0.9;
/** Shortest watch to judge; a shorter one has too few samples. */
const WATCH_NS_MIN = 3e9;
/** Timer delay that an idle event loop has as well: timers have 1 ms resolution. */
const TIMER_DELAY_NS = 2e6;

/** Thresholds from which a cause is reported. */
const WAIT_SHARE_NAMED = 0.1;
const STEAL_SHARE_NAMED = 0.02;
const THROTTLED_SHARE_NAMED = 0.02;
/** Longer than a disk's occasional delays of some tenths of a second. */
const STANDSTILL_NS_NAMED = 0.5e9;
const GC_SHARE_NAMED = 0.05;
const GC_PAUSE_NS_NAMED = 10e6;
const DELAY_NS_NAMED = 5e6;
const CPU_SHARE_NAMED = 0.95;

/** Time between two samples of the event loop, in ns (process-monitor.ts). */
const LOOK_NS = 5e6;

/** Length of the watch, in ns. */
function lengthNs({ seconds }: GeneratorHealth): number {
  return seconds.at(-1)?.atNs ?? 0;
}

/**
 * Judges whether LoadGen was starved, so that the latencies (Offline: the rate) are not the SUT's,
 * in scenarios without a schedule to measure lateness against. Only evidence that a slow SUT cannot
 * cause counts: a slow SUT leaves LoadGen idle.
 *
 * - SingleStream, MultiStream: LoadGen had no core for a third of the time, and sometimes (p99 of
 *   the event loop's delay) for more than `shareMax` of a typical latency. The share alone is not
 *   enough: the monitor's own timers also wait for a core while a slow SUT works, and those waits
 *   are in no latency. Or the event loop's median delay was above that: completions were then read
 *   late.
 * - Offline: LoadGen had no core for a third of the time and was never idle, so it cannot have
 *   been waiting for the SUT.
 * @param typicalNs Median latency of the queries, in ns.
 * @returns Reason, needed and measured value as text; null if not starved.
 */
export function starvation(
  health: GeneratorHealth,
  scenario: Exclude<Scenario, 'Server'>,
  typicalNs: number,
  shareMax: number,
): { readonly text: string; readonly needed: string; readonly seen: string } | null {
  if (lengthNs(health) < WATCH_NS_MIN) return null;
  const waitShare = health.cpuWaitShare ?? 0;
  const isHit =
    scenario === 'Offline'
      ? health.cpuShare + waitShare >= SATURATED_SHARE
      : health.eventLoopDelay.p99Ns > shareMax * typicalNs;
  if (waitShare > WAIT_SHARE_MAX && isHit) {
    return {
      text: `LoadGen could run for only ${percent(1 - waitShare)} of the time`,
      needed: `a core for at least ${percent(1 - WAIT_SHARE_MAX)} of the time`,
      seen: percent(1 - waitShare),
    };
  }
  if (scenario === 'Offline') return null;
  const delayNs = health.eventLoopDelay.p50Ns;
  const delayNsMax = Math.max(TIMER_DELAY_NS, shareMax * typicalNs);
  if (delayNs <= delayNsMax) return null;
  return {
    text:
      `LoadGen's event loop came ${formatNs(delayNs)} late in the median, ${percent(delayNs / typicalNs)} of a typical ` +
      `latency (${formatNs(typicalNs)}), and so did its reading of completions`,
    needed: `an event loop that is ${formatNs(delayNsMax)} late or less in the median`,
    seen: formatNs(delayNs),
  };
}

/**
 * Texts of the causes that slowed LoadGen, worst first; empty if no cause stands out.
 * @param isSpinning LoadGen keeps a schedule well: it spins before due times, so a busy core is
 *   not a cause.
 */
export function causesOfLateness(health: GeneratorHealth, isSpinning = false): string[] {
  const { cpuWaitShare = null, gc, eventLoopDelay } = health;
  const causes = disturbances(health);
  if (gc.totalNs > GC_SHARE_NAMED * lengthNs(health) || gc.maxNs > GC_PAUSE_NS_NAMED) {
    const pauses = `pauses of about ${formatNs(gc.totalNs)} in all, the longest seen ${formatNs(gc.maxNs)}`;
    causes.push(`garbage collection: ${pauses}`);
  }
  // The causes above delay the event loop as well.
  if (causes.length === 0 && eventLoopDelay.p99Ns > DELAY_NS_NAMED) {
    const { p99Ns, maxNs } = eventLoopDelay;
    const where = cpuWaitShare === null ? 'something, in its process or on its core,' : IN_PROCESS;
    causes.push(
      `${where} held up the event loop: p99 ${formatNs(p99Ns)}, ${formatNs(maxNs)} at most`,
    );
  }
  if (causes.length === 0 && !isSpinning) causes.push(...fullCore(health));
  return causes;
}

/** Texts of causes outside LoadGen, on its machine; a repeated run need not meet them. */
export function disturbances(health: GeneratorHealth): string[] {
  const { cpuWaitShare = null, stealShare } = health;
  const causes: string[] = [];
  if (isThrottled(health)) {
    const { periods, throttledPeriods, totalNs } = health.throttled;
    causes.push(
      `the CPU limit of its control group stopped it in ${throttledPeriods} of ${periods} periods, ${formatNs(totalNs)} in all (cpu.stat)`,
    );
  }
  const stoodStillNs = longestStandstillNs(health);
  if (stoodStillNs > STANDSTILL_NS_NAMED) {
    causes.push(
      `its process stood still for ${formatNs(stoodStillNs)} without waiting for a core: stopped, suspended, or held by a disk`,
    );
  }
  // A thread throttled by a cgroup limit also counts as waiting.
  if (!isThrottled(health) && cpuWaitShare !== null && cpuWaitShare > waitShareNamed(health)) {
    const share = percent(cpuWaitShare);
    causes.push(`other work held its core: it was ready and waited ${share} of the time`);
  }
  if ((stealShare ?? 0) > STEAL_SHARE_NAMED) {
    causes.push(
      `the hypervisor took ${percent(stealShare ?? 0)} of the machine's CPU time (steal)`,
    );
  }
  return causes;
}

/** True if a CPU limit throttled LoadGen for a relevant share of the time. */
export function isThrottled(
  health: GeneratorHealth,
): health is GeneratorHealth & { readonly throttled: object } {
  return (health.throttled?.totalNs ?? 0) > THROTTLED_SHARE_NAMED * lengthNs(health);
}

/**
 * Longest time in which the event loop stood still although its thread neither ran nor waited for a
 * core; 0 if the kernel does not report it.
 */
function longestStandstillNs({ seconds }: GeneratorHealth): number {
  let longestNs = 0;
  seconds.forEach(({ atNs, cpuShare, cpuWaitShare, eventLoopDelayMaxNs }, i) => {
    if (cpuWaitShare === undefined || cpuWaitShare === null) return;
    const lastedNs = atNs - (seconds[i - 1]?.atNs ?? 0);
    const idleNs = lastedNs * (1 - cpuShare - cpuWaitShare);
    longestNs = Math.max(longestNs, Math.min(eventLoopDelayMaxNs, idleNs));
  });
  return longestNs;
}

const IN_PROCESS = 'something in its process';

/**
 * Threshold of the wait share: waits for a core that explain the event loop's delay are its cause,
 * however small their share.
 */
function waitShareNamed({ eventLoopDelay: { p50Ns, p99Ns } }: GeneratorHealth): number {
  if (p99Ns <= DELAY_NS_NAMED) return WAIT_SHARE_NAMED;
  // Least total delay: by p99 one look of a hundred was that late; by the median every second one.
  const byTail = (0.01 * p99Ns) / LOOK_NS;
  const asRule = p50Ns > TIMER_DELAY_NS ? (0.5 * p50Ns) / (LOOK_NS + p50Ns) : 0;
  return Math.min(WAIT_SHARE_NAMED, Math.max(byTail, asRule));
}

/** Without the issuing thread's wait share, the CPU time is that of all threads. */
function fullCore({ cpuShare, cpuWaitShare = null }: GeneratorHealth): string[] {
  if (cpuShare <= CPU_SHARE_NAMED) return [];
  if (cpuWaitShare === null) return [`its process used ${percent(cpuShare)} of a core`];
  return [
    `no other work held its core, and it used ${percent(cpuShare)} of it: perhaps more than one thread of LoadGen carries`,
  ];
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
