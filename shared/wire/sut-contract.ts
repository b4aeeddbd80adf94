import type {
  handleBidiStreamingCall,
  MethodDefinition,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type {
  SystemUnderTestDefinition,
  SystemUnderTestHandlers,
} from '../../proto/gen/mlperf/network/v1/SystemUnderTest.ts';
import type { ProtoGrpcType } from '../../proto/gen/sut.ts';
import { BYTES_ONLY, loadProto } from './grpc-proto.ts';

/** Full name of the service. */
export const SUT_SERVICE_NAME = 'mlperf.network.v1.SystemUnderTest';

/** The methods of the service, with protobuf objects on all of them. */
export const SUT_METHODS: SystemUnderTestDefinition = loadProto<ProtoGrpcType>(
  'mlperf/network/v1/sut.proto',
).mlperf.network.v1.SystemUnderTest.service;

/**
 * Infer with bytes on both sides: its messages are encoded and decoded outside gRPC, the frequent
 * ones by hand (part-codec.ts, responses-codec.ts), the others by the functions below.
 */
export const INFER_METHOD: MethodDefinition<Buffer, Buffer> = {
  ...SUT_METHODS.Infer,
  ...BYTES_ONLY,
};

/** TestLink with bytes on both sides, as Infer has them: what is measured should cost what queries cost. */
export const LINK_TEST_METHOD: MethodDefinition<Buffer, Buffer> = {
  ...SUT_METHODS.TestLink,
  ...BYTES_ONLY,
};

/** What a server implements: the unary methods with objects, streams with bytes. */
export interface SutServiceHandlers
  extends UntypedServiceImplementation,
    Pick<SystemUnderTestHandlers, 'Name' | 'Describe' | 'Ready' | 'Ledger'> {
  /** A node without it answers UNIMPLEMENTED, as nodes of before it do. */
  DescribeSystem?: SystemUnderTestHandlers['DescribeSystem'];
  Infer: handleBidiStreamingCall<Buffer, Buffer>;
  /** Optional as DescribeSystem is. */
  TestLink?: handleBidiStreamingCall<Buffer, Buffer>;
}

/** The service as a server implements it: unary methods with objects, streams with bytes. */
export const SUT_SERVICE = {
  ...SUT_METHODS,
  Infer: INFER_METHOD,
  TestLink: LINK_TEST_METHOD,
} as ServiceDefinition<SutServiceHandlers>;

// Messages as objects. Decoding throws an Error where the bytes are not one. Parts and responses have their own fast way.
export const encodeLoadGenMessage = SUT_METHODS.Infer.requestSerialize;
export const decodeLoadGenMessage = SUT_METHODS.Infer.requestDeserialize;
export const encodeSutMessage = SUT_METHODS.Infer.responseSerialize;
export const decodeSutMessage = SUT_METHODS.Infer.responseDeserialize;
export const encodeLinkTestRequest = SUT_METHODS.TestLink.requestSerialize;
export const decodeLinkTestRequest = SUT_METHODS.TestLink.requestDeserialize;
export const encodeLinkTestResponse = SUT_METHODS.TestLink.responseSerialize;
export const decodeLinkTestResponse = SUT_METHODS.TestLink.responseDeserialize;
