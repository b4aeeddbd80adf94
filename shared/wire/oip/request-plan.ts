import type { OipTensor } from '../../domain/tensors.ts';

/** gRPC name of the service in the standard. TorchServe has another one. */
export const OIP_SERVICE_NAME = 'inference.GRPCInferenceService';

/** The requested model. */
export interface OipModelRef {
  readonly name: string;
  /** Empty: the server chooses. */
  readonly version: string;
}

/** Parses `name` or `name:version`; the last colon precedes the version. */
export function modelRef(text = ''): OipModelRef {
  const [, name = text, version = ''] = /^(.+):([^:]*)$/s.exec(text) ?? [];
  return { name, version };
}

/**
 * `unary`: a ModelInfer call per request. `stream`: messages on long-lived ModelStreamInfer
 * streams. `stream-per-request`: one ModelStreamInfer stream per request, for servers that process
 * the requests of a stream serially.
 */
export const OIP_METHODS = ['unary', 'stream', 'stream-per-request'] as const;

/** Place of input contents: `raw_input_contents`, or each input's `contents`. */
export type OipContents = 'raw' | 'typed';

/** One of {@link OIP_METHODS}. */
export type OipMethod = (typeof OIP_METHODS)[number];

/**
 * Forms of a sample's payload. `tensors`: the concatenated raw contents of all inputs of the plan,
 * of fixed sizes. `fields`: encoded fields of ModelInferRequest that the sample library prepared,
 * untimed: `inputs` with their shapes and their contents, raw or typed. For samples whose shapes
 * differ, and for servers with typed contents only.
 */
type OipPayloadForm = 'tensors' | 'fields';

/** An input of every request of the run. */
export interface OipPlannedInput {
  readonly name: string;
  readonly datatype: OipTensor['datatype'];
  /** Lengths of the axes of one sample, all known, without the batch axis. */
  readonly sampleShape: readonly number[];
  /** Bytes of one sample in the payload. */
  readonly sampleBytes: number;
}

/** How samples become requests; fixed and checked before the first query. */
export interface OipRequestPlan {
  readonly model: OipModelRef;
  readonly payloadForm: OipPayloadForm;
  /** In payload order. Empty for payloads of form `fields`. */
  readonly inputs: readonly OipPlannedInput[];
  /** True if the first axis of every input and output counts samples, and is sent. */
  readonly hasBatchAxis: boolean;
  /** Most samples of one query per request; above 1 only with a batch axis and `tensors`. */
  readonly samplesPerRequest: number;
  /** Outputs in the order of the response's payload: concatenated raw contents of one sample. */
  readonly outputs: readonly OipTensor[];
  readonly method: OipMethod;
}

/** Result for concurrent requests at one node: on one stream, and in separate calls. */
export interface OipWaysCompared {
  readonly address: string;
  /** True if requests on one stream wait for each other, but separate calls do not. */
  readonly isStreamTheLimit: boolean;
  /** Concurrent requests; 1: this node never has more, and nothing was compared. */
  readonly requestCount: number;
  /** Time until all were answered, ms, in the median round; NaN if they were not. */
  readonly streamMs: number;
  readonly callsMs: number;
  /** True if responses on the stream came one after another in every round. */
  readonly isInTurn: boolean;
  /** Why concurrent requests failed, on the stream and in separate calls. */
  readonly streamFailure: string | undefined;
  readonly callsFailure: string | undefined;
  /** Requests that the node received. */
  readonly trialCount: number;
}

/** ServerMetadata. */
export interface OipServerFacts {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

/** A server's facts of a model (ModelMetadata, and ModelConfig if available). */
export interface OipModelFacts {
  readonly address: string;
  readonly server: OipServerFacts;
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  /** Digest of the model's file, hexadecimal, if reported: an extension of the standard. */
  readonly sha256?: string;
  readonly inputs: readonly OipTensor[];
  readonly outputs: readonly OipTensor[];
  /** Most samples per request; 0: no batch axis; undefined: not reported. */
  readonly batchSizeMax: number | undefined;
  /**
   * True if a request may have any number of responses, which only a stream can carry. Undefined:
   * not reported.
   */
  readonly isDecoupled: boolean | undefined;
  /**
   * True if the server has ModelStreamInfer, as far as visible without an inference; undefined:
   * unknown.
   */
  readonly hasStream: boolean | undefined;
  readonly hasStatistics: boolean;
}
