import { readFileSync } from 'node:fs';
import type { Server } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { descriptorSetFile } from '../../shared/process/package-files.ts';
import type { SideService } from '../server/side-service.ts';

/**
 * Server reflection (grpc.reflection.v1 and v1alpha) of all services of the node, from the descriptors that
 * protoc made: those that proto-loader makes from a .proto file lose the names of map entries and optional
 * fields, and strict clients refuse them. How long a call lasts and how much it asks, the gate bounds
 * (server/call-rules.ts).
 */
export class Reflection implements SideService {
  readonly #service: ReflectionService;

  constructor() {
    this.#service = new ReflectionService(
      loadFileDescriptorSetFromBuffer(readFileSync(descriptorSetFile())),
    );
  }

  addTo(server: Server): void {
    this.#service.addToServer(server);
  }

  /** Its calls end by themselves, and soon. */
  close(): void {}
}
