/** What the kernel tells of a TCP connection under load. Null: it does not tell, or it never came to that. */
export interface TcpInfo {
  /** Largest packet that goes through to the other end, in bytes. */
  readonly pathMtu: number | null;
  /** Packets that were sent again since the connection began. */
  readonly retransmitted: number;
}

/**
 * Reads what `ss -tinHO` prints and takes the connection that has sent most: the one with the load. Null where there is
 * none. Source: ss(8) of iproute2.
 */
export function parseTcpInfo(text: string): TcpInfo | null {
  const lines = text.split('\n').filter((line) => /\bmss:\d+/.test(line));
  const sent = (line: string): number => Number(/\bbytes_sent:(\d+)/.exec(line)?.[1] ?? 0);
  const busiest = lines.reduce<string | null>(
    (best, line) => (best === null || sent(line) > sent(best) ? line : best),
    null,
  );
  if (busiest === null) return null;
  const pathMtu = Number(/\bpmtu:(\d+)/.exec(busiest)?.[1] ?? 0);
  return {
    pathMtu: pathMtu > 0 ? pathMtu : null,
    retransmitted: Number(/\bretrans:\d+\/(\d+)/.exec(busiest)?.[1] ?? 0),
  };
}
