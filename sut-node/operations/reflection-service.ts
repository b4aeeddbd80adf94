import { readFileSync } from 'node:fs';
import type { Server } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { descriptorSetFile } from '../../shared/base/files/package-files.ts';
import { ProtoReader } from '../../shared/wire/proto-wire.ts';
import type { SideService } from '../server/connection/server-port.ts';

/** The file of the Open Inference Protocol in the set. */
const OIP_FILE = 'inference/open_inference.proto';

/** Field 1 of FileDescriptorSet, its files, and of FileDescriptorProto, its name. */
const FIRST_FIELD = (1 << 3) | 2;

/**
 * Server reflection (grpc.reflection.v1 and v1alpha) of all services of the node, from the
 * descriptors that protoc made: those that proto-loader makes from a .proto file lose the names of
 * map entries and optional fields, and strict clients refuse them. How long a call lasts and how
 * much it asks, the gate bounds (server/guard/call-rules.ts).
 */
export class Reflection implements SideService {
  readonly #service: ReflectionService;

  /**
   * @param hasOip Whether the node serves the Open Inference Protocol, whose descriptors are
   *   among the others.
   */
  constructor(hasOip: boolean) {
    const all = readFileSync(descriptorSetFile());
    const served = hasOip ? all : withoutFile(all, OIP_FILE);
    this.#service = new ReflectionService(loadFileDescriptorSetFromBuffer(served));
  }

  addTo(server: Server): void {
    this.#service.addToServer(server);
  }

  /** Its calls end by themselves, and soon. */
  close(): void {}
}

/** A FileDescriptorSet without one of its files. */
function withoutFile(set: Buffer, file: string): Buffer {
  const kept: Uint8Array[] = [];
  const reader = new ProtoReader(set);
  while (reader.position < reader.end) {
    const begin = reader.position;
    const tag = reader.varint();
    const isOther = tag !== FIRST_FIELD || nameOf(reader.message()) !== file;
    if (tag !== FIRST_FIELD) reader.skipField(tag);
    if (isOther) kept.push(set.subarray(begin, reader.position));
  }
  return Buffer.concat(kept);
}

/** protoc writes the name first. */
function nameOf(file: ProtoReader): string | undefined {
  return file.varint() === FIRST_FIELD ? file.string() : undefined;
}
