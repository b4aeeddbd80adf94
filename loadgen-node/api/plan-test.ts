import { resolveSettings } from '../../shared/config/resolve-settings.ts';
import { planRun, type RunPlan } from '../run/plan/run-plan.ts';
import { runRecord } from '../run/plan/run-record.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { namingOptions, type PlainOptions, placed } from './options.ts';

/** Stands for the nodes of a SUT that has none. */
const NO_NODE = '127.0.0.1:1';

/**
 * Plans a test as `longhaul run` plans a run with the same settings: the same defaults, the same refusals.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_BENCHMARK_UNKNOWN`, `ERR_RULE`, `ERR_NOT_INSTALLED`
 */
export function planTest(options: PlainOptions): RunPlan {
  const { sut = [NO_NODE], ...said } = { ...ownDivision(options), ...options };
  const file = placed({ ...said, sut }, 'options');
  const { values, settings } = resolveSettings(RUN_SETTINGS, { section: 'run', file, flags: {} });
  const record = options.sut === undefined ? {} : { record: runRecord(settings) };
  return namingOptions(() =>
    planRun(values, { said: new Set(file.keys()), ...record, asked: settings }),
  );
}

/** A SUT of the program's own has no network, and so no division to keep. */
function ownDivision({ sut, arrivals }: PlainOptions): PlainOptions {
  return sut === undefined && arrivals !== undefined ? { division: 'open' } : {};
}
