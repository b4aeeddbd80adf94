import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { CONFIG_SECTIONS, wantsJson, writeResult } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { inspectSections } from '../operate/config/inspect-sections.ts';
import { type MakeCommand, verb } from './verb.ts';

/** Settings of the verbs that have a section in the configuration file. */
export type Tables = () => Promise<Readonly<Record<'run' | 'sut', SettingTable>>>;

/** `longhaul config show`: effective settings, then their problems. */
export function showVerb(tables: Tables): MakeCommand {
  return verb({
    takes: {
      '[verb]': `only the settings of one verb: ${CONFIG_SECTIONS.join(' or ')}`,
      '[flags...]': "that verb's flags",
    },
    flags: (command) =>
      command.option('--config <file>', 'configuration file (YAML)').passThroughOptions(),
    example: `
Example:
  longhaul config show run --config longhaul.yaml --target-qps 200`,
    action: async ({ command }, name: string | undefined, flags: string[]) => {
      const { config: path } = command.opts<{ config?: string }>();
      const verbs = name === undefined ? CONFIG_SECTIONS : [name];
      const args = path === undefined ? flags : ['--config', path, ...flags];
      const { problems, isJson, ...result } = await inspectSections(await tables(), verbs, args);
      // The flag may also be after the verb.
      if (isJson) command.setOptionValue('json', true);
      if (problems.length === 0) return result;
      // With --json, problems replace the document.
      if (!wantsJson(command)) writeResult(command, result);
      throw configInvalid(problems.join('\n'));
    },
  });
}
