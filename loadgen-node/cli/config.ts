import type { Command } from 'commander';
import type { SettingTable } from '../../shared/config/setting.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { benchmarksVerb, completionVerb, initVerb, schemaVerb } from './config-files.ts';
import { showVerb, type Tables } from './config-show.ts';
import { type MakeCommand, verb } from './verb.ts';

/**
 * `longhaul config`: settings, their sources, and configuration files.
 * @param loadSutOptions Loads the settings of the verb `sut` when needed.
 * @param loadProgram Every verb, for shell completion.
 */
export function configVerb(
  loadSutOptions: () => Promise<SettingTable>,
  loadProgram: () => Promise<Command>,
): MakeCommand {
  const tables: Tables = async () => ({ run: RUN_SETTINGS, sut: await loadSutOptions() });
  return verb({
    example: `
Examples:
  longhaul config init --benchmark digits
  longhaul config show run --config longhaul.yaml --target-qps 200`,
    verbs: {
      show: ['show effective settings and where each came from', showVerb(tables)],
      init: ['write a commented configuration file for a benchmark', initVerb(tables)],
      benchmarks: ['list the benchmarks', benchmarksVerb],
      schema: ['print the JSON Schema of the configuration file, for editors', schemaVerb(tables)],
      completion: ['print the completion of a shell', completionVerb(loadProgram)],
    },
  });
}
