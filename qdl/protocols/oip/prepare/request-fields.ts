import type { OipTensor } from '../../../../shared/domain/tensors.ts';
import type { OipContents } from '../../../../shared/wire/oip/request-plan.ts';
import { encodeTypedContents } from '../../../../shared/wire/oip/typed-contents.ts';
import {
  bytesFieldSize,
  fieldSize,
  ProtoWriter,
  varintSize,
} from '../../../../shared/wire/proto-wire.ts';

/** An input of one sample with its contents. */
export interface FilledTensor extends OipTensor {
  /**
   * Little-endian elements in row-major order; for BYTES each element is 4 bytes of length, then
   * the bytes.
   */
  readonly raw: Uint8Array;
}

/** Form that {@link encodeRequestFields} writes. */
export interface RequestFieldsForm {
  readonly contents: OipContents;
  /** True if an axis of length 1 that counts samples precedes the axes of every input. */
  readonly hasBatchAxis: boolean;
}

const LENGTH_DELIMITED = 2;
const INPUTS_TAG = 5 * 8 + LENGTH_DELIMITED;
const RAW_INPUT_CONTENTS_TAG = 7 * 8 + LENGTH_DELIMITED;
const NAME_TAG = 1 * 8 + LENGTH_DELIMITED;
const DATATYPE_TAG = 2 * 8 + LENGTH_DELIMITED;
const SHAPE_TAG = 3 * 8 + LENGTH_DELIMITED;
const CONTENTS_TAG = 5 * 8 + LENGTH_DELIMITED;

/**
 * The encoded fields of a ModelInferRequest with one sample: `inputs`, and `raw_input_contents` if
 * raw. The model and the id, which the sample library does not know, precede them. Source: Open
 * Inference Protocol, gRPC, "ModelInferRequest"; numbers as in
 * proto/inference/open_inference.proto.
 * @param tensors In the order of the model's inputs, with the axes of one sample.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for datatypes without typed contents (FP16, BF16)
 */
export function encodeRequestFields(
  tensors: readonly FilledTensor[],
  { contents, hasBatchAxis }: RequestFieldsForm,
): Uint8Array {
  const inputs = tensors.map((tensor) => encodeInput(tensor, contents, hasBatchAxis));
  const raws = contents === 'raw' ? tensors.map(({ raw }) => raw) : [];
  const size = [...inputs, ...raws].reduce((sum, bytes) => sum + fieldSize(bytes.length), 0);
  const writer = new ProtoWriter(Buffer.allocUnsafeSlow(size));
  for (const input of inputs) writer.bytes(INPUTS_TAG, input);
  for (const raw of raws) {
    // An input without elements has an entry too: entries are matched to inputs by position.
    writer.head(RAW_INPUT_CONTENTS_TAG, raw.length);
    writer.buffer.set(raw, writer.position);
    writer.position += raw.length;
  }
  return writer.buffer;
}

/** An encoded InferInputTensor. */
function encodeInput(
  { name, datatype, shape, raw }: FilledTensor,
  contents: OipContents,
  hasBatchAxis: boolean,
): Uint8Array {
  const axes = hasBatchAxis ? [1, ...shape] : shape;
  const texts = [Buffer.from(name), Buffer.from(datatype)] as const;
  const typed = contents === 'typed' ? encodeTypedContents(datatype, raw) : undefined;
  const shapeSize = axes.reduce((sum, length) => sum + varintSize(length), 0);
  const size =
    texts.reduce((sum, text) => sum + bytesFieldSize(text.length), 0) +
    bytesFieldSize(shapeSize) +
    (typed === undefined ? 0 : fieldSize(typed.length));
  const writer = new ProtoWriter(Buffer.allocUnsafe(size));
  writer.bytes(NAME_TAG, texts[0]);
  writer.bytes(DATATYPE_TAG, texts[1]);
  if (axes.length > 0) {
    writer.head(SHAPE_TAG, shapeSize);
    for (const length of axes) writer.varint(length);
  }
  if (typed !== undefined) {
    writer.head(CONTENTS_TAG, typed.length);
    writer.buffer.set(typed, writer.position);
    writer.position += typed.length;
  }
  return writer.buffer;
}
