import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { messageOf } from '../../shared/errors/to-mlperf-error.ts';
import { encodeRequestFields, type OipContents } from '../../shared/oip/request-fields.ts';
import type { OipRequestPlan } from '../../shared/oip/request-plan.ts';
import type { SampleTensor } from '../../shared/oip/tensors.ts';
import type { AccuracyEntry, AccuracyReport, DataSet } from '../benchmarks/loadgen-benchmark.ts';
import type { NamedTensor } from './data/tensor-data-set.ts';
import { classResponse, type ResponseClass } from './response-class.ts';

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
  const { folder, files, isManifestChecked, quality, marks } = dataSet;
  const readable =
    responseClass === undefined || responseTensor === undefined
      ? (entry: AccuracyEntry): AccuracyEntry => entry
      : (entry: AccuracyEntry): AccuracyEntry => ({
          ...entry,
          response: naming(entry.sampleIndex, () =>
            classResponse(entry.response, responseClass, responseTensor),
          ),
        });
  return {
    name: dataSet.name,
    totalSampleCount: dataSet.totalSampleCount,
    folder,
    ...(files !== undefined && { files }),
    ...(isManifestChecked !== undefined && { isManifestChecked }),
    ...(quality !== undefined && { quality }),
    ...(marks !== undefined && { marks }),
    readPayload: async (sampleIndex, encodingForm) =>
      wirePayload(sampleIndex, await form.sampleTensors(sampleIndex, encodingForm), form),
    scoreAccuracy: (entries): AccuracyReport => dataSet.scoreAccuracy(each(entries, readable)),
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
    return naming(sampleIndex, () => encodeRequestFields(tensors, { contents, hasBatchAxis }));
  }
  for (const [i, { name, sampleBytes }] of inputs.entries()) {
    const seen = tensors[i]?.raw.length ?? 0;
    if (seen === sampleBytes) continue;
    throw new MlperfError(
      'ERR_DATA_SET',
      `sample ${sampleIndex} has ${seen} bytes for input "${name}" of the model, which takes ${sampleBytes}`,
    );
  }
  const [first, another] = tensors;
  if (first !== undefined && another === undefined) return first.raw;
  return Buffer.concat(tensors.map(({ raw }) => raw));
}

function* each<T>(entries: Iterable<T>, change: (entry: T) => T): Iterable<T> {
  for (const entry of entries) yield change(entry);
}

/** Whatever is wrong with a sample is an error of the data that names it. */
function naming<T>(sampleIndex: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const message = `sample ${sampleIndex}: ${messageOf(error)}`;
    throw new MlperfError('ERR_DATA_SET', message, { cause: error });
  }
}
