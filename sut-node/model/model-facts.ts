import type { TensorElements } from './element-types.ts';

/** What lies in the first axis of inputs and outputs: the samples of a batch, or nothing of the kind. */
export type BatchAxis = 0 | 'none';

/** Element type of a response that is one number. */
export type ResponseNumber = 'float32' | 'int32' | 'int64';

/** Names of pre-processors that a model's description may give. */
export const PREPROCESSOR_NAMES = ['tensor', 'imagenet-vgg', 'imagenet-mobilenet'] as const;

/** One of {@link PREPROCESSOR_NAMES}. */
export type PreprocessorName = (typeof PREPROCESSOR_NAMES)[number];

/** Names of post-processors that a model's description may give. */
export const POSTPROCESSOR_NAMES = ['raw', 'class'] as const;

/** One of {@link POSTPROCESSOR_NAMES}. */
export type PostprocessorName = (typeof POSTPROCESSOR_NAMES)[number];

/**
 * How a model is to be used, as its description file says it; plain data, since it travels to the workers.
 * What is undefined the benchmark decides, or the model itself.
 */
export interface ModelUsage {
  /** Inputs to feed, in the order in which a payload has them; a shape is that of one sample. */
  readonly inputs?: readonly { readonly name: string; readonly shape?: readonly number[] }[];
  readonly preprocess?: PreprocessorName;
  readonly postprocess?: PostprocessorName;
  /** Name of the output that the post-processor reads. */
  readonly output?: string;
  /** Added to a class that the model tells: -1 where class 0 is the background. */
  readonly classOffset?: number;
  readonly response?: ResponseNumber;
  readonly batchAxis?: BatchAxis;
  /** Samples of different lengths in a free axis: never in one batch, or padded to the longest with zeros. */
  readonly freeAxes?: 'group' | 'pad';
}

/** An input or output of the model as ONNX Runtime tells it. */
export interface ModelTensor {
  readonly name: string;
  /** ONNX element type in lower case, or `not a tensor`. */
  readonly elementType: string;
  /** Length per axis; 0 for a free one. */
  readonly shape: readonly number[];
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
  /** ONNX element type in lower case: a key of ELEMENT_TYPES (element-types.ts). */
  readonly elementType: string;
  /** Length per axis of one sample, without the batch axis; 0 for a free one. */
  readonly sampleShape: readonly number[];
}

/** An output tensor as a worker hands it on. */
export interface OutputTensor {
  /** Elements in row-major order; the first axis is the batch. */
  readonly data: TensorElements;
  readonly dims: readonly number[];
}

/** What a payload and a response of a model are made of. */
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
  /** Path of its file; absent where it is none. */
  readonly file?: string;
  readonly tensors: ModelTensors;
  /** SHA-256 of the model file, lower-case hexadecimal. */
  readonly sha256: string;
  /** True for weights that are not known to be the benchmark's own. */
  readonly isStandIn: boolean;
  /** What the model's description says; undefined where there is none. */
  readonly usage?: ModelUsage | undefined;
  /** Samples per inference where the model has a fixed batch axis; undefined: any number. */
  readonly batchSizeFixed?: number | undefined;
  /** Forms of payload that its pre-processor reads; undefined: any. */
  readonly forms?: readonly string[] | undefined;
  /** How payloads and responses lie on its tensors; undefined where it has none. */
  readonly layout?: ModelLayout | undefined;
}
