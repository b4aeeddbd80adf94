import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { AcceleratorFacts as _mlperf_network_v1_AcceleratorFacts, AcceleratorFacts__Output as _mlperf_network_v1_AcceleratorFacts__Output } from './mlperf/network/v1/AcceleratorFacts.ts';
import type { CacheFacts as _mlperf_network_v1_CacheFacts, CacheFacts__Output as _mlperf_network_v1_CacheFacts__Output } from './mlperf/network/v1/CacheFacts.ts';
import type { CallSeen as _mlperf_network_v1_CallSeen, CallSeen__Output as _mlperf_network_v1_CallSeen__Output } from './mlperf/network/v1/CallSeen.ts';
import type { Close as _mlperf_network_v1_Close, Close__Output as _mlperf_network_v1_Close__Output } from './mlperf/network/v1/Close.ts';
import type { Completed as _mlperf_network_v1_Completed, Completed__Output as _mlperf_network_v1_Completed__Output } from './mlperf/network/v1/Completed.ts';
import type { ComponentVersion as _mlperf_network_v1_ComponentVersion, ComponentVersion__Output as _mlperf_network_v1_ComponentVersion__Output } from './mlperf/network/v1/ComponentVersion.ts';
import type { Credit as _mlperf_network_v1_Credit, Credit__Output as _mlperf_network_v1_Credit__Output } from './mlperf/network/v1/Credit.ts';
import type { DescribeRequest as _mlperf_network_v1_DescribeRequest, DescribeRequest__Output as _mlperf_network_v1_DescribeRequest__Output } from './mlperf/network/v1/DescribeRequest.ts';
import type { DescribeResponse as _mlperf_network_v1_DescribeResponse, DescribeResponse__Output as _mlperf_network_v1_DescribeResponse__Output } from './mlperf/network/v1/DescribeResponse.ts';
import type { DescribeSystemRequest as _mlperf_network_v1_DescribeSystemRequest, DescribeSystemRequest__Output as _mlperf_network_v1_DescribeSystemRequest__Output } from './mlperf/network/v1/DescribeSystemRequest.ts';
import type { DescribeSystemResponse as _mlperf_network_v1_DescribeSystemResponse, DescribeSystemResponse__Output as _mlperf_network_v1_DescribeSystemResponse__Output } from './mlperf/network/v1/DescribeSystemResponse.ts';
import type { Draining as _mlperf_network_v1_Draining, Draining__Output as _mlperf_network_v1_Draining__Output } from './mlperf/network/v1/Draining.ts';
import type { Durations as _mlperf_network_v1_Durations, Durations__Output as _mlperf_network_v1_Durations__Output } from './mlperf/network/v1/Durations.ts';
import type { EccFacts as _mlperf_network_v1_EccFacts, EccFacts__Output as _mlperf_network_v1_EccFacts__Output } from './mlperf/network/v1/EccFacts.ts';
import type { EnclosureFacts as _mlperf_network_v1_EnclosureFacts, EnclosureFacts__Output as _mlperf_network_v1_EnclosureFacts__Output } from './mlperf/network/v1/EnclosureFacts.ts';
import type { Encoding as _mlperf_network_v1_Encoding, Encoding__Output as _mlperf_network_v1_Encoding__Output } from './mlperf/network/v1/Encoding.ts';
import type { Failed as _mlperf_network_v1_Failed, Failed__Output as _mlperf_network_v1_Failed__Output } from './mlperf/network/v1/Failed.ts';
import type { FirstToken as _mlperf_network_v1_FirstToken, FirstToken__Output as _mlperf_network_v1_FirstToken__Output } from './mlperf/network/v1/FirstToken.ts';
import type { HeaderSeen as _mlperf_network_v1_HeaderSeen, HeaderSeen__Output as _mlperf_network_v1_HeaderSeen__Output } from './mlperf/network/v1/HeaderSeen.ts';
import type { HostFacts as _mlperf_network_v1_HostFacts, HostFacts__Output as _mlperf_network_v1_HostFacts__Output } from './mlperf/network/v1/HostFacts.ts';
import type { LedgerRequest as _mlperf_network_v1_LedgerRequest, LedgerRequest__Output as _mlperf_network_v1_LedgerRequest__Output } from './mlperf/network/v1/LedgerRequest.ts';
import type { LedgerResponse as _mlperf_network_v1_LedgerResponse, LedgerResponse__Output as _mlperf_network_v1_LedgerResponse__Output } from './mlperf/network/v1/LedgerResponse.ts';
import type { LinkTestRequest as _mlperf_network_v1_LinkTestRequest, LinkTestRequest__Output as _mlperf_network_v1_LinkTestRequest__Output } from './mlperf/network/v1/LinkTestRequest.ts';
import type { LinkTestResponse as _mlperf_network_v1_LinkTestResponse, LinkTestResponse__Output as _mlperf_network_v1_LinkTestResponse__Output } from './mlperf/network/v1/LinkTestResponse.ts';
import type { LinkTestResult as _mlperf_network_v1_LinkTestResult, LinkTestResult__Output as _mlperf_network_v1_LinkTestResult__Output } from './mlperf/network/v1/LinkTestResult.ts';
import type { LinkTestStart as _mlperf_network_v1_LinkTestStart, LinkTestStart__Output as _mlperf_network_v1_LinkTestStart__Output } from './mlperf/network/v1/LinkTestStart.ts';
import type { LinkTestStarted as _mlperf_network_v1_LinkTestStarted, LinkTestStarted__Output as _mlperf_network_v1_LinkTestStarted__Output } from './mlperf/network/v1/LinkTestStarted.ts';
import type { LoadGenMessage as _mlperf_network_v1_LoadGenMessage, LoadGenMessage__Output as _mlperf_network_v1_LoadGenMessage__Output } from './mlperf/network/v1/LoadGenMessage.ts';
import type { MemoryFacts as _mlperf_network_v1_MemoryFacts, MemoryFacts__Output as _mlperf_network_v1_MemoryFacts__Output } from './mlperf/network/v1/MemoryFacts.ts';
import type { MemoryModuleFacts as _mlperf_network_v1_MemoryModuleFacts, MemoryModuleFacts__Output as _mlperf_network_v1_MemoryModuleFacts__Output } from './mlperf/network/v1/MemoryModuleFacts.ts';
import type { ModelDescription as _mlperf_network_v1_ModelDescription, ModelDescription__Output as _mlperf_network_v1_ModelDescription__Output } from './mlperf/network/v1/ModelDescription.ts';
import type { NameRequest as _mlperf_network_v1_NameRequest, NameRequest__Output as _mlperf_network_v1_NameRequest__Output } from './mlperf/network/v1/NameRequest.ts';
import type { NameResponse as _mlperf_network_v1_NameResponse, NameResponse__Output as _mlperf_network_v1_NameResponse__Output } from './mlperf/network/v1/NameResponse.ts';
import type { NetworkFacts as _mlperf_network_v1_NetworkFacts, NetworkFacts__Output as _mlperf_network_v1_NetworkFacts__Output } from './mlperf/network/v1/NetworkFacts.ts';
import type { NicFacts as _mlperf_network_v1_NicFacts, NicFacts__Output as _mlperf_network_v1_NicFacts__Output } from './mlperf/network/v1/NicFacts.ts';
import type { NodeLimits as _mlperf_network_v1_NodeLimits, NodeLimits__Output as _mlperf_network_v1_NodeLimits__Output } from './mlperf/network/v1/NodeLimits.ts';
import type { NodeUsage as _mlperf_network_v1_NodeUsage, NodeUsage__Output as _mlperf_network_v1_NodeUsage__Output } from './mlperf/network/v1/NodeUsage.ts';
import type { Open as _mlperf_network_v1_Open, Open__Output as _mlperf_network_v1_Open__Output } from './mlperf/network/v1/Open.ts';
import type { Opened as _mlperf_network_v1_Opened, Opened__Output as _mlperf_network_v1_Opened__Output } from './mlperf/network/v1/Opened.ts';
import type { Part as _mlperf_network_v1_Part, Part__Output as _mlperf_network_v1_Part__Output } from './mlperf/network/v1/Part.ts';
import type { ProcessorFacts as _mlperf_network_v1_ProcessorFacts, ProcessorFacts__Output as _mlperf_network_v1_ProcessorFacts__Output } from './mlperf/network/v1/ProcessorFacts.ts';
import type { ReadyRequest as _mlperf_network_v1_ReadyRequest, ReadyRequest__Output as _mlperf_network_v1_ReadyRequest__Output } from './mlperf/network/v1/ReadyRequest.ts';
import type { ReadyResponse as _mlperf_network_v1_ReadyResponse, ReadyResponse__Output as _mlperf_network_v1_ReadyResponse__Output } from './mlperf/network/v1/ReadyResponse.ts';
import type { Responses as _mlperf_network_v1_Responses, Responses__Output as _mlperf_network_v1_Responses__Output } from './mlperf/network/v1/Responses.ts';
import type { Sample as _mlperf_network_v1_Sample, Sample__Output as _mlperf_network_v1_Sample__Output } from './mlperf/network/v1/Sample.ts';
import type { SoftwareFacts as _mlperf_network_v1_SoftwareFacts, SoftwareFacts__Output as _mlperf_network_v1_SoftwareFacts__Output } from './mlperf/network/v1/SoftwareFacts.ts';
import type { StorageFacts as _mlperf_network_v1_StorageFacts, StorageFacts__Output as _mlperf_network_v1_StorageFacts__Output } from './mlperf/network/v1/StorageFacts.ts';
import type { SutMessage as _mlperf_network_v1_SutMessage, SutMessage__Output as _mlperf_network_v1_SutMessage__Output } from './mlperf/network/v1/SutMessage.ts';
import type { SystemFacts as _mlperf_network_v1_SystemFacts, SystemFacts__Output as _mlperf_network_v1_SystemFacts__Output } from './mlperf/network/v1/SystemFacts.ts';
import type { SystemUnderTestClient as _mlperf_network_v1_SystemUnderTestClient, SystemUnderTestDefinition as _mlperf_network_v1_SystemUnderTestDefinition } from './mlperf/network/v1/SystemUnderTest.ts';
import type { TensorDescription as _mlperf_network_v1_TensorDescription, TensorDescription__Output as _mlperf_network_v1_TensorDescription__Output } from './mlperf/network/v1/TensorDescription.ts';
import type { Tokens as _mlperf_network_v1_Tokens, Tokens__Output as _mlperf_network_v1_Tokens__Output } from './mlperf/network/v1/Tokens.ts';
import type { TuningFacts as _mlperf_network_v1_TuningFacts, TuningFacts__Output as _mlperf_network_v1_TuningFacts__Output } from './mlperf/network/v1/TuningFacts.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  mlperf: {
    network: {
      v1: {
        AcceleratorFacts: MessageTypeDefinition<_mlperf_network_v1_AcceleratorFacts, _mlperf_network_v1_AcceleratorFacts__Output>
        CacheFacts: MessageTypeDefinition<_mlperf_network_v1_CacheFacts, _mlperf_network_v1_CacheFacts__Output>
        CallSeen: MessageTypeDefinition<_mlperf_network_v1_CallSeen, _mlperf_network_v1_CallSeen__Output>
        Close: MessageTypeDefinition<_mlperf_network_v1_Close, _mlperf_network_v1_Close__Output>
        Completed: MessageTypeDefinition<_mlperf_network_v1_Completed, _mlperf_network_v1_Completed__Output>
        ComponentVersion: MessageTypeDefinition<_mlperf_network_v1_ComponentVersion, _mlperf_network_v1_ComponentVersion__Output>
        Credit: MessageTypeDefinition<_mlperf_network_v1_Credit, _mlperf_network_v1_Credit__Output>
        DescribeRequest: MessageTypeDefinition<_mlperf_network_v1_DescribeRequest, _mlperf_network_v1_DescribeRequest__Output>
        DescribeResponse: MessageTypeDefinition<_mlperf_network_v1_DescribeResponse, _mlperf_network_v1_DescribeResponse__Output>
        DescribeSystemRequest: MessageTypeDefinition<_mlperf_network_v1_DescribeSystemRequest, _mlperf_network_v1_DescribeSystemRequest__Output>
        DescribeSystemResponse: MessageTypeDefinition<_mlperf_network_v1_DescribeSystemResponse, _mlperf_network_v1_DescribeSystemResponse__Output>
        Division: EnumTypeDefinition
        Draining: MessageTypeDefinition<_mlperf_network_v1_Draining, _mlperf_network_v1_Draining__Output>
        Durations: MessageTypeDefinition<_mlperf_network_v1_Durations, _mlperf_network_v1_Durations__Output>
        EccFacts: MessageTypeDefinition<_mlperf_network_v1_EccFacts, _mlperf_network_v1_EccFacts__Output>
        EnclosureFacts: MessageTypeDefinition<_mlperf_network_v1_EnclosureFacts, _mlperf_network_v1_EnclosureFacts__Output>
        Encoding: MessageTypeDefinition<_mlperf_network_v1_Encoding, _mlperf_network_v1_Encoding__Output>
        Failed: MessageTypeDefinition<_mlperf_network_v1_Failed, _mlperf_network_v1_Failed__Output>
        FailureCode: EnumTypeDefinition
        FirstToken: MessageTypeDefinition<_mlperf_network_v1_FirstToken, _mlperf_network_v1_FirstToken__Output>
        HeaderSeen: MessageTypeDefinition<_mlperf_network_v1_HeaderSeen, _mlperf_network_v1_HeaderSeen__Output>
        HostFacts: MessageTypeDefinition<_mlperf_network_v1_HostFacts, _mlperf_network_v1_HostFacts__Output>
        LedgerRequest: MessageTypeDefinition<_mlperf_network_v1_LedgerRequest, _mlperf_network_v1_LedgerRequest__Output>
        LedgerResponse: MessageTypeDefinition<_mlperf_network_v1_LedgerResponse, _mlperf_network_v1_LedgerResponse__Output>
        LinkTestDirection: EnumTypeDefinition
        LinkTestRequest: MessageTypeDefinition<_mlperf_network_v1_LinkTestRequest, _mlperf_network_v1_LinkTestRequest__Output>
        LinkTestResponse: MessageTypeDefinition<_mlperf_network_v1_LinkTestResponse, _mlperf_network_v1_LinkTestResponse__Output>
        LinkTestResult: MessageTypeDefinition<_mlperf_network_v1_LinkTestResult, _mlperf_network_v1_LinkTestResult__Output>
        LinkTestStart: MessageTypeDefinition<_mlperf_network_v1_LinkTestStart, _mlperf_network_v1_LinkTestStart__Output>
        LinkTestStarted: MessageTypeDefinition<_mlperf_network_v1_LinkTestStarted, _mlperf_network_v1_LinkTestStarted__Output>
        LoadGenMessage: MessageTypeDefinition<_mlperf_network_v1_LoadGenMessage, _mlperf_network_v1_LoadGenMessage__Output>
        MemoryFacts: MessageTypeDefinition<_mlperf_network_v1_MemoryFacts, _mlperf_network_v1_MemoryFacts__Output>
        MemoryModuleFacts: MessageTypeDefinition<_mlperf_network_v1_MemoryModuleFacts, _mlperf_network_v1_MemoryModuleFacts__Output>
        ModelDescription: MessageTypeDefinition<_mlperf_network_v1_ModelDescription, _mlperf_network_v1_ModelDescription__Output>
        NameRequest: MessageTypeDefinition<_mlperf_network_v1_NameRequest, _mlperf_network_v1_NameRequest__Output>
        NameResponse: MessageTypeDefinition<_mlperf_network_v1_NameResponse, _mlperf_network_v1_NameResponse__Output>
        NetworkFacts: MessageTypeDefinition<_mlperf_network_v1_NetworkFacts, _mlperf_network_v1_NetworkFacts__Output>
        NicFacts: MessageTypeDefinition<_mlperf_network_v1_NicFacts, _mlperf_network_v1_NicFacts__Output>
        NodeLimits: MessageTypeDefinition<_mlperf_network_v1_NodeLimits, _mlperf_network_v1_NodeLimits__Output>
        NodeState: EnumTypeDefinition
        NodeUsage: MessageTypeDefinition<_mlperf_network_v1_NodeUsage, _mlperf_network_v1_NodeUsage__Output>
        Open: MessageTypeDefinition<_mlperf_network_v1_Open, _mlperf_network_v1_Open__Output>
        Opened: MessageTypeDefinition<_mlperf_network_v1_Opened, _mlperf_network_v1_Opened__Output>
        Part: MessageTypeDefinition<_mlperf_network_v1_Part, _mlperf_network_v1_Part__Output>
        ProcessorFacts: MessageTypeDefinition<_mlperf_network_v1_ProcessorFacts, _mlperf_network_v1_ProcessorFacts__Output>
        ReadyRequest: MessageTypeDefinition<_mlperf_network_v1_ReadyRequest, _mlperf_network_v1_ReadyRequest__Output>
        ReadyResponse: MessageTypeDefinition<_mlperf_network_v1_ReadyResponse, _mlperf_network_v1_ReadyResponse__Output>
        Responses: MessageTypeDefinition<_mlperf_network_v1_Responses, _mlperf_network_v1_Responses__Output>
        Sample: MessageTypeDefinition<_mlperf_network_v1_Sample, _mlperf_network_v1_Sample__Output>
        SoftwareFacts: MessageTypeDefinition<_mlperf_network_v1_SoftwareFacts, _mlperf_network_v1_SoftwareFacts__Output>
        StorageFacts: MessageTypeDefinition<_mlperf_network_v1_StorageFacts, _mlperf_network_v1_StorageFacts__Output>
        SutMessage: MessageTypeDefinition<_mlperf_network_v1_SutMessage, _mlperf_network_v1_SutMessage__Output>
        SystemFacts: MessageTypeDefinition<_mlperf_network_v1_SystemFacts, _mlperf_network_v1_SystemFacts__Output>
        SystemUnderTest: SubtypeConstructor<typeof grpc.Client, _mlperf_network_v1_SystemUnderTestClient> & { service: _mlperf_network_v1_SystemUnderTestDefinition }
        TensorDescription: MessageTypeDefinition<_mlperf_network_v1_TensorDescription, _mlperf_network_v1_TensorDescription__Output>
        Tokens: MessageTypeDefinition<_mlperf_network_v1_Tokens, _mlperf_network_v1_Tokens__Output>
        TuningFacts: MessageTypeDefinition<_mlperf_network_v1_TuningFacts, _mlperf_network_v1_TuningFacts__Output>
      }
    }
  }
}

