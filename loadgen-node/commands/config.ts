import type { Command } from 'commander';
import {
  addSettings,
  CONFIG_SECTIONS,
  createCommand,
  sourcesOf,
} from '../../shared/config/command-line.ts';
import { configJsonSchema } from '../../shared/config/json-schema.ts';
import { printSettings } from '../../shared/config/print-settings.ts';
import { inspectSettings } from '../../shared/config/resolve-settings.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { RUN_SETTINGS } from './run-settings.ts';

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
  return command.action(async (verb: string | undefined, flags: string[]) => {
    const tables: Record<string, SettingTable> = { run: RUN_SETTINGS, sut: await loadSutOptions() };
    const { schema, config } = command.opts<{ schema?: boolean; config?: string }>();
    if (schema === true) {
      process.stdout.write(`${JSON.stringify(configJsonSchema(tables), null, 2)}\n`);
      return;
    }
    const verbs = verb === undefined ? CONFIG_SECTIONS : [verb];
    const problems: string[] = [];
    for (const section of verbs) {
      const table = tables[section];
      if (table === undefined) {
        const known = CONFIG_SECTIONS.join(' or ');
        throw new MlperfError(
          'ERR_CONFIG_INVALID',
          `unknown verb "${section}"; it must be ${known}`,
        );
      }
      const parser = addSettings(createCommand(section, ''), table);
      const args = config === undefined ? flags : ['--config', config, ...flags];
      await parser.action(() => {}).parseAsync(args, { from: 'user' });
      const inspected = inspectSettings(table, sourcesOf(parser, section));
      process.stdout.write(printSettings(section, inspected.settings));
      problems.push(...inspected.problems);
    }
    if (problems.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
  });
}
