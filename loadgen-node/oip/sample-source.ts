import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { OIP_ELEMENT_BYTES } from '../../shared/oip/data-types.ts';
import { elementCount, type OipTensor, tensorsText } from '../../shared/oip/tensors.ts';
import type { DataSet } from '../benchmarks/loadgen-benchmark.ts';
import { bytesContents } from './data/bytes-elements.ts';
import { requireKnownShapes } from './resolve-inputs.ts';
import type { SampleTensors } from './wire-data-set.ts';

/** Raw bytes of one sample of an input; undefined for texts, and where an axis is free. */
export function sampleBytes({ datatype, shape }: OipTensor): number | undefined {
  if (datatype === 'BYTES' || shape.includes(-1)) return undefined;
  return elementCount(shape) * OIP_ELEMENT_BYTES[datatype];
}

/** Payloads of a data set as the model's one input. */
export function benchmarkTensors(dataSet: DataSet, input: OipTensor): SampleTensors {
  const { name, datatype, shape } = input;
  return async (sampleIndex, form) => {
    const payload = await dataSet.readPayload(sampleIndex, form);
    const raw = datatype === 'BYTES' ? bytesContents([payload]) : payload;
    return [{ name, datatype, shape, raw }];
  };
}

/**
 * Files as raw contents of all inputs, one behind the other; of a model whose one input is BYTES of one element, each file is
 * that element.
 * @param inputs Of one sample.
 * @throws MlperfError `ERR_CONFIG_INVALID` where files cannot be cut into inputs
 */
export function fileTensors(dataSet: DataSet, inputs: readonly OipTensor[]): SampleTensors {
  const [only, another] = inputs;
  if (only?.datatype === 'BYTES' && another === undefined && isOneElement(only)) {
    return benchmarkTensors(dataSet, { ...only, shape: only.shape.map(() => 1) });
  }
  const texts = inputs.filter(({ datatype }) => datatype === 'BYTES');
  if (texts.length > 0) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--data-dir: a file is the raw contents of all inputs, which have no fixed length here (${tensorsText(texts)}); --data jsonl:FILE takes texts`,
    );
  }
  requireKnownShapes(inputs);
  const needed = inputs.reduce((sum, input) => sum + (sampleBytes(input) ?? 0), 0);
  return async (sampleIndex, form) => {
    const payload = await dataSet.readPayload(sampleIndex, form);
    if (payload.length !== needed) {
      throw new MlperfError(
        'ERR_DATA_SET',
        `${dataSet.files?.[sampleIndex] ?? `sample ${sampleIndex}`} in ${dataSet.folder} has ${payload.length} bytes; the inputs of the model (${tensorsText(inputs)}) have ${needed}`,
      );
    }
    let at = 0;
    return inputs.map((input) => {
      const begin = at;
      at += sampleBytes(input) ?? 0;
      return { ...input, raw: payload.subarray(begin, at) };
    });
  };
}

function isOneElement({ shape }: OipTensor): boolean {
  return shape.every((length) => Math.abs(length) === 1);
}
