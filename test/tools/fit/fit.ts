import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fitDigitsModel } from './fit-digits.ts';

// `npm run fit [-- --check]`: makes, or compares, the file of fitted numbers that the project
// ships: the model of digits. Another processor may give other last digits.

const MAKERS = {
  'sut-node/benchmarks/digits/longhaul-digits-example.onnx': fitDigitsModel,
};

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
for (const [file, make] of Object.entries(MAKERS)) {
  const bytes = await make();
  const isSame = existsSync(file) && Buffer.compare(readFileSync(file), bytes) === 0;
  if (!isSame && values.check !== true) writeFileSync(file, bytes);
  if (!isSame && values.check === true) process.exitCode = 1;
  process.stdout.write(`${isSame ? 'the same' : 'differs'}: ${file}\n`);
}
