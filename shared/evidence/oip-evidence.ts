import type { OipTensor } from '../domain/tensors.ts';
import type { OipRequestPlan } from '../wire/oip/request-plan.ts';

/** Time that a server says it spent, over all requests of a run: a sum of lengths, and how many they are. */
export interface OipDuration {
  readonly count: number;
  readonly ns: number;
}

/** What a server's own statistics of the model grew by during a run (Triton's ModelStatistics). */
export interface OipStatistics {
  /** Samples, and the batches that they were in. */
  readonly inferenceCount: number;
  readonly executionCount: number;
  readonly success: OipDuration;
  readonly fail: OipDuration;
  readonly queue: OipDuration;
  readonly computeInput: OipDuration;
  readonly computeInfer: OipDuration;
  readonly computeOutput: OipDuration;
}

/** What is known of a node that speaks the Open Inference Protocol, beside what all nodes have. */
export interface OipNodeEvidence {
  readonly serverName: string;
  readonly serverVersion: string;
  readonly extensions: readonly string[];
  readonly modelName: string;
  readonly modelVersions: readonly string[];
  readonly platform: string;
  /** Digest of the model's file, where the server tells one. */
  readonly modelSha256?: string | undefined;
  readonly inputs: readonly OipTensor[];
  /** Of the answer to a request before the run where the metadata have none. */
  readonly outputs: readonly OipTensor[];
  /**
   * Requests that were given to the connection, warm-up left out: a request has one sample, or several of one query. All
   * of them went out in a run that came to its end; one that broke off may have kept back the last ones.
   */
  readonly requestCount: number;
  /** Requests of before the run, which tried whether the server takes what is sent. */
  readonly trialCount: number;
  /** Growth over the run; null where the server has no statistics, or did not tell them. */
  readonly statistics: OipStatistics | null;
}

/** What is known of a run over the Open Inference Protocol. */
export interface OipEvidence {
  /** gRPC's name of the service. */
  readonly service: string;
  /** Null: nothing was planned, where only names were asked. */
  readonly plan: OipRequestPlan | null;
  /** For people: servers that share a name, what was tried and did not work, ... */
  readonly notes: readonly string[];
}
