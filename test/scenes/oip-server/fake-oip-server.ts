import { type Metadata, Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ModelConfig } from '../../../proto/gen/inference/ModelConfig.ts';
import type { ModelInferRequest__Output } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ModelInferResponse } from '../../../proto/gen/inference/ModelInferResponse.ts';
import type { ModelMetadataResponse } from '../../../proto/gen/inference/ModelMetadataResponse.ts';
import type { ModelStatistics } from '../../../proto/gen/inference/ModelStatistics.ts';
import type { _inference_RepositoryIndexResponse_ModelIndex as ModelIndex } from '../../../proto/gen/inference/RepositoryIndexResponse.ts';
import type { ServerMetadataResponse } from '../../../proto/gen/inference/ServerMetadataResponse.ts';
import { OIP_SERVICE } from '../../../shared/wire/oip/oip-contract.ts';
import { listen, startEach } from '../sut-node/fake-sut-node.ts';
import { decodeRequest, encodeResponse, encodeStreamResponse } from './oip-messages.ts';

/** How an answer goes out. */
export interface Answerer {
  /** True in a call of its own, false on a stream. */
  readonly isCall: boolean;
  /** One of any number of responses: the only one of a call of its own. */
  respond(response: ModelInferResponse): void;
  /** Bytes in the place of a response. */
  send(bytes: Buffer): void;
  /** A status of the call of its own; in a stream an in-band error. */
  refuse(code: number, details: string): void;
  /** Ends the call with a status, also that of a stream. */
  endWith(code: number, details: string): void;
}

/** Metadata of a model, and what ModelConfig answers for it. */
export type FakeModel = ModelMetadataResponse & { readonly config?: ModelConfig };

/** How a fake server behaves; every part has an honest default. */
export interface OipBehaviour {
  /** Fields of ServerMetadata. */
  readonly server?: ServerMetadataResponse;
  readonly model?: FakeModel;
  /** Several in place of `model`. */
  readonly models?: readonly FakeModel[];
  /** Of a model that has none of its own. Undefined: the server has no ModelConfig. */
  readonly config?: ModelConfig;
  /** Package of the service in place of the standard's. */
  readonly package?: string;
  /** Calls that it takes at once over one connection. */
  readonly callsPerConnection?: number;
  /** Not ready for so many questions. */
  readonly notReadyCount?: number;
  /** A status in place of so many answers to ModelReady. */
  readonly modelReadyRefusal?: {
    readonly count: number;
    readonly code: number;
    readonly details: string;
  };
  /**
   * The status of ModelMetadata for a model that there is not; such a model is not ready, until
   * `models` has it.
   */
  readonly unknownModel?: { readonly code: number; readonly details: string };
  /** Undefined: the server has no RepositoryIndex. */
  readonly repository?: readonly ModelIndex[];
  /** Undefined: the server has no ModelStatistics. */
  readonly statistics?: () => ModelStatistics;
  /** MLServer's: plain responses on the stream. */
  readonly streamsPlainResponses?: boolean;
  /** Methods that the server does not have. */
  readonly without?: readonly string[];
  /**
   * A stream's next request is begun when the one before is done: when the promise of `onInfer` is
   * kept.
   */
  readonly streamsInTurn?: boolean;
  /** Default: answers with the first input's raw contents as the one output. */
  readonly onInfer?: (request: ModelInferRequest__Output, answer: Answerer) => void | Promise<void>;
}

/** FP32, one output as long as the input. */
export const ECHO_MODEL: ModelMetadataResponse = {
  name: 'echo',
  versions: ['1'],
  platform: 'test',
  inputs: [{ name: 'in', datatype: 'FP32', shape: [-1, 2] }],
  outputs: [{ name: 'out', datatype: 'FP32', shape: [-1, 2] }],
};

/** The answer that gives back the first input. */
export function echoOf({
  id,
  inputs,
  rawInputContents,
}: ModelInferRequest__Output): ModelInferResponse {
  return {
    modelName: 'echo',
    id,
    outputs: [{ name: 'out', datatype: 'FP32', shape: inputs[0]?.shape ?? [] }],
    rawOutputContents: rawInputContents.slice(0, 1),
  };
}

/** A unary method of any of the service's messages. */
type Unary = (
  call: {
    readonly request: { readonly name: string; readonly version: string } & Buffer;
    readonly metadata: Metadata;
  },
  callback: (error: unknown, answer?: object) => void,
) => void;

/**
 * A server of the Open Inference Protocol for tests: real gRPC; keeps every request that it got.
 */
export class FakeOipServer {
  readonly requests: ModelInferRequest__Output[] = [];
  nameCount = 0;
  /** Calls of ModelInfer, and streams that carried a request. */
  inferCallCount = 0;
  address = '';
  /** The header of each ModelInfer call and of each stream; undefined: it had none. */
  readonly traceparents: (string | undefined)[] = [];
  readonly #server: Server;
  readonly #behaviour: OipBehaviour;
  #notReadyLeft: number;
  #modelReadyCount = 0;

