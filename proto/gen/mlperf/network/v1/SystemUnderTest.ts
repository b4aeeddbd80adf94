// Original file: proto/mlperf/network/v1/sut.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { DescribeRequest as _mlperf_network_v1_DescribeRequest, DescribeRequest__Output as _mlperf_network_v1_DescribeRequest__Output } from '../../../mlperf/network/v1/DescribeRequest.ts';
import type { DescribeResponse as _mlperf_network_v1_DescribeResponse, DescribeResponse__Output as _mlperf_network_v1_DescribeResponse__Output } from '../../../mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemRequest as _mlperf_network_v1_DescribeSystemRequest, DescribeSystemRequest__Output as _mlperf_network_v1_DescribeSystemRequest__Output } from '../../../mlperf/network/v1/DescribeSystemRequest.ts';
import type { DescribeSystemResponse as _mlperf_network_v1_DescribeSystemResponse, DescribeSystemResponse__Output as _mlperf_network_v1_DescribeSystemResponse__Output } from '../../../mlperf/network/v1/DescribeSystemResponse.ts';
import type { LedgerRequest as _mlperf_network_v1_LedgerRequest, LedgerRequest__Output as _mlperf_network_v1_LedgerRequest__Output } from '../../../mlperf/network/v1/LedgerRequest.ts';
import type { LedgerResponse as _mlperf_network_v1_LedgerResponse, LedgerResponse__Output as _mlperf_network_v1_LedgerResponse__Output } from '../../../mlperf/network/v1/LedgerResponse.ts';
import type { LinkTestRequest as _mlperf_network_v1_LinkTestRequest, LinkTestRequest__Output as _mlperf_network_v1_LinkTestRequest__Output } from '../../../mlperf/network/v1/LinkTestRequest.ts';
import type { LinkTestResponse as _mlperf_network_v1_LinkTestResponse, LinkTestResponse__Output as _mlperf_network_v1_LinkTestResponse__Output } from '../../../mlperf/network/v1/LinkTestResponse.ts';
import type { LoadGenMessage as _mlperf_network_v1_LoadGenMessage, LoadGenMessage__Output as _mlperf_network_v1_LoadGenMessage__Output } from '../../../mlperf/network/v1/LoadGenMessage.ts';
import type { NameRequest as _mlperf_network_v1_NameRequest, NameRequest__Output as _mlperf_network_v1_NameRequest__Output } from '../../../mlperf/network/v1/NameRequest.ts';
import type { NameResponse as _mlperf_network_v1_NameResponse, NameResponse__Output as _mlperf_network_v1_NameResponse__Output } from '../../../mlperf/network/v1/NameResponse.ts';
import type { ReadyRequest as _mlperf_network_v1_ReadyRequest, ReadyRequest__Output as _mlperf_network_v1_ReadyRequest__Output } from '../../../mlperf/network/v1/ReadyRequest.ts';
import type { ReadyResponse as _mlperf_network_v1_ReadyResponse, ReadyResponse__Output as _mlperf_network_v1_ReadyResponse__Output } from '../../../mlperf/network/v1/ReadyResponse.ts';
import type { SutMessage as _mlperf_network_v1_SutMessage, SutMessage__Output as _mlperf_network_v1_SutMessage__Output } from '../../../mlperf/network/v1/SutMessage.ts';

