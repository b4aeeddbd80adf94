import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { addJson, wantsJson, writeResult } from '../../shared/base/process/json-output.ts';
import {
  addSettings,
  CONFIG_SECTIONS,
  createCommand,
  sourcesOf,
} from '../../shared/config/command-line.ts';
import { inspectSettings, type ResolvedSetting } from '../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { printSettings } from '../run/plan/print-settings.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { configJsonSchema } from './json-schema.ts';

const EXAMPLE = `
Examples:
  longhaul config --print --config longhaul.yaml
  longhaul config --print run --config longhaul.yaml --target-qps 200
  longhaul config --schema > longhaul.schema.json`;

/**
 * `longhaul config`: shows effective settings and their sources, or the JSON Schema of the file.
 * @param loadSutOptions Settings of the verb of the other half, loaded when they are needed.
 */
export function configCommand(loadSutOptions: () => Promise<SettingTable>): Command {
  const command = createCommand('config', 'show effective settings and where each came from')
    .argument('[verb]', `only the settings of one verb: ${CONFIG_SECTIONS.join(' or ')}`)
    .argument('[flags...]', "that verb's flags")
    .option('--print', 'print the effective settings as YAML')
    .option('--schema', 'print the JSON Schema of the configuration file')
    .option('--config <file>', 'configuration file (YAML)')
    .passThroughOptions()
    .addHelpText('after', EXAMPLE);
  return addJson(command).action(async (verb: string | undefined, flags: string[]) => {
    const tables: Record<string, SettingTable> = { run: RUN_SETTINGS, sut: await loadSutOptions() };
    if (command.opts<ConfigOptions>().schema === true) {
      process.stdout.write(`${JSON.stringify(configJsonSchema(tables), null, 2)}\n`);
      return;
    }
    const verbs = verb === undefined ? CONFIG_SECTIONS : [verb];
    await printSections(command, verbs, { tables, flags });
  });
}

interface ConfigOptions {
  readonly schema?: boolean;
  readonly config?: string;
}

async function printSections(
  command: Command,
  verbs: readonly string[],
  { tables, flags }: { readonly tables: Record<string, SettingTable>; readonly flags: string[] },
): Promise<void> {
  const { config } = command.opts<ConfigOptions>();
  const args = config === undefined ? flags : ['--config', config, ...flags];
  const problems: string[] = [];
  const texts: string[] = [];
  const json: Record<string, object> = {};
  for (const section of verbs) {
    const parser = sectionParser(section, tables[section]);
    await parser.action(() => {}).parseAsync(args, { from: 'user' });
    // It may stand behind the verb as well.
    if (wantsJson(parser)) command.setOptionValue('json', true);
    const inspected = inspectSettings(tables[section] ?? {}, sourcesOf(parser, section));
    texts.push(printSettings(section, inspected.settings));
    json[section] = inspected.settings.map(settingJson);
    problems.push(...inspected.problems);
  }
  // With --json what is wrong takes the place of the document.
  if (problems.length === 0 || !wantsJson(command)) {
    writeResult(command, { text: texts.join(''), json });
  }
  if (problems.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a verb without settings in the file */
function sectionParser(section: string, table: SettingTable | undefined): Command {
  if (table !== undefined) return addJson(addSettings(createCommand(section, ''), table));
  const known = CONFIG_SECTIONS.join(' or ');
  const message = `unknown verb "${section}"; it must be ${known}`;
  throw new MlperfError('ERR_CONFIG_INVALID', message);
}

/** The value as it would stand in a file. */
function settingJson({ key, raw, source }: ResolvedSetting): object {
  return { key, value: raw ?? null, source };
}
