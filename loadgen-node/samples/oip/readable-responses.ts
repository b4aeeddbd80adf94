import { dataSetError, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { SampleTensor } from '../../../shared/domain/tensors.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../data-set/data-set.ts';
import { classResponse, type ResponseClass } from './response-class.ts';

/**
 * How a data set scores responses of a model that tells the class otherwise than the benchmark does.
 * @param responseClass Undefined: responses are read as they are.
 */
export function scoreReadable(
  dataSet: DataSet,
  responseClass: ResponseClass | undefined,
  responseTensor: SampleTensor | undefined,
): DataSet['scoreAccuracy'] {
  if (responseClass === undefined || responseTensor === undefined) {
    return (entries) => dataSet.scoreAccuracy(entries);
  }
  const readable = (entry: AccuracyEntry): AccuracyEntry => ({
    ...entry,
    response: namingSample(entry.sampleIndex, () =>
      classResponse(entry.response, responseClass, responseTensor),
    ),
  });
  return (entries): AccuracyReport => dataSet.scoreAccuracy(each(entries, readable));
}

/** Whatever is wrong with a sample is an error of the data that names it. */
export function namingSample<T>(sampleIndex: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const message = `sample ${sampleIndex}: ${messageOf(error)}`;
    throw dataSetError(message, error);
  }
}

function* each<T>(entries: Iterable<T>, change: (entry: T) => T): Iterable<T> {
  for (const entry of entries) yield change(entry);
}
