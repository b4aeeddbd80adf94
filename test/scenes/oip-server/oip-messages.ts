import type { ModelInferRequest } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ProtoGrpcType } from '../../../proto/gen/open_inference.ts';
import { loadProto } from '../../../shared/wire/grpc-proto.ts';

/** Any client of the protocol, made of the .proto file. */
export const OipClient = loadProto<ProtoGrpcType>('inference/open_inference.proto').inference
  .GRPCInferenceService;

const { ModelInfer, ModelStreamInfer } = OipClient.service;

// Messages by protobuf itself: nothing of the codecs under test is in them.
export const decodeRequest = ModelInfer.requestDeserialize;
export const encodeResponse = ModelInfer.responseSerialize;
export const encodeStreamResponse = ModelStreamInfer.responseSerialize;
export const decodeStreamResponse = ModelStreamInfer.responseDeserialize;

export function encodeRequest(request: object): Buffer {
  return ModelInfer.requestSerialize(request as ModelInferRequest);
}

/** The payload of a request to a model with one input of UINT8. */
export function payloadOfRequest(bytes: Buffer): Buffer {
  const { inputs, rawInputContents } = decodeRequest(bytes);
  const typed = inputs.flatMap(({ contents }) => contents?.uintContents ?? []);
  return Buffer.concat([...rawInputContents, Buffer.from(typed)]);
}

/** The answer to a call of any method, by the method's name. */
export function encodeAnswer(method: string, answer: object): Buffer {
  const definition = Object.entries(OipClient.service).find(([name]) => name === method)?.[1];
  if (definition === undefined) throw new Error(`the protocol has no method ${method}`);
  return definition.responseSerialize(answer as never);
}
