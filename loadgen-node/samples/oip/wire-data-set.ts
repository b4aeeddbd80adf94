import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import {
  configInvalid,
  dataSetError,
  MlperfError,
  messageOf,
} from '../../../shared/base/errors/mlperf-error.ts';
import {
  elementCount,
  OIP_ELEMENT_BYTES,
  type OipTensor,
  type SampleTensor,
  tensorsText,
} from '../../../shared/domain/tensors.ts';
import type { OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';
import {
  type AccuracyEntries,
  type AccuracyEntry,
  type DataSet,
  readingFile,
} from '../data-set/data-set.ts';
import { bytesContents, type NamedTensor } from '../tensors/tensor-data-set.ts';
import { encodeRequestFields, type OipContents } from './request-fields.ts';
import { requireKnownShapes } from './resolve-inputs.ts';
import { classResponse, type ResponseClass } from './response-class.ts';

/** The inputs of a sample. @param form Name of the benchmark's encoding on the wire. */
export type SampleTensors = (sampleIndex: number, form: string) => Promise<readonly NamedTensor[]>;

/** Form of samples on the wire, and of responses. */
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
    ...dataSet,
    readPayload: async (sampleIndex, encodingForm) =>
      wirePayload(sampleIndex, await form.sampleTensors(sampleIndex, encodingForm), form),
    scoreAccuracy: scoreReadable(dataSet, responseClass, responseTensor),
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
    return (entries, turns) => dataSet.scoreAccuracy(entries, turns);
  }
  const readable = (entry: AccuracyEntry): AccuracyEntry => ({
    ...entry,
    response: namingSample(entry.sampleIndex, () =>
      classResponse(entry.response, responseClass, responseTensor),
    ),
  });
  return (entries, turns) => dataSet.scoreAccuracy(each(entries, readable), turns);
}

/** Whatever is wrong with a sample is an error of the data that names it. */
function namingSample<T>(sampleIndex: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    const message = `sample ${sampleIndex}: ${messageOf(error)}`;
    throw dataSetError(message, error);
  }
}

async function* each(
  entries: AccuracyEntries,
  change: (entry: AccuracyEntry) => AccuracyEntry,
): AsyncGenerator<AccuracyEntry> {
  for await (const entry of entries) yield change(entry);
}

/** Raw bytes of one sample of an input; undefined for texts, and where an axis is free. */
export function sampleBytes({ datatype, shape }: OipTensor): number | undefined {
  if (datatype === 'BYTES' || shape.includes(-1)) return undefined;
  return elementCount(shape) * OIP_ELEMENT_BYTES[datatype];
}

/** Payloads of a data set as the model's one input; where an axis of it is free, the payload tells its length. */
export function benchmarkTensors(dataSet: DataSet, input: OipTensor): SampleTensors {
  const { name, datatype } = input;
  return async (sampleIndex, form) => {
    const payload = await dataSet.readPayload(sampleIndex, form);
    if (datatype === 'BYTES') {
      return [{ name, datatype, shape: input.shape, raw: bytesContents([payload]) }];
    }
    const fixed = input.shape.map((length) => Math.abs(length)); // 1 in place of the free axis.
    const freeLength = payload.length / (elementCount(fixed) * OIP_ELEMENT_BYTES[datatype]);
    const shape = input.shape.map((length) => (length < 0 ? freeLength : length));
    return [{ name, datatype, shape, raw: payload }];
  };
}

/**
 * Files as raw contents of all inputs, one behind the other; of a model whose one input is BYTES of one element, each file is
 * that element.
 * @param inputs Of one sample.
 * @throws MlperfError `ERR_CONFIG_INVALID` where files cannot be cut into inputs; `ERR_DATA_SET` naming a file of another size
 */
export async function fileTensors(
  dataSet: DataSet,
  inputs: readonly OipTensor[],
): Promise<SampleTensors> {
  const [only, another] = inputs;
  if (only?.datatype === 'BYTES' && another === undefined && isOneElement(only)) {
    return benchmarkTensors(dataSet, { ...only, shape: only.shape.map(() => 1) });
  }
  const texts = inputs.filter(({ datatype }) => datatype === 'BYTES');
  if (texts.length > 0) {
    throw configInvalid(
      `--data-dir: a file is the raw contents of all inputs, which have no fixed length here (${tensorsText(texts)}); --data jsonl:FILE takes texts`,
    );
  }
  requireKnownShapes(inputs);
  return cutPayloads(dataSet, inputs, await checkFileSizes(dataSet, inputs));
}

/**
 * Asks for the sizes of all files before the run, as its logs replace those of an earlier one.
 * @returns Bytes of a sample.
 * @throws MlperfError `ERR_DATA_SET` naming the first file that has another size
 */
async function checkFileSizes(
  { folder, files = [] }: DataSet,
  inputs: readonly OipTensor[],
): Promise<number> {
  const needed = inputs.reduce((sum, input) => sum + (sampleBytes(input) ?? 0), 0);
  const wrong = new Map<number, number>();
  await forEachIndex(files.length, FILES_AT_ONCE, async (i) => {
    const path = join(folder, files[i] as string);
    const { size } = await readingFile(path, () => stat(path));
    if (size !== needed) wrong.set(i, size);
  });
  const first = Math.min(...wrong.keys());
  const bytes = wrong.get(first);
  if (bytes !== undefined) {
    throw wrongSize(join(folder, files[first] as string), bytes, needed, inputs);
  }
  return needed;
}

function wrongSize(
  path: string,
  bytes: number,
  needed: number,
  inputs: readonly OipTensor[],
): MlperfError {
  const remedy = path.endsWith('.npy') ? "; NumPy's arrays are read by --data npy:FOLDER" : '';
  return dataSetError(
    `${path} has ${bytes} bytes; the inputs of the model (${tensorsText(inputs)}) have ${needed}${remedy}`,
  );
}

/** Each payload as its inputs; a file may have been changed since its size was requested. */
function cutPayloads(
  dataSet: DataSet,
  inputs: readonly OipTensor[],
  needed: number,
): SampleTensors {
  return async (sampleIndex, form) => {
    const payload = await dataSet.readPayload(sampleIndex, form);
    if (payload.length !== needed) {
      const name = dataSet.files?.[sampleIndex] ?? `sample ${sampleIndex}`;
      throw wrongSize(join(dataSet.folder, name), payload.length, needed, inputs);
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
