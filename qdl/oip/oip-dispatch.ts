import type { OipTensor } from '../../shared/domain/tensors.ts';
import type { OipModelRef, OipRequestPlan } from '../../shared/wire/oip/request-plan.ts';

/** Payload bytes of a request: a protobuf message has less than 2 GiB; of them the head takes a little. */
export const REQUEST_BYTES_MAX: number = 2 ** 31 - 2 ** 20;

/** Settings of the QDL for nodes that speak the Open Inference Protocol. */
export interface OipDispatch {
  /** gRPC's name of the service. */
  readonly service: string;
  readonly model: OipModelRef;
  /** How samples become requests; undefined where nothing is to be sent yet: names, metadata. */
  readonly plan?: OipRequestPlan;
  /** Requests that each node got before the run, to try whether it takes what is planned; default: none. */
  readonly trialCount?: number;
  /** Outputs of a model whose metadata have none, as a request before the run was answered; told in the evidence. */
  readonly answeredOutputs?: readonly OipTensor[];
  /** What came to light before the run, for people; told in the evidence. */
  readonly notes?: readonly string[];
}
