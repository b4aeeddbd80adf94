import type { Server, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { _inference_RepositoryIndexResponse_ModelIndex as ModelIndex } from '../../../proto/gen/inference/RepositoryIndexResponse.ts';
import { timerClock } from '../../../shared/base/clock.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { Logger } from '../../../shared/base/process/logger.ts';
import type { OipTensor } from '../../../shared/domain/tensors.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import { OIP_SERVICE, type OipServiceHandlers } from '../../../shared/wire/oip/oip-contract.ts';
import type { LoadedModel } from '../../model/model-facts.ts';
import type { SideService } from '../connection/server-port.ts';
import {
  OpenStreams,
  peerOfCall,
  type StreamCall,
  serveStream,
} from '../connection/stream-call.ts';
import type { NodeFacts, NodeStatus } from '../describe/node-offer.ts';
import { callerOf } from '../guard/call-seen.ts';
import type { NodeTotals } from '../ledger/run-ledger.ts';
import { STREAM_OK, StreamRefusal, shortEndOf, unavailable } from '../limits/call-end.ts';
import { type InferenceParts, OipInference, type OipRequestEvents } from './oip-inference.ts';
import { MODEL_VERSION, type OipModel, oipModel } from './oip-model.ts';
import { OipStream } from './oip-stream.ts';
import { encodeInferResponse } from './response-encoder.ts';

/** Triton's extensions of the protocol that the node supports. */
const EXTENSIONS: readonly string[] = ['model_configuration', 'statistics'];

/** The node, as the service uses it. */
export interface OipServiceParts
  extends Pick<InferenceParts, 'limits' | 'credits' | 'batcher' | 'observe' | 'onBegin'> {
  readonly facts: NodeFacts;
  readonly status: NodeStatus;
  readonly logger: Logger;
}

/**
 * `inference.GRPCInferenceService` of the node: docs/other-servers.md, "Ask a SUT node with another
 * client".
 */
export class OipService implements SideService {
  readonly #parts: OipServiceParts;
  readonly inference: OipInference;
  readonly #streams = new OpenStreams<OipStream>();
  /** Refuses the unary calls that are in work. */
  readonly #unary = new Set<(refusal: StreamRefusal) => void>();
  /** Undefined until it is loaded. */
  #model: OipModel | undefined;

  constructor(parts: OipServiceParts) {
    this.#parts = parts;
    const { offer, settings } = parts.facts;
    this.inference = new OipInference({
      ...parts,
      names: [offer.model, offer.benchmark],
      queueSamplesMax: settings.queueSamplesMax,
      clock: timerClock,
      model: () => this.#model,
      refusal: () => this.#refusal,
    });
  }

  /** The model is loaded. */
  setModel(rules: BenchmarkRules, loaded: LoadedModel): void {
    this.#model = oipModel(this.#parts.facts, rules, loaded);
  }

  /** The node's totals, those of this protocol included. */
  totalsWith(native: NodeTotals): NodeTotals {
    return this.inference.totals.addedTo(native, this.inference.room.used.samples);
  }

  /** True while a peer waits for an answer, or holds a stream. */
  get isBusy(): boolean {
    return this.inference.count > 0 || this.#streams.size > 0;
  }

  /** ModelStreamInfer calls that are open. */
  get streamCount(): number {
    return this.#streams.size;
  }

  addTo(server: Server): void {
    server.addService(OIP_SERVICE, this.#handlers());
  }

  /**
   * Takes no more requests; the node's status says why. Resolves when all accepted requests are
   * answered.
   */
  async drain(reason: string): Promise<void> {
    for (const stream of this.#streams) stream.drain(reason);
    await this.#streams.empty();
    await this.inference.idle();
  }

  /** Ends all requests in work now. */
  close(reason: string): void {
    for (const stream of this.#streams) stream.abort(reason);
    for (const refuse of this.#unary) refuse(unavailable(reason));
  }

  #handlers(): OipServiceHandlers {
    const { facts, status } = this.#parts;
    const { name: nodeName, offer } = facts;
    return {
      ServerLive: (_call, callback) => callback(null, { live: true }),
      ServerReady: (_call, callback) => callback(null, { ready: this.#isReady }),
      ServerMetadata: (_call, callback) =>
        callback(null, { name: nodeName, version: packageVersion(), extensions: [...EXTENSIONS] }),
      ModelReady: (call, callback) =>
        answer(callback, () => {
          this.inference.checkName(call.request.name, call.request.version);
          return { ready: this.#isReady };
        }),
      ModelMetadata: (call, callback) =>
        answer(callback, () => metadataOf(this.#modelOf(call.request))),
      ModelConfig: (call, callback) =>
        answer(callback, () => ({ config: configOf(this.#modelOf(call.request)) })),
      ModelStatistics: (call, callback) =>
        answer(callback, () => {
          const { name, version } = call.request;
          const model = this.#modelOf({ name: name === '' ? offer.model : name, version });
          return { modelStats: [this.inference.statistics.toWire(model.name)] };
        }),
      RepositoryIndex: (call, callback) => {
        const model: ModelIndex = {
          name: offer.model,
          version: MODEL_VERSION,
          state: this.#isReady ? 'READY' : 'UNAVAILABLE',
          reason: this.#isReady ? '' : status.detail,
        };
        const isAsked = this.#isReady || !call.request.ready;
        callback(null, { models: isAsked ? [model] : [] });
      },
      ModelInfer: (call, callback) => this.#infer(call, callback),
      ModelStreamInfer: (call) => this.#stream(call),
    };
  }

  get #isReady(): boolean {
    return this.#parts.status.state === 'NODE_STATE_READY';
  }

  get #refusal(): string | undefined {
    const { facts, status } = this.#parts;
    return this.#isReady ? undefined : `SUT node ${facts.name} is not ready: ${status.detail}`;
  }

  #modelOf({ name, version }: { readonly name: string; readonly version: string }): OipModel {
    return this.inference.modelNamed(name, version);
  }

  #infer(call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void {
    const arrivedAtNs = timerClock.nowNs();
    const refuse = (refusal: StreamRefusal): void => {
      this.#unary.delete(refuse);
      callback(shortEndOf(refusal));
    };
    const events: OipRequestEvents = {
      complete: (response) => {
        this.#unary.delete(refuse);
        // A unary call has only one response; the parameter that says so is for streams.
        callback(null, encodeInferResponse({ ...response, isFinal: undefined }));
      },
      refuse,
    };
    try {
      const { inference } = this;
      const request = inference.check(inference.read(call.request, arrivedAtNs), arrivedAtNs);
      this.#unary.add(refuse);
      const work = inference.begin(request, events);
      if (work === undefined) throw inference.noRoom(request);
      call.on('cancelled', () => {
        this.#unary.delete(refuse);
        work.cancel();
      });
    } catch (error) {
      if (!(error instanceof StreamRefusal)) throw error;
      refuse(error);
    }
  }

  #stream(call: StreamCall): void {
    // Once the peer is gone, gRPC does not know its address any more.
    const peer = callerOf(call);
    const { logger } = this.#parts;
    const stream = new OipStream(
      this.inference,
      peerOfCall(call),
      () => timerClock.nowNs(),
      (ended, reason) => this.#remove(ended, { peer, reason }),
    );
    this.#streams.add(stream);
    logger.info({ peer }, 'a ModelStreamInfer stream was opened');
    // A stream may hold a message that is not whole: not as large a one as a unary call, which
    // needs room for it.
    serveStream(call, stream);
    const why = this.#refusal;
    if (why !== undefined) stream.abort(why);
  }

  #remove(stream: OipStream, end: { readonly peer: string; readonly reason: string }): void {
    this.#streams.delete(stream);
    const { peer, reason } = end;
    const { logger } = this.#parts;
    if (reason === STREAM_OK.details) logger.info({ peer }, 'a ModelStreamInfer stream was closed');
    else logger.warn({ peer }, `a ModelStreamInfer stream ended: ${reason}`);
  }
}

/** Answers a unary call with what `make` gives, or the status that it throws. */
function answer<T>(callback: sendUnaryData<T>, make: () => T): void {
  try {
    callback(null, make());
  } catch (error) {
    if (!(error instanceof StreamRefusal)) throw error;
    callback(shortEndOf(error));
  }
}

function metadataOf(model: OipModel) {
  const tensor = ({ name, datatype, shape }: OipTensor) => ({
    name,
    datatype,
    shape: model.hasBatchAxis ? [-1, ...shape] : [...shape],
  });
  return {
    name: model.name,
    versions: [MODEL_VERSION],
    platform: model.platform,
    inputs: model.inputs.flatMap(({ name, kinds: [kind] }) =>
      kind === undefined ? [] : [tensor({ name, ...kind })],
    ),
    outputs: model.outputs.map(tensor),
    properties: { ...model.properties },
  };
}

function configOf(model: OipModel) {
  return {
    name: model.name,
    platform: model.platform,
    maxBatchSize: model.batchSizeMax,
    modelTransactionPolicy: { decoupled: model.isDecoupled },
  };
}
