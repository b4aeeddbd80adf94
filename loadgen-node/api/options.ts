import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { resolveSettings } from '../../shared/config/resolve-settings.ts';
import { flagOf, type SettingTable } from '../../shared/config/setting.ts';
import { RUN_SETTINGS, type RunValues } from '../run/plan/run-settings.ts';

/** Plain options by the keys of a configuration file's section `run`, in the same form as there. */
export type PlainOptions = Readonly<Partial<Record<keyof RunValues, unknown>>>;

/**
 * Checks options as a configuration file is checked, against the keys that they may have.
 * @param where Begins the messages: `createQdl`.
 * @returns Those that were said.
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
  resolveSettings(table, { section: undefined, file: placed(options, where), flags: {} });
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

/** Options as the entries of a file. */
export function placed(
  options: object,
  where: string,
): Map<string, { readonly value: unknown; readonly place: string }> {
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return new Map(said.map(([key, value]) => [key, { value, place: where }]));
}

/** What `work` answers; an error that names flags of the command line names options instead. */
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
