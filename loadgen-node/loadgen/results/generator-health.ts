import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/deep-readonly.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';

const ns = z.number().describe('ns');

/** How the LoadGen process fared while queries were issued: what could have made it late. */
export const GENERATOR_HEALTH = z.strictObject({
  // CPU time of the thread that issues, or of the process where the thread's is not known, per elapsed time; 1 is a core.
  cpuShare: z.number(),
  // Linux: run-queue wait of the thread that issues; 0.5 means that it shared its core with another process.
  cpuWaitShare: z.number().nullish().describe('share of the time without a core; null: not known'),
  // How late the event loop was to its own timers; timers are up to 1.2 ms late on an idle machine.
  eventLoopDelay: z.strictObject({ p50Ns: ns, p99Ns: ns, maxNs: ns }),
  // Pauses of garbage collection, seen in the first 0.2 s of each second: count and sum are estimates for all of the time.
  gc: z.strictObject({ count: z.number(), totalNs: ns, maxNs: ns }),
  // Share of the machine's CPU time that the hypervisor took; null where /proc/stat does not have it.
  stealShare: z.number().nullable(),
  // Linux: how often, and for how long in all, a limit of the control group stopped the process's threads; null: there is no limit.
  throttled: z
    .strictObject({ periods: z.number(), throttledPeriods: z.number(), totalNs: ns })
    .nullish()
    .describe('nr_periods, nr_throttled and throttled time of cpu.stat'),
  // Time in which queries waited for a socket although credit was there, and the reverse; null without a QDL.
  backPressure: z.strictObject({ socketNs: ns, creditNs: ns }).nullable(),
  // Once a second; the last one ends with the set.
  seconds: z.array(
    z.strictObject({
      // End of the second, since the monitor began.
      atNs: ns,
      cpuShare: z.number(),
      cpuWaitShare: z.number().nullish(),
      eventLoopDelayMaxNs: ns,
      // An estimate, as `gc`.
      gcNs: ns,
      // Of the whole process: its QDL, its logs, and a live page are other threads.
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

/** One second of {@link GeneratorHealth}, or the rest of the last one. */
export type HealthSecond = GeneratorHealth['seconds'][number];

/**
 * Begins to watch a set right before its first query, untimed. Returns what ends the watch, untimed, with what it saw.
 */
export type GeneratorMonitor = () => () => GeneratorHealth;

/** Largest load of this machine's LoadGen with a null SUT; measured once by `longhaul doctor`. */
export const GENERATOR_CEILING = z.strictObject({
  // ISO 8601.
  measuredAt: z.string(),
  // Version of longhaul, Node, kernel and processor: another one makes the figure void.
  measuredOn: z.string(),
  // Queries per second of the engine alone, with a SUT in process that answers at once.
  inProcessQps: z.number(),
  // Queries per second over loopback to a null SUT node, 16 B payloads.
  loopbackQps: z.number(),
  isDisturbed: z
    .boolean()
    .optional()
    .describe('true: other processes took the CPUs while it was measured'),
});

export type GeneratorCeiling = Readonly<z.infer<typeof GENERATOR_CEILING>>;

/** Share of the time without a core above which a LoadGen without a schedule was starved: two that share a core get a half each. */
const WAIT_SHARE_MAX = 1 / 3;
/** A thread that ran, or waited for a core, for more than this share never had to wait for the SUT. */
const SATURATED_SHARE = 0.9;
/** A shorter watch has too few looks to tell of. */
const WATCH_NS_MIN = 3e9;
/** Delay of a timer that an idle event loop has as well: timers count in ms. */
const TIMER_DELAY_NS = 2e6;

/** From these on, a cause is named. */
const WAIT_SHARE_NAMED = 0.1;
const STEAL_SHARE_NAMED = 0.02;
const THROTTLED_SHARE_NAMED = 0.02;
/** A disk takes some tenths of a second now and then. */
const STANDSTILL_NS_NAMED = 0.5e9;
const GC_SHARE_NAMED = 0.05;
const GC_PAUSE_NS_NAMED = 10e6;
const DELAY_NS_NAMED = 5e6;
const CPU_SHARE_NAMED = 0.95;

/** Time between two looks at the event loop, in ns (process-monitor.ts). */
const LOOK_NS = 5e6;

/** Length of the watch, in ns. */
function lengthNs({ seconds }: GeneratorHealth): number {
  return seconds.at(-1)?.atNs ?? 0;
}

/**
 * Whether LoadGen was kept from its work so that the latencies (Offline: the rate) are not the SUT's, in a scenario without a
 * schedule that lateness could be measured against. Only what cannot come from the SUT counts: a slow one leaves LoadGen idle.
 *
 * - SingleStream, MultiStream: it had no core for a third of the time, and now and then (p99 of the event loop's delay) for more than
 *   `shareMax` of a typical latency: the monitor's own timers wait for a core too, while a slow SUT works, and those waits are in no
 *   latency. Or the event loop was late, as a rule, by more than that: completions were then read as late.
 * - Offline: it had no core for a third of the time and was never idle, so that the SUT cannot have been what it waited for.
 * @param typicalNs Median latency of the queries, in ns.
 * @returns The reason in words, what was needed and what was seen; null if it was not starved.
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
      text: `LoadGen could run for ${percent(1 - waitShare)} of the time only`,
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
 * Causes that slowed LoadGen, in words, worst first; empty where no cause stands out.
 * @param isSpinning LoadGen keeps a schedule, and keeps it well: it spins before a due time, so a full core is no cause.
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

/** Causes outside LoadGen, on its machine, in words; another run of the same need not meet them. */
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
  // A thread that its limit stops counts as one that waits.
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

/** True where a CPU limit stopped LoadGen for a share of the time that matters. */
export function isThrottled(
  health: GeneratorHealth,
): health is GeneratorHealth & { readonly throttled: object } {
  return (health.throttled?.totalNs ?? 0) > THROTTLED_SHARE_NAMED * lengthNs(health);
}

/** Longest time in which the event loop did not come on though its thread neither ran nor waited for a core; 0 where the kernel does not tell. */
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

/** Waits for a core that make an event loop as late as it was are its cause, however small their share is. */
function waitShareNamed({ eventLoopDelay: { p50Ns, p99Ns } }: GeneratorHealth): number {
  if (p99Ns <= DELAY_NS_NAMED) return WAIT_SHARE_NAMED;
  // The least that it was late: one look of a hundred by p99, and of a loop that is late as a rule each second one by the median.
  const byTail = (0.01 * p99Ns) / LOOK_NS;
  const asRule = p50Ns > TIMER_DELAY_NS ? (0.5 * p50Ns) / (LOOK_NS + p50Ns) : 0;
  return Math.min(WAIT_SHARE_NAMED, Math.max(byTail, asRule));
}

/** Where it is not known who waited, the CPU time is that of all threads. */
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
