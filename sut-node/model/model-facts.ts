import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { GenerationLimits } from '../../shared/rules/rows/benchmark-card.ts';
import type { ModelUsage } from './model-source.ts';

export type { ModelUsage };

/** First axis of inputs and outputs: the samples of a batch (0), or no batch axis (`none`). */
export type BatchAxis = NonNullable<ModelUsage['batchAxis']>;

/** Element type of a response that is one number. */
export type ResponseNumber = NonNullable<ModelUsage['response']>;

/** Length of a free axis, as in the Open Inference Protocol. */
export const FREE = -1;

/**
 * Type of an input or output that is no tensor: ONNX Runtime's JavaScript API does not report
 * which.
 */
export const NO_TENSOR = 'sequence, map or optional';

/** An input or output of the model as ONNX Runtime reports it. */
export interface ModelTensor {
  readonly name: string;
  /** ONNX element type in lower case, or {@link NO_TENSOR}. */
  readonly elementType: string;
  /** Length per axis; {@link FREE} for a free one. */
  readonly shape: readonly number[];
  /** True if the number of axes is unknown; `shape` is then empty. */
  readonly isRankUnknown?: boolean;
}

/** Inputs and outputs of the model. */
export interface ModelTensors {
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
}

/** A model opened by a worker: its file, inputs and outputs. */
export interface OpenedModel extends ModelTensors {
  readonly file: string;
}

/** An input of the model as a pipeline fills it. */
export interface PipelineInput {
  readonly name: string;
  /** ONNX element type in lower case: a key of ELEMENT_TYPES. */
  readonly elementType: string;
  /** Length per axis of one sample, without the batch axis; {@link FREE} for a free one. */
  readonly sampleShape: readonly number[];
}

/** An output tensor from a worker. */
export interface OutputTensor {
  /** Elements in row-major order; the first axis is the batch. */
  readonly data: TensorElements;
  readonly dims: readonly number[];
}

/** Tensors of a model's payloads and responses. */
export interface ModelLayout {
  /** In payload order. */
  readonly inputs: readonly PipelineInput[];
  /** Outputs that form a response. */
  readonly outputNames: readonly string[];
  /** Type of a response that is one number; absent if it is the elements of the outputs. */
  readonly responseNumber?: ResponseNumber | undefined;
  /** False if inputs and outputs have no batch axis. */
  readonly hasBatchAxis: boolean;
}

/** The loaded model of a node. */
export interface LoadedModel {
  /** Path of its file; absent for a model without a file. */
  readonly file?: string;
  readonly tensors: ModelTensors;
  /** SHA-256 of the model file, lower-case hexadecimal. */
  readonly sha256: string;
  /** True for weights that are not known to be the benchmark's own. */
  readonly isStandIn: boolean;
  /** Settings of the model's description; undefined without one. */
  readonly usage?: ModelUsage | undefined;
  /** Samples per inference of a model with a fixed batch axis; undefined: any number. */
  readonly batchSizeFixed?: number | undefined;
  /** Payload forms that its pre-processor reads; undefined: any. */
  readonly forms?: readonly string[] | undefined;
  /**
   * Sequences that a worker generates concurrently; undefined for a model that does not generate.
   */
  readonly sequencesMax?: number | undefined;
  /** Mapping of payloads and responses to tensors; undefined without tensors. */
  readonly layout?: ModelLayout | undefined;
}

/** Memory of a tensor's elements; float16 as 16-bit numbers, IEEE 754. */
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

/** ONNX name in lower case → name and array type in ONNX Runtime's JavaScript API. */
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

/** Elements of one type. */
export interface ElementType {
  /** Name of the type in ONNX Runtime's JavaScript API. */
  readonly runtimeName: ElementRow[0];
  /** Bytes of one element. */
  readonly bytes: number;
  /** Makes a view of `count` elements of `buffer` from `byteOffset`, a multiple of `bytes`. */
  readonly view: (buffer: ArrayBuffer, byteOffset: number, count: number) => TensorElements;
}

/** Fixed-size element types of tensors, by ONNX names in lower case. */
export const ELEMENT_TYPES: ReadonlyMap<string, ElementType> = new Map(
  Object.entries(ROWS).map(([name, row]) => [name, elementType(row)]),
);

/**
 * Converts the payload of one sample into elements of the model's inputs. Timed work of the SUT.
 */
