import { connect } from 'node:net';
import { splitAddress } from '../../shared/domain/node-address.ts';

/** Longest wait for a plain TCP connection. */
export const TCP_CONNECT_TIMEOUT_MS = 1_000;

/** A plain TCP connect to a node's address. */
export interface TcpConnect {
  /** From the first packet to the answer, in ns, without name resolution; null when none came. */
  readonly connectNs: number | null;
  /** IP address that was reached. */
  readonly remoteAddress: string | null;
}

const NONE: TcpConnect = { connectNs: null, remoteAddress: null };

/**
 * Measures how long the network alone takes to answer: one TCP connect, closed at once. Stands beside
 * the round trip of Name in the logs. Never rejects; resolves within `timeoutMs`.
 */
export function measureTcpConnect(address: string, timeoutMs: number): Promise<TcpConnect> {
  const target = splitAddress(address);
  if (target === undefined) return Promise.resolve(NONE);
  return new Promise((resolve) => {
    let begin = performance.now();
    const socket = connect({ host: target.host, port: target.port });
    const end = (result: TcpConnect): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => end(NONE), timeoutMs);
    socket.once('lookup', () => {
      begin = performance.now();
    });
    socket.once('connect', () => {
      const connectNs = Math.round((performance.now() - begin) * 1e6);
      end({ connectNs, remoteAddress: socket.remoteAddress ?? null });
    });
    socket.once('error', () => end(NONE));
  });
}
