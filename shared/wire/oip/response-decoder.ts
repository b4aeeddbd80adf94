import { type BorrowedBytes, borrowedText, NO_BYTES } from '../../base/bytes/borrowed-bytes.ts';
import { malformed, ProtoReader } from '../proto-wire.ts';
import { isEqual, OutputCutter, tellsFinish, type WireOutput } from './output-cutter.ts';
import type { OipRequestPlan } from './request-plan.ts';

/** Tags of the messages: (field << 3) | wire type. */
const STREAM = { errorMessage: (1 << 3) | 2, inferResponse: (2 << 3) | 2 } as const;
const RESPONSE = {
  id: (3 << 3) | 2,
  parameters: (4 << 3) | 2,
  outputs: (5 << 3) | 2,
  rawOutputContents: (6 << 3) | 2,
} as const;
const TENSOR = {
  name: (1 << 3) | 2,
  datatype: (2 << 3) | 2,
  shape: 3 << 3,
  packedShape: (3 << 3) | 2,
  contents: (5 << 3) | 2,
} as const;
const ENTRY = { key: (1 << 3) | 2, value: (2 << 3) | 2 } as const;
const PARAMETER = { bool: 1 << 3, int64: 2 << 3, uint64: 5 << 3 } as const;

/** The first field number that is not in ModelStreamInferResponse. */
const STREAM_FIELDS_END = 3;

/** Marks the last response to a request (Triton); longhaul's own node adds the token count. */
const FINAL_MARK: Uint8Array = Buffer.from('triton_final_response');
const TOKEN_COUNT: Uint8Array = Buffer.from('token_count');

/** Longest id of this side: ids are below 2^53. */
const ID_DIGITS_MAX = 16;

/** An output as the response describes it. */
export interface DescribedOutput {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

/**
 * Reads ModelInferResponses by hand, without copies. One decoder serves a channel: its results are
 * valid as long as the message.
 *
 * Unknown fields are skipped, lengths are checked. {@link read} throws for malformed bytes, and
 * keeps what it had read before, perhaps the id.
 */
export class OipResponseDecoder {
  /** The echoed id; NaN: none, or not an id of this side. */
  id: number = Number.NaN;
  /** True if the server sent any id. */
  hasId = false;
  /** In-band error of a stream; empty: none. */
  errorMessage = '';
  /** Triton's mark for the last response; undefined without one. */
  isFinal: boolean | undefined;
  /** Tokens of the whole request, by the server's count. */
  tokenCount: number | undefined;
  readonly #outputs: WireOutput[] = [];
  readonly #rawContents: BorrowedBytes[] = [];
  readonly #cutter: OutputCutter;

  constructor(plan: OipRequestPlan) {
    this.#cutter = new OutputCutter(plan);
  }

  /** True for a response without tensors: a final marker, or one without the planned outputs. */
  get isEmpty(): boolean {
    return this.#outputs.length === 0;
  }

