import type { OipTensor } from '../../domain/tensors.ts';

/** gRPC's name of the service, as the standard has it. TorchServe has another one. */
export const OIP_SERVICE_NAME = 'inference.GRPCInferenceService';

/** Which model is asked. */
export interface OipModelRef {
  readonly name: string;
  /** Empty: the server chooses. */
  readonly version: string;
}

/** Reads `name` or `name:version`; the last colon is before the version. */
export function modelRef(text = ''): OipModelRef {
  const [, name = text, version = ''] = /^(.+):([^:]*)$/s.exec(text) ?? [];
  return { name, version };
}

/**
 * `unary`: a ModelInfer call per request. `stream`: messages on long-lived ModelStreamInfer streams. `stream-per-request`: a
 * ModelStreamInfer stream of its own for each request, for servers that work off the requests of a stream one by one.
 */
export const OIP_METHODS = ['unary', 'stream', 'stream-per-request'] as const;

/** Where the contents of inputs stand: in `raw_input_contents`, or in each input's `contents`. */
export type OipContents = 'raw' | 'typed';

/** One of {@link OIP_METHODS}. */
export type OipMethod = (typeof OIP_METHODS)[number];

/**
 * Forms of a sample's payload.
 * `tensors`: the raw contents of all inputs of the plan, one behind the other, of fixed sizes.
 * `fields`: encoded fields of ModelInferRequest that the sample library prepared, untimed: `inputs` with their shapes and
 * their contents, raw or typed. For samples whose shapes differ, and for servers that know typed contents only.
 */
type OipPayloadForm = 'tensors' | 'fields';

/** An input as every request of the run has it. */
export interface OipPlannedInput {
  readonly name: string;
  readonly datatype: OipTensor['datatype'];
  /** Lengths of the axes of one sample, all known, without the batch axis. */
  readonly sampleShape: readonly number[];
  /** Bytes of one sample in the payload. */
  readonly sampleBytes: number;
}

/** How samples become requests; decided and checked before the first query. */
export interface OipRequestPlan {
  readonly model: OipModelRef;
  readonly payloadForm: OipPayloadForm;
  /** In the order of the payload. Empty where the payloads are `fields`. */
  readonly inputs: readonly OipPlannedInput[];
  /** True where the first axis of every input and output counts samples, and is sent. */
  readonly hasBatchAxis: boolean;
  /** Samples of one query in one request, at most; above 1 with a batch axis and `tensors` only. */
  readonly samplesPerRequest: number;
  /** Outputs in the order of the response's payload: raw contents of one sample, one behind the other. */
  readonly outputs: readonly OipTensor[];
  readonly method: OipMethod;
}

/** How one node takes several requests at once: on one stream, and each in a call of its own. */
export interface OipWaysCompared {
  readonly address: string;
  /** True: requests on one stream wait for each other, requests in calls of their own do not. */
  readonly isStreamTheLimit: boolean;
  /** Requests at once; 1: this node never has more, and no comparison was made. */
  readonly requestCount: number;
  /** Until all were answered, in ms, in the round in the middle of all; NaN where they were not. */
  readonly streamMs: number;
  readonly callsMs: number;
  /** True: the answers on the stream came one after the other in every round. */
  readonly isInTurn: boolean;
  /** Why several requests at once failed, on the stream and in calls of their own. */
  readonly streamFailure: string | undefined;
  readonly callsFailure: string | undefined;
  /** Requests that the node got. */
  readonly trialCount: number;
}

/** ServerMetadata. */
export interface OipServerFacts {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

/** A server's facts of a model (ModelMetadata, and ModelConfig where it has that). */
export interface OipModelFacts {
  readonly address: string;
  readonly server: OipServerFacts;
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  /** Digest of the model's file, in hexadecimal digits, where the server tells one: no part of the standard. */
  readonly sha256?: string;
  readonly inputs: readonly OipTensor[];
  readonly outputs: readonly OipTensor[];
  /** Most samples in a request; 0: no batch axis; undefined: the server does not tell. */
  readonly batchSizeMax: number | undefined;
  /** A request may have any number of responses, which only a stream carries. Undefined: the server does not tell. */
  readonly isDecoupled: boolean | undefined;
  /** Whether the server has ModelStreamInfer, as far as it can be told without an inference; undefined: it cannot. */
  readonly hasStream: boolean | undefined;
  readonly hasStatistics: boolean;
}
