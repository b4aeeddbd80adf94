import type { OipDataType } from '../../shared/oip/data-types.ts';
import type { InputKind, OipModel } from '../../sut-node/oip/oip-model.ts';

/** An input of one kind. */
export function kind(datatype: OipDataType, shape: readonly number[]): InputKind {
  return { datatype, shape, form: 0, formName: 'raw' };
}

/** A model with one input and one output of bytes, unless it is said otherwise. */
export function oipTestModel(parts: Partial<OipModel> = {}): OipModel {
  return {
    name: 'net',
    alias: 'custom',
    platform: 'onnxruntime_onnx',
    hasBatchAxis: true,
    batchSizeMax: 8,
    requestSamplesMax: undefined,
    isDecoupled: false,
    inputs: [{ name: 'input', kinds: [kind('UINT8', [-1])] }],
    outputs: [{ name: 'output', datatype: 'UINT8', shape: [-1] }],
    properties: {},
    refusal: undefined,
    ...parts,
  };
}
