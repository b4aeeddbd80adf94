import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import {
  addFlags,
  addJson,
  addSettingsInGroups,
  createCommand,
  settingsOf,
  type VerbResult,
  writeResult,
} from '../../shared/config/command-line.ts';
import type { ResolvedSettings } from '../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../shared/config/setting.ts';

/** Takes the exit code of a verb that came to its end. */
export type SetExitCode = (code: number) => void;

/** Makes the command of a verb, or of a verb below another one. */
export type MakeCommand = (name: string, about: string, setExitCode: SetExitCode) => Command;

/** How a verb ends: its result, where it has not written that itself, and its exit code (default: 0). */
type VerbEnd = Partial<VerbResult> & {
  readonly exitCode?: number;
  /** False: exit code 3. */
  readonly isGood?: boolean;
};

/** First argument of an action, before the verb's own arguments. */
interface VerbCall<T extends SettingTable> extends ResolvedSettings<T> {
  readonly command: Command;
}

type Action<T extends SettingTable> = (
  call: VerbCall<T>,
  ...args: never[] // Of any types: commander has them as `takes` says.
) => VerbEnd | Promise<VerbEnd>;

interface VerbRow<T extends SettingTable> {
  /** Arguments by their form (`<folder>`), with the help of each. */
  readonly takes?: Readonly<Record<string, string>>;
  /** Settings without a section in the configuration file. */
  readonly settings?: T;
  /** As `settings`, with `--config` and the section `run`; `keys` come first in the help, `heading` stands over the others. */
  readonly runSettings?: {
    readonly table: T;
    readonly keys: readonly string[];
    readonly heading: string;
  };
  /** Adds flags that are no settings. */
  readonly flags?: (command: Command) => Command;
  /** Where `--json` stands in the help (default: behind all other flags); `own`: the verb adds one itself. */
  readonly json?: 'first' | 'own';
  /** Text below the flags in the help. */
  readonly example?: string;
  /** Verbs below this one: what each is about, and how it is made. */
  readonly verbs?: Readonly<Record<string, readonly [about: string, make: MakeCommand]>>;
  /** Does the work. Absent: only the verbs below do something. */
  readonly action?: Action<T>;
}

/** A verb from its row. */
export function verb<T extends SettingTable = Record<never, never>>(row: VerbRow<T>): MakeCommand {
  const { takes = {}, settings = {}, runSettings, flags, json, example, verbs = {}, action } = row;
  return (name, about, setExitCode) => {
    const command = createCommand(name, about);
    for (const [form, help] of Object.entries(takes)) command.argument(form, help);
    if (json === 'first') addJson(command);
    if (runSettings !== undefined) addSettingsInGroups(command, runSettings.table, runSettings);
    addFlags(command, settings);
    flags?.(command);
    if (json === undefined && action !== undefined) addJson(command);
    if (example !== undefined) command.addHelpText('after', example);
    for (const [below, [what, make]] of Object.entries(verbs)) {
      command.addCommand(make(below, what, setExitCode));
    }
    if (action === undefined) return command;
    return command.action(async (...given: unknown[]) => {
      // Behind the arguments commander passes the flags and the command.
      setExitCode(await perform(row, action, command, given.slice(0, -2) as never[]));
    });
  };
}

/** Does a verb's work and writes its result. @returns Its exit code. */
async function perform<T extends SettingTable>(
  { settings, runSettings }: VerbRow<T>,
  action: Action<T>,
  command: Command,
  args: never[],
): Promise<number> {
  const section = runSettings === undefined ? undefined : 'run';
  const table = runSettings?.table ?? settings ?? ({} as T); // A row without settings has none.
  const end = await action({ ...settingsOf(command, section, table), command }, ...args);
  const { text, json, exitCode, isGood = true } = end;
  if (text !== undefined && json !== undefined) writeResult(command, { text, json });
  return exitCode ?? (isGood ? EXIT.valid : EXIT.invalid);
}
