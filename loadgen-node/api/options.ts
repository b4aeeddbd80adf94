import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { type FileValue, resolveSettings } from '../../shared/config/resolve-settings.ts';
import { flagOf, type SettingTable } from '../../shared/config/setting.ts';
import { DEPARTURE_KEYS } from '../run/plan/departures.ts';
import { planRun, type RunPlan } from '../run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';

/** Options with the keys and forms of a configuration file's section `run`. */
export type PlainOptions = Readonly<Partial<Record<keyof RunValues, unknown>>>;

/**
 * Checks options like a configuration file, against the allowed keys.
 * @param where Start of messages: `createQdl`.
 * @returns The explicitly set options.
 * @throws MlperfError `ERR_CONFIG_INVALID` with one line per problem.
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

/** Options in the form of file entries. */
function placed(options: object, where: string): Map<string, FileValue> {
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return new Map(said.map(([key, value]) => [key, { value, place: where }]));
}

/** Runs `work`; in its errors, option names replace command-line flags. */
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
 * Plans a test like `longhaul run` with the same settings: same defaults, same refusals.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_BENCHMARK_UNKNOWN`, `ERR_RULE`,
 * `ERR_NOT_INSTALLED`
 */
export function planTest(options: PlainOptions): RunPlan {
  const { sut = [NO_NODE], ...said } = { ...ownDivision(options), ...options };
  const file = placed({ ...said, sut }, 'options');
  const { values, settings } = resolveSettings(RUN_SETTINGS, { section: 'run', file, flags: {} });
  return namingOptions(() => planRun(values, { asked: settings }));
}

/** A program's own SUT has no network, so it is in the open division. */
function ownDivision(options: PlainOptions): PlainOptions {
  const departs = DEPARTURE_KEYS.some((key) => options[key] !== undefined);
  return options.sut === undefined && departs ? { division: 'open' } : {};
}
