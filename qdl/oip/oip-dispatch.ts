import type { OipModelRef, OipRequestPlan } from '../../shared/oip/request-plan.ts';

/** Settings of the QDL for nodes that speak the Open Inference Protocol. */
export interface OipDispatch {
  /** gRPC's name of the service. */
  readonly service: string;
  readonly model: OipModelRef;
  /** How samples become requests; undefined where nothing is to be sent yet: names, metadata. */
  readonly plan?: OipRequestPlan;
}