export interface Preprocessor {
  /** Payload forms that it reads; at least one. */
  readonly forms: readonly string[];
  /**
   * Forms whose payload is exactly the elements of the only input: contiguous payloads need no
   * copy.
   */
  readonly tensorForms: readonly string[];
  /**
   * Common length of all free axes ({@link PipelineInput.sampleShape}) of a sample. Absent if no
   * axis is free, so every sample has the shapes of the inputs.
   * @throws Error if no length fits the payload.
   */
  readonly lengthOf?: (payload: BorrowedBytes, form: string) => number;
  /** True if payloads of equal size may have different lengths; default: false. */
  readonly isLengthInContent?: boolean;
  /**
   * Checks a payload of one of {@link tensorForms}.
   * @throws Error with its fault (byte count, NaN).
   */
  readonly checkTensor: (payload: BorrowedBytes, form: string) => void;
  /**
   * Decodes and pre-processes one sample.
   * @param targets Per input, exactly the sample's elements of the batch tensor, in the order of
   * the pipeline's inputs.
   * @throws Error with the payload's fault (not an image, wrong byte count, ...).
   */
  readonly preprocess: (
    payload: BorrowedBytes,
    form: string,
    targets: readonly TensorElements[],
  ) => Promise<void>;
  /** A payload for warm-up: the node is ready only after every worker ran the model once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/** Converts the model's outputs into response bytes. Timed work of the SUT. */
export interface Postprocessor {
  /** Names of the outputs that it reads. */
  readonly outputNames: readonly string[];
  /**
   * Type of a response that is one number. Absent: the response is the elements of those outputs,
   * concatenated.
   */
  readonly responseNumber?: ResponseNumber | undefined;
  /** True if a response is neither: the benchmark's rules define it. Default: false. */
  readonly isOwnResponse?: boolean;
  /** Response bytes of one sample (row of the batch), in the accuracy script's format. */
  postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array;
}

/**
 * Pre- and post-processing of one loaded model whose samples are rows of its batch axis. Made in
 * the worker.
 */
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

/** A sample for a pipeline: decompressed, and borrowed from the batch until it is answered. */
export interface SamplePayload {
  readonly payload: BorrowedBytes;
  readonly form: string;
}

/**
 * Processing of samples that are no rows of the model's batch axis: a volume is many windows, a
 * query of pairs has a row per pair, a picture takes many steps. Made in the worker.
 */
export interface StepwisePipeline {
  /** Payload forms that it reads; at least one. */
  readonly forms: readonly string[];
  /**
   * Answers the samples of a batch.
   * @param run One inference; call it as often as needed.
   * @returns Per sample the response bytes in the accuracy script's format, or an Error with its
   * fault.
   * @throws Error if no sample of the batch can be answered.
   */
  readonly answer: (
    samples: readonly SamplePayload[],
    run: RunModel,
  ) => Promise<readonly (Uint8Array | Error)[]>;
  /** Batch size above which samples would only wait for each other; absent: the settings decide. */
  readonly samplesAtOnce?: number;
  /** A payload for warm-up: the node is ready only after every worker answered it once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/**
 * Sizes and names of a decoder-only model with keys and values of earlier tokens as inputs and
 * outputs.
 */
export interface DecoderLayout {
  readonly layers: number;
  /** Heads of keys and values, and elements of each per token. */
  readonly heads: number;
  readonly headWidth: number;
  readonly vocabulary: number;
  /** `float` or `float16`. */
  readonly cacheType: 'float' | 'float16';
  readonly logitsType: 'float' | 'float16';
  /** True if the model takes `position_ids`. */
  readonly hasPositions: boolean;
}

/**
 * Pipeline for prompts that a decoder-only model continues token by token, many concurrently. Made
 * in the worker.
 */
export interface GeneratingPipeline {
  /** Payload forms that it reads; at least one. */
  readonly forms: readonly string[];
  readonly decoder: DecoderLayout;
  readonly limits: GenerationLimits;
  /** Ids of a prompt, 1 or more. @throws Error with the payload's fault. */
  readonly promptOf: (payload: BorrowedBytes) => readonly number[];
  /** A payload for warm-up: the node is ready only after every worker answered it once. */
  warmUpPayload(): { readonly form: string; readonly payload: Uint8Array };
}

/** Any of the three pipelines. */
export type AnyPipeline = ModelPipeline | StepwisePipeline | GeneratingPipeline;

/** True for a pipeline that runs the model by itself. */
export function isStepwise(pipeline: AnyPipeline): pipeline is StepwisePipeline {
  return 'answer' in pipeline;
}

/** True for a pipeline whose model generates tokens. */
export function isGenerating(pipeline: AnyPipeline): pipeline is GeneratingPipeline {
  return 'decoder' in pipeline;
}
