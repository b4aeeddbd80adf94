import { packageVersion } from '../../shared/base/files/package-files.ts';
import { AnswerRoom } from '../../shared/http2/flow-control.ts';
import { WINDOW_BYTES_DEFAULT, WINDOW_BYTES_LIMIT } from '../../shared/http2/frames.ts';
import {
  AUTHORIZATION_KEY,
  bearerOf,
  readClientSecrets,
} from '../../shared/security/client-security.ts';
import type { ExpectedPeer } from '../../shared/security/connection-errors.ts';
import type { DispatchSettings } from '../settings/dispatch-settings.ts';
import type {
  ConnectionEvents,
  GrpcCallConnection,
  Http2ConnectionSettings,
} from './grpc-calls.ts';
import { Http2Connection } from './http2-connection.ts';
import { LastingConnection } from './lasting-connection.ts';

/** Settings of a connection. */
export type ConnectionSettings = Pick<
  DispatchSettings,
  | 'security'
  | 'messageBytesMax'
  | 'receiveWindowBytes'
  | 'callTimeoutMs'
  | 'keepaliveTimeMs'
  | 'keepaliveTimeoutMs'
> & {
  /** Peer named in errors. Default: a SUT node. */
  readonly expected?: ExpectedPeer | undefined;
};

/**
 * Connects to a gRPC server.
 * @param address `host:port`.
 * @param room Memory bound shared by all connections to this server.
 * @throws MlperfError `ERR_CONFIG_INVALID` if a certificate, key or token file is unreadable.
 */
export function connectGrpc(
  address: string,
  settings: ConnectionSettings,
  events: ConnectionEvents,
  room: AnswerRoom = new AnswerRoom(settings.messageBytesMax),
): GrpcCallConnection {
  const { security, callTimeoutMs, ...rest } = settings;
  // Read once: later connections of a run do not wait for files.
  const secrets = readClientSecrets(security);
  const { token } = secrets;
  const one: Http2ConnectionSettings = {
    ...rest,
    receiveWindowBytes: Math.max(
      WINDOW_BYTES_DEFAULT,
      Math.min(rest.receiveWindowBytes, WINDOW_BYTES_LIMIT),
    ),
    address,
    security,
    secrets,
    connectTimeoutMs: callTimeoutMs,
    request: {
      scheme: security.tls ? 'https' : 'http',
      // As in gRPC: the name that the certificate must have is the name of the server.
      authority: security.tlsServerName ?? address,
      userAgent: `longhaul/${packageVersion()}`,
      more: token === undefined ? [] : [{ name: AUTHORIZATION_KEY, value: bearerOf(token) }],
    },
  };
  return new LastingConnection((ofOne) => new Http2Connection(one, ofOne, room), events);
}
