import { connect } from 'node:net';
import { splitAddress } from '../../shared/domain/node-address.ts';

/** IP addresses of the two ends of a connection to a node, as this machine sees them. */
export interface ConnectionEnds {
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
}

const NONE: ConnectionEnds = { localAddress: null, remoteAddress: null };

/**
 * Which of this machine's addresses a node is reached from: asked of the kernel by a TCP connection, closed at once.
 * Never rejects; resolves within `timeoutMs`.
 */
export function findConnectionEnds(address: string, timeoutMs: number): Promise<ConnectionEnds> {
  const target = splitAddress(address);
  if (target === undefined) return Promise.resolve(NONE);
  return new Promise((resolve) => {
    const socket = connect({ host: target.host, port: target.port });
    const end = (ends: ConnectionEnds): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(ends);
    };
    const timer = setTimeout(() => end(NONE), timeoutMs);
    socket.once('connect', () => {
      const { localAddress = null, remoteAddress = null } = socket;
      end({ localAddress, remoteAddress });
    });
    socket.once('error', () => end(NONE));
  });
}
