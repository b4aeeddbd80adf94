import {
  type BorrowedBytes,
  borrowedText,
  littleUint32At,
  readInPlace,
} from '../../base/bytes/borrowed-bytes.ts';
import {
  elementCount,
  OIP_ELEMENT_BYTES,
  type OipDataType,
  type OipTensor,
} from '../../domain/tensors.ts';
import { malformed } from '../proto-wire.ts';
import type { OipRequestPlan } from './request-plan.ts';
import { decodeTypedContents, forEachBytesElement } from './typed-contents.ts';

/** An output in a response; texts as bytes. */
export interface WireOutput {
  name: BorrowedBytes;
  datatype: BorrowedBytes;
  readonly shape: number[];
  /** Encoded InferTensorContents; empty if the contents are raw. */
  contents: BorrowedBytes;
}

/** An output of the plan. */
interface WantedOutput {
  readonly text: string;
  readonly name: Uint8Array;
  readonly datatype: OipDataType;
  readonly datatypeName: Uint8Array;
}

/** Bytes before each element of BYTES. */
const ELEMENT_LENGTH_BYTES = 4;

/** Finds the planned outputs in a response, and cuts them into rows per sample. */
export class OutputCutter {
  readonly #wanted: readonly WantedOutput[];
  readonly #hasBatchAxis: boolean;

  constructor({ outputs, hasBatchAxis }: OipRequestPlan) {
    this.#hasBatchAxis = hasBatchAxis;
    this.#wanted = outputs.map(({ name, datatype }) => ({
      text: name,
      name: Buffer.from(name),
      datatype,
      datatypeName: Buffer.from(datatype),
    }));
  }

  /**
   * Payloads of `sampleCount` samples: for each sample the rows of all outputs, in plan order.
   * @param rawContents One per output, in order; empty if all contents are typed.
   * @throws MlperfError `ERR_WIRE_PROTOCOL`
   */
  cut(
    outputs: readonly WireOutput[],
    rawContents: readonly BorrowedBytes[],
    sampleCount: number,
  ): readonly BorrowedBytes[] {
    if (rawContents.length > 0 && rawContents.length !== outputs.length) {
      throw malformed(
        `raw contents of ${rawContents.length} outputs, and descriptions of ${outputs.length}`,
      );
    }
    const rows: BorrowedBytes[][] = [];
    for (let k = 0; k < this.#wanted.length; k += 1) {
      const wanted = this.#wanted[k] as WantedOutput; // In range: k < length.
      const at = indexOf(outputs, wanted, k);
      const raw = rawOf(wanted, outputs[at] as WireOutput, rawContents[at]);
      rows.push(this.#rowsOf(wanted, outputs[at] as WireOutput, raw, sampleCount));
    }
    if (rows.length === 1) return rows[0] as BorrowedBytes[];
    return Array.from({ length: sampleCount }, (_, i) =>
      Buffer.concat(rows.map((ofOutput) => readInPlace(ofOutput[i] as BorrowedBytes))),
    );
  }

  /** Contents of an output, one row per sample. */
  #rowsOf(
    { text, datatype }: WantedOutput,
    { shape }: WireOutput,
    raw: BorrowedBytes,
    sampleCount: number,
  ): BorrowedBytes[] {
    if (sampleCount === 1) return [raw];
    if (!this.#hasBatchAxis || shape[0] !== sampleCount) {
      throw malformed(
        `output "${text}" has the shape [${shape.join(', ')}] for ${sampleCount} samples`,
      );
    }
    if (datatype === 'BYTES') return bytesRows(raw, sampleCount, elementCount(shape) / sampleCount);
    const rowBytes = raw.length / sampleCount; // An integer: the shape was checked.
    return Array.from({ length: sampleCount }, (_, i) =>
      raw.subarray(i * rowBytes, (i + 1) * rowBytes),
    );
  }
}

/** Index of a planned output in the response, usually its own. */
function indexOf(outputs: readonly WireOutput[], wanted: WantedOutput, likely: number): number {
  const first = outputs[likely];
  if (first !== undefined && isEqual(first.name, wanted.name)) return likely;
  const at = outputs.findIndex(({ name }) => isEqual(name, wanted.name));
  if (at < 0) throw malformed(`output "${wanted.text}" is missing`);
  return at;
}

/** Raw contents of an output, with the length that its shape needs. */
function rawOf(
  { text, datatype, datatypeName }: WantedOutput,
  output: WireOutput,
  raw: BorrowedBytes | undefined,
): BorrowedBytes {
  if (!isEqual(output.datatype, datatypeName)) {
    const theirs = borrowedText(output.datatype);
    throw malformed(`output "${text}" is of datatype ${theirs}, its description says ${datatype}`);
  }
  const elements = elementCount(output.shape);
  if (raw === undefined) return decodeTypedContents(datatype, output.contents, elements);
  const elementBytes = OIP_ELEMENT_BYTES[datatype];
  const fits =
    elementBytes === 0
      ? forEachBytesElement(raw) === elements
      : raw.length === elements * elementBytes;
  if (!fits) {
    throw malformed(
      `output "${text}" has ${raw.length} bytes, which is not what ${datatype} of the shape ` +
        `[${output.shape.join(', ')}] has`,
    );
  }
  return raw;
}

/** Rows of BYTES; the elements were checked before. */
function bytesRows(raw: BorrowedBytes, rowCount: number, elementsPerRow: number): BorrowedBytes[] {
  const rows: BorrowedBytes[] = [];
  let end = 0;
  for (let row = 0; row < rowCount; row += 1) {
    const begin = end;
    for (let i = 0; i < elementsPerRow; i += 1)
      end += ELEMENT_LENGTH_BYTES + littleUint32At(raw, end);
    rows.push(raw.subarray(begin, end));
  }
  return rows;
}

/** True if two short texts are equal, as bytes. */
export function isEqual(a: BorrowedBytes, b: BorrowedBytes): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Output by which NVIDIA Dynamo marks the last response to a request: empty texts while more
 * follow; `stop`, `length` or `content_filter` in the last one. Older versions omit the elements
 * while more follow. Source: ai-dynamo/dynamo, lib/llm/src/grpc/service/openai.rs.
 */
const FINISH_REASON = 'finish_reason';

const NAME: Uint8Array = Buffer.from(FINISH_REASON);
const DATATYPE: Uint8Array = Buffer.from('BYTES');

/** True for the output {@link FINISH_REASON} of a model. */
export function isFinishReason({ name, datatype }: Pick<OipTensor, 'name' | 'datatype'>): boolean {
  return name === FINISH_REASON && datatype === 'BYTES';
}

/**
 * True or false if a finish reason states whether the response is the last; undefined without such
 * an output.
 * @param rawContents One per output, or empty if contents are typed.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` if the contents do not fit the shape.
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
