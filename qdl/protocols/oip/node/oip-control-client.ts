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

/**
 * Unary control calls to one node that speaks the Open Inference Protocol, on a connection of their
 * own.
 */
export class OipControlClient implements NamedNode {
  readonly address: string;
  readonly #service: string;
  readonly #calls: UnaryCalls<GRPCInferenceServiceDefinition>;
  readonly #model: OipModelRef;
  /** Determined if ServerMetadata is missing. */
  #hasService = false;

  /** @throws MlperfError `ERR_CONFIG_INVALID` if a certificate, key or token file is unreadable. */
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
   * The server's own name, which may be empty or shared: one full round trip, uncached.
   * @throws MlperfError `ERR_SUT_NAME`, `ERR_SUT_REFUSED` for a server without this service,
   * `ERR_SUT_UNREACHABLE`
   */
  async name(): Promise<NodeName> {
    const { name, roundTripNs, own } = await this.#serverMetadata();
    requirePrintableName(this.address, 'ServerMetadata', name);
    // The protocol has neither an identity nor the node's view of the call.
    return { address: this.address, name, identity: '', roundTripNs, path: callPathOf(own, null) };
  }

  /** ServerMetadata. @throws MlperfError */
  async serverFacts(): Promise<OipServerFacts> {
    const { name, version, extensions } = await this.#serverMetadata();
    return { name, version, extensions: [...extensions] };
  }

  /** ServerLive; undefined if the server lacks the method. */
  async serverLive(): Promise<boolean | undefined> {
    return (await this.#calls.makeOptional('ServerLive', {}))?.live;
  }

  /** ServerReady; undefined if the server lacks the method. */
  async serverReady(): Promise<boolean | undefined> {
    return (await this.#calls.makeOptional('ServerReady', {}))?.ready;
  }

  /**
   * ModelReady; undefined if the server lacks the method.
   * @throws MlperfError `ERR_SUT_REFUSED`, caused by the gRPC status: some servers send one for an
   * unknown model.
   */
  async modelReady({ name, version }: OipModelRef): Promise<boolean | undefined> {
    return (await this.#calls.makeOptional('ModelReady', { name, version }))?.ready;
  }

  /**
   * ModelMetadata: tensors and versions. @throws MlperfError `ERR_SUT_REFUSED` for an unknown model
   */
  modelMetadata({ name, version }: OipModelRef) {
    return this.#calls.make('ModelMetadata', { name, version });
  }

  /** ModelConfig; undefined if the server does not report it. */
  async modelConfig({ name, version }: OipModelRef) {
    const answer = await unlessRefused(this.#calls.makeOptional('ModelConfig', { name, version }));
    return answer?.config ?? undefined;
  }

  /** ModelStatistics by version; undefined if the server does not report them. */
  async modelStatistics({ name, version }: OipModelRef) {
    const call = this.#calls.makeOptional('ModelStatistics', { name, version });
    return (await unlessRefused(call))?.modelStats;
  }

  /** RepositoryIndex: all models, loaded or not; undefined if the server does not report them. */
  async repositoryIndex() {
    return (await unlessRefused(this.#calls.makeOptional('RepositoryIndex', {})))?.models;
  }

  /**
   * True if the server has ModelStreamInfer, tried by a stream without requests. Undefined if its
   * end leaves it open.
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
      call.on('error', () => {}); // The status event reports the error too.
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
    // TorchServe and Dynamo lack this method of the service: such a server has no name. The
    // UNIMPLEMENTED status also took a round trip.
    this.#hasService ||= await this.#hasOtherMethods();
    if (this.#hasService) return { name: '', version: '', extensions: [], ...call };
    throw sutRefused(
      `the server at ${this.address} has no service ${this.#service} (it lacks ServerMetadata, ServerLive, ModelMetadata and ModelConfig): correct the address or its port for gRPC (a SUT node of longhaul has it with --oip on only), or ` +
        'name the service by --oip-service (TorchServe: org.pytorch.serve.grpc.openinference.GRPCInferenceService)',
      outcome.reason,
    );
  }

  /** True if the server has the service at all: it may lack one method and have another. */
  async #hasOtherMethods(): Promise<boolean> {
    if ((await this.serverLive()) !== undefined) return true;
    const { name, version } = this.#model;
    for (const method of ['ModelMetadata', 'ModelConfig'] as const) {
      try {
        const answer = await this.#calls.makeOptional(method, { name, version });
        if (answer !== undefined) return true;
      } catch (error) {
        // Any answer shows that the method exists, even an unknown model.
        if (isAnswer(error)) return true;
        throw error;
      }
    }
    return false;
  }
}

/**
 * For an optional extension: a server that has the method may still refuse it (by a setting, or for
 * a kind of model).
 */
async function unlessRefused<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isAnswer(error)) return undefined;
    throw error;
  }
}

/** True if a status of the server made the call fail, not a lost connection or a timeout. */
function isAnswer(error: unknown): boolean {
  const code = grpcStatusOf(error);
  return code !== undefined && code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED;
}
