import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { explainSetting } from '../loadgen/settings/explain-setting.ts';

const EXAMPLE = `
Examples:
  longhaul settings explain server_target_latency_ns
  longhaul settings explain target_latency
  longhaul settings explain --min-duration`;

/** `longhaul settings explain`: what a setting is, in whatever name one knows it. */
export function explainCommand(): Command {
  const command = createCommand('explain', 'explain a setting, by any of its names')
    .argument('<key>', "LoadGen's field or file key, or a flag of longhaul run")
    // A flag is a name here.
    .allowUnknownOption()
    .addHelpText('after', EXAMPLE);
  return addJson(command).action((key: string) => writeResult(command, explainSetting(key)));
}
