import {
  choice,
  count,
  duration,
  percentile,
  positiveDuration,
  type Setting,
  type SettingValues,
  toggle,
} from '../../../shared/config/setting.ts';
import { SCENARIOS, type Scenario } from '../../../shared/domain/scenario.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';

/** Settings of `longhaul find-peak`: those of a run, and those of the search. */
export const FIND_PEAK_SETTINGS = {
  ...RUN_SETTINGS,
  scenario: anyCase(
    choice(SCENARIOS, 'Server: queries per second are searched; MultiStream of v0.5: streams', {
      fallback: 'Server',
    }),
  ),
  latency: positiveDuration("latency bound, as --target-latency (default: the benchmark's)"),
  percentile: percentile(
    "percentile at which it holds, as --target-latency-percentile (default: 99, or the benchmark's)",
  ),
  precision: percentile('half width of the interval that screenings go for, in percent', {
    fallback: 2,
  }),
  confidence: percentile('how sure the interval is, in percent', { fallback: 95 }),
  searchTime: duration(
    'time of all screenings together, 200 latency bounds at least (default: that of the shortest full run, but 2m at least)',
  ),
  confirmLoads: count({ min: 1, max: 50 }, 'loads at which full runs are made at most', {
    fallback: 8,
  }),
  keepProbes: toggle('screenings keep their logs, in probe-N'),
  resume: toggle('go on with the search in --output that was broken off'),
};

/** What a search is about: it stands first in the help of the verbs that search. */
export const SEARCH_KEYS: readonly string[] = [
  'sut',
  'benchmark',
  'scenario',
  'latency',
  'percentile',
  'output',
  'force',
  'resume',
  'round',
  'minDuration',
  'searchTime',
  'precision',
  'confidence',
  'confirmLoads',
  'keepProbes',
];

/** What stands over the other flags there. */
export const RUN_HEADING = 'Options of each run, as in "longhaul run":';

/** Effective values of {@link FIND_PEAK_SETTINGS}. */
export type FindPeakValues = SettingValues<typeof FIND_PEAK_SETTINGS>;

/** `server` and `multi-stream` are as good as `Server` and `MultiStream`. */
function anyCase(setting: Setting<Scenario>): Setting<Scenario> {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_ ]/g, '');
  return {
    ...setting,
    fromFlag: (text) => SCENARIOS.find((name) => plain(name) === plain(text)) ?? text,
  };
}
