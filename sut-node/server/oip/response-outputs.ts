import { status } from '@grpc/grpc-js';
import { OIP_ELEMENT_BYTES } from '../../../shared/domain/data-types.ts';
import { elementCount, type OipTensor } from '../../../shared/domain/tensors.ts';
import { failedPrecondition, StreamRefusal } from '../limits/call-end.ts';
import type { OipModel } from './oip-model.ts';
import type { ResponseOutput } from './response-encoder.ts';

/** Where an output lies in the response of one sample. */
interface Place {
  readonly begin: number;
  readonly bytes: number;
  readonly shape: readonly number[];
}

/**
 * Cuts the responses of a request's samples into the tensors that are asked for.
 * @param payloads Response of each sample: the elements of all outputs, one behind the other. At most one axis is free
 *   (see OipModel.refusal), so its length follows from the bytes.
 * @throws StreamRefusal `FAILED_PRECONDITION` where the samples' outputs differ in length, so that no tensor holds them;
 *   `INTERNAL` where a response has not the bytes of its outputs.
 */
export function responseOutputs(
  model: OipModel,
  asked: readonly OipTensor[],
  payloads: readonly Uint8Array[],
): ResponseOutput[] {
  const bytes = payloads[0]?.length ?? 0;
  const other = payloads.find(({ length }) => length !== bytes);
  if (other !== undefined) {
    throw failedPrecondition(
      `the outputs of the samples differ in length (${bytes} and ${other.length} bytes), so they are no one tensor: ` +
        'send such samples in requests of their own',
    );
  }
  const places = placesOf(model.outputs, bytes);
  return asked.map((output): ResponseOutput => {
    const { begin, bytes: length, shape } = places[model.outputs.indexOf(output)] as Place;
    const rows =
      length === bytes ? payloads : payloads.map((one) => one.subarray(begin, begin + length));
    const batch = model.hasBatchAxis ? [payloads.length] : [];
    return { name: output.name, datatype: output.datatype, shape: [...batch, ...shape], rows };
  });
}

function placesOf(outputs: readonly OipTensor[], bytes: number): Place[] {
  const fixedBytes = outputs.map(({ datatype, shape }) =>
    shape.includes(-1) ? 0 : OIP_ELEMENT_BYTES[datatype] * elementCount(shape),
  );
  const rest = bytes - fixedBytes.reduce((sum, one) => sum + one, 0);
  let position = 0;
  return outputs.map((output, i) => {
    const isFree = output.shape.includes(-1);
    const length = isFree ? rest : (fixedBytes[i] as number);
    const shape = isFree ? withLength(output, rest, bytes) : output.shape;
    if (rest < 0 || (rest > 0 && !outputs.some((one) => one.shape.includes(-1)))) {
      throw wrongBytes(output, bytes);
    }
    const place = { begin: position, bytes: length, shape };
    position += length;
    return place;
  });
}

/** The shape with the length of its free axis, which follows from its bytes. */
function withLength(output: OipTensor, bytes: number, all: number): readonly number[] {
  const { datatype, shape } = output;
  const step = OIP_ELEMENT_BYTES[datatype] * elementCount(shape.filter((length) => length >= 0));
  const length = step === 0 ? 0 : bytes / step;
  if (bytes < 0 || !Number.isInteger(length)) throw wrongBytes(output, all);
  return shape.map((one) => (one === -1 ? length : one));
}

function wrongBytes({ name, datatype, shape }: OipTensor, bytes: number): StreamRefusal {
  return new StreamRefusal(
    status.INTERNAL,
    `the response of the model has ${bytes} bytes, which are no output "${name}" of ${datatype} [${shape.join(', ')}]`,
  );
}
