import type { OipModelFacts } from '../../../shared/oip/model-facts.ts';
import type { RequestExtras } from '../../../shared/oip/request-encoder.ts';
import type { OipMethod, OipRequestPlan } from '../../../shared/oip/request-plan.ts';
import type { GrpcCallConnection } from '../http2/grpc-calls.ts';
import type { RequestEvents, RequestWay } from './request-way.ts';
import { type GatherOptions, ResponseGatherer } from './response-gatherer.ts';
import { StreamWay } from './stream-way.ts';
import { UnaryWay } from './unary-way.ts';

/** What requests say beside the plan. */
export function requestExtras(plan: OipRequestPlan, facts: OipModelFacts): RequestExtras {
  const planned = plan.outputs.map(({ name }) => name);
  const isAll = facts.outputs.every(({ name }) => planned.includes(name));
  return {
    // Without names the server sends all: one list less for it to read.
    requestedOutputs: isAll ? [] : planned,
    wantsFinalMark: plan.method === 'stream' && facts.isDecoupled === true,
  };
}

/** What puts the responses of a channel together. */
export function gathererOf(
  plan: OipRequestPlan,
  { isDecoupled }: OipModelFacts,
  limits: Pick<GatherOptions, 'bytesMax' | 'room'>,
): ResponseGatherer {
  const ofStream = isDecoupled === true ? 'marked' : 'plain';
  return new ResponseGatherer(plan, {
    ends: plan.method === 'unary' ? 'once' : ofStream,
    ...limits,
  });
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
    readonly events: RequestEvents;
  },
): RequestWay {
  const Way = method === 'unary' ? UnaryWay : StreamWay;
  return new Way(connection, service, gatherer, events);
}
