import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type {
  GRPCInferenceServiceClient,
  GRPCInferenceServiceDefinition,
  GRPCInferenceServiceHandlers,
} from '../../../proto/gen/inference/GRPCInferenceService.ts';
import type { ProtoGrpcType } from '../../../proto/gen/open_inference.ts';
import { protoFolder } from '../../base/files/package-files.ts';

const loaded = grpc.loadPackageDefinition(
  // Equal to the options with which proto/gen was made (package.json, script proto:gen).
  loadSync('inference/open_inference.proto', {
    includeDirs: [protoFolder()],
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    oneofs: true,
  }),
) as unknown as ProtoGrpcType;

const objectService: GRPCInferenceServiceDefinition = loaded.inference.GRPCInferenceService.service;

const asIs = (bytes: Buffer): Buffer => bytes;

const bytesOnly = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};

/** What a server implements: inference with bytes, which are read and written by hand, all else with objects. */
export interface OipServiceHandlers extends grpc.UntypedServiceImplementation {
  ServerLive: GRPCInferenceServiceHandlers['ServerLive'];
  ServerReady: GRPCInferenceServiceHandlers['ServerReady'];
  ModelReady: GRPCInferenceServiceHandlers['ModelReady'];
  ServerMetadata: GRPCInferenceServiceHandlers['ServerMetadata'];
  ModelMetadata: GRPCInferenceServiceHandlers['ModelMetadata'];
  ModelConfig: GRPCInferenceServiceHandlers['ModelConfig'];
  ModelStatistics: GRPCInferenceServiceHandlers['ModelStatistics'];
  RepositoryIndex: GRPCInferenceServiceHandlers['RepositoryIndex'];
  ModelInfer: grpc.handleUnaryCall<Buffer, Buffer>;
  ModelStreamInfer: grpc.handleBidiStreamingCall<Buffer, Buffer>;
}

/** The service as a server implements it. */
export const OIP_SERVICE: grpc.ServiceDefinition<OipServiceHandlers> = {
  ...objectService,
  ModelInfer: { ...objectService.ModelInfer, ...bytesOnly },
  ModelStreamInfer: { ...objectService.ModelStreamInfer, ...bytesOnly },
} as grpc.ServiceDefinition<OipServiceHandlers>;

/** A client of the unary methods whose requests and answers are objects. */
export type OipClient = Pick<
  GRPCInferenceServiceClient,
  | 'ServerLive'
  | 'ServerReady'
  | 'ModelReady'
  | 'ServerMetadata'
  | 'ModelMetadata'
  | 'ModelConfig'
  | 'ModelStatistics'
  | 'RepositoryIndex'
  | 'close'
  | 'getChannel'
  | 'makeBidiStreamRequest'
>;

/**
 * Constructor of clients of a service that has these methods under its own name.
 * @param serviceName For example `inference.GRPCInferenceService`, the standard's.
 */
export function oipClient(
  serviceName: string,
): new (
  address: string,
  credentials: grpc.ChannelCredentials,
  options?: grpc.ClientOptions,
) => OipClient {
  const methods = Object.entries(objectService).map(([name, method]) => [
    name,
    { ...method, path: `/${serviceName}/${name}` },
  ]);
  return grpc.makeGenericClientConstructor(
    Object.fromEntries(methods) as grpc.ServiceDefinition,
    serviceName,
  ) as unknown as ReturnType<typeof oipClient>;
}
