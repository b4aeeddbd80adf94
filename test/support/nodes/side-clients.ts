import { readFileSync } from 'node:fs';
import {
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { descriptorSetFile } from '../../../shared/base/files/package-files.ts';
import { AUTHORIZATION_KEY, bearerOf } from '../../../shared/security/client-security.ts';

const services = loadPackageDefinition(
  loadFileDescriptorSetFromBuffer(readFileSync(descriptorSetFile()), { enums: String }),
);

/** Constructor of clients of a service, from the committed descriptors. */
function clientOf(path: string): ServiceClientConstructor {
  const found = path
    .split('.')
    .reduce<GrpcObject[string]>((object, name) => (object as GrpcObject)[name] as never, services);
  return found as ServiceClientConstructor;
}

const HealthClient = clientOf('grpc.health.v1.Health');

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set(AUTHORIZATION_KEY, bearerOf(token));
  return metadata;
}

type Unary = (
  request: object,
  metadata: Metadata,
  callback: (error: ServiceError | null, response: unknown) => void,
) => void;

/** Asks for health once, on a connection of its own. */
export async function askHealth(
  address: string,
  method: 'Check' | 'List',
  request: object = {},
): Promise<unknown> {
  const client = new HealthClient(address, credentials.createInsecure(), OWN_CONNECTION);
  try {
    return await new Promise((resolve, reject) => {
      const call = client[method] as unknown as Unary;
      call.call(client, request, new Metadata(), (error, response) => {
        if (error === null) resolve(response);
        else reject(error);
      });
    });
  } finally {
    client.close();
  }
}

const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 };

/** A Watch call, and what it was told. */
export class HealthWatch {
  readonly statuses: string[] = [];
  readonly ended: Promise<StatusObject>;
  readonly #call: ClientReadableStream<{ status: string }>;

  constructor(address: string, service: string, token?: string) {
    const client = new HealthClient(address, credentials.createInsecure(), OWN_CONNECTION);
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

/** What server reflection answers, as far as the tests read it. */
export interface ReflectionAnswer {
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
  const Client = clientOf(`grpc.reflection.${version}.ServerReflection`);
  const client = new Client(address, credentials.createInsecure(), OWN_CONNECTION);
  type Open = (metadata: Metadata) => ClientDuplexStream<object, ReflectionAnswer>;
  const open = client['ServerReflectionInfo'] as unknown as Open;
  const call = open.call(client, metadataOf(token));
  call.on('error', () => {});
  call.on('status', () => client.close());
  return call;
}
