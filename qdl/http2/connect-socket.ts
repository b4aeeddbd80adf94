import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type BorrowedBytes, overwriteInTests } from '../../shared/base/bytes/borrowed-bytes.ts';
import {
  configInvalid,
  type MlperfError,
  sutUnreachable,
} from '../../shared/base/errors/mlperf-error.ts';
import { splitAddress } from '../../shared/domain/node-address.ts';
import { plainAddress, type SocketEnds } from '../../shared/evidence/call-path.ts';
import type { ClientSecrets, ClientSecurity } from '../../shared/security/client-security.ts';
import { type ExpectedPeer, unreachableMessage } from '../../shared/security/connection-errors.ts';
import { checkNames } from '../connect/unary-calls.ts';

/** Bytes that one read takes from the kernel at most. */
const READ_BYTES_MAX: number = 256 * 1024;

/** Events of a socket. */
export interface SocketEvents {
  /** TCP, and TLS where it is asked for, are there. */
  onConnected(): void;
  readonly onBytes: (chunk: BorrowedBytes) => void;
  /** It is closed. Called once, last. @param details In the words of Node.js and OpenSSL; empty: the peer closed it. */
  onClosed(details: string): void;
}

/** Where a socket leads, and how. */
interface SocketTarget {
  readonly address: string;
  readonly security: ClientSecurity;
  readonly secrets: ClientSecrets;
  /** Of TCP. */
  readonly keepaliveTimeMs: number;
}

/**
 * Connects by TCP, or by TLS with HTTP/2 agreed on.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a malformed address.
 */
export function connectSocket(
  { address, security, secrets, keepaliveTimeMs }: SocketTarget,
  events: SocketEvents,
): Socket {
  const target = splitAddress(address);
  if (target === undefined) {
    throw configInvalid(`"${address}" is no address; host:port is one`);
  }
  const options = {
    ...target,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES_MAX),
      callback: (bytes: number, buffer: Uint8Array): boolean => {
        events.onBytes((buffer as Buffer).subarray(0, bytes));
        overwriteInTests(buffer, bytes);
        return true;
      },
    },
  };
  const socket = security.tls
    ? connectTls({ ...options, ...tlsOptions(target.host, security, secrets) })
    : connectTcp(options);
  socket.setNoDelay(true);
  // Notices a machine that disappeared, also while there is nothing to send.
  socket.setKeepAlive(true, keepaliveTimeMs);
  watch(socket, security, events);
  return socket;
}

function tlsOptions(host: string, { tlsServerName }: ClientSecurity, secrets: ClientSecrets) {
  const { authorities, identity } = secrets;
  const servername = tlsServerName ?? (isIP(host) === 0 ? host : undefined);
  return {
    ALPNProtocols: ['h2'],
    checkServerIdentity: checkNames,
    ...(servername === undefined ? {} : { servername }),
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(identity === undefined ? {} : { cert: identity.cert, key: identity.key }),
  };
}

function watch(socket: Socket, security: ClientSecurity, events: SocketEvents): void {
  let details = '';
  socket.on('error', (error) => {
    if (details === '') details = detailsOf(error);
  });
  // The peer closed its side: a half-open connection is of no use.
  socket.once('end', () => socket.destroy());
  socket.once('close', () => events.onClosed(details));
  if (!security.tls) {
    socket.once('connect', () => events.onConnected());
    return;
  }
  const secure = socket as TLSSocket;
  secure.once('secureConnect', () => {
    if (secure.alpnProtocol === 'h2') events.onConnected();
    else socket.destroy(new Error('Protocol error: no HTTP/2 over TLS (ALPN h2)'));
  });
}

/** Code and text: a name with several addresses has an error for each, and no text of its own. */
function detailsOf(error: Error & { readonly code?: string }): string {
  const { code = '', message } = error;
  return message.includes(code) ? message : `${code} ${message}`;
}

/** Addresses of both ends; null where the socket does not know them. */
export function endsOf({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
}: Socket): SocketEnds | null {
  if (localAddress === undefined || remoteAddress === undefined) return null;
  return {
    localAddress: plainAddress(localAddress),
    localPort: localPort ?? 0,
    remoteAddress: plainAddress(remoteAddress),
    remotePort: remotePort ?? 0,
  };
}

/** `ERR_SUT_UNREACHABLE` of a peer. */
export function unreachable(
  to: {
    readonly address: string;
    readonly security: ClientSecurity;
    readonly expected?: ExpectedPeer | undefined;
  },
  details: string,
): MlperfError {
  return sutUnreachable(unreachableMessage(to.address, details, to.security, to.expected));
}
