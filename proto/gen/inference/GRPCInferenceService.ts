// Original file: proto/inference/open_inference.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { ModelConfigRequest as _inference_ModelConfigRequest, ModelConfigRequest__Output as _inference_ModelConfigRequest__Output } from '../inference/ModelConfigRequest.ts';
import type { ModelConfigResponse as _inference_ModelConfigResponse, ModelConfigResponse__Output as _inference_ModelConfigResponse__Output } from '../inference/ModelConfigResponse.ts';
import type { ModelInferRequest as _inference_ModelInferRequest, ModelInferRequest__Output as _inference_ModelInferRequest__Output } from '../inference/ModelInferRequest.ts';
import type { ModelInferResponse as _inference_ModelInferResponse, ModelInferResponse__Output as _inference_ModelInferResponse__Output } from '../inference/ModelInferResponse.ts';
import type { ModelMetadataRequest as _inference_ModelMetadataRequest, ModelMetadataRequest__Output as _inference_ModelMetadataRequest__Output } from '../inference/ModelMetadataRequest.ts';
import type { ModelMetadataResponse as _inference_ModelMetadataResponse, ModelMetadataResponse__Output as _inference_ModelMetadataResponse__Output } from '../inference/ModelMetadataResponse.ts';
import type { ModelReadyRequest as _inference_ModelReadyRequest, ModelReadyRequest__Output as _inference_ModelReadyRequest__Output } from '../inference/ModelReadyRequest.ts';
import type { ModelReadyResponse as _inference_ModelReadyResponse, ModelReadyResponse__Output as _inference_ModelReadyResponse__Output } from '../inference/ModelReadyResponse.ts';
import type { ModelStatisticsRequest as _inference_ModelStatisticsRequest, ModelStatisticsRequest__Output as _inference_ModelStatisticsRequest__Output } from '../inference/ModelStatisticsRequest.ts';
import type { ModelStatisticsResponse as _inference_ModelStatisticsResponse, ModelStatisticsResponse__Output as _inference_ModelStatisticsResponse__Output } from '../inference/ModelStatisticsResponse.ts';
import type { ModelStreamInferResponse as _inference_ModelStreamInferResponse, ModelStreamInferResponse__Output as _inference_ModelStreamInferResponse__Output } from '../inference/ModelStreamInferResponse.ts';
import type { RepositoryIndexRequest as _inference_RepositoryIndexRequest, RepositoryIndexRequest__Output as _inference_RepositoryIndexRequest__Output } from '../inference/RepositoryIndexRequest.ts';
import type { RepositoryIndexResponse as _inference_RepositoryIndexResponse, RepositoryIndexResponse__Output as _inference_RepositoryIndexResponse__Output } from '../inference/RepositoryIndexResponse.ts';
import type { ServerLiveRequest as _inference_ServerLiveRequest, ServerLiveRequest__Output as _inference_ServerLiveRequest__Output } from '../inference/ServerLiveRequest.ts';
import type { ServerLiveResponse as _inference_ServerLiveResponse, ServerLiveResponse__Output as _inference_ServerLiveResponse__Output } from '../inference/ServerLiveResponse.ts';
import type { ServerMetadataRequest as _inference_ServerMetadataRequest, ServerMetadataRequest__Output as _inference_ServerMetadataRequest__Output } from '../inference/ServerMetadataRequest.ts';
import type { ServerMetadataResponse as _inference_ServerMetadataResponse, ServerMetadataResponse__Output as _inference_ServerMetadataResponse__Output } from '../inference/ServerMetadataResponse.ts';
import type { ServerReadyRequest as _inference_ServerReadyRequest, ServerReadyRequest__Output as _inference_ServerReadyRequest__Output } from '../inference/ServerReadyRequest.ts';
import type { ServerReadyResponse as _inference_ServerReadyResponse, ServerReadyResponse__Output as _inference_ServerReadyResponse__Output } from '../inference/ServerReadyResponse.ts';

