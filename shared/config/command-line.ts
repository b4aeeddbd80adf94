import { Command, CommanderError, Option } from 'commander';
import { configInvalid, type MlperfError } from '../base/errors/mlperf-error.ts';
import { printText, type StyledText } from '../base/process/terminal.ts';
import { firstOf, jsonText } from '../base/text.ts';
import { FLAG_ALIASES, FLAG_TOPICS, flagHint } from './flag-names.ts';
import { formatHelp } from './help.ts';
import {
  type ResolvedSettings,
  readConfigFile,
  resolveSettings,
  type SettingSources,
} from './resolve-settings.ts';
import { flagOf, type Setting, type SettingTable } from './setting.ts';

/** Verbs that have a section in the configuration file. */
export const CONFIG_SECTIONS = ['run', 'sut'] as const;

/** A command that throws its errors, instead of printing them with process.exit. */
export function createCommand(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(false)
    .enablePositionalOptions()
    .showSuggestionAfterError(true);
  return formatHelp(command);
}

/**
 * Adds a flag for every setting of a verb that has a section in the configuration file, and
 * `--config`.
 */
export function addSettings(command: Command, table: SettingTable): Command {
  return addFlags(command, table).addOption(
    new Option('--config <file>', 'configuration file (YAML); flags win over it'),
  );
}

/** Position of a table's flags in the help. */
export interface FlagGroups {
  /** Settings of the short help, in this order; keys outside the table are ignored. */
  readonly keys: readonly string[];
  /** Heading of the flags without a topic. */
  readonly heading?: string;
  /** Settings that the verb accepts, or refuses with a reason, and that no help shows. */
  readonly hidden?: readonly string[];
}

/** {@link addSettings} with a short help: see {@link addFlagsInGroups}. */
export function addSettingsInGroups(
  command: Command,
  table: SettingTable,
  groups: FlagGroups,
): Command {
  addFlagsInGroups(command, table, groups);
  return addSettings(command, {});
}

/**
 * Adds a flag for every setting: those of the short help first, then those of `--help-all` below
 * their topics.
 */
export function addFlagsInGroups(
  command: Command,
  table: SettingTable,
  { keys, heading = 'Other flags:', hidden = [] }: FlagGroups,
): Command {
  const left = new Map(Object.entries(table));
  const take = (wanted: readonly string[], title?: string, isHidden = false): void => {
    for (const key of wanted) {
      const setting = left.get(key);
      if (setting === undefined) continue;
      left.delete(key);
      addFlag(command, key, setting, { heading: title, isHidden });
    }
  };
  take(keys);
  take(hidden, undefined, true);
  for (const [topic, names] of Object.entries(FLAG_TOPICS)) take(names, topic);
  take([...left.keys()], heading);
  return addAliases(command, table);
}

/** Adds a flag for every setting of a verb. */
export function addFlags(command: Command, table: SettingTable): Command {
  for (const [key, setting] of Object.entries(table)) addFlag(command, key, setting, {});
  return addAliases(command, table);
}

function addFlag(
  command: Command,
  key: string,
  setting: Setting<unknown>,
  { heading, isHidden = false }: { readonly heading?: string | undefined; isHidden?: boolean },
): void {
  const { help, placeholder, fallback, words } = setting;
  const fallbackText = Array.isArray(fallback) ? fallback.join(',') : fallback;
  const text = fallback === undefined ? help : `${help} (default: ${String(fallbackText)})`;
  const option = settingOption(command, key, setting, flagOf(setting.flagKey ?? key));
  option.description = placeholder === '' ? help : text;
  // For shell completion. The values are checked with all others, not by commander.
  if (words !== undefined) option.argChoices = [...words];
  if (heading !== undefined) option.helpGroup(heading);
  option.hideHelp(isHidden);
  if (setting.isDeniable === true) command.addOption(denialOf(option.long as string, key));
}

/**
 * Makes the option of a setting. commander does not get the default: an absent flag must stay
 * absent.
 */
function settingOption(
  command: Command,
  key: string,
  { placeholder, isList }: Setting<unknown>,
  name: string,
): Option {
  const option = new Option(placeholder === '' ? name : `${name} <${placeholder}>`);
  // Values are looked up by the setting's key, whatever the flag's name.
  option.attributeName = () => key;
  if (isList === true) option.argParser(addToList);
  command.addOption(option);
  return option;
}

/** Other names of the flags, unless the verb has a flag of that name itself. */
function addAliases(command: Command, table: SettingTable): Command {
  const isFree = (name: string): boolean =>
    !command.options.some(({ long, short }) => long === name || short === name);
  for (const [key, setting] of Object.entries(table)) {
    for (const name of FLAG_ALIASES[key] ?? []) {
      if (isFree(name)) settingOption(command, key, setting, name).hideHelp();
    }
  }
  return command;
}

