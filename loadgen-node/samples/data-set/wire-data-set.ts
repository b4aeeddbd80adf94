import { namingSample } from '../../../shared/base/errors/mlperf-error.ts';
import type { NamedTensor, SampleTensor } from '../../../shared/domain/tensors.ts';
import { classResponse, type ResponseClass } from '../../../shared/rules/response-class.ts';
import type { AccuracyEntries, AccuracyEntry, DataSet } from './data-set.ts';

/** Wire form of samples and of responses. */
export interface WireForm {
  readonly tensors: (sampleIndex: number) => Promise<readonly NamedTensor[]>;
  /**
   * Payload of a sample in the protocol's form. @throws MlperfError `ERR_DATA_SET` naming the
   * sample
   */
  readonly payloadOf: (sampleIndex: number, tensors: readonly NamedTensor[]) => Uint8Array;
  /** Set if responses must be converted for the benchmark's accuracy metric. */
  readonly responseClass?: ResponseClass | undefined;
  readonly responseTensor: SampleTensor | undefined;
}

/**
 * A data set with payloads in a protocol's form, made when samples are loaded (untimed); the QDL
 * sends them unchanged. Files, marks and quality are those of the original data set.
 */
export function wireDataSet(dataSet: DataSet, form: WireForm): DataSet {
  const { tensors, payloadOf, responseClass, responseTensor } = form;
  return {
    ...readableDataSet(dataSet, responseClass, responseTensor),
    readPayload: async (sampleIndex) => payloadOf(sampleIndex, await tensors(sampleIndex)),
  };
}

/**
 * A data set that scores responses of a model with another class output than the benchmark's.
 * @param responseClass Undefined: responses are not converted.
 */
export function readableDataSet(
  dataSet: DataSet,
  responseClass: ResponseClass | undefined,
  responseTensor: SampleTensor | undefined,
): DataSet {
  if (responseClass === undefined || responseTensor === undefined) return dataSet;
  const readable = (entry: AccuracyEntry): AccuracyEntry => ({
    ...entry,
    response: namingSample(entry.sampleIndex, () =>
      classResponse(entry.response, responseClass, responseTensor),
    ),
  });
  return {
    ...dataSet,
    scoreAccuracy: (entries, turns) =>
      dataSet.scoreAccuracy(changedEntries(entries, readable), turns),
  };
}

/** Log entries, each converted or inspected while it is read. */
export async function* changedEntries(
  entries: AccuracyEntries,
  change: (entry: AccuracyEntry) => AccuracyEntry,
): AsyncGenerator<AccuracyEntry> {
  for await (const entry of entries) yield change(entry);
}
