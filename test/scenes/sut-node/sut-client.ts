import { readFileSync } from 'node:fs';
import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  makeGenericClientConstructor,
  type ServiceClientConstructor,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import type { LedgerResponse__Output } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { NameResponse__Output } from '../../../proto/gen/mlperf/network/v1/NameResponse.ts';
import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import type { ReadyResponse__Output } from '../../../proto/gen/mlperf/network/v1/ReadyResponse.ts';
import { Deferred } from '../../../shared/base/async.ts';
import { descriptorSetFile } from '../../../shared/base/files/package-files.ts';
import { AUTHORIZATION_KEY, bearerOf } from '../../../shared/security/client-security.ts';
import { encodePart, type PartSample } from '../../../shared/wire/part-codec.ts';
import {
  decodeResponses,
  isResponses,
  type WireCompleted,
  type WireFailed,
} from '../../../shared/wire/responses-codec.ts';
import {
  decodeSutMessage,
  encodeLoadGenMessage,
  INFER_METHOD,
  SUT_SERVICE,
} from '../../../shared/wire/sut-contract.ts';

const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 };

/** A sample that travels whole in the first encoding of Open. */
export function wholeSample(id: number, payload: Uint8Array): PartSample {
  return { id, payload, encoding: 0, offset: 0, total: 0 };
}

/** One Infer stream to a real node, driven by hand: it checks nothing and keeps to no credit. */
export class InferClient {
  readonly completed: WireCompleted[] = [];
  readonly failed: WireFailed[] = [];
  readonly drainReasons: string[] = [];
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  readonly #opened = new Deferred<void>();
  readonly #ended = new Deferred<StatusObject>();
  creditSamples = 0;
  creditBytes = 0;
  /** Called after every message of the node. */
  onMessage: () => void = () => {};

  constructor(address: string, open: Open | undefined) {
    this.#client = new Client(address, credentials.createInsecure(), {
      ...OWN_CONNECTION,
      'grpc.max_receive_message_length': -1,
    });
    this.#stream = this.#client.makeBidiStreamRequest(
      INFER_METHOD.path,
      INFER_METHOD.requestSerialize,
      INFER_METHOD.responseDeserialize,
    );
    this.#stream.on('data', this.#onData);
    this.#stream.on('status', (end: StatusObject) => {
      this.#ended.resolve(end);
      this.#client.close();
    });
    // The status says it, too.
    this.#stream.on('error', () => {});
    if (open !== undefined) this.write(encodeLoadGenMessage({ open }));
  }

  /** Resolves when the node has sent Opened. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Resolves with the status of the stream. */
  get ended(): Promise<StatusObject> {
    return this.#ended.promise;
  }

  /** Samples that have an answer, of either kind. */
  get answeredCount(): number {
    return this.completed.length + this.failed.length;
  }

  /** Any bytes. */
  write(bytes: Buffer): boolean {
    return this.#stream.write(bytes);
  }

  /** A part of one query. */
  part(query: number, samples: readonly PartSample[], querySampleCount = samples.length): boolean {
    return this.write(encodePart({ query, querySampleCount, samples }));
  }

  close(): void {
    this.write(encodeLoadGenMessage({ close: {} }));
  }

  /** Ends this side of the stream without a Close. */
  halfClose(): void {
    this.#stream.end();
  }

  /** Goes away without a word. */
  cancel(): void {
    this.#stream.cancel();
  }

  /** Resolves when so many samples have an answer, or the stream has ended. */
  async answered(count: number): Promise<void> {
    const enough = new Deferred<void>();
    this.onMessage = () => {
      if (this.answeredCount >= count) enough.resolve();
    };
    this.onMessage();
    await Promise.race([enough.promise, this.ended]);
  }

  readonly #onData = (bytes: Buffer): void => {
    if (isResponses(bytes)) {
      const responses = decodeResponses(bytes);
      this.completed.push(...responses.completed);
      this.failed.push(...responses.failed);
    } else {
      const { opened, credit, draining } = decodeSutMessage(bytes);
      const grant = opened?.credit ?? credit;
      this.creditSamples = grant?.samples ?? this.creditSamples;
      this.creditBytes = grant?.bytes ?? this.creditBytes;
      if (draining) this.drainReasons.push(draining.reason);
      if (opened) this.#opened.resolve();
    }
    this.onMessage();
  };
}