  /**
   * True or false if an output `finish_reason` states whether this response is the last; otherwise
   * undefined.
   * @throws MlperfError `ERR_WIRE_PROTOCOL`
   */
  tellsFinish(): boolean | undefined {
    return tellsFinish(this.#outputs, this.#rawContents);
  }

  /** The outputs as the message describes them, datatypes unchanged. Not for the hot path. */
  describeOutputs(): readonly DescribedOutput[] {
    return this.#outputs.map(({ name, datatype, shape }) => ({
      name: borrowedText(name),
      datatype: borrowedText(datatype),
      shape: [...shape],
    }));
  }

  /** Reads a ModelInferResponse. @throws MlperfError `ERR_WIRE_PROTOCOL` */
  read(message: BorrowedBytes): void {
    this.#reset();
    this.#readResponse(message);
  }

  /**
   * Reads a message of a ModelStreamInfer stream: ModelStreamInferResponse, or ModelInferResponse
   * as MLServer sends it. Their fields differ: a ModelStreamInferResponse has only 1 and 2, and
   * every plain response has id (3), outputs (5) or contents (6).
   * @throws MlperfError `ERR_WIRE_PROTOCOL`
   */
  readOfStream(message: BorrowedBytes): void {
    this.#reset();
    const reader = new ProtoReader(message);
    let response: BorrowedBytes | undefined;
    let error: BorrowedBytes | undefined;
    while (reader.position < reader.end) {
      const tag = reader.varint();
      if (tag >>> 3 >= STREAM_FIELDS_END) {
        this.#readResponse(message);
        return;
      }
      if (tag === STREAM.inferResponse) response = reader.bytes();
      else if (tag === STREAM.errorMessage) error = reader.bytes();
      else reader.skip(tag % 8);
    }
    // An error is followed by a response that has at least the id.
    if (error !== undefined) this.errorMessage = borrowedText(error);
    if (response !== undefined) this.#readResponse(response);
  }

  /**
   * Payloads of a request's samples, in order: concatenated raw contents of the plan's outputs, as
   * views if possible.
   * @param sampleCount Samples of the request, 1 or more.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` for an output that is missing, of another datatype, or
   * of another shape.
   */
  payloads(sampleCount: number): readonly BorrowedBytes[] {
    return this.#cutter.cut(this.#outputs, this.#rawContents, sampleCount);
  }

  #reset(): void {
    this.id = Number.NaN;
    this.hasId = false;
    this.errorMessage = '';
    this.isFinal = undefined;
    this.tokenCount = undefined;
    this.#outputs.length = 0;
    this.#rawContents.length = 0;
  }

  #readResponse(message: BorrowedBytes): void {
    const reader = new ProtoReader(message);
    while (reader.position < reader.end) {
      const tag = reader.varint();
      switch (tag) {
        case RESPONSE.id:
          this.#readId(reader.bytes());
          break;
        case RESPONSE.parameters:
          this.#readParameter(reader.message());
          break;
        case RESPONSE.outputs:
          this.#outputs.push(readOutput(reader.message()));
          break;
        case RESPONSE.rawOutputContents:
          this.#rawContents.push(reader.bytes());
          break;
        default:
          reader.skip(tag % 8);
      }
    }
  }

  /** Reads an id of this side: decimal, as sent. */
  #readId(text: BorrowedBytes): void {
    this.hasId = text.length > 0;
    this.id = Number.NaN;
    if (text.length === 0 || text.length > ID_DIGITS_MAX) return;
    if (text[0] === 48 && text.length > 1) return;
    let id = 0;
    for (let i = 0; i < text.length; i += 1) {
      const digit = (text[i] as number) - 48; // In range: i < length.
      if (digit < 0 || digit > 9) return;
      id = id * 10 + digit;
    }
    this.id = id;
  }

  /** An entry of the parameter map. */
  #readParameter(entry: ProtoReader<BorrowedBytes>): void {
    let key: BorrowedBytes | undefined;
    let value: ProtoReader<BorrowedBytes> | undefined;
    while (entry.position < entry.end) {
      const tag = entry.varint();
      if (tag === ENTRY.key) key = entry.bytes();
      else if (tag === ENTRY.value) value = entry.message();
      else entry.skip(tag % 8);
    }
    if (key === undefined || value === undefined) return;
    if (isEqual(key, FINAL_MARK)) this.isFinal = numberIn(value, PARAMETER.bool) === 1;
    else if (isEqual(key, TOKEN_COUNT)) this.tokenCount = numberIn(value, PARAMETER.int64);
  }
}

function readOutput(reader: ProtoReader<BorrowedBytes>): WireOutput {
  const output: WireOutput = { name: NO_BYTES, datatype: NO_BYTES, shape: [], contents: NO_BYTES };
  while (reader.position < reader.end) {
    const tag = reader.varint();
    switch (tag) {
      case TENSOR.name:
        output.name = reader.bytes();
        break;
      case TENSOR.datatype:
        output.datatype = reader.bytes();
        break;
      case TENSOR.shape:
        output.shape.push(axisLength(reader));
        break;
      case TENSOR.packedShape: {
        const lengths = reader.message();
        while (lengths.position < lengths.end) output.shape.push(axisLength(lengths));
        break;
      }
      case TENSOR.contents:
        output.contents = reader.bytes();
        break;
      default:
        reader.skip(tag % 8);
    }
  }
  return output;
}

/** The length of an axis. @throws MlperfError `ERR_WIRE_PROTOCOL` for one below 0 */
function axisLength(reader: ProtoReader<BorrowedBytes>): number {
  const length = reader.int64();
  if (length < 0)
    throw malformed(`an output's shape has the length ${length}; lengths are 0 or more`);
  return length;
}

/** The number in an InferParameter; undefined for another kind. @param tag Expected tag. */
function numberIn(reader: ProtoReader<BorrowedBytes>, tag: number): number | undefined {
  let number: number | undefined;
  while (reader.position < reader.end) {
    const found = reader.varint();
    const isWanted = found === tag || (tag === PARAMETER.int64 && found === PARAMETER.uint64);
    if (isWanted) number = reader.varint();
    else reader.skip(found % 8);
  }
  return number;
}