  private constructor(behaviour: OipBehaviour) {
    this.#behaviour = behaviour;
    const { callsPerConnection: most } = behaviour;
    this.#server = new Server({
      'grpc.max_receive_message_length': -1,
      ...(most !== undefined && { 'grpc.max_concurrent_streams': most }),
    });
    this.#notReadyLeft = behaviour.notReadyCount ?? 0;
  }

  static async start(behaviour: OipBehaviour = {}): Promise<FakeOipServer> {
    const server = new FakeOipServer(behaviour);
    const methods = Object.entries(OIP_SERVICE).map(([name, method]) => {
      const path = method.path.replace('inference', behaviour.package ?? 'inference');
      return [name, { ...method, path }];
    });
    server.#server.addService(Object.fromEntries(methods), server.#handlers());
    server.address = await listen(server.#server);
    return server;
  }

  /** At once, as a process that is killed. */
  stop(): void {
    this.#server.forceShutdown();
  }

  #handlers(): Parameters<Server['addService']>[1] {
    const { config, repository, statistics } = this.#behaviour;
    const { model: single = ECHO_MODEL, models = [single], without = [] } = this.#behaviour;
    const found = ({ name, version }: { name: string; version: string }): FakeModel | undefined =>
      models.find(
        (one) => one.name === name && (version === '' || one.versions?.includes(version) === true),
      );
    const unary: Record<string, Unary | undefined> = {
      ServerLive: (_, callback) => callback(null, { live: true }),
      ServerReady: (_, callback) => {
        this.#notReadyLeft -= 1;
        callback(null, { ready: this.#notReadyLeft < 0 });
      },
      ServerMetadata: (_, callback) => {
        this.nameCount += 1;
        const honest = { name: 'server', version: '9', extensions: ['x'] };
        callback(null, { ...honest, ...this.#behaviour.server });
      },
      ModelReady: ({ request }, callback) => {
        this.#modelReadyCount += 1;
        const { modelReadyRefusal: refusal } = this.#behaviour;
        if (this.#modelReadyCount <= (refusal?.count ?? 0)) callback(refusal);
        else callback(null, { ready: found(request) !== undefined });
      },
      ModelMetadata: ({ request }, callback) => {
        const { config: _own, ...metadata } = found(request) ?? {};
        if ('name' in metadata) callback(null, metadata);
        else {
          const honest = { code: status.NOT_FOUND, details: `unknown model ${request.name}` };
          callback(this.#behaviour.unknownModel ?? honest);
        }
      },
      ModelConfig: ({ request }, callback) => {
        const own = found(request)?.config ?? config;
        if (own === undefined) callback({ code: status.UNIMPLEMENTED });
        else callback(null, { config: own });
      },
      RepositoryIndex: repository && ((_, callback) => callback(null, { models: [...repository] })),
      ModelStatistics:
        statistics && ((_, callback) => callback(null, { modelStats: [statistics()] })),
      ModelInfer: ({ request, metadata }, callback) => {
        this.#keepTraceparent(metadata);
        this.#unary(request, callback);
      },
    };
    const stream = (call: ServerDuplexStream<Buffer, Buffer>): void => this.#stream(call);
    return Object.fromEntries(
      Object.entries<unknown>({ ...unary, ModelStreamInfer: stream }).filter(
        ([name, method]) => method !== undefined && !without.includes(name),
      ),
    ) as Parameters<Server['addService']>[1];
  }

  #unary(bytes: Buffer, callback: (error: unknown, answer?: Buffer) => void): void {
    this.inferCallCount += 1;
    const endWith = (code: number, details: string): void => callback({ code, details });
    void this.#infer(bytes, {
      isCall: true,
      respond: (response) => callback(null, encodeResponse(response)),
      send: (message) => callback(null, message),
      refuse: endWith,
      endWith,
    });
  }

  #keepTraceparent(metadata: Metadata): void {
    this.traceparents.push(metadata.get('traceparent')[0]?.toString());
  }

  #stream(call: ServerDuplexStream<Buffer, Buffer>): void {
    const isPlain = this.#behaviour.streamsPlainResponses === true;
    let last: Promise<unknown> = Promise.resolve();
    const { streamsInTurn = false } = this.#behaviour;
    call.on('error', () => {});
    call.on('end', () => void last.then(() => call.end()));
    this.#keepTraceparent(call.metadata);
    call.once('data', () => {
      this.inferCallCount += 1;
    });
    call.on('data', (bytes: Buffer) => {
      const { id } = decodeRequest(bytes);
      const answer: Answerer = {
        isCall: false,
        respond: (response) =>
          call.write(
            isPlain ? encodeResponse(response) : encodeStreamResponse({ inferResponse: response }),
          ),
        send: (message) => call.write(message),
        refuse: (_code, errorMessage) =>
          call.write(encodeStreamResponse({ errorMessage, inferResponse: { id } })),
        endWith: (code, details) => call.emit('error', { code, details }),
      };
      const answered = streamsInTurn
        ? last.then(() => this.#infer(bytes, answer))
        : this.#infer(bytes, answer);
      last = Promise.all([last, answered]);
    });
  }

  #infer(bytes: Buffer, answer: Answerer): void | Promise<void> {
    const request = decodeRequest(bytes);
    this.requests.push(request);
    const { onInfer = (asked, to) => to.respond(echoOf(asked)) } = this.#behaviour;
    return onInfer(request, answer);
  }
}

/** Fake servers, which end with the running test. */
export function fakeOipServers<const B extends readonly OipBehaviour[]>(...behaviours: B) {
  return startEach(behaviours, FakeOipServer.start);
}

/**
 * A response as NVIDIA Dynamo makes it: typed contents, and a finish reason that is empty while
 * more follow.
 * @param isOld An older version: the finish reason has no element while more follow.
 */
export function dynamoResponse(
  id: string,
  text: string,
  reason: string,
  isOld = false,
): ModelInferResponse {
  const reasons = isOld && reason === '' ? [] : [Buffer.from(reason)];
  const bytes = (name: string, elements: Buffer[]) => ({
    ...{ name, datatype: 'BYTES', shape: [elements.length] },
    contents: { bytesContents: elements },
  });
  return {
    ...{ modelName: 'qwen', modelVersion: '1', id },
    outputs: [bytes('text_output', [Buffer.from(text)]), bytes('finish_reason', reasons)],
  };
}