/** Asks once, on a connection of its own. @param Client Of any service. */
export async function askOnce<T>(
  Client: ServiceClientConstructor,
  address: string,
  method: string,
  request: object,
): Promise<T> {
  const client = new Client(address, credentials.createInsecure(), OWN_CONNECTION);
  try {
    return await new Promise<T>((resolve, reject) => {
      const call = client[method] as unknown as Unary<T>;
      call.call(client, request, (error, answer) =>
        error === null ? resolve(answer as T) : reject(error),
      );
    });
  } finally {
    client.close();
  }
}

type Unary<T> = (
  request: object,
  callback: (error: ServiceError | null, answer?: T) => void,
) => void;

/** Answers by method. */
interface Answers {
  readonly Name: NameResponse__Output;
  readonly Describe: DescribeResponse__Output;
  readonly Ready: ReadyResponse__Output;
  readonly Ledger: LedgerResponse__Output;
  readonly DescribeSystem: DescribeSystemResponse__Output;
}

const SutClient = makeGenericClientConstructor(SUT_SERVICE, '');

/** Asks a SUT node once. */
export function ask<M extends keyof Answers>(
  address: string,
  method: M,
  request: object,
): Promise<Answers[M]> {
  return askOnce(SutClient, address, method, request);
}

const services = loadPackageDefinition(
  loadFileDescriptorSetFromBuffer(readFileSync(descriptorSetFile()), { enums: String }),
) as unknown as {
  readonly grpc: {
    readonly health: { readonly v1: { readonly Health: ServiceClientConstructor } };
    readonly reflection: Readonly<
      Record<string, { readonly ServerReflection: ServiceClientConstructor }>
    >;
  };
};

const { Health } = services.grpc.health.v1;

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set(AUTHORIZATION_KEY, bearerOf(token));
  return metadata;
}

/** Asks for health once. */
export function askHealth(
  address: string,
  method: 'Check' | 'List',
  request: object = {},
): Promise<unknown> {
  return askOnce(Health, address, method, request);
}

/** A Watch call, and what it was told. */
export class HealthWatch {
  readonly statuses: string[] = [];
  readonly ended: Promise<StatusObject>;
  readonly #call: ClientReadableStream<{ status: string }>;

  constructor(address: string, service: string, token?: string) {
    const client = new Health(address, credentials.createInsecure(), OWN_CONNECTION);
    type Watch = (request: object, metadata: Metadata) => ClientReadableStream<{ status: string }>;
    const watch = client['Watch'] as unknown as Watch;
    this.#call = watch.call(client, { service }, metadataOf(token));
    this.#call.on('data', ({ status }: { status: string }) => this.statuses.push(status));
    // The status says it, too.
    this.#call.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.#call.on('status', (end: StatusObject) => {
        client.close();
        resolve(end);
      });
    });
  }

  cancel(): void {
    this.#call.cancel();
  }
}

/** Answer of server reflection, as far as the tests read it. */
interface ReflectionAnswer {
  readonly list_services_response?: {
    readonly service: readonly { readonly name: string }[];
  } | null;
  readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Buffer[] } | null;
  readonly error_response?: { readonly error_code: number; readonly error_message: string } | null;
}

/** Asks questions of server reflection on one call and ends it. */
export function askReflection(
  address: string,
  questions: readonly object[],
  { version = 'v1', token }: { readonly version?: string; readonly token?: string } = {},
): Promise<{ readonly answers: readonly ReflectionAnswer[]; readonly end: StatusObject }> {
  const call = openReflection(address, { version, token });
  const answers: ReflectionAnswer[] = [];
  call.on('data', (answer: ReflectionAnswer) => answers.push(answer));
  for (const question of questions) call.write(question);
  call.end();
  return new Promise((resolve) => {
    call.on('status', (end: StatusObject) => resolve({ answers, end }));
  });
}

/** Opens a call of server reflection and says nothing. */
export function openReflection(
  address: string,
  {
    version = 'v1',
    token,
  }: { readonly version?: string; readonly token?: string | undefined } = {},
): ClientDuplexStream<object, ReflectionAnswer> {
  const Client = services.grpc.reflection[version]?.ServerReflection as ServiceClientConstructor;
  const client = new Client(address, credentials.createInsecure(), OWN_CONNECTION);
  type Open = (metadata: Metadata) => ClientDuplexStream<object, ReflectionAnswer>;
  const open = client['ServerReflectionInfo'] as unknown as Open;
  const call = open.call(client, metadataOf(token));
  call.on('error', () => {});
  call.on('status', () => client.close());
  return call;
}
