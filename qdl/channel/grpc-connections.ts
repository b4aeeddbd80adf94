import { Client } from '@grpc/grpc-js';
import type { DispatchSettings } from '../dispatch-settings.ts';
import { connectionCredentials, connectionOptions } from '../node/grpc-options.ts';

/** The connections that carry Infer streams, by node and number. */
export class GrpcConnections {
  readonly #settings: DispatchSettings;
  readonly #clients = new Map<string, Client>();

  constructor(settings: DispatchSettings) {
    this.#settings = settings;
  }

  /** The connection of that number to a node, made when it is first asked for. */
  to(address: string, number: number): Client {
    const key = `${number} ${address}`;
    let client = this.#clients.get(key);
    if (client === undefined) {
      client = new Client(
        address,
        connectionCredentials(this.#settings),
        connectionOptions(this.#settings),
      );
      this.#clients.set(key, client);
    }
    return client;
  }

  /** Closes all; streams that are still open end. */
  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }
}
