import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { CONFIG_SECTIONS, wantsJson, writeResult } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { configJsonSchema, inspectSections } from '../operate/config/inspect-sections.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { type MakeCommand, verb } from './verb.ts';

/**
 * `longhaul config`: shows effective settings and their sources, or the JSON Schema of the file.
 * @param loadSutOptions Settings of the verb of the other half, loaded when they are needed.
 */
export function configVerb(loadSutOptions: () => Promise<SettingTable>): MakeCommand {
  return verb({
    takes: {
      '[verb]': `only the settings of one verb: ${CONFIG_SECTIONS.join(' or ')}`,
      '[flags...]': "that verb's flags",
    },
    flags: (command) =>
      command
        .option('--print', 'print the effective settings as YAML')
        .option('--schema', 'print the JSON Schema of the configuration file')
        .option('--config <file>', 'configuration file (YAML)')
        .passThroughOptions(),
    example: `
Examples:
  longhaul config --print --config longhaul.yaml
  longhaul config --print run --config longhaul.yaml --target-qps 200
  longhaul config --schema > longhaul.schema.json`,
    action: async ({ command }, name: string | undefined, flags: string[]) => {
      const { schema, config: path } = command.opts<{ schema?: boolean; config?: string }>();
      const tables = { run: RUN_SETTINGS, sut: await loadSutOptions() };
      if (schema === true) {
        process.stdout.write(`${JSON.stringify(configJsonSchema(tables), null, 2)}\n`);
        return {};
      }
      const verbs = name === undefined ? CONFIG_SECTIONS : [name];
      const args = path === undefined ? flags : ['--config', path, ...flags];
      const { problems, isJson, ...result } = await inspectSections(tables, verbs, args);
      // It may stand behind the verb as well.
      if (isJson) command.setOptionValue('json', true);
      if (problems.length === 0) return result;
      // With --json what is wrong takes the place of the document.
      if (!wantsJson(command)) writeResult(command, result);
      throw configInvalid(problems.join('\n'));
    },
  });
}
