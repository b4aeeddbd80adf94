import { Client, type ClientDuplexStream } from '@grpc/grpc-js';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { DispatchSettings } from '../dispatch-settings.ts';
import { callMetadata, connectionCredentials, connectionOptions } from '../node/grpc-options.ts';
import type { OpenConnection } from './channel/oip-connections.ts';
import type {
  CallEvents,
  ConnectionEvents,
  GrpcCall,
  GrpcCallConnection,
} from './http2/grpc-calls.ts';

// TEMPORARY: until the connection of qdl/oip/http2 is there.
class Conn implements GrpcCallConnection {
  readonly ready: Promise<void>;
  readonly hasRoom = true;
  callCount = 0;
  #client: Client;
  #settings: DispatchSettings;
  #events: ConnectionEvents;
  #closed = false;
  constructor(address: string, settings: DispatchSettings, events: ConnectionEvents) {
    this.#client = new Client(
      address,
      connectionCredentials(settings),
      connectionOptions(settings),
    );
    this.#settings = settings;
    this.#events = events;
    this.ready = new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + 2000, (e) => {
        if (e) return reject(new MlperfError('ERR_SUT_UNREACHABLE', `no ${address}`));
        this.#watch(2);
        resolve();
      });
    });
  }
  #watch(state: number): void {
    try {
      this.#client.getChannel().watchConnectivityState(state, Number.POSITIVE_INFINITY, () => {
        if (!this.#closed) setImmediate(() => this.#events.onClosed('Connection dropped'));
      });
    } catch {}
  }
  call(path: string, events: CallEvents): GrpcCall {
    let inner: ClientDuplexStream<Buffer, Buffer> | undefined;
    const conn = this;
    const call: GrpcCall = {
      write(pieces, bytes) {
        if (inner === undefined) {
          conn.callCount += 1;
          inner = conn.#client.makeBidiStreamRequest(
            path,
            (b: Buffer) => b,
            (b: Buffer) => b,
            callMetadata(conn.#settings).clone(),
          );
          inner.on('data', (m: Buffer) => events.onMessage(call, m));
          inner.on('error', () => {});
          inner.on('status', (s) => {
            conn.callCount -= 1;
            events.onEnd(call, s.code, s.details);
          });
        }
        inner.write(Buffer.concat(pieces.map((p) => Uint8Array.from(p))), () =>
          conn.#events.onWritten(bytes),
        );
      },
      end() {
        inner?.end();
      },
      cancel() {
        inner?.cancel();
      },
    };
    return call;
  }
  async close(): Promise<void> {
    this.#closed = true;
    this.#client.close();
  }
}

/** Connections for requests. */
export function connectTo(settings: DispatchSettings): OpenConnection {
  return (address, events) => new Conn(address, settings, events);
}
