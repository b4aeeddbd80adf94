import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';
import type { ModelTensor, ModelTensors } from './worker-messages.ts';

/**
 * Checks that a model takes the benchmark's input in batches and has the outputs that its
 * post-processing reads.
 * @throws MlperfError `ERR_MODEL` that tells what the benchmark expects and what the model has.
 */
export function checkModelFits(
  benchmark: SutBenchmark,
  tensors: ModelTensors,
  modelFile: string,
  batchSizeMax: number,
): void {
  const { name, sampleShape } = benchmark.input;
  const expected = `${name}: float [batch, ${sampleShape.join(', ')}]`;
  const fits =
    tensors.inputs.length === 1 && tensors.inputs.every((input) => isInput(benchmark, input));
  if (!fits) throw doesNotFit(modelFile, benchmark, 'input', expected, tensors.inputs);
  const missing = benchmark.outputNames.filter(
    (output) => !tensors.outputs.some((tensor) => tensor.name === output),
  );
  if (missing.length > 0) {
    const outputs = benchmark.outputNames.join(', ');
    throw doesNotFit(modelFile, benchmark, 'output', outputs, tensors.outputs);
  }
  const batchAxis = tensors.inputs[0]?.shape[0] ?? 0;
  if (batchAxis === 0 || (batchAxis === 1 && batchSizeMax === 1)) return;
  throw new MlperfError(
    'ERR_MODEL',
    `${modelFile} has no free batch axis: found ${listTensors(tensors.inputs)}, but batches of 1 to ` +
      `${batchSizeMax} samples are to run; export it with a free first axis, or with 1 there and set ` +
      'the largest batch size to 1',
  );
}

/** Writes a list of tensors for people: `image: float [batch, 28, 28]`. */
function listTensors(tensors: readonly ModelTensor[]): string {
  if (tensors.length === 0) return 'none';
  return tensors
    .map(({ name, elementType, shape }) => {
      const axes = shape.map((length) => (length === 0 ? 'free' : String(length)));
      return `${name}: ${elementType} [${axes.join(', ')}]`;
    })
    .join('; ');
}

function isInput(benchmark: SutBenchmark, input: ModelTensor): boolean {
  const { name, sampleShape } = benchmark.input;
  return (
    input.name === name &&
    input.elementType === 'float' &&
    input.shape.length === sampleShape.length + 1 &&
    // A free axis takes any length.
    sampleShape.every((length, i) => input.shape[i + 1] === length || input.shape[i + 1] === 0)
  );
}

function doesNotFit(
  modelFile: string,
  benchmark: SutBenchmark,
  what: string,
  expected: string,
  found: readonly ModelTensor[],
): MlperfError {
  return new MlperfError(
    'ERR_MODEL',
    `${modelFile} does not fit the benchmark ${benchmark.rules.key}: expected ${what} ${expected}; ` +
      `found ${listTensors(found)}`,
  );
}
