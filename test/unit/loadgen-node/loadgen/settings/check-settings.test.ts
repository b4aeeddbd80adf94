import { describe, expect, it } from 'vitest';
import {
  checkSettings,
  checkSettingValues,
} from '../../../../../loadgen-node/loadgen/settings/check-settings.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { V41_SETTINGS } from '../../../../scenes/simulated-run/simulated-run.ts';

const LIBRARY = { totalSampleCount: 10, performanceSampleCount: 10 };

function settingsOf(settings: Partial<TestSettings>): TestSettings {
  return { ...V41_SETTINGS, ...settings };
}

// Goal: what LoadGen accepts is accepted, what it runs into is refused. Method: one setting at a
// time.
describe('checkSettings', () => {
  it.each<Partial<TestSettings>>([
    { scenario: 'Server', serverMaxAsyncQueries: 2 ** 64 },
    { scenario: 'Offline', maxQueryCount: 2 ** 64 },
    { scenario: 'SingleStream', serverTargetLatencyPercentile: 99 },
    { scenario: 'Server', multiStreamTargetLatencyPercentile: 0, multiStreamSamplesPerQuery: 0 },
    { scenario: 'MultiStream', serverTargetQps: Number.POSITIVE_INFINITY },
  ])('accepts %j', (settings) => {
    expect(() => checkSettings(settingsOf(settings), LIBRARY)).not.toThrow();
  });

  it.each<[RegExp, Partial<TestSettings>]>([
    [
      /singleStreamTargetLatencyPercentile must be above 0 and below 1, not 1/,
      { scenario: 'SingleStream', singleStreamTargetLatencyPercentile: 1 },
    ],
    [/serverTargetQps must be a number/, { scenario: 'Server', serverTargetQps: Number.NaN }],
    [/maxQueryCount must be a whole number/, { maxQueryCount: 1.5 }],
  ])('refuses what the scenario cannot run with: %s', (message, settings) => {
    expect(() => checkSettingValues(settingsOf(settings), LIBRARY)).toThrow(message);
  });

  it('refuses a time that LoadGen takes for a negative one, in a run only', () => {
    const settings = settingsOf({ maxDurationMs: 2 ** 64 });
    expect(() => checkSettingValues(settings, LIBRARY)).not.toThrow();
    expect(() => checkSettings(settings, LIBRARY)).toThrow(
      /maxDurationMs is 18446744073709551615: .* negative one; 0 is no limit/,
    );
  });
});
