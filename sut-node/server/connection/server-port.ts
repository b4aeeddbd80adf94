import type { Server as NetServer } from 'node:net';
import type { Server } from '@grpc/grpc-js';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { ConnectionGuard } from '../guard/connection-guard.ts';

/** How long calls that are ending may take when a server closes. */
const CLOSE_GRACE_MS = 1_000;

/**
 * Opens a port.
 * @param purpose What it is for, behind the address in the message: " for health"; empty for the node's own.
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
      reject(new MlperfError('ERR_SUT_LISTEN', what, { cause: error }));
    };
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

/** How long the last bytes of calls that have ended may take into the socket. */
const LAST_BYTES_MS = 20;

/** Stops listening, lets calls end for a moment, then ends all connections. */
export async function closeServers(
  tcpServer: NetServer,
  grpcServer: Server,
  guard: ConnectionGuard,
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
  // From Node.js 24 on calls are over before their last bytes are in the socket.
  await new Promise((resolve) => setTimeout(resolve, LAST_BYTES_MS));
  grpcServer.forceShutdown();
  // With channelz off, grpc-js 1.14 forgets sessions here; and a peer that never spoke has none.
  guard.closeAll();
  await closed;
}
