import type { Command } from 'commander';
import { addSettings, createCommand, settingsOf } from '../shared/config/command-line.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import { Terminal } from '../shared/process/terminal.ts';
import { disableTelemetry } from './onnx/onnxruntime.ts';
import { SUT_OPTIONS, toSutSettings } from './settings/sut-options.ts';
import type { SutSettings } from './settings/sut-settings.ts';
import { startSutNode } from './sut-node.ts';

export { SUT_OPTIONS };

const EXAMPLE = `
Example:
  longhaul sut --benchmark digits --listen 0.0.0.0:50051 --node sut-a

The node says Ready after every worker has run the model once. SIGTERM and Ctrl-C drain it: what it
holds is answered, then it ends with exit code 0.`;

/** `longhaul sut`: one SUT node. Loaded by the one bin through shared/process/package-files.ts. */
export function sutCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('sut', 'serve a benchmark as a SUT node');
  return addSettings(command, SUT_OPTIONS)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, 'sut', SUT_OPTIONS);
      setExitCode(await serve(toSutSettings(values)));
    });
}
