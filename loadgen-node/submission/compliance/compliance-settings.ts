import {
  choice,
  count,
  percentile,
  type SettingTable,
  type SettingValues,
  share,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import type { RunSources } from '../../run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import { TOKEN_TYPES } from '../../samples/data-set/token-numbers.ts';
import { RESPONSE_TYPES } from './responses/compare-responses.ts';
import { END_TOKEN_DEFAULT } from './verify/verify-test06.ts';

/** Settings of `longhaul compliance TESTnn` besides those of `longhaul run`. */
export const COMPLIANCE_SETTINGS = {
  run: text('folder', "the submission's performance run", { required: true }),
  accuracyRun: text(
    'folder',
    "TEST01: the submission's accuracy run (default: --run, if it has both)",
  ),
  testRun: text('folder', 'verify this run of the test instead of making one'),
  output: text('folder', 'folder for the results (default: RUN/compliance)'),
  rehearse: toggle(
    'try the way, also with a performance run that is INVALID: marked, and of no use in a submission',
  ),
  lowerQps: percentile('lower the target rate of the test by so many percent'),
  model: text('name', 'model of the round, where the benchmark has several: dlrm-v2-99.9'),
  responseType: choice(
    RESPONSE_TYPES,
    "TEST01: how the official script reads a response (default: the benchmark's)",
  ),
  tokenType: choice(
    TOKEN_TYPES,
    "TEST06: type of a token (default: int32 where the benchmark's nodes send it, else the official script's of the round)",
  ),
  endToken: count(
    { min: 0, max: 2 ** 31 - 1 },
    `TEST06: token that ends a text (default: the benchmark's; mostly ${END_TOKEN_DEFAULT})`,
  ),
};

/** Effective values of {@link COMPLIANCE_SETTINGS}. */
export type ComplianceValues = SettingValues<typeof COMPLIANCE_SETTINGS>;

/** Settings of `longhaul compliance custom-data-set` besides those of `longhaul run`. */
export const CUSTOM_DATA_SET_SETTINGS = {
  run: text('folder', "the submission's performance run", { required: true }),
  accuracyRun: text('folder', "the submission's accuracy run (default: --run, if it has both)"),
  accuracyDropMax: share('percentage points by which the custom data set is harder by itself', {
    fallback: 0,
  }),
  testRun: text(
    'folder',
    'compare this performance run over the custom data set instead of making one',
  ),
  testAccuracyRun: text('folder', 'its accuracy run (default: --test-run, if it has both)'),
  output: text('folder', 'folder for the results (default: RUN/compliance)'),
};

/** Effective values of {@link CUSTOM_DATA_SET_SETTINGS}; without a test run the two runs are made. */
export type CustomDataSetValues = SettingValues<typeof CUSTOM_DATA_SET_SETTINGS>;

/** Settings of a run that a test decides itself. */
export const DECIDED_BY_TEST = [
  'mode',
  'runs',
  'output',
  'auditConf',
  'prefixWithDatetime',
  'thresholds',
] as const;

/** Settings of a run that win over those of the submission run; the server's model is that of its record. */
export const RUN_FLAGS: SettingTable = Object.fromEntries(
  Object.entries(RUN_SETTINGS).filter(
    ([key]) => key !== 'model' && !(DECIDED_BY_TEST as readonly string[]).includes(key),
  ),
);

/** Of what a command was given, the flags of the run that it makes. */
export function flagsOfRun(flags: RunSources['flags']): RunSources['flags'] {
  return Object.fromEntries(Object.entries(flags).filter(([key]) => Object.hasOwn(RUN_FLAGS, key)));
}
