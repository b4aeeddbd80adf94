import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type {
  ModelInferRequest,
  ModelInferRequest__Output,
} from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ModelInferResponse } from '../../../proto/gen/inference/ModelInferResponse.ts';
import type { ModelStreamInferResponse } from '../../../proto/gen/inference/ModelStreamInferResponse.ts';
import type { ProtoGrpcType } from '../../../proto/gen/open_inference.ts';
import { protoFolder } from '../../../shared/base/files/package-files.ts';

const { inference } = loadPackageDefinition(
  loadSync('inference/open_inference.proto', {
    includeDirs: [protoFolder()],
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    oneofs: true,
  }),
) as unknown as ProtoGrpcType;

const { ModelInfer, ModelStreamInfer } = inference.GRPCInferenceService.service;

/** What protobuf itself makes of these messages: nothing of the codecs under test is in it. */
export function decodeRequest(bytes: Buffer): ModelInferRequest__Output {
  return ModelInfer.requestDeserialize(bytes);
}

export function encodeRequest(request: ModelInferRequest): Buffer {
  return ModelInfer.requestSerialize(request);
}

export function encodeResponse(response: ModelInferResponse): Buffer {
  return ModelInfer.responseSerialize(response);
}

export function encodeStreamResponse(response: ModelStreamInferResponse): Buffer {
  return ModelStreamInfer.responseSerialize(response);
}

/** The answer to a call of any method, by the method's name. */
export function encodeAnswer(method: string, answer: object): Buffer {
  const definition = Object.entries(inference.GRPCInferenceService.service).find(
    ([name]) => name === method,
  )?.[1];
  if (definition === undefined) throw new Error(`the protocol has no method ${method}`);
  return definition.responseSerialize(answer as never);
}
