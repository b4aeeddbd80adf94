import { isFinishReason } from '../../../../shared/wire/oip/output-cutter.ts';
import type {
  OipMethod,
  OipModelFacts,
  OipRequestPlan,
} from '../../../../shared/wire/oip/request-plan.ts';
import type { GrpcCallConnection } from '../../../http2/grpc-calls.ts';
import { CallWay, type OipRequestWay, type RequestWayEvents } from './call-way.ts';
import type { RequestExtras } from './request-encoder.ts';
import { type GatherOptions, ResponseGatherer } from './response-gatherer.ts';
import { StreamWay } from './stream-way.ts';

/** Request fields that the plan lacks. */
export function requestExtras(plan: OipRequestPlan, facts: OipModelFacts): RequestExtras {
  const planned = plan.outputs.map(({ name }) => name);
  const isAll = facts.outputs.every(({ name }) => planned.includes(name));
  return {
    // Without names the server sends all outputs, and has one list less to read.
    requestedOutputs: isAll ? [] : planned,
    wantsFinalMark: plan.method !== 'unary' && facts.isDecoupled === true,
  };
}

/** Makes the gatherer of a channel's responses. */
export function gathererOf(
  plan: OipRequestPlan,
  facts: OipModelFacts,
  limits: Pick<GatherOptions, 'bytesMax' | 'room'>,
): ResponseGatherer {
  const readsFinish = plan.method !== 'unary' && mayTellFinish(facts);
  return new ResponseGatherer(plan, { ends: endsOf(plan.method, facts), readsFinish, ...limits });
}

function endsOf(method: OipMethod, { isDecoupled }: OipModelFacts): GatherOptions['ends'] {
  if (method === 'unary') return 'once';
  if (method === 'stream') return isDecoupled === true ? 'marked' : 'plain';
  return isDecoupled === false ? 'plain' : 'call';
}

/**
 * True if an output of a response may mark it as the last. Not needed if the server reports one
 * response per request.
 */
function mayTellFinish({ isDecoupled, outputs }: OipModelFacts): boolean {
  return isDecoupled !== false && (outputs.length === 0 || outputs.some(isFinishReason));
}

/** The request way of a method over a connection. */
export function openWay(
  method: OipMethod,
  {
    connection,
    service,
    gatherer,
    events,
  }: {
    readonly connection: GrpcCallConnection;
    readonly service: string;
    readonly gatherer: ResponseGatherer;
    readonly events: RequestWayEvents;
  },
): OipRequestWay {
  const isStream = method !== 'unary';
  const path = `/${service}/${isStream ? 'ModelStreamInfer' : 'ModelInfer'}`;
  if (method === 'stream') return new StreamWay({ connection, path, gatherer, events });
  return new CallWay({ connection, path, isStream, gatherer, events });
}
