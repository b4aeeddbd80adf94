import type { ConnectionEvents, GrpcCallConnection } from '../http2/grpc-calls.ts';
import { type ConnectionSettings, connectGrpc } from '../http2/open-connection.ts';
import type { OipChannel } from './oip-channel.ts';

/** A connection, and the channels that share it. */
export class OipConnection implements ConnectionEvents {
  readonly calls: GrpcCallConnection;
  readonly #channels: OipChannel[] = [];

  constructor(address: string, settings: ConnectionSettings) {
    this.calls = connectGrpc(address, settings, this);
  }

  add(channel: OipChannel): void {
    this.#channels.push(channel);
  }

  onWritten(): void {
    for (const channel of this.#channels) channel.onRoom();
  }

  /** What this end knows of calls is asked by Name, on the connection for control calls. */
  onAccepted(): void {}

  onClosed(reason: string): void {
    const isGone = this.calls.callCount === 0;
    for (const channel of this.#channels) channel.onConnectionClosed(reason, isGone);
  }
}

/** The connections that carry requests, by node and number. */
export class OipConnections {
  readonly #settings: ConnectionSettings;
  readonly #connections = new Map<string, OipConnection>();

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** The connection of that number to a node, made when it is first asked for. */
  to(address: string, number: number): OipConnection {
    const key = `${number} ${address}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      connection = new OipConnection(address, this.#settings);
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Resolves when all are there. @throws MlperfError `ERR_SUT_UNREACHABLE` */
  async ready(): Promise<void> {
    await Promise.all([...this.#connections.values()].map(({ calls }) => calls.ready));
  }

  async close(): Promise<void> {
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(connections.map(({ calls }) => calls.close()));
  }
}