export interface SystemUnderTestClient extends grpc.Client {
  Describe(argument: _mlperf_network_v1_DescribeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  Describe(argument: _mlperf_network_v1_DescribeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  Describe(argument: _mlperf_network_v1_DescribeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  Describe(argument: _mlperf_network_v1_DescribeRequest, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _mlperf_network_v1_DescribeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _mlperf_network_v1_DescribeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _mlperf_network_v1_DescribeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  describe(argument: _mlperf_network_v1_DescribeRequest, callback: grpc.requestCallback<_mlperf_network_v1_DescribeResponse__Output>): grpc.ClientUnaryCall;
  
  DescribeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  DescribeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  DescribeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  DescribeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  describeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  describeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  describeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  describeSystem(argument: _mlperf_network_v1_DescribeSystemRequest, callback: grpc.requestCallback<_mlperf_network_v1_DescribeSystemResponse__Output>): grpc.ClientUnaryCall;
  
  Infer(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LoadGenMessage, _mlperf_network_v1_SutMessage__Output>;
  Infer(options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LoadGenMessage, _mlperf_network_v1_SutMessage__Output>;
  infer(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LoadGenMessage, _mlperf_network_v1_SutMessage__Output>;
  infer(options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LoadGenMessage, _mlperf_network_v1_SutMessage__Output>;
  
  Ledger(argument: _mlperf_network_v1_LedgerRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  Ledger(argument: _mlperf_network_v1_LedgerRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  Ledger(argument: _mlperf_network_v1_LedgerRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  Ledger(argument: _mlperf_network_v1_LedgerRequest, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  ledger(argument: _mlperf_network_v1_LedgerRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  ledger(argument: _mlperf_network_v1_LedgerRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  ledger(argument: _mlperf_network_v1_LedgerRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  ledger(argument: _mlperf_network_v1_LedgerRequest, callback: grpc.requestCallback<_mlperf_network_v1_LedgerResponse__Output>): grpc.ClientUnaryCall;
  
  Name(argument: _mlperf_network_v1_NameRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  Name(argument: _mlperf_network_v1_NameRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  Name(argument: _mlperf_network_v1_NameRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  Name(argument: _mlperf_network_v1_NameRequest, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  name(argument: _mlperf_network_v1_NameRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  name(argument: _mlperf_network_v1_NameRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  name(argument: _mlperf_network_v1_NameRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  name(argument: _mlperf_network_v1_NameRequest, callback: grpc.requestCallback<_mlperf_network_v1_NameResponse__Output>): grpc.ClientUnaryCall;
  
  Ready(argument: _mlperf_network_v1_ReadyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  Ready(argument: _mlperf_network_v1_ReadyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  Ready(argument: _mlperf_network_v1_ReadyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  Ready(argument: _mlperf_network_v1_ReadyRequest, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  ready(argument: _mlperf_network_v1_ReadyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  ready(argument: _mlperf_network_v1_ReadyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  ready(argument: _mlperf_network_v1_ReadyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  ready(argument: _mlperf_network_v1_ReadyRequest, callback: grpc.requestCallback<_mlperf_network_v1_ReadyResponse__Output>): grpc.ClientUnaryCall;
  
  TestLink(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LinkTestRequest, _mlperf_network_v1_LinkTestResponse__Output>;
  TestLink(options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LinkTestRequest, _mlperf_network_v1_LinkTestResponse__Output>;
  testLink(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LinkTestRequest, _mlperf_network_v1_LinkTestResponse__Output>;
  testLink(options?: grpc.CallOptions): grpc.ClientDuplexStream<_mlperf_network_v1_LinkTestRequest, _mlperf_network_v1_LinkTestResponse__Output>;
  
}

export interface SystemUnderTestHandlers extends grpc.UntypedServiceImplementation {
  Describe: grpc.handleUnaryCall<_mlperf_network_v1_DescribeRequest__Output, _mlperf_network_v1_DescribeResponse>;
  
  DescribeSystem: grpc.handleUnaryCall<_mlperf_network_v1_DescribeSystemRequest__Output, _mlperf_network_v1_DescribeSystemResponse>;
  
  Infer: grpc.handleBidiStreamingCall<_mlperf_network_v1_LoadGenMessage__Output, _mlperf_network_v1_SutMessage>;
  
  Ledger: grpc.handleUnaryCall<_mlperf_network_v1_LedgerRequest__Output, _mlperf_network_v1_LedgerResponse>;
  
  Name: grpc.handleUnaryCall<_mlperf_network_v1_NameRequest__Output, _mlperf_network_v1_NameResponse>;
  
  Ready: grpc.handleUnaryCall<_mlperf_network_v1_ReadyRequest__Output, _mlperf_network_v1_ReadyResponse>;
  
  TestLink: grpc.handleBidiStreamingCall<_mlperf_network_v1_LinkTestRequest__Output, _mlperf_network_v1_LinkTestResponse>;
  
}

export interface SystemUnderTestDefinition extends grpc.ServiceDefinition {
  Describe: MethodDefinition<_mlperf_network_v1_DescribeRequest, _mlperf_network_v1_DescribeResponse, _mlperf_network_v1_DescribeRequest__Output, _mlperf_network_v1_DescribeResponse__Output>
  DescribeSystem: MethodDefinition<_mlperf_network_v1_DescribeSystemRequest, _mlperf_network_v1_DescribeSystemResponse, _mlperf_network_v1_DescribeSystemRequest__Output, _mlperf_network_v1_DescribeSystemResponse__Output>
  Infer: MethodDefinition<_mlperf_network_v1_LoadGenMessage, _mlperf_network_v1_SutMessage, _mlperf_network_v1_LoadGenMessage__Output, _mlperf_network_v1_SutMessage__Output>
  Ledger: MethodDefinition<_mlperf_network_v1_LedgerRequest, _mlperf_network_v1_LedgerResponse, _mlperf_network_v1_LedgerRequest__Output, _mlperf_network_v1_LedgerResponse__Output>
  Name: MethodDefinition<_mlperf_network_v1_NameRequest, _mlperf_network_v1_NameResponse, _mlperf_network_v1_NameRequest__Output, _mlperf_network_v1_NameResponse__Output>
  Ready: MethodDefinition<_mlperf_network_v1_ReadyRequest, _mlperf_network_v1_ReadyResponse, _mlperf_network_v1_ReadyRequest__Output, _mlperf_network_v1_ReadyResponse__Output>
  TestLink: MethodDefinition<_mlperf_network_v1_LinkTestRequest, _mlperf_network_v1_LinkTestResponse, _mlperf_network_v1_LinkTestRequest__Output, _mlperf_network_v1_LinkTestResponse__Output>
}
