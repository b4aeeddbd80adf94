import type { Client, Metadata } from '@grpc/grpc-js';
import { callMetadata, connectClient } from '../../connect/grpc-options.ts';
import type { DispatchSettings } from '../../settings/dispatch-settings.ts';

/** One connection to a node. */
export interface GrpcConnection {
  readonly client: Client;
  /** What every call on it carries; to be copied, since grpc-js adds to it. */
  readonly metadata: Metadata;
}

/** The connections that carry Infer streams, by node and number. */
export class GrpcConnections {
  readonly #settings: DispatchSettings;
  readonly #connections = new Map<string, GrpcConnection>();

  constructor(settings: DispatchSettings) {
    this.#settings = settings;
  }

  /**
   * The connection of that number to a node, made when it is first asked for.
   * @throws MlperfError `ERR_CONFIG_INVALID` when a file of its security cannot be used.
   */
  to(address: string, number: number): GrpcConnection {
    const key = `${number} ${address}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const settings = this.#settings;
      const client = connectClient(address, settings);
      connection = { client, metadata: callMetadata(settings) };
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Closes all; streams that are still open end. */
  close(): void {
    for (const { client } of this.#connections.values()) client.close();
    this.#connections.clear();
  }
}
