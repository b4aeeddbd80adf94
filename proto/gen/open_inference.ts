import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { GRPCInferenceServiceClient as _inference_GRPCInferenceServiceClient, GRPCInferenceServiceDefinition as _inference_GRPCInferenceServiceDefinition } from './inference/GRPCInferenceService.ts';
import type { InferParameter as _inference_InferParameter, InferParameter__Output as _inference_InferParameter__Output } from './inference/InferParameter.ts';
import type { InferStatistics as _inference_InferStatistics, InferStatistics__Output as _inference_InferStatistics__Output } from './inference/InferStatistics.ts';
import type { InferTensorContents as _inference_InferTensorContents, InferTensorContents__Output as _inference_InferTensorContents__Output } from './inference/InferTensorContents.ts';
import type { ModelConfig as _inference_ModelConfig, ModelConfig__Output as _inference_ModelConfig__Output } from './inference/ModelConfig.ts';
import type { ModelConfigRequest as _inference_ModelConfigRequest, ModelConfigRequest__Output as _inference_ModelConfigRequest__Output } from './inference/ModelConfigRequest.ts';
import type { ModelConfigResponse as _inference_ModelConfigResponse, ModelConfigResponse__Output as _inference_ModelConfigResponse__Output } from './inference/ModelConfigResponse.ts';
import type { ModelInferRequest as _inference_ModelInferRequest, ModelInferRequest__Output as _inference_ModelInferRequest__Output } from './inference/ModelInferRequest.ts';
import type { ModelInferResponse as _inference_ModelInferResponse, ModelInferResponse__Output as _inference_ModelInferResponse__Output } from './inference/ModelInferResponse.ts';
import type { ModelMetadataRequest as _inference_ModelMetadataRequest, ModelMetadataRequest__Output as _inference_ModelMetadataRequest__Output } from './inference/ModelMetadataRequest.ts';
import type { ModelMetadataResponse as _inference_ModelMetadataResponse, ModelMetadataResponse__Output as _inference_ModelMetadataResponse__Output } from './inference/ModelMetadataResponse.ts';
import type { ModelReadyRequest as _inference_ModelReadyRequest, ModelReadyRequest__Output as _inference_ModelReadyRequest__Output } from './inference/ModelReadyRequest.ts';
import type { ModelReadyResponse as _inference_ModelReadyResponse, ModelReadyResponse__Output as _inference_ModelReadyResponse__Output } from './inference/ModelReadyResponse.ts';
import type { ModelStatistics as _inference_ModelStatistics, ModelStatistics__Output as _inference_ModelStatistics__Output } from './inference/ModelStatistics.ts';
import type { ModelStatisticsRequest as _inference_ModelStatisticsRequest, ModelStatisticsRequest__Output as _inference_ModelStatisticsRequest__Output } from './inference/ModelStatisticsRequest.ts';
import type { ModelStatisticsResponse as _inference_ModelStatisticsResponse, ModelStatisticsResponse__Output as _inference_ModelStatisticsResponse__Output } from './inference/ModelStatisticsResponse.ts';
import type { ModelStreamInferResponse as _inference_ModelStreamInferResponse, ModelStreamInferResponse__Output as _inference_ModelStreamInferResponse__Output } from './inference/ModelStreamInferResponse.ts';
import type { ModelTransactionPolicy as _inference_ModelTransactionPolicy, ModelTransactionPolicy__Output as _inference_ModelTransactionPolicy__Output } from './inference/ModelTransactionPolicy.ts';
import type { RepositoryIndexRequest as _inference_RepositoryIndexRequest, RepositoryIndexRequest__Output as _inference_RepositoryIndexRequest__Output } from './inference/RepositoryIndexRequest.ts';
import type { RepositoryIndexResponse as _inference_RepositoryIndexResponse, RepositoryIndexResponse__Output as _inference_RepositoryIndexResponse__Output } from './inference/RepositoryIndexResponse.ts';
import type { ServerLiveRequest as _inference_ServerLiveRequest, ServerLiveRequest__Output as _inference_ServerLiveRequest__Output } from './inference/ServerLiveRequest.ts';
import type { ServerLiveResponse as _inference_ServerLiveResponse, ServerLiveResponse__Output as _inference_ServerLiveResponse__Output } from './inference/ServerLiveResponse.ts';
import type { ServerMetadataRequest as _inference_ServerMetadataRequest, ServerMetadataRequest__Output as _inference_ServerMetadataRequest__Output } from './inference/ServerMetadataRequest.ts';
import type { ServerMetadataResponse as _inference_ServerMetadataResponse, ServerMetadataResponse__Output as _inference_ServerMetadataResponse__Output } from './inference/ServerMetadataResponse.ts';
import type { ServerReadyRequest as _inference_ServerReadyRequest, ServerReadyRequest__Output as _inference_ServerReadyRequest__Output } from './inference/ServerReadyRequest.ts';
import type { ServerReadyResponse as _inference_ServerReadyResponse, ServerReadyResponse__Output as _inference_ServerReadyResponse__Output } from './inference/ServerReadyResponse.ts';
import type { StatisticDuration as _inference_StatisticDuration, StatisticDuration__Output as _inference_StatisticDuration__Output } from './inference/StatisticDuration.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  inference: {
    GRPCInferenceService: SubtypeConstructor<typeof grpc.Client, _inference_GRPCInferenceServiceClient> & { service: _inference_GRPCInferenceServiceDefinition }
    InferParameter: MessageTypeDefinition<_inference_InferParameter, _inference_InferParameter__Output>
    InferStatistics: MessageTypeDefinition<_inference_InferStatistics, _inference_InferStatistics__Output>
    InferTensorContents: MessageTypeDefinition<_inference_InferTensorContents, _inference_InferTensorContents__Output>
    ModelConfig: MessageTypeDefinition<_inference_ModelConfig, _inference_ModelConfig__Output>
    ModelConfigRequest: MessageTypeDefinition<_inference_ModelConfigRequest, _inference_ModelConfigRequest__Output>
    ModelConfigResponse: MessageTypeDefinition<_inference_ModelConfigResponse, _inference_ModelConfigResponse__Output>
    ModelInferRequest: MessageTypeDefinition<_inference_ModelInferRequest, _inference_ModelInferRequest__Output>
    ModelInferResponse: MessageTypeDefinition<_inference_ModelInferResponse, _inference_ModelInferResponse__Output>
    ModelMetadataRequest: MessageTypeDefinition<_inference_ModelMetadataRequest, _inference_ModelMetadataRequest__Output>
    ModelMetadataResponse: MessageTypeDefinition<_inference_ModelMetadataResponse, _inference_ModelMetadataResponse__Output>
    ModelReadyRequest: MessageTypeDefinition<_inference_ModelReadyRequest, _inference_ModelReadyRequest__Output>
    ModelReadyResponse: MessageTypeDefinition<_inference_ModelReadyResponse, _inference_ModelReadyResponse__Output>
    ModelStatistics: MessageTypeDefinition<_inference_ModelStatistics, _inference_ModelStatistics__Output>
    ModelStatisticsRequest: MessageTypeDefinition<_inference_ModelStatisticsRequest, _inference_ModelStatisticsRequest__Output>
    ModelStatisticsResponse: MessageTypeDefinition<_inference_ModelStatisticsResponse, _inference_ModelStatisticsResponse__Output>
    ModelStreamInferResponse: MessageTypeDefinition<_inference_ModelStreamInferResponse, _inference_ModelStreamInferResponse__Output>
    ModelTransactionPolicy: MessageTypeDefinition<_inference_ModelTransactionPolicy, _inference_ModelTransactionPolicy__Output>
    RepositoryIndexRequest: MessageTypeDefinition<_inference_RepositoryIndexRequest, _inference_RepositoryIndexRequest__Output>
    RepositoryIndexResponse: MessageTypeDefinition<_inference_RepositoryIndexResponse, _inference_RepositoryIndexResponse__Output>
    ServerLiveRequest: MessageTypeDefinition<_inference_ServerLiveRequest, _inference_ServerLiveRequest__Output>
    ServerLiveResponse: MessageTypeDefinition<_inference_ServerLiveResponse, _inference_ServerLiveResponse__Output>
    ServerMetadataRequest: MessageTypeDefinition<_inference_ServerMetadataRequest, _inference_ServerMetadataRequest__Output>
    ServerMetadataResponse: MessageTypeDefinition<_inference_ServerMetadataResponse, _inference_ServerMetadataResponse__Output>
    ServerReadyRequest: MessageTypeDefinition<_inference_ServerReadyRequest, _inference_ServerReadyRequest__Output>
    ServerReadyResponse: MessageTypeDefinition<_inference_ServerReadyResponse, _inference_ServerReadyResponse__Output>
    StatisticDuration: MessageTypeDefinition<_inference_StatisticDuration, _inference_StatisticDuration__Output>
  }
}

