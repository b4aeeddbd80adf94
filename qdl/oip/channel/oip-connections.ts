import { sutLost } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import {
  AUTHORIZATION_KEY,
  bearerOf,
  readClientSecrets,
} from '../../../shared/security/client-security.ts';
import { lossReason } from '../../../shared/security/connection-errors.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';
import { Http2Connection } from '../http2/connection/http2-connection.ts';
import { AnswerRoom } from '../http2/flow-control.ts';
import type { ConnectionEvents, GrpcCallConnection } from '../http2/grpc/grpc-calls.ts';
import type { OipChannel } from './oip-channel.ts';

/** The first answer on a connection to a node has begun. */
type OnAccepted = (address: string, own: OwnSide) => void;

/** What goes over a connection. */
type ConnectionUser = Pick<OipChannel, 'onRoom' | 'onConnectionClosed'>;

/** A connection, and the channels that share it. */
export class OipConnection implements ConnectionEvents {
  readonly calls: GrpcCallConnection;
  readonly room: AnswerRoom;
  readonly #address: string;
  readonly #onAccepted: OnAccepted;
  readonly #channels: ConnectionUser[] = [];
  /** Why it takes no new calls; undefined while it does. */
  #closedReason: string | undefined;

  /** @param room Of all connections to this server. */
  constructor(
    address: string,
    settings: ConnectionSettings,
    onAccepted: OnAccepted,
    room: AnswerRoom = new AnswerRoom(settings.messageBytesMax),
  ) {
    this.#address = address;
    this.#onAccepted = onAccepted;
    this.room = room;
    this.calls = connectGrpc(address, settings, this, room);
  }

  add(channel: ConnectionUser): void {
    this.#channels.push(channel);
  }

  onWritten(): void {
    for (const channel of this.#channels) channel.onRoom();
  }

  onAccepted(own: OwnSide): void {
    this.#onAccepted(this.#address, own);
  }

  /** @throws MlperfError `ERR_SUT_LOST` when it was there and takes no new calls any more. */
  requireOpen(): void {
    if (this.#closedReason === undefined) return;
    const what = `SUT node ${this.#address} was lost before the run began`;
    throw sutLost(`${what}: ${lossReason(this.#closedReason)}`);
  }

  onClosed(reason: string): void {
    this.#closedReason = reason;
    const isGone = this.calls.callCount === 0;
    for (const channel of this.#channels) channel.onConnectionClosed(reason, isGone);
  }
}

/** The connections that carry requests, by node and number. */
export class OipConnections {
  readonly #settings: ConnectionSettings;
  readonly #onAccepted: OnAccepted;
  readonly #connections = new Map<string, OipConnection>();
  readonly #rooms = new Map<string, AnswerRoom>();

  constructor(settings: ConnectionSettings, onAccepted: OnAccepted) {
    this.#settings = settings;
    this.#onAccepted = onAccepted;
  }

  /** The connection of that number to a node, made when it is first asked for. */
  to(address: string, number: number): OipConnection {
    const key = `${number} ${address}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const room = this.#rooms.get(address) ?? new AnswerRoom(this.#settings.messageBytesMax);
      this.#rooms.set(address, room);
      connection = new OipConnection(address, this.#settings, this.#onAccepted, room);
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Resolves when all are there. @throws MlperfError `ERR_SUT_UNREACHABLE` */
  async ready(): Promise<void> {
    await Promise.all([...this.#connections.values()].map(({ calls }) => calls.ready));
  }

  /** All still take calls: nobody hears of a loss before there are channels. @throws MlperfError `ERR_SUT_LOST` */
  requireOpen(): void {
    for (const connection of this.#connections.values()) connection.requireOpen();
  }

  async close(): Promise<void> {
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(connections.map(({ calls }) => calls.close()));
  }
}

/** The settings that a connection goes by. */
export type ConnectionSettings = Pick<
  DispatchSettings,
  | 'security'
  | 'messageBytesMax'
  | 'receiveWindowBytes'
  | 'callTimeoutMs'
  | 'keepaliveTimeMs'
  | 'keepaliveTimeoutMs'
>;

/**
 * Connects to a server of gRPC, once: a connection that is lost is not made again.
 * @param address `host:port`.
 * @param room Of all connections to this server.
 * @throws MlperfError `ERR_CONFIG_INVALID` when a file of the security cannot be used.
 */
export function connectGrpc(
  address: string,
  settings: ConnectionSettings,
  events: ConnectionEvents,
  room: AnswerRoom = new AnswerRoom(settings.messageBytesMax),
): GrpcCallConnection {
  const { security, callTimeoutMs, ...rest } = settings;
  const { token } = readClientSecrets(security);
  return new Http2Connection(
    {
      ...rest,
      address,
      security,
      connectTimeoutMs: callTimeoutMs,
      request: {
        scheme: security.tls ? 'https' : 'http',
        // As gRPC does: the name that the certificate is for is the name of the server.
        authority: security.tlsServerName ?? address,
        userAgent: `longhaul/${packageVersion()}`,
        more: token === undefined ? [] : [{ name: AUTHORIZATION_KEY, value: bearerOf(token) }],
      },
    },
    events,
    room,
  );
}
