import type { Command } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { addJson, wantsJson, writeResult } from '../../shared/base/process/json-output.ts';
import { CONFIG_SECTIONS, createCommand } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { configJsonSchema } from '../operate/config/config-schema.ts';
import { inspectSections } from '../operate/config/inspect-sections.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';

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
    const { schema, config } = command.opts<{ schema?: boolean; config?: string }>();
    const tables: Record<string, SettingTable> = { run: RUN_SETTINGS, sut: await loadSutOptions() };
    if (schema === true) {
      process.stdout.write(`${JSON.stringify(configJsonSchema(tables), null, 2)}\n`);
      return;
    }
    const verbs = verb === undefined ? CONFIG_SECTIONS : [verb];
    const args = config === undefined ? flags : ['--config', config, ...flags];
    const { problems, isJson, ...result } = await inspectSections(tables, verbs, args);
    // It may stand behind the verb as well.
    if (isJson) command.setOptionValue('json', true);
    // With --json what is wrong takes the place of the document.
    if (problems.length === 0 || !wantsJson(command)) writeResult(command, result);
    if (problems.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
  });
}
