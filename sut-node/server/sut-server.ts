import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import { SUT_SERVICE, type SutServiceHandlers } from '../../shared/wire/sut-contract.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import { CALLS_PER_CONNECTION_MAX, CONNECTIONS_MAX } from './node-limits.ts';
import { createWindowedInjector, type WindowBytes, type WindowEvents } from './receive-window.ts';
import { refuseCompression } from './refuse-compression.ts';

/** A peer that vanished without a word is noticed after both times, and its samples are dropped. */
const KEEPALIVE_TIME_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/** How long calls that are ending may take when the server closes. */
const CLOSE_GRACE_MS = 1_000;

/** The node's gRPC server on its TCP port. */
export interface SutServer {
  /** Address as bound: the real one also where a name or port 0 was asked for. */
  readonly host: string;
  readonly port: number;
  /** HTTP/2 receive windows in force. */
  windows(): WindowBytes;
  /** Stops listening, lets calls end for a moment, then ends all connections. */
  close(): Promise<void>;
}

/**
 * Listens and serves.
 *
 * The TCP server is our own and hands its connections to grpc-js: so that an address in use is told by
 * its system error, connections are bounded, and the HTTP/2 server can have larger windows
 * (receive-window.ts). Small responses are not held back: node:http2 turns Nagle's algorithm off on every
 * connection. grpc-js never compresses what a server sends.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
export async function startSutServer(
  settings: SutSettings,
  handlers: SutServiceHandlers,
  events: WindowEvents,
): Promise<SutServer> {
  const grpcServer = new Server({
    'grpc.max_receive_message_length': settings.messageBytesMax,
    'grpc.max_send_message_length': settings.messageBytesMax,
    'grpc.max_concurrent_streams': CALLS_PER_CONNECTION_MAX,
    'grpc.keepalive_time_ms': KEEPALIVE_TIME_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
    interceptors: [refuseCompression],
  });
  grpcServer.addService(SUT_SERVICE, handlers);
  const { injector, windows } = createWindowedInjector(
    grpcServer,
    ServerCredentials.createInsecure(),
    settings.receiveWindowBytes,
    events,
  );
  const sockets = new Set<Socket>();
  const tcpServer = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    injector.injectConnection(socket);
  });
  tcpServer.maxConnections = CONNECTIONS_MAX;
  try {
    await listen(tcpServer, settings.listen);
  } catch (error) {
    grpcServer.forceShutdown();
    const { host, port } = settings.listen;
    throw new MlperfError(
      'ERR_SUT_LISTEN',
      `cannot listen on ${host}:${port}: ${describeSystemError(error)}`,
      { cause: error },
    );
  }
  const { address, port } = tcpServer.address() as AddressInfo; // It listens on TCP.
  return {
    host: address,
    port,
    windows,
    close: () => close(tcpServer, grpcServer, sockets),
  };
}

function listen(server: NetServer, at: SutSettings['listen']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: at.host, port: at.port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function close(
  tcpServer: NetServer,
  grpcServer: Server,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    tcpServer.close(() => resolve());
  });
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CLOSE_GRACE_MS);
    grpcServer.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  grpcServer.forceShutdown();
  // With channelz off, grpc-js 1.14 forgets sessions here; and a peer that never spoke has none.
  for (const socket of sockets) socket.destroy();
  await closed;
}
