import { type ClientUnaryCall, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { ModelConfig__Output } from '../../../proto/gen/inference/ModelConfig.ts';
import type { ModelConfigResponse__Output } from '../../../proto/gen/inference/ModelConfigResponse.ts';
import type { ModelMetadataResponse__Output } from '../../../proto/gen/inference/ModelMetadataResponse.ts';
import type { ModelReadyResponse__Output } from '../../../proto/gen/inference/ModelReadyResponse.ts';
import type { ModelStatistics__Output } from '../../../proto/gen/inference/ModelStatistics.ts';
import type { ModelStatisticsResponse__Output } from '../../../proto/gen/inference/ModelStatisticsResponse.ts';
import type {
  _inference_RepositoryIndexResponse_ModelIndex__Output as ModelIndex,
  RepositoryIndexResponse__Output,
} from '../../../proto/gen/inference/RepositoryIndexResponse.ts';
import type { ServerLiveResponse__Output } from '../../../proto/gen/inference/ServerLiveResponse.ts';
import type { ServerMetadataResponse__Output } from '../../../proto/gen/inference/ServerMetadataResponse.ts';
import type { ServerReadyResponse__Output } from '../../../proto/gen/inference/ServerReadyResponse.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { OipServerFacts } from '../../../shared/wire/oip/model-facts.ts';
import { type OipClient, oipClient } from '../../../shared/wire/oip/oip-contract.ts';
import type { OipModelRef } from '../../../shared/wire/oip/request-plan.ts';
import { callPathOf, responseHeadersOf, socketEndsOf } from '../../connect/call-path.ts';
import {
  callMetadata,
  connectionCredentials,
  connectionOptions,
} from '../../connect/grpc-options.ts';
import { type NamedNode, type NodeName, requirePrintableName } from '../../connect/node-name.ts';
import { grpcStatusOf, type StartCall, UnaryCalls } from '../../connect/unary-calls.ts';
import type { DispatchSettings, OipDispatch } from '../../settings/dispatch-settings.ts';

/** Longest wait for the end of a stream on which nothing was asked: a server need not end it. */
const STREAM_PROBE_TIMEOUT_MS = 1_000;

/** The unary calls to one node that speaks the Open Inference Protocol, but inference; on a connection of their own. */
export class OipControlClient implements NamedNode {
  readonly address: string;
  readonly #service: string;
  readonly #client: OipClient;
  readonly #metadata: Metadata;
  readonly #calls: UnaryCalls;
  readonly #model: OipModelRef;
  /** Found out where ServerMetadata is missing. */
  #hasService = false;

  /** @throws MlperfError `ERR_CONFIG_INVALID` when a file of its security cannot be used. */
  constructor(address: string, settings: DispatchSettings, { service, model }: OipDispatch) {
    this.address = address;
    this.#model = model;
    this.#service = service;
    this.#metadata = callMetadata(settings);
    this.#calls = new UnaryCalls(address, settings, 'inference server');
    const Client = oipClient(service);
    this.#client = new Client(
      address,
      connectionCredentials(settings),
      connectionOptions(settings),
    );
  }

  /**
   * The server's own name, which may be empty or the name of others too: one full round trip, nothing cached.
   * @throws MlperfError `ERR_SUT_NAME`, `ERR_SUT_REFUSED` for a server without this service, `ERR_SUT_UNREACHABLE`
   */
  async name(): Promise<NodeName> {
    let headers = new Metadata();
    const { name, roundTripNs } = await this.#serverMetadata((call) => {
      call.on('metadata', (answer: Metadata) => {
        headers = answer;
      });
    });
    requirePrintableName(this.address, 'ServerMetadata', name);
    const own = {
      loadgen: socketEndsOf(this.#client.getChannel()),
      responseHeaders: responseHeadersOf(headers),
    };
    // The protocol has neither an identity nor what the node saw of the call.
    return { address: this.address, name, identity: '', roundTripNs, path: callPathOf(own, null) };
  }

  /** What the server says of itself. @throws MlperfError */
  async serverFacts(): Promise<OipServerFacts> {
    const { name, version, extensions } = await this.#serverMetadata(() => {});
    return { name, version, extensions: [...extensions] };
  }

  /** Whether the process answers; undefined where the server has no such method. */
  async serverLive(): Promise<boolean | undefined> {
    const start: StartCall<ServerLiveResponse__Output> = (deadline, callback) => {
      this.#client.ServerLive({}, this.#metadata, { deadline }, callback);
    };
    return (await this.#calls.makeOptional('ServerLive', start))?.live;
  }

  /** Whether requests may come; undefined where the server has no such method. */
  async serverReady(timeoutMs?: number): Promise<boolean | undefined> {
    const start: StartCall<ServerReadyResponse__Output> = (deadline, callback) => {
      this.#client.ServerReady({}, this.#metadata, { deadline }, callback);
    };
    return (await this.#calls.makeOptional('ServerReady', start, timeoutMs))?.ready;
  }

  /**
   * Whether requests for the model may come; undefined where the server has no such method.
   * @throws MlperfError `ERR_SUT_REFUSED`, with gRPC's status as its cause: some servers do not know the model.
   */
  async modelReady({ name, version }: OipModelRef): Promise<boolean | undefined> {
    const start: StartCall<ModelReadyResponse__Output> = (deadline, callback) => {
      this.#client.ModelReady({ name, version }, this.#metadata, { deadline }, callback);
    };
    return (await this.#calls.makeOptional('ModelReady', start))?.ready;
  }

  /** Tensors and versions of a model. @throws MlperfError `ERR_SUT_REFUSED` for a model that the server does not know */
  modelMetadata({ name, version }: OipModelRef): Promise<ModelMetadataResponse__Output> {
    return this.#calls.make('ModelMetadata', (deadline, callback) => {
      this.#client.ModelMetadata({ name, version }, this.#metadata, { deadline }, callback);
    });
  }

  /** How the model is served; undefined where the server does not tell. */
  async modelConfig({ name, version }: OipModelRef): Promise<ModelConfig__Output | undefined> {
    const answer = await this.#optionalOfModel<ModelConfigResponse__Output>(
      'ModelConfig',
      (deadline, callback) => {
        this.#client.ModelConfig({ name, version }, this.#metadata, { deadline }, callback);
      },
    );
    return answer?.config ?? undefined;
  }

  /** What the server counted of the model, by version; undefined where it does not tell. */
  async modelStatistics({
    name,
    version,
  }: OipModelRef): Promise<readonly ModelStatistics__Output[] | undefined> {
    const answer = await this.#optionalOfModel<ModelStatisticsResponse__Output>(
      'ModelStatistics',
      (deadline, callback) => {
        this.#client.ModelStatistics({ name, version }, this.#metadata, { deadline }, callback);
      },
    );
    return answer?.modelStats;
  }

  /** All models of the server, loaded or not; undefined where it does not tell. */
  async repositoryIndex(): Promise<readonly ModelIndex[] | undefined> {
    const answer = await this.#optionalOfModel<RepositoryIndexResponse__Output>(
      'RepositoryIndex',
      (deadline, callback) => {
        this.#client.RepositoryIndex({}, this.#metadata, { deadline }, callback);
      },
    );
    return answer?.models;
  }

  /**
   * Whether the server has ModelStreamInfer: a stream on which nothing is asked. Undefined where its end does not tell.
   */
  hasStream(): Promise<boolean | undefined> {
    const deadline = new Date(Date.now() + STREAM_PROBE_TIMEOUT_MS);
    const call = this.#client.makeBidiStreamRequest<Buffer, Buffer>(
      `/${this.#service}/ModelStreamInfer`,
      (bytes) => bytes,
      (bytes) => bytes,
      this.#metadata,
      { deadline },
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
    this.#client.close();
  }

  /** For an extension: a server that has the method may still refuse it (by a setting, for a kind of model). */
  async #optionalOfModel<R>(method: string, start: StartCall<R>): Promise<R | undefined> {
    try {
      return await this.#calls.makeOptional(method, start);
    } catch (error) {
      if (isAnswer(error)) return undefined;
      throw error;
    }
  }

  /** What the server says of itself, and how long its answer took. */
  async #serverMetadata(
    onCall: (call: ClientUnaryCall) => void,
  ): Promise<ServerMetadataResponse__Output & { readonly roundTripNs: number }> {
    const begin = performance.now();
    const roundTripNs = (): number => Math.round((performance.now() - begin) * 1e6);
    try {
      const start: StartCall<ServerMetadataResponse__Output> = (deadline, callback) => {
        onCall(this.#client.ServerMetadata({}, this.#metadata, { deadline }, callback));
      };
      const answer = await this.#calls.make('ServerMetadata', start);
      return { ...answer, roundTripNs: roundTripNs() };
    } catch (error) {
      if (grpcStatusOf(error) !== status.UNIMPLEMENTED) throw error;
      // TorchServe and Dynamo have the service without this method: then a server without a name. That it has none is an
      // answer of its own, and took a round trip.
      const answeredNs = roundTripNs();
      this.#hasService ||= await this.#hasOtherMethods();
      if (this.#hasService) {
        return { name: '', version: '', extensions: [], roundTripNs: answeredNs };
      }
      throw new MlperfError(
        'ERR_SUT_REFUSED',
        `the server at ${this.address} has no service ${this.#service} (it has none of ServerMetadata, ServerLive, ModelMetadata and ModelConfig): correct the address or its port for gRPC (a SUT node of longhaul has it with --oip on only), or ` +
          'name the service by --oip-service (TorchServe: org.pytorch.serve.grpc.openinference.GRPCInferenceService)',
        { cause: error },
      );
    }
  }

  /** Whether the server has the service at all: one that lacks a method may have another. */
  async #hasOtherMethods(): Promise<boolean> {
    if ((await this.serverLive()) !== undefined) return true;
    const { name, version } = this.#model;
    const hasMetadata = await this.#hasMethod('ModelMetadata', (deadline, callback) => {
      this.#client.ModelMetadata({ name, version }, this.#metadata, { deadline }, callback);
    });
    if (hasMetadata) return true;
    return this.#hasMethod('ModelConfig', (deadline, callback) => {
      this.#client.ModelConfig({ name, version }, this.#metadata, { deadline }, callback);
    });
  }

  /** Whatever a server answers, also that it does not know the model: it has the method. */
  async #hasMethod<R>(method: string, start: StartCall<R>): Promise<boolean> {
    try {
      return (await this.#calls.makeOptional(method, start)) !== undefined;
    } catch (error) {
      if (isAnswer(error)) return true;
      throw error;
    }
  }
}

/** Whether a call failed by a status that the server gave: not by the loss of the connection, nor by silence. */
function isAnswer(error: unknown): boolean {
  const code = grpcStatusOf(error);
  return code !== undefined && code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED;
}
