import { connect } from 'node:net';
import { splitAddress } from '../../shared/domain/node-address.ts';

/** Longest wait for a plain TCP connection. */
const TCP_CONNECT_TIMEOUT_MS = 1_000;

const NONE = {
  /** From the first packet to the answer, in ns, without name resolution; null when none came. */
  connectNs: null as number | null,
  /** IP addresses of both ends, as the kernel chose and reached them. */
  localAddress: null as string | null,
  remoteAddress: null as string | null,
};

/** A plain TCP connect to a node's address. */
export type TcpConnect = Readonly<typeof NONE>;

/**
 * Measures how long the network alone takes to answer: one TCP connect, closed at once. Stands beside
 * the round trip of Name in the logs. Never rejects; resolves within `timeoutMs`.
 */
export function measureTcpConnect(
  address: string,
  timeoutMs: number = TCP_CONNECT_TIMEOUT_MS,
): Promise<TcpConnect> {
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
      const { localAddress = null, remoteAddress = null } = socket;
      end({ connectNs, localAddress, remoteAddress });
    });
    socket.once('error', () => end(NONE));
  });
}
