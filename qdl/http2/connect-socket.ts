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

/** Most bytes that one read takes from the kernel. */
const READ_BYTES_MAX: number = 256 * 1024;

/** Events of a socket. */
export interface SocketEvents {
  /** TCP, and TLS if requested, are connected. */
  onConnected(): void;
  readonly onBytes: (chunk: BorrowedBytes) => void;
  /**
   * The socket is closed. Called once, last. @param details Message of Node.js and OpenSSL; empty:
   * the peer closed it.
   */
  onClosed(details: string): void;
}

/** Address and transport of a socket. */
interface SocketTarget {
  readonly address: string;
  readonly security: ClientSecurity;
  readonly secrets: ClientSecrets;
  /** TCP keepalive interval, ms. */
  readonly keepaliveTimeMs: number;
}

/**
 * Connects by TCP, or by TLS with HTTP/2 negotiated.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a malformed address.
 */
export function connectSocket(
  { address, security, secrets, keepaliveTimeMs }: SocketTarget,
  events: SocketEvents,
): Socket {
  const target = splitAddress(address);
  if (target === undefined) {
    throw configInvalid(`"${address}" is not an address; write host:port`);
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
  // Detects a machine that disappeared, even with nothing to send.
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
  // The peer closed its side: a half-open connection is useless.
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

/**
 * Code and message: for a name with several addresses Node.js has one error per address and no
 * message of its own.
 */
function detailsOf(error: Error & { readonly code?: string }): string {
  const { code = '', message } = error;
  return message.includes(code) ? message : `${code} ${message}`;
}

/** Addresses of both ends; null if the socket has none. */
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

/** `ERR_SUT_UNREACHABLE` for a peer. */
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
