import type { Command } from 'commander';
import { printText } from '../../shared/base/process/terminal.ts';
import { jsonText } from '../../shared/base/text.ts';
import { text, toggle } from '../../shared/config/setting.ts';
import { BENCHMARK_KEYS } from '../../shared/rules/benchmark-rules.ts';
import { completionScript, SHELLS } from '../operate/config/completion.ts';
import { configJsonSchema } from '../operate/config/inspect-sections.ts';
import { listBenchmarks, writeStarterFile } from '../operate/config/starter-file.ts';
import type { Tables } from './config-show.ts';
import { type MakeCommand, verb } from './verb.ts';

/** `longhaul config init`. */
export function initVerb(tables: Tables): MakeCommand {
  return verb({
    settings: {
      benchmark: text('name', BENCHMARK_KEYS.join(', '), { fallback: 'digits' }),
      output: text('file', 'file to write; "-": stdout', { fallback: 'longhaul.yaml' }),
      force: toggle('replace the file'),
    },
    example: `
Example:
  longhaul config init --benchmark digits
  longhaul sut --config longhaul.yaml
  longhaul run --config longhaul.yaml`,
    action: async ({ values }) => writeStarterFile(values, await tables()),
  });
}

/** `longhaul config benchmarks`. */
export const benchmarksVerb: MakeCommand = verb({
  example: `
Example:
  longhaul config benchmarks`,
  action: () => listBenchmarks(),
});

/** `longhaul config schema`. */
export function schemaVerb(tables: Tables): MakeCommand {
  return verb({
    example: `
Example:
  longhaul config schema > longhaul.schema.json`,
    action: async () => {
      printText(process.stdout, `${jsonText(configJsonSchema(await tables()), 2)}\n`);
      return {};
    },
  });
}

/** `longhaul config completion`. @param loadProgram Every verb. */
export function completionVerb(loadProgram: () => Promise<Command>): MakeCommand {
  return verb({
    takes: { '<shell>': SHELLS.join(', ') },
    example: `
Examples, for the file that the shell reads at its start:
  source <(longhaul config completion bash)
  source <(longhaul config completion zsh)
  longhaul config completion fish | source`,
    action: async (_, shell: string) => {
      const script = completionScript(await loadProgram(), shell);
      return { text: script, json: { shell, script } };
    },
  });
}
