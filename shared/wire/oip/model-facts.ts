import type { OipTensor } from '../../domain/tensors.ts';

/** What a server says of itself (ServerMetadata). */
export interface OipServerFacts {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

/** What a server says of a model (ModelMetadata, and ModelConfig where it has that). */
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
