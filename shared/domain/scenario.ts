/** MLPerf's four scenarios, spelled as in LoadGen's logs and configuration files. */
export const SCENARIOS = ['SingleStream', 'MultiStream', 'Server', 'Offline'] as const;

/** One of MLPerf's four scenarios. */
export type Scenario = (typeof SCENARIOS)[number];

/** LoadGen's test modes, spelled as in its logs; configuration files have the index. */
export const TEST_MODES = [
  'SubmissionRun',
  'AccuracyOnly',
  'PerformanceOnly',
  'FindPeakPerformance',
] as const;

export type TestMode = (typeof TEST_MODES)[number];

/**
 * True for the scenarios of the datacenter suite, the only ones in the Network division. Rule:
 * inference_rules v4.1, "The Network division supports only the Datacenter suite".
 */
export function isNetworkDivisionScenario(scenario: Scenario): boolean {
  return scenario === 'Server' || scenario === 'Offline';
}
