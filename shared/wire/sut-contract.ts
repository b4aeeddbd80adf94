import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type {
  LinkTestRequest,
  LinkTestRequest__Output,
} from '../../proto/gen/mlperf/network/v1/LinkTestRequest.ts';
import type {
  LinkTestResponse,
  LinkTestResponse__Output,
} from '../../proto/gen/mlperf/network/v1/LinkTestResponse.ts';
import type {
  LoadGenMessage,
  LoadGenMessage__Output,
} from '../../proto/gen/mlperf/network/v1/LoadGenMessage.ts';
import type {
  SutMessage,
  SutMessage__Output,
} from '../../proto/gen/mlperf/network/v1/SutMessage.ts';
import type {
  SystemUnderTestClient,
  SystemUnderTestDefinition,
  SystemUnderTestHandlers,
} from '../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import type { ProtoGrpcType } from '../../proto/gen/sut.ts';
import { protoFolder } from '../base/files/package-files.ts';

const loaded = grpc.loadPackageDefinition(
  // Equal to the options with which proto/gen was made (package.json, script proto:gen).
  loadSync('mlperf/network/v1/sut.proto', {
    includeDirs: [protoFolder()],
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    oneofs: true,
  }),
) as unknown as ProtoGrpcType;

/** Constructor of clients for the unary calls: Name, Describe, Ready, Ledger, DescribeSystem. */
export const UnaryClient: new (
  address: string,
  credentials: grpc.ChannelCredentials,
  options?: grpc.ClientOptions,
) => SystemUnderTestClient = loaded.mlperf.network.v1.SystemUnderTest;

/** Full name of the service. */
export const SUT_SERVICE_NAME = 'mlperf.network.v1.SystemUnderTest';

/** Service definition with protobuf objects on all methods. */
const objectService: SystemUnderTestDefinition = loaded.mlperf.network.v1.SystemUnderTest.service;

const asIs = (bytes: Buffer): Buffer => bytes;

/**
 * Infer with bytes on both sides: its messages are encoded and decoded outside gRPC, the frequent
 * ones by hand (part-codec.ts, responses-codec.ts), the others by the functions below.
 */
export const INFER_METHOD: grpc.MethodDefinition<Buffer, Buffer> = {
  ...objectService.Infer,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};

/** TestLink with bytes on both sides, as Infer has them: what is measured should cost what queries cost. */
export const LINK_TEST_METHOD: grpc.MethodDefinition<Buffer, Buffer> = {
  ...objectService.TestLink,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};

/** What a server implements: the unary methods with objects, streams with bytes. */
export interface SutServiceHandlers extends grpc.UntypedServiceImplementation {
  Name: SystemUnderTestHandlers['Name'];
  Describe: SystemUnderTestHandlers['Describe'];
  Ready: SystemUnderTestHandlers['Ready'];
  Ledger: SystemUnderTestHandlers['Ledger'];
  /** A node without it answers UNIMPLEMENTED, as nodes of before it do. */
  DescribeSystem?: SystemUnderTestHandlers['DescribeSystem'];
  Infer: grpc.handleBidiStreamingCall<Buffer, Buffer>;
  /** Optional as DescribeSystem is. */
  TestLink?: grpc.handleBidiStreamingCall<Buffer, Buffer>;
}

/** The service as a server implements it: unary methods with objects, streams with bytes. */
export const SUT_SERVICE: grpc.ServiceDefinition<SutServiceHandlers> = {
  ...objectService,
  Infer: INFER_METHOD,
  TestLink: LINK_TEST_METHOD,
} as grpc.ServiceDefinition<SutServiceHandlers>;

/** Encodes any LoadGenMessage; parts have their own fast way. */
export function encodeLoadGenMessage(message: LoadGenMessage): Buffer {
  return objectService.Infer.requestSerialize(message);
}

/** Decodes any LoadGenMessage. @throws Error when the bytes are not one. */
export function decodeLoadGenMessage(bytes: Buffer): LoadGenMessage__Output {
  return objectService.Infer.requestDeserialize(bytes);
}

/** Encodes any SutMessage; responses have their own fast way. */
export function encodeSutMessage(message: SutMessage): Buffer {
  return objectService.Infer.responseSerialize(message);
}

/** Decodes any SutMessage. @throws Error when the bytes are not one. */
export function decodeSutMessage(bytes: Buffer): SutMessage__Output {
  return objectService.Infer.responseDeserialize(bytes);
}

/** Encodes a message of a link test. */
export function encodeLinkTestRequest(message: LinkTestRequest): Buffer {
  return objectService.TestLink.requestSerialize(message);
}

/** Decodes a message of a link test. @throws Error when the bytes are not one. */
export function decodeLinkTestRequest(bytes: Buffer): LinkTestRequest__Output {
  return objectService.TestLink.requestDeserialize(bytes);
}

/** Encodes a node's message of a link test. */
export function encodeLinkTestResponse(message: LinkTestResponse): Buffer {
  return objectService.TestLink.responseSerialize(message);
}

/** Decodes a node's message of a link test. @throws Error when the bytes are not one. */
export function decodeLinkTestResponse(bytes: Buffer): LinkTestResponse__Output {
  return objectService.TestLink.responseDeserialize(bytes);
}
