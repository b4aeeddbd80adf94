import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { GenerationLimits } from '../../shared/rules/rows/benchmark-card.ts';
import type { ModelUsage } from './model-source.ts';

export type { ModelUsage };

/** First axis of inputs and outputs: the samples of a batch (0), or no batch axis (`none`). */
export type BatchAxis = NonNullable<ModelUsage['batchAxis']>;

/** Element type of a response that is one number. */
export type ResponseNumber = NonNullable<ModelUsage['response']>;

/** Length of an axis that takes any, as in the Open Inference Protocol. */
export const FREE = -1;

/** Type of an input or output that is no tensor: ONNX Runtime's JavaScript API does not tell which. */
export const NO_TENSOR = 'sequence, map or optional';

/** An input or output of the model as ONNX Runtime tells it. */
export interface ModelTensor {
  readonly name: string;
  /** ONNX element type in lower case, or {@link NO_TENSOR}. */
  readonly elementType: string;
  /** Length per axis; {@link FREE} for one that takes any. */
  readonly shape: readonly number[];
  /** The model does not even tell how many axes there are; `shape` is empty then. */
  readonly isRankUnknown?: boolean;
}

/** Inputs and outputs of the model. */
export interface ModelTensors {
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
}

/** A model that a worker has opened: its file, inputs and outputs. */
export interface OpenedModel extends ModelTensors {
  readonly file: string;
}

/** An input of the model as a pipeline feeds it. */
export interface PipelineInput {
  readonly name: string;
  /** ONNX element type in lower case: a key of ELEMENT_TYPES. */
  readonly elementType: string;
  /** Length per axis of one sample, without the batch axis; {@link FREE} for one that takes any. */
  readonly sampleShape: readonly number[];
}

/** An output tensor as a worker hands it on. */
export interface OutputTensor {
  /** Elements in row-major order; the first axis is the batch. */
  readonly data: TensorElements;
  readonly dims: readonly number[];
}

/** Tensors of a model's payloads and responses. */
export interface ModelLayout {
  /** In the order in which a payload has them. */
  readonly inputs: readonly PipelineInput[];
  /** Outputs that a response is made of. */
  readonly outputNames: readonly string[];
  /** Type of the one number that a response is; absent where it is the elements of the outputs. */
  readonly responseNumber?: ResponseNumber | undefined;
  /** False where inputs and outputs have no batch axis. */
  readonly hasBatchAxis: boolean;
}

/** The model that a node has loaded. */
export interface LoadedModel {
  /** Path of its file; absent for a model without a file. */
  readonly file?: string;
  readonly tensors: ModelTensors;
  /** SHA-256 of the model file, lower-case hexadecimal. */
  readonly sha256: string;
  /** True for weights that are not known to be the benchmark's own. */
  readonly isStandIn: boolean;
  /** Settings of the model's description; undefined where there is none. */
  readonly usage?: ModelUsage | undefined;
  /** Samples per inference where the model has a fixed batch axis; undefined: any number. */
  readonly batchSizeFixed?: number | undefined;
  /** Forms of payload that its pre-processor reads; undefined: any. */
  readonly forms?: readonly string[] | undefined;
  /** Sequences that a worker generates side by side; undefined for a model that does not generate. */
  readonly sequencesMax?: number | undefined;
  /** How payloads and responses lie on its tensors; undefined where it has none. */
  readonly layout?: ModelLayout | undefined;
}

/** Memory of a tensor's elements; float16 lies in 16-bit numbers as IEEE 754 says. */
export type TensorElements =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array;

interface Memory {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, byteOffset: number, length: number): TensorElements;
}

/** ONNX's name in lower case → the name in ONNX Runtime's JavaScript API, and the memory that it wants. */
const ROWS = {
  float: ['float32', Float32Array],
  double: ['float64', Float64Array],
  float16: ['float16', Uint16Array],
  uint8: ['uint8', Uint8Array],
  int8: ['int8', Int8Array],
  uint16: ['uint16', Uint16Array],
  int16: ['int16', Int16Array],
  uint32: ['uint32', Uint32Array],
  int32: ['int32', Int32Array],
  uint64: ['uint64', BigUint64Array],
  int64: ['int64', BigInt64Array],
  bool: ['bool', Uint8Array],
} as const satisfies Record<string, readonly [string, Memory]>;

type ElementRow = (typeof ROWS)[keyof typeof ROWS];

function elementType([runtimeName, memory]: ElementRow): ElementType {
  const Elements: Memory = memory;
  return {
    runtimeName,
    bytes: memory.BYTES_PER_ELEMENT,
    view: (buffer, byteOffset, count) => new Elements(buffer, byteOffset, count),
  };
}

/** Elements of tensors of one type. */
export interface ElementType {
  /** Its name in ONNX Runtime's JavaScript API. */
  readonly runtimeName: ElementRow[0];
  /** Of one element. */
  readonly bytes: number;
  /** Elements on `count` elements' worth of `buffer`, from `byteOffset`, a multiple of `bytes`. */
  readonly view: (buffer: ArrayBuffer, byteOffset: number, count: number) => TensorElements;
}

/** Element types of tensors by ONNX's names in lower case: those that have a fixed size. */
export const ELEMENT_TYPES: ReadonlyMap<string, ElementType> = new Map(
  Object.entries(ROWS).map(([name, row]) => [name, elementType(row)]),
);

