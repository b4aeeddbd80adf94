import {
  type CallOptions,
  type ChannelCredentials,
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { onTestFinished } from 'vitest';
import type { GRPCInferenceServiceClient } from '../../../proto/gen/inference/GRPCInferenceService.ts';
import type { ModelInferRequest } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ModelInferResponse__Output } from '../../../proto/gen/inference/ModelInferResponse.ts';
import type { ModelStreamInferResponse__Output } from '../../../proto/gen/inference/ModelStreamInferResponse.ts';
import type { ProtoGrpcType } from '../../../proto/gen/open_inference.ts';
import { protoFolder } from '../../../shared/base/files/package-files.ts';
import { AUTHORIZATION_KEY, bearerOf } from '../../../shared/security/client-security.ts';

const loaded = loadPackageDefinition(
  loadSync('inference/open_inference.proto', {
    includeDirs: [protoFolder()],
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    oneofs: true,
  }),
) as unknown as ProtoGrpcType;

/** What any client of the protocol is: made of the .proto file, and nothing of longhaul's own codecs in it. */
export class OipTestClient {
  readonly stub: GRPCInferenceServiceClient;
  readonly #token: string | undefined;

  /** Closed when the running test ends. */
  constructor(
    address: string,
    {
      channel = credentials.createInsecure(),
      token,
    }: { channel?: ChannelCredentials; token?: string } = {},
  ) {
    const Client = loaded.inference.GRPCInferenceService;
    this.stub = new Client(address, channel, {
      'grpc.use_local_subchannel_pool': 1,
      // Of TLS alone: Node.js 26 takes no address as a server name.
      'grpc.ssl_target_name_override': 'localhost',
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
    });
    this.#token = token;
    onTestFinished(() => this.stub.close());
  }

  /** Asks one of the methods whose requests are names. */
  ask<T = Record<string, unknown>>(method: string, request: object = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = (this.stub as unknown as Record<string, (...args: unknown[]) => void>)[method];
      call?.call(this.stub, request, this.#metadata(), (error: ServiceError | null, answer: T) =>
        error === null ? resolve(answer) : reject(error),
      );
    });
  }

  infer(
    request: ModelInferRequest,
    options: CallOptions = {},
  ): Promise<ModelInferResponse__Output> {
    return new Promise((resolve, reject) => {
      this.stub.ModelInfer(request, this.#metadata(), options, (error, answer) =>
        error === null && answer !== undefined ? resolve(answer) : reject(error),
      );
    });
  }

  /** The status with which a request is refused. */
  async refusal(request: ModelInferRequest, options: CallOptions = {}): Promise<ServiceError> {
    try {
      await this.infer(request, options);
    } catch (error) {
      return error as ServiceError;
    }
    throw new Error('the request was answered');
  }

  stream(): OipTestStream {
    return new OipTestStream(this.stub.ModelStreamInfer(this.#metadata()));
  }

  #metadata(): Metadata {
    const metadata = new Metadata();
    if (this.#token !== undefined) metadata.set(AUTHORIZATION_KEY, bearerOf(this.#token));
    return metadata;
  }
}

/** A ModelStreamInfer call, and what came on it. */
export class OipTestStream {
  readonly answers: ModelStreamInferResponse__Output[] = [];
  readonly ended: Promise<StatusObject>;
  readonly #call: ClientDuplexStream<ModelInferRequest, ModelStreamInferResponse__Output>;
  #onAnswer: () => void = () => {};

  constructor(call: ClientDuplexStream<ModelInferRequest, ModelStreamInferResponse__Output>) {
    this.#call = call;
    call.on('data', (answer: ModelStreamInferResponse__Output) => {
      this.answers.push(answer);
      this.#onAnswer();
    });
    // The status says it, too.
    call.on('error', () => {});
    this.ended = new Promise((resolve) => {
      call.on('status', resolve);
    });
  }

  send(request: ModelInferRequest): void {
    this.#call.write(request);
  }

  halfClose(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  /** Resolves once so many answers are there. */
  async received(count: number): Promise<readonly ModelStreamInferResponse__Output[]> {
    while (this.answers.length < count) {
      await new Promise<void>((resolve) => {
        this.#onAnswer = resolve;
      });
    }
    return this.answers;
  }
}

/** A request for one raw input. */
export function rawRequest(
  modelName: string,
  input: { readonly datatype: string; readonly shape: readonly number[]; readonly raw: Uint8Array },
  rest: ModelInferRequest = {},
): ModelInferRequest {
  const { datatype, shape, raw } = input;
  return {
    modelName,
    inputs: [{ name: 'input', datatype, shape: [...shape] }],
    rawInputContents: [raw],
    ...rest,
  };
}
