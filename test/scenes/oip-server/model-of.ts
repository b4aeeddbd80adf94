import type { OipTensor } from '../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/request-plan.ts';

/**
 * A model as a server describes it.
 * @param inputs Such as `FP32 [-1, 3]`.
 */
export function modelOf(
  inputs: readonly string[],
  outputs: readonly string[],
  more: Partial<OipModelFacts> = {},
): OipModelFacts {
  return {
    address: '10.0.0.2:8001',
    server: { name: 'triton', version: '2', extensions: [] },
    name: 'net',
    versions: ['1'],
    platform: '',
    inputs: inputs.map((text, i) => tensor(`in${i}`, text)),
    outputs: outputs.map((text, i) => tensor(`out${i}`, text)),
    batchSizeMax: undefined,
    isDecoupled: undefined,
    hasStream: undefined,
    hasStatistics: false,
    ...more,
  };
}

function tensor(name: string, text: string): OipTensor {
  const [datatype, shape] = text.split(' [');
  return {
    name,
    datatype: datatype as OipTensor['datatype'],
    shape: JSON.parse(`[${shape}`) as number[],
  };
}
