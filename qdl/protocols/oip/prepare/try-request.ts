import assert from 'node:assert';
import { status } from '@grpc/grpc-js';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { OipModelFacts, OipRequestPlan } from '../../../../shared/wire/oip/request-plan.ts';
import type { DescribedOutput } from '../../../../shared/wire/oip/response-decoder.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';
import type { OipRequestWay, RequestWayEvents } from '../channel/call-way.ts';
import { OipConnection } from '../channel/oip-channel.ts';
import { OipRequestEncoder, REQUEST_BYTES_MAX } from '../channel/request-encoder.ts';
import { gathererOf, openWay, requestExtras } from '../channel/request-way.ts';
import {
  type Gathered,
  type PendingRequest,
  pendingRequest,
} from '../channel/response-gatherer.ts';
import { describeOipModels } from '../node/model-facts.ts';
import { oipOf } from '../settings/oip-settings.ts';

/** One node's result of a trial request. */
export interface OipTrial {
  readonly address: string;
  /** Null if it answered as planned. */
  readonly refusal: {
    /**
     * gRPC status. 0 (OK): the response does not fit the plan. In-band errors of a stream are 2
     * (UNKNOWN).
     */
    readonly code: number;
    /** The server's message, or the fault of its response. */
    readonly details: string;
  } | null;
  /**
   * Outputs of the last response with tensors, as the response describes them; empty after a
   * refusal.
   */
  readonly outputs: readonly DescribedOutput[];
  /**
   * Payload bytes of the response to the first sample, as LoadGen would receive it; 0 after a
   * refusal.
   */
  readonly responseBytes: number;
  /** Responses to the last request: above 1 if the server streams its answer. */
  readonly responseCount: number;
  /** Requests that the node received. */
  readonly requestCount: number;
}

/**
 * Sends each node a request as in the run, untimed; on a stream two in sequence, since some servers
 * end it after one. Once the outputs are known, a request is as full as the run's largest: the
 * response to one sample does not show how several are answered.
 * @param settings With a request plan. If the plan has no outputs, the response must have some.
 * @param payload Payload of one sample, in the form of the plan; a full request repeats it.
 * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_TIMEOUT` without a response within
 * `readyTimeoutMs`: the first inference of a model may take long.
 */
export async function tryOipRequest(
  settings: DispatchSettings,
  payload: Uint8Array,
): Promise<readonly OipTrial[]> {
  const { plan } = oipOf(settings);
  assert(plan !== undefined, 'the request plan is missing');
  const facts = await describeOipModels(settings);
  return Promise.all(facts.map((ofNode) => tryNode(settings, ofNode, plan, payload)));
}

async function tryNode(
  settings: DispatchSettings,
  facts: OipModelFacts,
  plan: OipRequestPlan,
  payload: Uint8Array,
): Promise<OipTrial> {
  const { address } = facts;
  const { readyTimeoutMs } = settings;
  const connection = new OipConnection(address, settings);
  let timer: NodeJS.Timeout | undefined;
  try {
    await connection.calls.ready;
    return await new Promise<OipTrial>((resolve, reject) => {
      const text = `SUT node ${address} did not answer a request within ${readyTimeoutMs} ms`;
      timer = setTimeout(() => reject(new MlperfError('ERR_TIMEOUT', text)), readyTimeoutMs);
      const events = new TrialEvents(address, resolve, () => trial.send(trial.payloads.length));
      const trial = new TrialRequests({ settings, facts, plan, payload, connection }, events);
      events.describeOutputs = trial.describeOutputs;
      events.needsOutputs = plan.outputs.length === 0;
      // The response of a decoupled model may be long, and only a stream carries it.
      events.requestCount = plan.method === 'stream' && facts.isDecoupled !== true ? 2 : 1;
      trial.send(0);
    });
  } finally {
    clearTimeout(timer);
    await connection.calls.close();
  }
}

/** Samples of this size in the largest request of the run. */
export function fullCount(
  { nodeOutstandingMax }: DispatchSettings,
  { samplesPerRequest, outputs }: OipRequestPlan,
  { length }: Uint8Array,
): number {
  // Outputs learned from the response must have the shapes of one sample.
  if (outputs.length === 0) return 1;
  const fitting = Math.floor(REQUEST_BYTES_MAX / Math.max(1, length));
  return Math.max(1, Math.min(samplesPerRequest, nodeOutstandingMax, fitting));
}

