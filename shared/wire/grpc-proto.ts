import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoFolder } from '../base/files/package-files.ts';

/**
 * Loads a proto file, equal to the options with which proto/gen was made (package.json, script
 * proto:gen).
 */
export function loadProto<ProtoGrpcType>(file: string): ProtoGrpcType {
  const options = { longs: Number, enums: String, defaults: true, arrays: true, oneofs: true };
  const loaded = loadSync(file, { includeDirs: [protoFolder()], ...options });
  return loadPackageDefinition(loaded) as unknown as ProtoGrpcType;
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** A method with bytes on both sides: its messages are encoded and decoded outside gRPC. */
export const BYTES_ONLY = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};
