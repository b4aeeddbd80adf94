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

/** The methods of the service, with protobuf objects on all of them. */
export const OIP_SERVICE_METHODS: GRPCInferenceServiceDefinition = loadProto<ProtoGrpcType>(
  'inference/open_inference.proto',
).inference.GRPCInferenceService.service;

/** Handlers of a server: inference with bytes, which are read and written by hand, all else with objects. */
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