/** Turns the payload of one sample into elements of the model's inputs. Timed work of the SUT. */
export interface Preprocessor {
  /** Forms of payload that it reads; at least one. */
  readonly forms: readonly string[];
  /**
   * Forms of which the payload is the sample's elements of the only input, byte for byte: such payloads need
   * not be copied where they already lie one behind the other.
   */
  readonly tensorForms: readonly string[];
  /**
   * Common length of all free axes ({@link PipelineInput.sampleShape}) of a sample. Where it is missing, no axis
   * is free and every sample has the shapes of the inputs.
   * @throws Error when no length fits the payload.
   */
  readonly lengthOf?: (payload: BorrowedBytes, form: string) => number;
  /** True where payloads of as many bytes may have different lengths; default: false. */
  readonly isLengthInContent?: boolean;
  /**
   * Says whether a payload of one of {@link tensorForms} may go to the model as it is.
   * @throws Error saying what is wrong with it (byte count, not a number).
   */
  readonly checkTensor: (payload: BorrowedBytes, form: string) => void;
  /**
   * Decodes and pre-processes one sample.
   * @param targets Per input, exactly the sample's elements of the batch tensor, in the order of the
   *   pipeline's inputs.
   * @throws Error saying what is wrong with the payload (not an image, wrong byte count, ...).
   */
  readonly preprocess: (
    payload: BorrowedBytes,
    form: string,
    targets: readonly TensorElements[],
  ) => Promise<void>;
  /** A payload for warm-up: the node is ready only after every worker ran the model once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/** Turns the model's outputs into response bytes. Timed work of the SUT. */
export interface Postprocessor {
  /** Names of the outputs that it reads. */
  readonly outputNames: readonly string[];
  /**
   * Type of the one number that a response is. Absent: the response is the elements of those outputs, one behind the
   * other.
   */
  readonly responseNumber?: ResponseNumber | undefined;
  /** True where a response is neither: the benchmark's rules say what it is. Default: false. */
  readonly isOwnResponse?: boolean;
  /** Response bytes of one sample (row of the batch) as the accuracy script reads them. */
  postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array;
}

/** Pre- and post-processing of one loaded model whose samples are rows of its batch axis. Made in the worker. */
export interface ModelPipeline extends Preprocessor, Postprocessor {
  readonly inputs: readonly PipelineInput[];
}

/** An input tensor; `data` holds exactly the elements of `dims` and is not kept. */
export interface InputTensor {
  readonly name: string;
  /** ONNX element type in lower case. */
  readonly elementType: string;
  readonly data: TensorElements;
  readonly dims: readonly number[];
}

/** One inference. @throws Error of the model */
export type RunModel = (
  inputs: readonly InputTensor[],
  outputNames: readonly string[],
) => Promise<ReadonlyMap<string, OutputTensor>>;

/** A sample as a pipeline gets it: decompressed, and borrowed from the batch until it is answered. */
export interface SamplePayload {
  readonly payload: BorrowedBytes;
  readonly form: string;
}

/**
 * Work on samples that are no rows of the model's batch axis: a volume is many windows, a query of pairs has as many rows as
 * pairs, a picture takes many steps. Made in the worker.
 */
export interface StepwisePipeline {
  /** Forms of payload that it reads; at least one. */
  readonly forms: readonly string[];
  /**
   * Answers the samples of a batch.
   * @param run One inference; as often as needed.
   * @returns Per sample the response bytes as the accuracy script reads them, or an Error that says what is wrong with it.
   * @throws Error where no sample of the batch can be answered.
   */
  readonly answer: (
    samples: readonly SamplePayload[],
    run: RunModel,
  ) => Promise<readonly (Uint8Array | Error)[]>;
  /** Samples of a batch where more would only wait for each other; absent: as many as the settings say. */
  readonly samplesAtOnce?: number;
  /** A payload for warm-up: the node is ready only after every worker answered it once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/** Sizes and names of a decoder-only model, whose keys and values of the tokens so far are inputs and outputs. */
export interface DecoderLayout {
  readonly layers: number;
  /** Heads of keys and values, and elements of each per token. */
  readonly heads: number;
  readonly headWidth: number;
  readonly vocabulary: number;
  /** `float` or `float16`. */
  readonly cacheType: 'float' | 'float16';
  readonly logitsType: 'float' | 'float16';
  /** True where it takes `position_ids`. */
  readonly hasPositions: boolean;
}

/** Samples are prompts, which a decoder-only model goes on with, token by token, many side by side. Made in the worker. */
export interface GeneratingPipeline {
  /** Forms of payload that it reads; at least one. */
  readonly forms: readonly string[];
  readonly decoder: DecoderLayout;
  readonly limits: GenerationLimits;
  /** Ids of a prompt, 1 or more. @throws Error saying what is wrong with the payload. */
  readonly promptOf: (payload: BorrowedBytes) => readonly number[];
  /** A payload for warm-up: the node is ready only after every worker answered it once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/** Any of the three. */
export type AnyPipeline = ModelPipeline | StepwisePipeline | GeneratingPipeline;

/** True for a pipeline that runs the model by itself. */
export function isStepwise(pipeline: AnyPipeline): pipeline is StepwisePipeline {
  return 'answer' in pipeline;
}

/** True for a pipeline whose model generates tokens. */
export function isGenerating(pipeline: AnyPipeline): pipeline is GeneratingPipeline {
  return 'decoder' in pipeline;
}
