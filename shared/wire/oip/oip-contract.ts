import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type {
  GRPCInferenceServiceDefinition,
  GRPCInferenceServiceHandlers,
} from '../../../proto/gen/inference/GRPCInferenceService.ts';
import type { ProtoGrpcType } from '../../../proto/gen/open_inference.ts';
import { BYTES_ONLY, loadProto } from '../grpc-proto.ts';

/** The methods of the service, all with protobuf objects. */
export const OIP_SERVICE_METHODS: GRPCInferenceServiceDefinition = loadProto<ProtoGrpcType>(
  'inference/open_inference.proto',
).inference.GRPCInferenceService.service;

/** Handlers of a server: inference as bytes, which have their own codec, all else as objects. */
export interface OipServiceHandlers
  extends UntypedServiceImplementation,
    Pick<
      GRPCInferenceServiceHandlers,
      | 'ServerLive'
      | 'ServerReady'
      | 'ModelReady'
      | 'ServerMetadata'
      | 'ModelMetadata'
      | 'ModelConfig'
      | 'ModelStatistics'
      | 'RepositoryIndex'
    > {
  ModelInfer: handleUnaryCall<Buffer, Buffer>;
  ModelStreamInfer: handleBidiStreamingCall<Buffer, Buffer>;
}

/** The service as a server implements it. */
export const OIP_SERVICE = {
  ...OIP_SERVICE_METHODS,
  ModelInfer: { ...OIP_SERVICE_METHODS.ModelInfer, ...BYTES_ONLY },
  ModelStreamInfer: { ...OIP_SERVICE_METHODS.ModelStreamInfer, ...BYTES_ONLY },
} as ServiceDefinition<OipServiceHandlers>;