/** Parameters of the requests before a run. */
interface TrialParts {
  readonly settings: DispatchSettings;
  readonly facts: OipModelFacts;
  readonly plan: OipRequestPlan;
  /** Payload of one sample; a request repeats it. */
  readonly payload: Uint8Array;
  readonly connection: OipConnection;
}

/** Sends requests to one node before a run, each as full as the run's largest. */
export class TrialRequests {
  readonly payloads: readonly Uint8Array[];
  readonly way: OipRequestWay;
  /** Outputs of the response that was gathered last. */
  readonly describeOutputs: () => readonly DescribedOutput[];
  readonly #encoder: OipRequestEncoder;

  constructor(parts: TrialParts, events: RequestWayEvents) {
    const { settings, facts, plan, payload, connection } = parts;
    const { service } = oipOf(settings);
    const limits = { bytesMax: settings.messageBytesMax, room: connection.room };
    const gatherer = gathererOf(plan, facts, limits);
    this.payloads = new Array<Uint8Array>(fullCount(settings, plan, payload)).fill(payload);
    this.way = openWay(plan.method, { connection: connection.calls, service, gatherer, events });
    this.describeOutputs = () => gatherer.decoder.describeOutputs();
    this.#encoder = new OipRequestEncoder(plan, requestExtras(plan, facts));
  }

  /** Sends one request; it uses one id per sample, from `id` on. */
  send(id: number): void {
    const { payloads } = this;
    const ids = payloads.map((_, i) => id + i);
    const bytes = payloads.reduce((sum, { length }) => sum + length, 0);
    this.way.send(pendingRequest(ids, bytes), this.#encoder.encode(id, payloads));
  }
}

/** Makes an {@link OipTrial} of the responses. */
class TrialEvents implements RequestWayEvents {
  readonly #address: string;
  readonly #resolve: (trial: OipTrial) => void;
  readonly #sendNext: () => void;
  #answeredCount = 0;
  /** Number of requests to send. */
  requestCount = 1;
  /** Outputs of the response that was just gathered. */
  describeOutputs: () => readonly DescribedOutput[] = () => [];
  /** True if the metadata lists no outputs, so the response must. */
  needsOutputs = false;
  #outputs: readonly DescribedOutput[] = [];

  /**
   * @param resolve Only the first call counts.
   * @param sendNext Sends another request after a response.
   */
  constructor(address: string, resolve: (trial: OipTrial) => void, sendNext: () => void) {
    this.#address = address;
    this.#resolve = resolve;
    this.#sendNext = sendNext;
  }

  onGathered({ responseCount }: PendingRequest, gathered: Gathered): void {
    if (gathered.kind === 'failed') {
      this.#refuse(gathered.status, gathered.text);
      return;
    }
    const outputs = this.describeOutputs();
    // A final marker has no outputs.
    if (outputs.length > 0) this.#outputs = outputs;
    if (gathered.kind === 'more') return;
    if (this.needsOutputs && this.#outputs.length === 0) {
      this.#refuse(status.OK, 'neither the response nor ModelMetadata has outputs');
      return;
    }
    this.#answeredCount += 1;
    if (this.#answeredCount < this.requestCount) {
      // Waits one turn of the event loop: a server that ends the stream after its first response
      // has ended it before the next request is sent.
      setImmediate(this.#sendNext);
      return;
    }
    const responseBytes = gathered.payloads[0]?.length ?? 0;
    const { requestCount } = this;
    this.#resolve({
      address: this.#address,
      refusal: null,
      outputs: this.#outputs,
      responseBytes,
      responseCount,
      requestCount,
    });
  }

  onUnavailable(_request: PendingRequest | undefined, details: string): void {
    this.#refuse(status.UNAVAILABLE, details);
  }

  onRoom(): void {}

  onRepeated(): void {}

  onUnasked(): void {
    this.#refuse(status.OK, "the response has another request's id, or none");
  }

  onStreamEnd(code: number, details: string): void {
    const words = details === '' ? 'the server ended the stream' : details;
    this.#refuse(code, this.#answeredCount > 0 ? `${words} after one answer` : words);
  }

  #refuse(code: number, details: string): void {
    const address = this.#address;
    this.#resolve({
      address,
      refusal: { code, details },
      outputs: [],
      responseBytes: 0,
      responseCount: 0,
      requestCount: this.#answeredCount + 1,
    });
  }
}
