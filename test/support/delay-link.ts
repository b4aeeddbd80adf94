import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP relay on loopback that holds every byte back for a while: a link with delay, without root.
 * Each direction keeps its order and has its own delay line.
 */
export class DelayLink {
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, sockets: Set<Socket>, port: number) {
    this.#server = server;
    this.#sockets = sockets;
    this.address = `127.0.0.1:${port}`;
  }

  /** @param oneWayMs Delay of each direction. */
  static start(target: string, oneWayMs: number): Promise<DelayLink> {
    const [host, port] = target.split(':') as [string, string];
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true }, (near) => {
      const far = connect({ host, port: Number(port), noDelay: true });
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
        socket.on('error', () => socket.destroy());
      }
      delayed(near, far, oneWayMs);
      delayed(far, near, oneWayMs);
    });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const { port: bound } = server.address() as { port: number };
        resolve(new DelayLink(server, sockets, bound));
      });
    });
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function delayed(from: Socket, to: Socket, oneWayMs: number): void {
  // A timer may fire up to 1 ms early: the delay must never be shorter than asked for.
  const holdMs = oneWayMs + 1;
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), holdMs));
  from.on('end', () => setTimeout(() => to.end(), holdMs));
  from.on('close', () => setTimeout(() => to.destroy(), holdMs));
}
