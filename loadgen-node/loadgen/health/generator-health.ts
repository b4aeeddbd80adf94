/** How the LoadGen process fared while queries were issued: what could have made it late. */
export interface GeneratorHealth {
  /** CPU time of the thread that issues, or of the process where the thread's is not known, per elapsed time; 1 is a core. */
  readonly cpuShare: number;
  /**
   * Time in which the thread that issues could have run but had no core, per elapsed time (Linux: run-queue wait); 0.5 means that it
   * shared its core with another process. Absent or null where the system does not tell.
   */
  readonly cpuWaitShare?: number | null | undefined;
  /** How late the event loop was to its own timers, in ns; timers are up to 1.2 ms late on an idle machine. */
  readonly eventLoopDelay: {
    readonly p50Ns: number;
    readonly p99Ns: number;
    readonly maxNs: number;
  };
  /** Pauses of garbage collection. Looked at in the first 0.2 s of each second: count and sum are estimates for all of the time. */
  readonly gc: { readonly count: number; readonly totalNs: number; readonly maxNs: number };
  /** Share of the machine's CPU time that the hypervisor took; null where /proc/stat does not tell. */
  readonly stealShare: number | null;
  /** Time in which queries waited although credit was there, since a socket took no more, and the reverse; null without a QDL. */
  readonly backPressure: { readonly socketNs: number; readonly creditNs: number } | null;
  /** Once a second; the last one ends with the set. */
  readonly seconds: readonly HealthSecond[];
}

/** One second of {@link GeneratorHealth}, or the rest of the last one. */
export interface HealthSecond {
  /** End of it, in ns since the monitor began. */
  readonly atNs: number;
  readonly cpuShare: number;
  readonly cpuWaitShare?: number | null | undefined;
  readonly eventLoopDelayMaxNs: number;
  /** An estimate, as `gc`. */
  readonly gcNs: number;
}

/** Looks on while a set is issued. Untimed at both ends, and cheap between them. */
export interface GeneratorMonitor {
  /** The first query is about to be issued. */
  begin(): void;
  /** The set is over. Called once after each {@link begin}. */
  end(): GeneratorHealth;
}

/** What this machine's LoadGen carries at most with a null SUT; measured once by `longhaul doctor`. */
export interface GeneratorCeiling {
  /** ISO 8601. */
  readonly measuredAt: string;
  /** Version of longhaul, Node, kernel and processor: another one makes the figure void. */
  readonly measuredOn: string;
  /** Queries per second of the engine alone, with a SUT in process that answers at once. */
  readonly inProcessQps: number;
  /** Queries per second over loopback to a null SUT node, 16 B payloads. */
  readonly loopbackQps: number;
  /** Other processes took the CPUs while it was measured, so that it is too low. Absent: they did not. */
  readonly isDisturbed?: boolean | undefined;
}
