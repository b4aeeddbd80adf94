import type { Server } from '@grpc/grpc-js';

/** A gRPC service of the node beside its own: health, reflection. */
export interface SideService {
  /** Registers the service; before the server listens. */
  addTo(server: Server): void;
  /** Ends the calls that would not end by themselves. The server closes. */
  close(reason: string): void;
}
