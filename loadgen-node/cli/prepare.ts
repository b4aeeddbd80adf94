import { pick, text } from '../../shared/config/setting.ts';
import { CommandHost, progressOf } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';
import {
  PREPARED_STANDINS,
  prepareStandin,
} from '../samples/benchmarks/imagenet/prepare-standin.ts';
import { verb } from './verb.ts';

/** `longhaul prepare`: generates what a machine without the real weights and images needs. */
export const prepareVerb = verb({
  takes: { '<what>': Object.keys(PREPARED_STANDINS).join(', ') },
  settings: {
    output: text('folder', 'folder for copies of the files (default: in the cache only)'),
    ...pick(RUN_SETTINGS, 'dataSeed', 'dataCount', 'cacheDir'),
  },
  example: `
What it makes, once (it stays in the cache folder, where "sut --model standin" and
"run --data-dir standin" find it):
  resnet50-standin-fp32.onnx  the inputs, outputs and cost of ResNet-50 v1.5 with random weights,
                              and a small reader of the class that is planted in each image: it is
                              NOT ResNet-50, nor is its accuracy
  resnet50-standin-int8.onnx  the same in int8
  a data set                  JPEG images that longhaul draws, laid out as ImageNet's validation
                              set; one of 25 carries a wrong class, so top-1 is 96 %

Example:
  longhaul prepare resnet50-standin --output standin`,
  action: async ({ values }, what: string) => {
    const host = new CommandHost();
    const result = await prepareStandin(what, values, progressOf(host));
    host.progress(null);
    return result;
  },
});
