/** What lies in the first axis of inputs and outputs: the samples of a batch, or nothing of the kind. */
export type BatchAxis = 0 | 'none';

/** Element type of a response that is one number. */
export type ResponseNumber = 'float32' | 'int32' | 'int64';

/**
 * How a model is to be used, as its description file says it; plain data, since it travels to the workers.
 * What is undefined the benchmark decides, or the model itself.
 */
export interface ModelUsage {
  /** Inputs to feed, in the order in which a payload has them; a shape is that of one sample. */
  readonly inputs?: readonly { readonly name: string; readonly shape?: readonly number[] }[];
  /** Name of a pre-processor. */
  readonly preprocess?: string;
  /** Name of a post-processor, and the output that it reads. */
  readonly postprocess?: string;
  readonly output?: string;
  /** Added to a class that the model tells: -1 where class 0 is the background. */
  readonly classOffset?: number;
  readonly response?: ResponseNumber;
  readonly batchAxis?: BatchAxis;
  /** Samples of different lengths in a free axis: never in one batch, or padded to the longest with zeros. */
  readonly freeAxes?: 'group' | 'pad';
}
