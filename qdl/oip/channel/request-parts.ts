import { isFinishReason } from '../../../shared/wire/oip/finish-reason.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type { OipMethod, OipRequestPlan } from '../../../shared/wire/oip/request-plan.ts';
import type { GrpcCallConnection } from '../http2/grpc/grpc-calls.ts';
import { CallWay } from './call-way.ts';
import type { RequestExtras } from './request-encoder.ts';
import type { OipRequestWay, RequestWayEvents } from './request-way.ts';
import { type GatherOptions, ResponseGatherer } from './response-gatherer.ts';
import { StreamWay } from './stream-way.ts';

/** What requests say beside the plan. */
export function requestExtras(plan: OipRequestPlan, facts: OipModelFacts): RequestExtras {
  const planned = plan.outputs.map(({ name }) => name);
  const isAll = facts.outputs.every(({ name }) => planned.includes(name));
  return {
    // Without names the server sends all: one list less for it to read.
    requestedOutputs: isAll ? [] : planned,
    wantsFinalMark: plan.method !== 'unary' && facts.isDecoupled === true,
  };
}

/** What puts the responses of a channel together. */
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

/** Whether responses may tell by an output that they are the last. Where the server says that a model answers once, they need not. */
function mayTellFinish({ isDecoupled, outputs }: OipModelFacts): boolean {
  return isDecoupled !== false && (outputs.length === 0 || outputs.some(isFinishReason));
}

/** The way of a method over a connection. */
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
  if (method === 'stream') return new StreamWay(connection, service, gatherer, events);
  const isStream = method === 'stream-per-request';
  const path = `/${service}/${isStream ? 'ModelStreamInfer' : 'ModelInfer'}`;
  return new CallWay(connection, path, isStream, gatherer, events);
}
