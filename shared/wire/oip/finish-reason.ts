import { type BorrowedBytes, littleUint32At } from '../../base/bytes/borrowed-bytes.ts';
import type { OipTensor } from '../../domain/tensors.ts';
import { elementCount } from '../../domain/tensors.ts';
import { isEqual } from './equal-bytes.ts';
import { ELEMENT_LENGTH_BYTES, type WireOutput } from './output-cutter.ts';
import { decodeTypedContents } from './typed-contents.ts';

/**
 * Output by which NVIDIA Dynamo ends the responses to a request: empty texts while more follow; `stop`, `length` or
 * `content_filter` in the last one. Older versions leave the elements out while more follow.
 * Source: ai-dynamo/dynamo, lib/llm/src/grpc/service/openai.rs.
 */
const FINISH_REASON = 'finish_reason';

const NAME: Uint8Array = Buffer.from(FINISH_REASON);
const DATATYPE: Uint8Array = Buffer.from('BYTES');

/** Whether an output of a model is that one. */
export function isFinishReason({ name, datatype }: Pick<OipTensor, 'name' | 'datatype'>): boolean {
  return name === FINISH_REASON && datatype === 'BYTES';
}

/**
 * Whether a response tells by its finish reason that it is the last one; undefined where it has no such output.
 * @param rawContents One per output, or none where contents are typed.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` where the contents are not what the shape says.
 */
export function tellsFinish(
  outputs: readonly WireOutput[],
  rawContents: readonly BorrowedBytes[],
): boolean | undefined {
  const at = outputs.findIndex(
    ({ name, datatype }) => isEqual(name, NAME) && isEqual(datatype, DATATYPE),
  );
  const output = outputs[at];
  if (output === undefined) return undefined;
  const elements = elementCount(output.shape);
  const raw = rawContents[at] ?? decodeTypedContents('BYTES', output.contents, elements);
  if (elements === 0 || raw.length < ELEMENT_LENGTH_BYTES) return false;
  for (let at = 0; at + ELEMENT_LENGTH_BYTES <= raw.length; ) {
    const length = littleUint32At(raw, at);
    if (length === 0) return false;
    at += ELEMENT_LENGTH_BYTES + length;
  }
  return true;
}
