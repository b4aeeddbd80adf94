import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fitDigitsModel } from './fit-digits.ts';
import { fitStandin } from './fit-standin.ts';

// `npm run fit [-- --check]`: makes, or compares, the files of fitted numbers that the project ships: the model of
// digits and the classifiers of the stand-ins. Minutes; another processor may give other last digits.

async function standinBytes(benchmark: 'resnet50' | 'mobilenet'): Promise<Uint8Array> {
  return new Uint8Array((await fitStandin(benchmark)).buffer);
}

const MAKERS = {
  'sut-node/benchmarks/digits/longhaul-digits-example.onnx': fitDigitsModel,
  'sut-node/benchmarks/imagenet/resnet50-standin.f32': () => standinBytes('resnet50'),
  'sut-node/benchmarks/imagenet/mobilenet-standin.f32': () => standinBytes('mobilenet'),
};

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
for (const [file, make] of Object.entries(MAKERS)) {
  const bytes = await make();
  const isSame = existsSync(file) && Buffer.compare(readFileSync(file), bytes) === 0;
  if (!isSame && values.check !== true) writeFileSync(file, bytes);
  if (!isSame && values.check === true) process.exitCode = 1;
  process.stdout.write(`${isSame ? 'the same' : 'differs'}: ${file}\n`);
}
