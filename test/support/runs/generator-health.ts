import type {
  GeneratorHealth,
  GeneratorMonitor,
} from '../../../loadgen-node/loadgen/health/generator-health.ts';

/** A LoadGen process that had a core for itself and little to do, for 10 s; with what differs. */
export function generatorHealth(other: Partial<GeneratorHealth> = {}): GeneratorHealth {
  return {
    cpuShare: 0.3,
    cpuWaitShare: 0.001,
    eventLoopDelay: { p50Ns: 0.6e6, p99Ns: 1.2e6, maxNs: 3e6 },
    gc: { count: 12, totalNs: 10e6, maxNs: 2e6 },
    stealShare: 0,
    backPressure: { socketNs: 0, creditNs: 0 },
    seconds: [
      { atNs: 10e9, cpuShare: 0.3, cpuWaitShare: 0.001, eventLoopDelayMaxNs: 3e6, gcNs: 10e6 },
    ],
    ...other,
  };
}

/** A monitor that tells this of every set. */
export function monitorThatTells(health: GeneratorHealth): GeneratorMonitor {
  return () => () => health;
}
