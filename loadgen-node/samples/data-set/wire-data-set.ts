import { namingSample } from '../../../shared/base/errors/mlperf-error.ts';
import type { NamedTensor, SampleTensor } from '../../../shared/domain/tensors.ts';
import { classResponse, type ResponseClass } from '../../../shared/rules/response-class.ts';
import type { AccuracyEntries, AccuracyEntry, DataSet } from './data-set.ts';

/** Form of samples on the wire, and of responses. */
export interface WireForm {
  readonly tensors: (sampleIndex: number) => Promise<readonly NamedTensor[]>;
  /** A sample as the protocol takes it. @throws MlperfError `ERR_DATA_SET` naming the sample */
  readonly payloadOf: (sampleIndex: number, tensors: readonly NamedTensor[]) => Uint8Array;
  /** Set where responses have to be read for the benchmark's accuracy. */
  readonly responseClass?: ResponseClass | undefined;
  readonly responseTensor: SampleTensor | undefined;
}

/**
 * A data set whose payloads are as a protocol takes them. Made when samples are loaded, untimed; the QDL sends them as they
 * are. Files, marks and quality stay those of the data set.
 */
export function wireDataSet(dataSet: DataSet, form: WireForm): DataSet {
  const { tensors, payloadOf, responseClass, responseTensor } = form;
  return {
    ...readableDataSet(dataSet, responseClass, responseTensor),
    readPayload: async (sampleIndex) => payloadOf(sampleIndex, await tensors(sampleIndex)),
  };
}

/**
 * A data set that scores responses of a model that tells the class otherwise than the benchmark does.
 * @param responseClass Undefined: responses are read as they are.
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

/** Answers of a log, each changed, or looked at, as it is read. */
export async function* changedEntries(
  entries: AccuracyEntries,
  change: (entry: AccuracyEntry) => AccuracyEntry,
): AsyncGenerator<AccuracyEntry> {
  for await (const entry of entries) yield change(entry);
}
