import { type StatusObject, status } from '@grpc/grpc-js';
import type { GRPCInferenceServiceDefinition } from '../../../../proto/gen/inference/GRPCInferenceService.ts';
import type { ServerMetadataResponse__Output } from '../../../../proto/gen/inference/ServerMetadataResponse.ts';
import { sutRefused } from '../../../../shared/base/errors/mlperf-error.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import { OIP_SERVICE_METHODS } from '../../../../shared/wire/oip/oip-contract.ts';
import type { OipModelRef, OipServerFacts } from '../../../../shared/wire/oip/request-plan.ts';
import { callPathOf } from '../../../connect/call-path.ts';
import { grpcStatusOf, UnaryCalls } from '../../../connect/unary-calls.ts';
import {
  type NamedNode,
  type NodeName,
  requirePrintableName,
} from '../../../dispatch/network-name.ts';
import type { DispatchSettings } from '../../../settings/dispatch-settings.ts';
import { oipOf } from '../settings/oip-settings.ts';

/** Longest wait for the end of a stream without requests: a server need not end it. */
const STREAM_PROBE_TIMEOUT_MS = 1_000;

/** The unary calls to one node that speaks the Open Inference Protocol, but inference; on a connection of their own. */
export class OipControlClient implements NamedNode {
  readonly address: string;
  readonly #service: string;
  readonly #calls: UnaryCalls<GRPCInferenceServiceDefinition>;
  readonly #model: OipModelRef;
  /** Found out where ServerMetadata is missing. */
  #hasService = false;

  /** @throws MlperfError `ERR_CONFIG_INVALID` when a file of its security cannot be used. */
  constructor(address: string, settings: DispatchSettings) {
    const { service, model } = oipOf(settings);
    this.address = address;
    this.#model = model;
    this.#service = service;
    this.#calls = new UnaryCalls(
      address,
      settings,
      OIP_SERVICE_METHODS,
      service,
      'inference server',
    );
  }

  /**
   * The server's own name, which may be empty or the name of others too: one full round trip, without a cache.
   * @throws MlperfError `ERR_SUT_NAME`, `ERR_SUT_REFUSED` for a server without this service, `ERR_SUT_UNREACHABLE`
   */
  async name(): Promise<NodeName> {
    const { name, roundTripNs, own } = await this.#serverMetadata();
    requirePrintableName(this.address, 'ServerMetadata', name);
    // The protocol has neither an identity nor what the node saw of the call.
    return { address: this.address, name, identity: '', roundTripNs, path: callPathOf(own, null) };
  }

  /** ServerMetadata. @throws MlperfError */
  async serverFacts(): Promise<OipServerFacts> {
    const { name, version, extensions } = await this.#serverMetadata();
    return { name, version, extensions: [...extensions] };
  }

  /** Whether the process answers; undefined where the server has no such method. */
  async serverLive(): Promise<boolean | undefined> {
    return (await this.#calls.makeOptional('ServerLive', {}))?.live;
  }

  /** Whether requests may come; undefined where the server has no such method. */
  async serverReady(): Promise<boolean | undefined> {
    return (await this.#calls.makeOptional('ServerReady', {}))?.ready;
  }

  /**
   * Whether requests for the model may come; undefined where the server has no such method.
   * @throws MlperfError `ERR_SUT_REFUSED`, with gRPC's status as its cause: some servers do not know the model.
   */
  async modelReady({ name, version }: OipModelRef): Promise<boolean | undefined> {
    return (await this.#calls.makeOptional('ModelReady', { name, version }))?.ready;
  }

  /** Tensors and versions of a model. @throws MlperfError `ERR_SUT_REFUSED` for a model that the server does not know */
  modelMetadata({ name, version }: OipModelRef) {
    return this.#calls.make('ModelMetadata', { name, version });
  }

  /** How the model is served; undefined where the server does not tell. */
  async modelConfig({ name, version }: OipModelRef) {
    const answer = await unlessRefused(this.#calls.makeOptional('ModelConfig', { name, version }));
    return answer?.config ?? undefined;
  }

  /** The server's statistics of the model, by version; undefined where it does not tell. */
  async modelStatistics({ name, version }: OipModelRef) {
    const call = this.#calls.makeOptional('ModelStatistics', { name, version });
    return (await unlessRefused(call))?.modelStats;
  }

  /** All models of the server, loaded or not; undefined where it does not tell. */
  async repositoryIndex() {
    return (await unlessRefused(this.#calls.makeOptional('RepositoryIndex', {})))?.models;
  }

  /**
   * Whether the server has ModelStreamInfer, tried by a stream without requests. Undefined where its end does not tell.
   */
  hasStream(): Promise<boolean | undefined> {
    const { client, metadata } = this.#calls;
    const call = client.makeBidiStreamRequest<Buffer, Buffer>(
      `/${this.#service}/ModelStreamInfer`,
      (bytes) => bytes,
      (bytes) => bytes,
      metadata,
      { deadline: new Date(Date.now() + STREAM_PROBE_TIMEOUT_MS) },
    );
    return new Promise((resolve) => {
      call.on('error', () => {}); // The status tells it too.
      call.on('data', () => {});
      call.on('status', ({ code }: StatusObject) => {
        if (code === status.OK) resolve(true);
        else resolve(code === status.UNIMPLEMENTED ? false : undefined);
      });
      call.end();
    });
  }

  close(): void {
    this.#calls.close();
  }

  /** ServerMetadata, its round trip in ns, and this end's view of the call. */
  async #serverMetadata(): Promise<
    ServerMetadataResponse__Output & { readonly roundTripNs: number; readonly own: OwnSide }
  > {
    const { outcome, ...call } = await this.#calls.makeTimed('ServerMetadata', {});
    if (outcome.status === 'fulfilled') return { ...outcome.value, ...call };
    if (grpcStatusOf(outcome.reason) !== status.UNIMPLEMENTED) throw outcome.reason;
    // TorchServe and Dynamo have the service without this method: then a server without a name. That it has none is an
    // answer of its own, and took a round trip.
    this.#hasService ||= await this.#hasOtherMethods();
    if (this.#hasService) return { name: '', version: '', extensions: [], ...call };
    throw sutRefused(
      `the server at ${this.address} has no service ${this.#service} (it has none of ServerMetadata, ServerLive, ModelMetadata and ModelConfig): correct the address or its port for gRPC (a SUT node of longhaul has it with --oip on only), or ` +
        'name the service by --oip-service (TorchServe: org.pytorch.serve.grpc.openinference.GRPCInferenceService)',
      outcome.reason,
    );
  }

  /** Whether the server has the service at all: one that lacks a method may have another. */
  async #hasOtherMethods(): Promise<boolean> {
    if ((await this.serverLive()) !== undefined) return true;
    const { name, version } = this.#model;
    for (const method of ['ModelMetadata', 'ModelConfig'] as const) {
      try {
        const answer = await this.#calls.makeOptional(method, { name, version });
        if (answer !== undefined) return true;
      } catch (error) {
        // Whatever a server answers, also that it does not know the model: it has the method.
        if (isAnswer(error)) return true;
        throw error;
      }
    }
    return false;
  }
}

/** For an extension: a server that has the method may still refuse it (by a setting, for a kind of model). */
async function unlessRefused<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isAnswer(error)) return undefined;
    throw error;
  }
}

/** Whether a call failed by a status that the server gave: not by the loss of the connection, nor by silence. */
function isAnswer(error: unknown): boolean {
  const code = grpcStatusOf(error);
  return code !== undefined && code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED;
}
