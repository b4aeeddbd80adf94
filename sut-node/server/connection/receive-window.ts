import http2 from 'node:http2';
import { type ConnectionInjector, type Server, ServerCredentials } from '@grpc/grpc-js';
import { internalError, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';

/** HTTP/2's default window, which applies until a session's SETTINGS are acknowledged. */
const WINDOW_BYTES_PROTOCOL = 65_535;

/** Effective receive windows, bytes. */
export interface WindowBytes {
  readonly stream: number;
  readonly connection: number;
}

/** Events about the windows of the node's sessions. */
export interface WindowEvents {
  /** A session has smaller windows than requested. */
  onRefused(error: MlperfError): void;
}

/** The HTTP/2 side of a gRPC server: accepts connections and knows its receive windows. */
export interface WindowedInjector {
  readonly injector: ConnectionInjector;
  /** grpc-js's own HTTP/2 server. */
  readonly http2Server: http2.Http2Server;
  /** Effective windows of the newest session; the requested ones before the first. */
  windows(): WindowBytes;
}

/**
 * Gives a grpc-js server larger HTTP/2 receive windows than 64 KiB, for which grpc-js 1.14 has no
 * option. With 64 KiB, a link of 1 ms delay carries 34 queries of 602 KB per second; with 16 MiB it
 * carries 1,552.
 *
 * grpc-js makes its HTTP/2 server synchronously inside `createConnectionInjector`; only during that
 * call, so for no other server, `createServer` is replaced. TLS ends earlier (sut-server.ts), so
 * this is the only way in. The effective windows are checked on every session.
 * @throws MlperfError `ERR_INTERNAL` if this grpc-js makes its server differently.
 */
export function createWindowedInjector(
  server: Server,
  settings: http2.Settings & { readonly initialWindowSize: number },
  events: WindowEvents,
): WindowedInjector {
  const windowBytes = settings.initialWindowSize;
  // grpc-js calls it as a property of the module: `http2.createServer(options)`.
  const patched = http2 as { createServer: typeof http2.createServer };
  const { createServer } = patched;
  let made: http2.Http2Server | undefined;
  patched.createServer = ((options: http2.ServerOptions) => {
    made = createServer({ ...options, settings: { ...options.settings, ...settings } });
    return made;
  }) as typeof createServer;
  let injector: ConnectionInjector;
  try {
    injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  } finally {
    patched.createServer = createServer;
  }
  if (made === undefined) {
    throw internalError(
      'grpc-js did not call http2.createServer, so its receive window cannot be set: this release of grpc-js does not suit longhaul',
    );
  }
  let windows: WindowBytes = { stream: windowBytes, connection: windowBytes };
  made.on('session', (session) => {
    session.setLocalWindowSize(windowBytes);
    // Settings apply once the peer has acknowledged them.
    session.once('localSettings', (settings) => {
      windows = {
        stream: settings.initialWindowSize ?? WINDOW_BYTES_PROTOCOL,
        connection: session.state.effectiveLocalWindowSize ?? WINDOW_BYTES_PROTOCOL,
      };
      if (Math.min(windows.stream, windows.connection) < windowBytes) {
        events.onRefused(windowError(windowBytes, windows));
      }
    });
  });
  return { injector, http2Server: made, windows: () => windows };
}

function windowError(asked: number, windows: WindowBytes): MlperfError {
  return internalError(
    `HTTP/2 receive windows are ${windows.stream} (stream) and ${windows.connection} (connection) ` +
      `bytes, ${asked} were requested: measurements over a real network would be wrong`,
  );
}
