import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { type FileValue, resolveSettings } from '../../shared/config/resolve-settings.ts';
import { flagOf, type SettingTable } from '../../shared/config/setting.ts';
import { DEPARTURE_KEYS } from '../run/plan/departures.ts';
import { planRun, type RunPlan } from '../run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';

/** Plain options by the keys of a configuration file's section `run`, in the same form as there. */
export type PlainOptions = Readonly<Partial<Record<keyof RunValues, unknown>>>;

/**
 * Checks options as a configuration file is checked, against the keys that they may have.
 * @param where Begins the messages: `createQdl`.
 * @returns The options that were given.
 * @throws MlperfError `ERR_CONFIG_INVALID` with a line for each that is wrong.
 */
export function checkOptions(
  options: object,
  keys: readonly (keyof RunValues)[],
  where: string,
): PlainOptions {
  const table: SettingTable = Object.fromEntries(
    keys.map((key) => [key, { ...RUN_SETTINGS[key], isRequired: false }]),
  );
  const file = placed(options, where);
  resolveSettings(table, { section: undefined, file, flags: {} });
  return Object.fromEntries([...file].map(([key, { value }]) => [key, value]));
}

/** Options as the entries of a file. */
function placed(options: object, where: string): Map<string, FileValue> {
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return new Map(said.map(([key, value]) => [key, { value, place: where }]));
}

/** Does `work`; in its error, names of options replace the flags of the command line. */
export function namingOptions<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    throw new MlperfError(error.code, optionNames(error.message), { cause: error });
  }
}

const FLAGS: ReadonlyMap<string, string> = new Map(
  Object.entries(RUN_SETTINGS).map(([key, { flagKey }]) => [flagOf(flagKey ?? key), key]),
);

function optionNames(message: string): string {
  return message.replaceAll(/--[a-z]+(?:-[a-z]+)*/g, (flag) => FLAGS.get(flag) ?? flag);
}

/** Placeholder address for a SUT without nodes. */
const NO_NODE = '127.0.0.1:1';

/**
 * Plans a test as `longhaul run` plans a run with the same settings: the same defaults, the same refusals.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_BENCHMARK_UNKNOWN`, `ERR_RULE`, `ERR_NOT_INSTALLED`
 */
export function planTest(options: PlainOptions): RunPlan {
  const { sut = [NO_NODE], ...said } = { ...ownDivision(options), ...options };
  const file = placed({ ...said, sut }, 'options');
  const { values, settings } = resolveSettings(RUN_SETTINGS, { section: 'run', file, flags: {} });
  return namingOptions(() => planRun(values, { asked: settings }));
}

/** A SUT of the program's own has no network, and so no division to keep. */
function ownDivision(options: PlainOptions): PlainOptions {
  const departs = DEPARTURE_KEYS.some((key) => options[key] !== undefined);
  return options.sut === undefined && departs ? { division: 'open' } : {};
}
