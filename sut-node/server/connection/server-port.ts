import type { Settings } from 'node:http2';
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import type { ConnectionInjector, Server } from '@grpc/grpc-js';
import {
  describeSystemError,
  errorCodeOf,
  MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { type GateRules, gateCalls } from '../guard/call-gate.ts';
import type { ConnectionGuard } from '../guard/connection-guard.ts';
import { createWindowedInjector, type WindowBytes, type WindowEvents } from './receive-window.ts';

/** Grace time for ending calls when a server closes. */
const CLOSE_GRACE_MS = 1_000;

const WHERE_TAKEN = 'end the program that listens there, or choose another port with';

/** The flag of a port, by its purpose. */
const flagOf = (purpose: string): string =>
  purpose === '' ? '--listen' : `${purpose.replace(' for ', '--')}-listen`;

/**
 * Opens a port.
 * @param purpose Text after the address in the message: " for health"; empty for the node's own
 * port.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
export function listenOn(
  server: NetServer,
  { host, port }: { readonly host: string; readonly port: number },
  purpose = '',
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const what = `cannot listen on ${host}:${port}${purpose}: ${describeSystemError(error)}`;
      const isTaken = errorCodeOf(error) === 'EADDRINUSE';
      const advice = isTaken ? `; ${WHERE_TAKEN} ${flagOf(purpose)}` : '';
      reject(new MlperfError('ERR_SUT_LISTEN', `${what}${advice}`, { cause: error }));
    };
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

/**
 * Time for the last bytes of ended calls to reach the socket, over several turns of the event loop.
 */
const LAST_BYTES_MS = 20;
const LAST_BYTES_TURNS = 10;

/** Stops listening, gives calls a grace time, then closes all connections. */
async function closeServers(
  { tcpServer, grpcServer }: { readonly tcpServer: NetServer; readonly grpcServer: Server },
  guard: ConnectionGuard,
  others: Promise<unknown>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    tcpServer.close(() => resolve());
  });
  const callsEnd = new Promise<void>((resolve) => grpcServer.tryShutdown(() => resolve()));
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CLOSE_GRACE_MS);
    void Promise.all([callsEnd, others]).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  // From Node.js 24 on calls end before their last bytes are in the socket. On a busy machine the
  // time may expire within one turn.
  await new Promise((resolve) => setTimeout(resolve, LAST_BYTES_MS));
  for (let turn = 0; turn < LAST_BYTES_TURNS; turn += 1) await new Promise(setImmediate);
  grpcServer.forceShutdown();
  // With channelz off, grpc-js 1.14 forgets sessions here; and a peer that sent no byte has none.
  guard.closeAll();
  await closed;
}

/** A TCP port on which a gRPC server serves. */
export interface GrpcPort {
  /** The bound address: the real one for a name or port 0. */
  readonly host: string;
  readonly port: number;
  /** Effective HTTP/2 receive windows. */
  windows(): WindowBytes;
  /**
   * Stops listening, gives calls a grace time, then closes all connections.
   * @param others Resolves when the calls not served by grpc-js have ended.
   */
  close(others?: Promise<unknown>): Promise<void>;
}

/**
 * Opens a port for a gRPC server with guarded connections and gated calls. The TCP server is ours
 * and passes its connections to grpc-js, so that a used address is reported by its system error,
 * connections are guarded (connection-guard.ts), and the HTTP/2 server can have larger windows
 * (receive-window.ts).
 * @param options.purpose See {@link listenOn}.
 * @param options.serving Receives the connections.
 * @throws MlperfError `ERR_SUT_LISTEN` that names the address.
 */
export async function openGrpcPort(
  grpcServer: Server,
  options: WindowEvents & {
    readonly at: { readonly host: string; readonly port: number };
    readonly purpose?: string;
    /** HTTP/2 settings of this end. */
    readonly settings: Settings & { readonly initialWindowSize: number };
    readonly rules: GateRules;
    serving(injector: ConnectionInjector): (accepted: Socket) => void;
  },
): Promise<GrpcPort> {
  const { at, purpose, settings, rules } = options;
  const { guard } = rules;
  const { injector, http2Server, windows } = createWindowedInjector(grpcServer, settings, options);
  gateCalls(http2Server, rules);
  const serve = options.serving(injector);
  const tcpServer = createServer({ noDelay: true }, (socket) => {
    serve(socket);
    // A broken connection is also closed, and that is handled.
    socket.on('error', () => {});
    guard.admit(socket);
  });
  try {
    await listenOn(tcpServer, at, purpose);
  } catch (error) {
    grpcServer.forceShutdown();
    throw error;
  }
  const { address: host, port } = tcpServer.address() as AddressInfo; // It listens on TCP.
  const servers = { tcpServer, grpcServer };
  const close = (others: Promise<unknown> = Promise.resolve()): Promise<void> =>
    closeServers(servers, guard, others);
  return { host, port, windows, close };
}

/** A gRPC service besides the node's own: health, reflection. */
export interface SideService {
  /** Registers the service before the server listens. */
  addTo(server: Server): void;
  /** Ends the calls that would not end by themselves, because the server closes. */
  close(reason: string): void;
}