/** `--no-name`. */
function denialOf(name: string, key: string): Option {
  const denial = new Option(name.replace(/^--/, '--no-')).hideHelp();
  denial.attributeName = () => key;
  return denial;
}

/** `--sut A --sut B` means both, like `--sut A,B`; commander would keep only the last. */
export function addToList(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`;
}

/**
 * Settings in a verb's parsed command, by source.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` (unknown section)
 */
export function sourcesOf(command: Command, section: string | undefined): SettingSources {
  const flags = command.opts<Record<string, string | undefined>>();
  const path = flags['config'];
  const isRead = path !== undefined && section !== undefined;
  const file = isRead ? readConfigFile(path, CONFIG_SECTIONS).get(section) : undefined;
  return { section, file, flags, asked: askedOf(command) };
}

/** Prefix of the sources of values reported by a SUT node. */
const ASKED_OF = 'asked of SUT node ';

/** Sets a value that a SUT node reported, as if its flag had been set. */
export function setAskedValue(command: Command, key: string, value: string, node: string): void {
  command.setOptionValueWithSource(key, value, `${ASKED_OF}${node}`);
}

function askedOf(command: Command): Record<string, string> {
  const sources = Object.keys(command.opts()).map(
    (key) => [key, command.getOptionValueSource(key) ?? ''] as const,
  );
  return Object.fromEntries(sources.filter(([, source]) => source.startsWith(ASKED_OF)));
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

/** The unknown flag in commander's error; undefined for other errors. */
export function unknownFlagOf(error: unknown): string | undefined {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownOption') return;
  return /unknown option '([^'=]*)/.exec(error.message)?.[1];
}

/**
 * Converts commander's errors into an exit code (0 after help and version) or our error.
 * @param owners Returns the verbs that have the unknown flag. Default: none.
 * @returns undefined for other errors.
 */
export function commanderOutcome(
  error: unknown,
  owners: readonly string[] = [],
): MlperfError | 'done' | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  if (error.exitCode === 0) return 'done';
  if (error.code === 'commander.help') {
    const message = 'a verb is missing: choose one of the listed verbs';
    return configInvalid(message, error);
  }
  const [what = '', suggestion = ''] = error.message.replace(/^error: /, '').split('\n');
  const flag = unknownFlagOf(error);
  const hint = flag === undefined ? undefined : (flagHint(flag) ?? ownersHint(owners));
  if (hint !== undefined) return configInvalid(`${what}: ${hint}`, error);
  return configInvalid(`${`${what} ${suggestion}`.trim()} (see --help)`, error);
}

/** Most verbs that a message names. */
const NAMED_OWNERS = 4;

function ownersHint(owners: readonly string[]): string | undefined {
  if (owners.length === 0) return undefined;
  const names = owners.map((name) => `"longhaul ${name}"`);
  return `it is a flag of ${firstOf(names, NAMED_OWNERS)} (see --help)`;
}

/** Result of a verb, for people and for programs. */
export interface VerbResult {
  /** Complete lines. */
  readonly text: string;
  /** JSON value; times in ns, shares 0 to 1, absent values null. */
  readonly json: object;
}

/** Adds `--json` to a verb that ends with {@link writeResult}. */
export function addJson(command: Command): Command {
  return command.option('--json', 'print the result as one JSON document, for programs');
}

/** Adds `--verbose` to a verb that shows the result of a run. */
export function addVerbose(command: Command): Command {
  return command.option('--verbose', 'print all that is known of the run, not the summary alone');
}

/** True with `--verbose`. */
export function wantsVerbose(command: Command): boolean {
  return command.opts<{ verbose?: boolean }>().verbose === true;
}

/** True with `--json`, also if it was parsed by a verb above. */
export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean | string }>().json === true;
}

/**
 * Stream for progress of a verb: stdout, or stderr with `--json`, since stdout is then the
 * result's.
 */
export function progressStream(command: Command): NodeJS.WriteStream {
  return wantsJson(command) ? process.stderr : process.stdout;
}

/** Prints to {@link progressStream}. */
export function progressPrinter(command: Command): (text: string | StyledText) => void {
  return (text) => printText(progressStream(command), text);
}

/** Prints a verb's result on stdout: the text, or with `--json` one JSON document only. */
export function writeResult(
  command: Command,
  { text, json }: { readonly text: string | StyledText; readonly json: object },
): void {
  printText(process.stdout, wantsJson(command) ? `${jsonText(json, 2)}\n` : text);
}
