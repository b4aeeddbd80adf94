import { Command, CommanderError, Option } from 'commander';
import { configInvalid, type MlperfError } from '../base/errors/mlperf-error.ts';
import {
  type ResolvedSettings,
  readConfigFile,
  resolveSettings,
  type SettingSources,
} from './resolve-settings.ts';
import { flagOf, type SettingTable } from './setting.ts';

/** Verbs that have a section in the configuration file. */
export const CONFIG_SECTIONS = ['run', 'sut'] as const;

/** A command whose errors are thrown, not printed with process.exit. */
export function createCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(false)
    .showSuggestionAfterError(true);
}

/** Adds a flag for every setting of a verb that has a section in the configuration file, and `--config`. */
export function addSettings(command: Command, table: SettingTable): Command {
  return addFlags(command, table).addOption(
    new Option('--config <file>', 'configuration file (YAML); flags win over it'),
  );
}

/**
 * As {@link addSettings}, with those that the verb is about first and under a heading of their own: a help of eighty flags is read
 * from the top.
 * @param keys What comes first, in this order; keys that the table does not have are left out.
 * @param heading What stands over the others.
 */
export function addSettingsInGroups(
  command: Command,
  table: SettingTable,
  { keys, heading }: { readonly keys: readonly string[]; readonly heading: string },
): Command {
  const first = keys.flatMap((key) => {
    const setting = table[key];
    return setting === undefined ? [] : [[key, setting] as const];
  });
  const others = Object.entries(table).filter(([key]) => !keys.includes(key));
  addSettings(command, Object.fromEntries(first));
  return addFlags(command, Object.fromEntries(others), heading);
}

/**
 * Adds a flag for every setting of a verb.
 * @param heading What stands over them in the help; "Options" without one.
 */
export function addFlags(command: Command, table: SettingTable, heading?: string): Command {
  for (const [key, setting] of Object.entries(table)) {
    const { help, placeholder, fallback } = setting;
    const fallbackText = Array.isArray(fallback) ? fallback.join(',') : fallback;
    const text = fallback === undefined ? help : `${help} (default: ${String(fallbackText)})`;
    // The default is not given to commander: a flag that was not said must not look as if it was.
    const name = flagOf(setting.flagKey ?? key);
    const flag = placeholder === '' ? name : `${name} <${placeholder}>`;
    const option = new Option(flag, placeholder === '' ? help : text);
    // What was said is looked up by the setting's key, whatever its flag is called.
    option.attributeName = () => key;
    if (setting.isList === true) option.argParser(addToList);
    if (heading !== undefined) option.helpGroup(heading);
    command.addOption(option);
  }
  return command;
}

/** `--sut A --sut B` means both, as `--sut A,B` does; commander would take the last one. */
function addToList(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`;
}

/**
 * Settings of a verb's parsed command, by their sources.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` (unknown section)
 */
export function sourcesOf(command: Command, section: string | undefined): SettingSources {
  const flags = command.opts<Record<string, string | undefined>>();
  const path = flags['config'];
  const isRead = path !== undefined && section !== undefined;
  const file = isRead ? readConfigFile(path, CONFIG_SECTIONS).get(section) : undefined;
  return { section, file, flags };
}

/**
 * Effective settings of a verb from its parsed command.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_CONFIG_FILE`
 */
export function settingsOf<T extends SettingTable>(
  command: Command,
  section: string | undefined,
  table: T,
): ResolvedSettings<T> {
  return resolveSettings(table, sourcesOf(command, section));
}

/**
 * Turns what commander throws into an exit code (help and version were printed: 0) or our error.
 * @returns undefined when the error is not commander's.
 */
export function commanderOutcome(error: unknown): MlperfError | 'done' | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  if (error.exitCode === 0) return 'done';
  if (error.code === 'commander.help') {
    const message = 'a verb is missing: choose one of those that are listed';
    return configInvalid(message, error);
  }
  const message = error.message
    .replace(/^error: /, '')
    .split('\n')
    .join(' ');
  return configInvalid(`${message} (see --help)`, error);
}

/** Result of a verb: for people, and for programs. */
export interface VerbResult {
  /** Whole lines. */
  readonly text: string;
  /** A value that JSON can hold; times are ns, shares 0 to 1, absent values null. */
  readonly json: object;
}

/** Adds `--json` to a verb that ends with {@link writeResult}. */
export function addJson(command: Command): Command {
  return command.option('--json', 'print the result as one JSON document, for programs');
}

/** True when `--json` was said; a verb above that has the flag as well takes it from the verb below it. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean | string }>().json === true;
}

/** Where a verb that has not come to its end says something: stdout, or with `--json` stderr, as stdout then is the result's. */
export function progressStream(command: Command): NodeJS.WriteStream {
  return wantsJson(command) ? process.stderr : process.stdout;
}

/** Prints a verb's result on stdout: the text, or with `--json` one JSON document and nothing else. */
export function writeResult(command: Command, { text, json }: VerbResult): void {
  process.stdout.write(wantsJson(command) ? `${JSON.stringify(json, null, 2)}\n` : text);
}
