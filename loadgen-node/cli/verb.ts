import type { Command } from 'commander';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT, exitCodeOf, reportError } from '../../shared/base/process/exit-codes.ts';
import { leaveStartSignals } from '../../shared/base/process/start-signals.ts';
import type { StyledText } from '../../shared/base/process/terminal.ts';
import {
  addFlags,
  addFlagsInGroups,
  addJson,
  addSettingsInGroups,
  addToList,
  createCommand,
  type FlagGroups,
  settingsOf,
  type VerbResult,
  writeResult,
} from '../../shared/config/command-line.ts';
import { showsAllFlags } from '../../shared/config/help.ts';
import type { ResolvedSettings } from '../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../shared/config/setting.ts';

/** Receives the exit code of a completed verb. */
export type SetExitCode = (code: number) => void;

/** Makes the command of a verb or a subverb. */
export type MakeCommand = (name: string, about: string, setExitCode: SetExitCode) => Command;

/** Result of a verb, unless it has already written it, and its exit code (default: 0). */
type VerbEnd = Partial<Pick<VerbResult, 'json'>> & {
  readonly text?: string | StyledText;
  readonly exitCode?: number;
  /** False: exit code 3. */
  readonly isGood?: boolean;
  /**
   * Printed on stderr after the result; without an explicit exit code, the first one's code is
   * used.
   */
  readonly problems?: readonly MlperfError[];
};

/** First argument of an action, before the verb's own arguments. */
interface VerbCall<T extends SettingTable> extends ResolvedSettings<T> {
  readonly command: Command;
}

type Action<T extends SettingTable> = (
  call: VerbCall<T>,
  ...args: never[] // Any types: commander passes them according to `takes`.
) => VerbEnd | Promise<VerbEnd>;

interface VerbRow<T extends SettingTable> {
  /** Arguments by their form (`<folder>`), with the help of each. */
  readonly takes?: Readonly<Record<string, string>>;
  /** Settings without a section in the configuration file. */
  readonly settings?: T;
  /** Settings that the short help shows (default: all). */
  readonly groups?: FlagGroups;
  /** Like `settings`, with `--config` and the section `run`. */
  readonly runSettings?: FlagGroups & { readonly table: T };
  /** Sets flags that depend on what nodes answer, before settings are read. */
  readonly before?: (command: Command) => Promise<void>;
  /** Adds flags that are not settings. */
  readonly flags?: (command: Command) => Command;
  /** Position of `--json` in the help (default: last); `own`: the verb adds it itself. */
  readonly json?: 'first' | 'own';
  /** Text below the flags in the help. */
  readonly example?: string;
  /** Text below that in `--help-all`. */
  readonly details?: string;
  /** Subverbs: text and factory of each. */
  readonly verbs?: Readonly<Record<string, readonly [about: string, make: MakeCommand]>>;
  /**
   * True: its host handles signals before anything is measured or written. Default: signals end the
   * process, as in Node.js.
   */
  readonly takesSignals?: true;
  /** Does the work. Absent: only subverbs do something. */
  readonly action?: Action<T>;
}

/** Makes a verb from its row. */
export function verb<T extends SettingTable = Record<never, never>>(row: VerbRow<T>): MakeCommand {
  const { action } = row;
  return (name, about, setExitCode) => {
    const command = createCommand(name, about);
    addOwnFlags(command, row);
    const placesAddress = action !== undefined && addAddress(command, row);
    addTexts(command, row);
    for (const [below, [what, make]] of Object.entries(row.verbs ?? {})) {
      command.addCommand(make(below, what, setExitCode));
    }
    if (action === undefined) return command;
    return command.action(async (...given: unknown[]) => {
      // After the arguments commander passes the flags and the command.
      const args = given.slice(0, -2) as never[];
      for (const address of placesAddress ? (given[0] as readonly string[]) : []) {
        command.setOptionValue('sut', addToList(address, command.getOptionValue('sut')));
      }
      setExitCode(await perform(row, action, command, placesAddress ? [] : args));
    });
  };
}

function addOwnFlags<T extends SettingTable>(command: Command, row: VerbRow<T>): void {
  const { takes = {}, settings = {}, groups, runSettings, flags, json, action } = row;
  for (const [form, help] of Object.entries(takes)) command.argument(form, help);
  if (json === 'first') addJson(command);
  if (runSettings !== undefined) addSettingsInGroups(command, runSettings.table, runSettings);
  if (groups === undefined) addFlags(command, settings);
  else addFlagsInGroups(command, settings, groups);
  flags?.(command);
  if (json === undefined && action !== undefined) addJson(command);
}

/**
 * Lets a verb with --sut and no own arguments accept addresses as arguments. @returns True if it
 * does
 */
function addAddress<T extends SettingTable>(command: Command, { takes }: VerbRow<T>): boolean {
  const hasSut = command.options.some((option) => option.attributeName() === 'sut');
  if (!hasSut || takes !== undefined) return false;
  command.argument('[address...]', 'SUT nodes, as in --sut');
  return true;
}

function addTexts<T extends SettingTable>(
  command: Command,
  { example = '', details = '' }: VerbRow<T>,
): void {
  const textOf = (): string =>
    details !== '' && showsAllFlags(command) ? `${example}\n\n${details}` : example;
  if (example !== '') command.addHelpText('after', textOf);
}

/** Runs a verb and writes its result. @returns Its exit code. */
async function perform<T extends SettingTable>(
  { settings, runSettings, before, takesSignals }: VerbRow<T>,
  action: Action<T>,
  command: Command,
  args: never[],
): Promise<number> {
  const section = runSettings === undefined ? undefined : 'run';
  await before?.(command);
  const table = runSettings?.table ?? settings ?? ({} as T); // A row without settings has none.
  const values = settingsOf(command, section, table);
  if (takesSignals !== true) leaveStartSignals();
  const end = await action({ ...values, command }, ...args);
  const { text, json, exitCode, isGood = true, problems = [] } = end;
  if (text !== undefined && json !== undefined) writeResult(command, { text, json });
  for (const problem of problems) reportError(problem);
  const [problem] = problems;
  if (problem !== undefined && exitCode === undefined) return exitCodeOf(problem.code);
  return exitCode ?? (isGood ? EXIT.valid : EXIT.invalid);
}