export interface GRPCInferenceServiceClient extends grpc.Client {
  ModelConfig(argument: _inference_ModelConfigRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  ModelConfig(argument: _inference_ModelConfigRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  ModelConfig(argument: _inference_ModelConfigRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  ModelConfig(argument: _inference_ModelConfigRequest, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  modelConfig(argument: _inference_ModelConfigRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  modelConfig(argument: _inference_ModelConfigRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  modelConfig(argument: _inference_ModelConfigRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  modelConfig(argument: _inference_ModelConfigRequest, callback: grpc.requestCallback<_inference_ModelConfigResponse__Output>): grpc.ClientUnaryCall;
  
  ModelInfer(argument: _inference_ModelInferRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  ModelInfer(argument: _inference_ModelInferRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  ModelInfer(argument: _inference_ModelInferRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  ModelInfer(argument: _inference_ModelInferRequest, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  modelInfer(argument: _inference_ModelInferRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  modelInfer(argument: _inference_ModelInferRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  modelInfer(argument: _inference_ModelInferRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  modelInfer(argument: _inference_ModelInferRequest, callback: grpc.requestCallback<_inference_ModelInferResponse__Output>): grpc.ClientUnaryCall;
  
  ModelMetadata(argument: _inference_ModelMetadataRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  ModelMetadata(argument: _inference_ModelMetadataRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  ModelMetadata(argument: _inference_ModelMetadataRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  ModelMetadata(argument: _inference_ModelMetadataRequest, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  modelMetadata(argument: _inference_ModelMetadataRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  modelMetadata(argument: _inference_ModelMetadataRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  modelMetadata(argument: _inference_ModelMetadataRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  modelMetadata(argument: _inference_ModelMetadataRequest, callback: grpc.requestCallback<_inference_ModelMetadataResponse__Output>): grpc.ClientUnaryCall;
  
  ModelReady(argument: _inference_ModelReadyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  ModelReady(argument: _inference_ModelReadyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  ModelReady(argument: _inference_ModelReadyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  ModelReady(argument: _inference_ModelReadyRequest, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  modelReady(argument: _inference_ModelReadyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  modelReady(argument: _inference_ModelReadyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  modelReady(argument: _inference_ModelReadyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  modelReady(argument: _inference_ModelReadyRequest, callback: grpc.requestCallback<_inference_ModelReadyResponse__Output>): grpc.ClientUnaryCall;
  
  ModelStatistics(argument: _inference_ModelStatisticsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  ModelStatistics(argument: _inference_ModelStatisticsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  ModelStatistics(argument: _inference_ModelStatisticsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  ModelStatistics(argument: _inference_ModelStatisticsRequest, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  modelStatistics(argument: _inference_ModelStatisticsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  modelStatistics(argument: _inference_ModelStatisticsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  modelStatistics(argument: _inference_ModelStatisticsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  modelStatistics(argument: _inference_ModelStatisticsRequest, callback: grpc.requestCallback<_inference_ModelStatisticsResponse__Output>): grpc.ClientUnaryCall;
  
  ModelStreamInfer(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_inference_ModelInferRequest, _inference_ModelStreamInferResponse__Output>;
  ModelStreamInfer(options?: grpc.CallOptions): grpc.ClientDuplexStream<_inference_ModelInferRequest, _inference_ModelStreamInferResponse__Output>;
  modelStreamInfer(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_inference_ModelInferRequest, _inference_ModelStreamInferResponse__Output>;
  modelStreamInfer(options?: grpc.CallOptions): grpc.ClientDuplexStream<_inference_ModelInferRequest, _inference_ModelStreamInferResponse__Output>;
  
  RepositoryIndex(argument: _inference_RepositoryIndexRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  RepositoryIndex(argument: _inference_RepositoryIndexRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  RepositoryIndex(argument: _inference_RepositoryIndexRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  RepositoryIndex(argument: _inference_RepositoryIndexRequest, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  repositoryIndex(argument: _inference_RepositoryIndexRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  repositoryIndex(argument: _inference_RepositoryIndexRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  repositoryIndex(argument: _inference_RepositoryIndexRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  repositoryIndex(argument: _inference_RepositoryIndexRequest, callback: grpc.requestCallback<_inference_RepositoryIndexResponse__Output>): grpc.ClientUnaryCall;
  
  ServerLive(argument: _inference_ServerLiveRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  ServerLive(argument: _inference_ServerLiveRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  ServerLive(argument: _inference_ServerLiveRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  ServerLive(argument: _inference_ServerLiveRequest, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  serverLive(argument: _inference_ServerLiveRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  serverLive(argument: _inference_ServerLiveRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  serverLive(argument: _inference_ServerLiveRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  serverLive(argument: _inference_ServerLiveRequest, callback: grpc.requestCallback<_inference_ServerLiveResponse__Output>): grpc.ClientUnaryCall;
  
  ServerMetadata(argument: _inference_ServerMetadataRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  ServerMetadata(argument: _inference_ServerMetadataRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  ServerMetadata(argument: _inference_ServerMetadataRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  ServerMetadata(argument: _inference_ServerMetadataRequest, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  serverMetadata(argument: _inference_ServerMetadataRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  serverMetadata(argument: _inference_ServerMetadataRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  serverMetadata(argument: _inference_ServerMetadataRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  serverMetadata(argument: _inference_ServerMetadataRequest, callback: grpc.requestCallback<_inference_ServerMetadataResponse__Output>): grpc.ClientUnaryCall;
  
  ServerReady(argument: _inference_ServerReadyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  ServerReady(argument: _inference_ServerReadyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  ServerReady(argument: _inference_ServerReadyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  ServerReady(argument: _inference_ServerReadyRequest, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  serverReady(argument: _inference_ServerReadyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  serverReady(argument: _inference_ServerReadyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  serverReady(argument: _inference_ServerReadyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  serverReady(argument: _inference_ServerReadyRequest, callback: grpc.requestCallback<_inference_ServerReadyResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface GRPCInferenceServiceHandlers extends grpc.UntypedServiceImplementation {
  ModelConfig: grpc.handleUnaryCall<_inference_ModelConfigRequest__Output, _inference_ModelConfigResponse>;
  
  ModelInfer: grpc.handleUnaryCall<_inference_ModelInferRequest__Output, _inference_ModelInferResponse>;
  
  ModelMetadata: grpc.handleUnaryCall<_inference_ModelMetadataRequest__Output, _inference_ModelMetadataResponse>;
  
  ModelReady: grpc.handleUnaryCall<_inference_ModelReadyRequest__Output, _inference_ModelReadyResponse>;
  
  ModelStatistics: grpc.handleUnaryCall<_inference_ModelStatisticsRequest__Output, _inference_ModelStatisticsResponse>;
  
  ModelStreamInfer: grpc.handleBidiStreamingCall<_inference_ModelInferRequest__Output, _inference_ModelStreamInferResponse>;
  
  RepositoryIndex: grpc.handleUnaryCall<_inference_RepositoryIndexRequest__Output, _inference_RepositoryIndexResponse>;
  
  ServerLive: grpc.handleUnaryCall<_inference_ServerLiveRequest__Output, _inference_ServerLiveResponse>;
  
  ServerMetadata: grpc.handleUnaryCall<_inference_ServerMetadataRequest__Output, _inference_ServerMetadataResponse>;
  
  ServerReady: grpc.handleUnaryCall<_inference_ServerReadyRequest__Output, _inference_ServerReadyResponse>;
  
}

export interface GRPCInferenceServiceDefinition extends grpc.ServiceDefinition {
  ModelConfig: MethodDefinition<_inference_ModelConfigRequest, _inference_ModelConfigResponse, _inference_ModelConfigRequest__Output, _inference_ModelConfigResponse__Output>
  ModelInfer: MethodDefinition<_inference_ModelInferRequest, _inference_ModelInferResponse, _inference_ModelInferRequest__Output, _inference_ModelInferResponse__Output>
  ModelMetadata: MethodDefinition<_inference_ModelMetadataRequest, _inference_ModelMetadataResponse, _inference_ModelMetadataRequest__Output, _inference_ModelMetadataResponse__Output>
  ModelReady: MethodDefinition<_inference_ModelReadyRequest, _inference_ModelReadyResponse, _inference_ModelReadyRequest__Output, _inference_ModelReadyResponse__Output>
  ModelStatistics: MethodDefinition<_inference_ModelStatisticsRequest, _inference_ModelStatisticsResponse, _inference_ModelStatisticsRequest__Output, _inference_ModelStatisticsResponse__Output>
  ModelStreamInfer: MethodDefinition<_inference_ModelInferRequest, _inference_ModelStreamInferResponse, _inference_ModelInferRequest__Output, _inference_ModelStreamInferResponse__Output>
  RepositoryIndex: MethodDefinition<_inference_RepositoryIndexRequest, _inference_RepositoryIndexResponse, _inference_RepositoryIndexRequest__Output, _inference_RepositoryIndexResponse__Output>
  ServerLive: MethodDefinition<_inference_ServerLiveRequest, _inference_ServerLiveResponse, _inference_ServerLiveRequest__Output, _inference_ServerLiveResponse__Output>
  ServerMetadata: MethodDefinition<_inference_ServerMetadataRequest, _inference_ServerMetadataResponse, _inference_ServerMetadataRequest__Output, _inference_ServerMetadataResponse__Output>
  ServerReady: MethodDefinition<_inference_ServerReadyRequest, _inference_ServerReadyResponse, _inference_ServerReadyRequest__Output, _inference_ServerReadyResponse__Output>
}
