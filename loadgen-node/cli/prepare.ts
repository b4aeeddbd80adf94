import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { percentOf } from '../../shared/base/process/terminal.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { optional, text } from '../../shared/config/setting.ts';
import { CommandHost } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import { prepareStandin } from '../samples/benchmarks/imagenet/prepare-standin.ts';
import { PREPARED_STANDINS } from '../samples/benchmarks/imagenet/reference-accuracy.ts';

const PREPARE_SETTINGS = {
  output: optional(text('folder', 'folder for copies of the files (default: in the cache only)')),
  dataSeed: RUN_SETTINGS.dataSeed,
  dataCount: RUN_SETTINGS.dataCount,
  cacheDir: RUN_SETTINGS.cacheDir,
};

const EXAMPLE = `
What it makes, once (it stays in the cache folder, where "sut --model standin" and "run --data-dir standin" find it):
  resnet50-standin-fp32.onnx  the inputs, outputs and cost of ResNet-50 v1.5 with random weights, and a small
                              fitted branch that reads digits: it is NOT ResNet-50, nor is its accuracy
  resnet50-standin-int8.onnx  the same in int8
  a data set                  JPEG images that longhaul draws, laid out as ImageNet's validation set, and
                              reference.json with the accuracy of the FP32 stand-in, of which a run asks 99 %

Example:
  longhaul prepare resnet50-standin --output standin`;

/** `longhaul prepare`: makes what a machine without the real weights and images needs. */
export function prepareCommand(): Command {
  const command = createCommand('prepare', 'make a stand-in for a model and its data set').argument(
    '<what>',
    Object.keys(PREPARED_STANDINS).join(', '),
  );
  return addJson(addFlags(command, PREPARE_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async (what: string) => {
      const { values } = settingsOf(command, undefined, PREPARE_SETTINGS);
      const host = new CommandHost();
      const result = await prepareStandin(what, values, (fraction, step) =>
        host.progress(step, percentOf(fraction)),
      );
      host.progress(null);
      writeResult(command, result);
    });
}
