import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import type { SampleTensor } from '../../../shared/domain/tensors.ts';
import type { OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';
import type { DataSet } from '../data-set/data-set.ts';
import type { NamedTensor } from '../tensors/tensor-data-set.ts';
import { namingSample, scoreReadable } from './readable-responses.ts';
import { encodeRequestFields, type OipContents } from './request-fields.ts';
import type { ResponseClass } from './response-class.ts';

/** The inputs of a sample. @param form Name of the benchmark's encoding on the wire. */
export type SampleTensors = (sampleIndex: number, form: string) => Promise<readonly NamedTensor[]>;

/** What decides how samples travel, and how responses are read. */
export interface WireForm {
  readonly plan: Pick<OipRequestPlan, 'payloadForm' | 'inputs' | 'hasBatchAxis'>;
  readonly contents: OipContents;
  readonly sampleTensors: SampleTensors;
  /** Set where responses have to be read for the benchmark's accuracy. */
  readonly responseClass: ResponseClass | undefined;
  readonly responseTensor: SampleTensor | undefined;
}

/**
 * A data set whose payloads are what a request takes: raw contents of all inputs, or encoded fields. Made when samples are
 * loaded, untimed; the QDL sends them as they are. Files, marks and quality stay those of the data set.
 */
export function wireDataSet(dataSet: DataSet, form: WireForm): DataSet {
  const { responseClass, responseTensor } = form;
  return {
    ...dataSetParts(dataSet),
    readPayload: async (sampleIndex, encodingForm) =>
      wirePayload(sampleIndex, await form.sampleTensors(sampleIndex, encodingForm), form),
    scoreAccuracy: scoreReadable(dataSet, responseClass, responseTensor),
  };
}

/** A data set as plain parts: its methods would be lost by spreading an object of a class. */
export function dataSetParts(dataSet: DataSet): DataSet {
  const { name, totalSampleCount, folder, files, isManifestChecked, quality, marks } = dataSet;
  return {
    ...{ name, totalSampleCount, folder },
    ...(files !== undefined && { files }),
    ...(isManifestChecked !== undefined && { isManifestChecked }),
    ...(quality !== undefined && { quality }),
    ...(marks !== undefined && { marks }),
    readPayload: (sampleIndex, form) => dataSet.readPayload(sampleIndex, form),
    scoreAccuracy: (entries) => dataSet.scoreAccuracy(entries),
  };
}

/**
 * Payload of a sample in the form of the plan.
 * @throws MlperfError `ERR_DATA_SET` where its sizes are not those of the plan
 */
export function wirePayload(
  sampleIndex: number,
  tensors: readonly NamedTensor[],
  { plan, contents }: Pick<WireForm, 'plan' | 'contents'>,
): Uint8Array {
  const { payloadForm, inputs, hasBatchAxis } = plan;
  if (payloadForm === 'fields') {
    return namingSample(sampleIndex, () =>
      encodeRequestFields(tensors, { contents, hasBatchAxis }),
    );
  }
  for (const [i, { name, sampleBytes }] of inputs.entries()) {
    const seen = tensors[i]?.raw.length ?? 0;
    if (seen === sampleBytes) continue;
    throw dataSetError(
      `sample ${sampleIndex} has ${seen} bytes for input "${name}" of the model, which takes ${sampleBytes}`,
    );
  }
  const [first, another] = tensors;
  if (first !== undefined && another === undefined) return first.raw;
  return Buffer.concat(tensors.map(({ raw }) => raw));
}
