import { once } from 'node:events';
import {
  type CallOptions,
  type ChannelCredentials,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import type { GRPCInferenceServiceClient } from '../../../proto/gen/inference/GRPCInferenceService.ts';
import type { ModelInferRequest } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ModelInferResponse__Output } from '../../../proto/gen/inference/ModelInferResponse.ts';
import type { ModelStreamInferResponse__Output } from '../../../proto/gen/inference/ModelStreamInferResponse.ts';
import { AUTHORIZATION_KEY, bearerOf } from '../../../shared/security/client-security.ts';
import type { SutSettings } from '../../../sut-node/settings/sut-settings.ts';
import type { SutNode } from '../../../sut-node/sut-node.ts';
import { NO_DELAY, startTestNode } from '../sut-node/sut-node.ts';
import { OipClient } from './oip-messages.ts';

/** A client of the protocol, made from the .proto file without longhaul's codecs. */
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
    this.stub = new OipClient(address, channel, {
      'grpc.use_local_subchannel_pool': 1,
      // Of TLS alone: Node.js 26 takes no address as a server name.
      'grpc.ssl_target_name_override': 'localhost',
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
    });
    this.#token = token;
    onTestFinished(() => this.stub.close());
  }

  /** Makes a unary call. */
  ask<T = Record<string, unknown>>(
    method: string,
    request: object = {},
    options: CallOptions = {},
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = (this.stub as unknown as Record<string, (...args: unknown[]) => void>)[method];
      const take = (error: ServiceError | null, answer: T): void =>
        error === null ? resolve(answer) : reject(error);
      call?.call(this.stub, request, this.#metadata(), options, take);
    });
  }

  infer(request: ModelInferRequest, options?: CallOptions): Promise<ModelInferResponse__Output> {
    return this.ask('ModelInfer', request, options);
  }

  /** The status with which a request is refused. */
  refusal(request: ModelInferRequest, options?: CallOptions): Promise<ServiceError> {
    return this.infer(request, options).then(
      () => Promise.reject(new Error('the request was answered')),
      (error: ServiceError) => error,
    );
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
class OipTestStream {
  readonly answers: ModelStreamInferResponse__Output[] = [];
  readonly ended: Promise<StatusObject>;
  readonly #call: ClientDuplexStream<ModelInferRequest, ModelStreamInferResponse__Output>;

  constructor(call: ClientDuplexStream<ModelInferRequest, ModelStreamInferResponse__Output>) {
    this.#call = call;
    call.on('data', (answer: ModelStreamInferResponse__Output) => this.answers.push(answer));
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
    while (this.answers.length < count) await once(this.#call, 'data');
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

/** A request for `echo`: bytes in so many rows. */
export function echo(raw: Uint8Array, rest: ModelInferRequest = {}, rows = 1): ModelInferRequest {
  const shape = [rows, raw.length / rows];
  return rawRequest('echo', { datatype: 'UINT8', shape, raw }, rest);
}

/** A node of the benchmark echo. */
export function echoNode(settings: Partial<SutSettings> = {}): Promise<SutNode> {
  return startTestNode({ benchmark: 'echo', ...settings });
}

/** A node of the benchmark delay, each sample of which takes `ns`. */
export function slowNode(ns: number, settings: Partial<SutSettings> = {}): Promise<SutNode> {
  const delay = { ...NO_DELAY, model: { kind: 'fixed', ns } as const, concurrency: 64 };
  return startTestNode({ benchmark: 'delay', delay, ...settings });
}
