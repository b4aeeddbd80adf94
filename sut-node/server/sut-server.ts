import type { Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { Server } from '@grpc/grpc-js';
import { messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { SUT_SERVICE, type SutServiceHandlers } from '../../shared/wire/sut-contract.ts';
import type { SutSettings } from '../settings/sut-settings.ts';
import type { WindowEvents } from './connection/receive-window.ts';
import { type GrpcPort, openGrpcPort, type SideService } from './connection/server-port.ts';
import { readServerSecurity, type ServerTls } from './connection/server-security.ts';
import type { StreamOpeners } from './connection/stream-call.ts';
import { CALL_REFUSALS, type CallRefusal, type GateRules } from './guard/call-gate.ts';
import { callRule } from './guard/call-rules.ts';
import {
  CONNECTION_REFUSALS,
  ConnectionGuard,
  type ConnectionRefusal,
} from './guard/connection-guard.ts';
import { DecoupledSocket } from './guard/decoupled-socket.ts';
import { RequestBytes } from './guard/request-bytes.ts';
import { type ConnectionWays, serveByFirstCall, serverSettings } from './http2/first-call.ts';
import { NativeCalls } from './http2/native-calls.ts';
import type { ServerConnection } from './http2/server-connection.ts';
import {
  CALLS_PER_CONNECTION_MAX,
  receiveBytesMax,
  UNREAD_TIMEOUT_MS,
} from './limits/node-limits.ts';

/** A peer that vanished without a word is noticed after both times, and its samples are dropped. */
const KEEPALIVE_TIME_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/** Events of the server. */
export interface ServerEvents extends WindowEvents {
  /** A peer did not get through the handshake: no certificate, a wrong one, no TLS at all. */
  onTlsFailure(peer: string, why: string): void;
  /** A connection was closed for this reason. */
  onConnectionRefused(reason: ConnectionRefusal, address: string): void;
}

/** Calls that the server serves. */
export interface ServedCalls {
  /** Services beside the node's own. */
  readonly sideServices: readonly SideService[];
  /** Open the streams of Infer and TestLink. */
  readonly openers: StreamOpeners;
}

/** The node's gRPC server on its TCP port. */
export interface SutServer extends Omit<GrpcPort, 'close'> {
  /** Connections that are open. */
  connectionCount(): number;
  /** Calls that the gate did not serve, or reset, since the start, by the reason. */
  readonly refusedCounts: ReadonlyMap<CallRefusal, number>;
  /** Connections that were closed since the start, by the reason. */
  readonly refusedConnectionCounts: ReadonlyMap<ConnectionRefusal, number>;
  /** Stops listening, lets calls end for a moment, then ends all connections. */
  close(reason: string): Promise<void>;
}

/**
 * Listens and serves. TLS lies between TCP and HTTP/2, where it is asked for. Small responses are
 * not held back: Nagle's algorithm is off on every connection. This end does not use gRPC's
 * compression.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address, `ERR_CONFIG_INVALID` for the files
 *   of TLS and token.
 */
export async function startSutServer(
  settings: SutSettings,
  handlers: SutServiceHandlers,
  { sideServices, openers, ...events }: ServerEvents & ServedCalls,
): Promise<SutServer> {
  const { tls, token } = readServerSecurity(settings);
  const grpcServer = new Server({
    // Requests with samples have a limit of their own; Infer always has the smaller one.
    'grpc.max_receive_message_length': settings.hasOip
      ? settings.messageBytesMax
      : receiveBytesMax(settings),
    'grpc.max_send_message_length': settings.messageBytesMax,
    'grpc.max_concurrent_streams': CALLS_PER_CONNECTION_MAX,
    'grpc.keepalive_time_ms': KEEPALIVE_TIME_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
  });
  grpcServer.addService(SUT_SERVICE, handlers);
  for (const service of sideServices) service.addTo(grpcServer);
  const firstMessageMs = settings.handshakeTimeoutNs / 1e6;
  const refusedCounts = new Map(CALL_REFUSALS.map((reason) => [reason, 0]));
  const onRefused = (reason: CallRefusal): void => {
    refusedCounts.set(reason, (refusedCounts.get(reason) ?? 0) + 1);
  };
  const refusedConnectionCounts = new Map(CONNECTION_REFUSALS.map((reason) => [reason, 0]));
  const guard = new ConnectionGuard(firstMessageMs, (reason, address) => {
    refusedConnectionCounts.set(reason, (refusedConnectionCounts.get(reason) ?? 0) + 1);
    events.onConnectionRefused(reason, address);
  });
  const requests = settings.hasOip
    ? new RequestBytes(settings.messageBytesMax, settings.queueBytesMax)
    : undefined;
  const rules: GateRules = {
    token,
    firstMessageMs,
    guard,
    partMessageBytesMax: receiveBytesMax(settings),
    openCalls: new Map(),
    ruleOf: callRule,
    requests,
    onRefused,
  };
  const calls = new NativeCalls(rules, openers, settings.receiveWindowBytes);
  const own = new Set<ServerConnection>();
  const port = await openGrpcPort(grpcServer, {
    rules,
    at: settings.listen,
    settings: serverSettings(settings.receiveWindowBytes),
    onRefused: (error) => events.onRefused(error),
    serving: (injector) => {
      const ways: ConnectionWays = {
        service: calls,
        inject: (socket, settingsAnswered) =>
          injector.injectConnection(
            new DecoupledSocket(socket, UNREAD_TIMEOUT_MS, settingsAnswered),
          ),
        onConnection: (connection) => {
          own.add(connection);
          void connection.closed.then(() => own.delete(connection));
        },
      };
      const serve = (accepted: Socket): void => serveByFirstCall(accepted, ways);
      if (tls === undefined) return serve;
      const tlsServer = endTls(tls, serve, events);
      return (accepted) => {
        tlsServer.emit('connection', accepted);
      };
    },
  });
  return {
    ...port,
    connectionCount: () => guard.count,
    refusedCounts,
    refusedConnectionCounts,
    close: (reason) => {
      for (const service of sideServices) service.close(reason);
      for (const connection of own) connection.drain();
      return port.close(Promise.all([...own].map(({ closed }) => closed)));
    },
  };
}

/**
 * Speaks TLS on the connections that it is given and serves what is inside. It listens nowhere
 * itself.
 */
function endTls(tls: ServerTls, serve: (socket: Socket) => void, events: ServerEvents): TlsServer {
  const asksClients = tls.clientAuthorities !== undefined;
  const server = createTlsServer({
    cert: tls.cert,
    key: tls.key,
    ...(asksClients && { ca: tls.clientAuthorities }),
    requestCert: asksClients,
    rejectUnauthorized: asksClients,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2'],
  });
  server.on('secureConnection', (socket) => {
    // A broken record leaves the socket of TLS open.
    socket.on('error', () => socket.destroy());
    serve(socket);
  });
  server.on('tlsClientError', (error, socket) => {
    // A plain TCP connect (measured beside Name) does not begin TLS.
    if (socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    const { remoteAddress = 'a peer that is gone', remotePort = '' } = socket;
    events.onTlsFailure(`${remoteAddress} ${remotePort}`.trim(), reasonOf(error));
    socket.destroy();
  });
  return server;
}

/** OpenSSL's reason without its numbers, where there is one. */
function reasonOf(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : messageOf(error);
}
