import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Server } from '@grpc/grpc-js';
import { hostAndPort } from '../../shared/base/text/host-and-port.ts';
import { createWindowedInjector } from '../server/connection/receive-window.ts';
import { closeServers, listenOn } from '../server/connection/server-port.ts';
import { gateCalls } from '../server/guard/call-gate.ts';
import { callRule } from '../server/guard/call-rules.ts';
import { ConnectionGuard, type ConnectionRoom } from '../server/guard/connection-guard.ts';
import {
  HEALTH_CALLS_PER_CONNECTION_MAX,
  HEALTH_CONNECTIONS_MAX,
  HEALTH_CONNECTIONS_PER_ADDRESS_MAX,
  HEALTH_MESSAGE_BYTES_MAX,
} from '../server/limits/node-limits.ts';
import type { HealthService } from './health-service.ts';

/** HTTP/2's own: what is asked here has some bytes. */
const WINDOW_BYTES = 65_535;

/** A probe is let in whoever is there: it is brief, and what it finds may decide about the node's life. */
const PROBES: ConnectionRoom = {
  connectionsMax: HEALTH_CONNECTIONS_MAX,
  perAddressMax: HEALTH_CONNECTIONS_PER_ADDRESS_MAX,
  keepsBusy: false,
};

/** A port that serves `grpc.health.v1` and nothing else, in plain text and without a token. */
export interface HealthPort {
  /** Host and port as bound. */
  readonly address: string;
  /** Ends the calls that watch, then all connections. */
  close(reason: string): Promise<void>;
}

/**
 * Opens the port. It has the bounds of the node's own: for connections, for the first call of one, for messages.
 * @param firstMessageMs Longest wait for the first call of a connection, and for a call to be whole.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
export async function startHealthPort(
  at: { readonly host: string; readonly port: number },
  health: HealthService,
  firstMessageMs: number,
): Promise<HealthPort> {
  const grpcServer = new Server({
    'grpc.max_receive_message_length': HEALTH_MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': HEALTH_MESSAGE_BYTES_MAX,
    'grpc.max_concurrent_streams': HEALTH_CALLS_PER_CONNECTION_MAX,
    'grpc.enable_channelz': 0,
  });
  health.addTo(grpcServer);
  const { injector, http2Server } = createWindowedInjector(grpcServer, WINDOW_BYTES, {
    // A smaller window than HTTP/2's own would only be slower.
    onRefused: () => {},
  });
  const guard = new ConnectionGuard(firstMessageMs, PROBES);
  // Nobody has a token here. What is refused is not in the metrics: they count the node's own port.
  const rules = { token: undefined, firstMessageMs, guard, ruleOf: callRule, onRefused: () => {} };
  gateCalls(http2Server, rules);
  const tcpServer = createServer((socket: Socket) => {
    // A connection that breaks is closed as well, which is what counts.
    socket.on('error', () => {});
    if (guard.admit(socket)) injector.injectConnection(socket);
  });
  try {
    await listenOn(tcpServer, at, ' for health');
  } catch (error) {
    grpcServer.forceShutdown();
    throw error;
  }
  const { address, port } = tcpServer.address() as AddressInfo; // It listens on TCP.
  return {
    address: hostAndPort(address, port),
    close: (reason) => {
      health.close(reason);
      return closeServers(tcpServer, grpcServer, guard);
    },
  };
}
