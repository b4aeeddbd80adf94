import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import type { ProbeSpec } from './probe.ts';

/** Settings of a run at a load. @param load Queries per second; in MultiStream streams. */
export function atLoad(settings: TestSettings, load: number): TestSettings {
  return settings.scenario === 'MultiStream'
    ? { ...settings, multiStreamSamplesPerQuery: load }
    : { ...settings, serverTargetQps: load };
}

/**
 * As many queries as the probe may have, on seeds of its own: what a probe tells is then independent of all others.
 * The set of samples stays that of the round's seeds.
 */
export function shortSettings(base: TestSettings, spec: ProbeSpec): TestSettings {
  const { kind, load, number } = spec;
  const { queriesMax = Number.POSITIVE_INFINITY, durationNsMax = Number.POSITIVE_INFINITY } = spec;
  const shift = BigInt(number) + 1n;
  const seeded = {
    ...base,
    mode: 'PerformanceOnly' as const,
    scheduleRngSeed: base.scheduleRngSeed + shift,
    sampleIndexRngSeed: base.sampleIndexRngSeed + shift,
    minDurationMs: 0,
    maxDurationMs: 0,
    maxQueryCount: 0,
  };
  const atMost = (ratePerSecond: number): number =>
    Math.max(1, Math.ceil(Math.min(queriesMax, (durationNsMax / 1e9) * ratePerSecond)));
  if (kind === 'unloaded') {
    const maxDurationMs = Number.isFinite(durationNsMax) ? Math.ceil(durationNsMax / 1e6) : 0;
    return { ...seeded, scenario: 'SingleStream', minQueryCount: queriesMax, maxDurationMs };
  }
  const interval = base.multiStreamExpectedLatencyNs;
  const rate = base.scenario === 'MultiStream' ? 1e9 / interval : load;
  return { ...atLoad(seeded, load), minQueryCount: atMost(rate) };
}

/** Bound above which a query counts as late: in fixed intervals the next query is then delayed. */
export function boundOf({ scenario, ...settings }: TestSettings): number {
  return scenario === 'MultiStream'
    ? Math.trunc(settings.multiStreamExpectedLatencyNs)
    : settings.serverTargetLatencyNs;
}
