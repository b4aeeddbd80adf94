import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { FIND_PEAK_SETTINGS } from '../../../loadgen-node/search/peak/find-peak-plan.ts';
import { addSettings, createCommand, settingsOf } from '../../../shared/config/command-line.ts';
import type { SettingTable } from '../../../shared/config/setting.ts';
import { SUT_OPTIONS, toSutSettings } from '../../../sut-node/settings/sut-settings.ts';

/** Section of the configuration file and settings, by verb. */
const TABLES: Readonly<Record<string, readonly [section: string, table: SettingTable]>> = {
  run: ['run', RUN_SETTINGS],
  'find-peak': ['run', FIND_PEAK_SETTINGS],
  sut: ['sut', SUT_OPTIONS],
};

/**
 * Settings of a command line and of the configuration file that it names, as the verb reads them.
 * @throws MlperfError for a flag, a key or a value that the verb does not take.
 */
export function settingsBy(verb: string, args: readonly string[]): Record<string, unknown> {
  const [section, table] = TABLES[verb] ?? [];
  if (section === undefined || table === undefined) throw new Error(`no verb "${verb}"`);
  const command = addSettings(createCommand(verb, ''), table);
  command.parse([...args], { from: 'user' });
  const { values } = settingsOf(command, section, table);
  // Refuses values that contradict each other, too.
  if (verb === 'sut') toSutSettings(values as Parameters<typeof toSutSettings>[0]);
  return { ...values };
}
