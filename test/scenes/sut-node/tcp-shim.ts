import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenTcp } from '../oip-server/raw-http2-peer.ts';

/** Direction of bytes: `up` towards the target (the SUT node), `down` from it. */
type ShimDirection = 'up' | 'down';

/** Faults that a shim makes from the start. */
interface ShimOptions {
  /** Delay of each direction. */
  readonly oneWayMs?: number;
  /** Bytes per second in each direction, of all connections together. */
  readonly bytesPerSecond?: number;
}

/**
 * A TCP relay on loopback between a LoadGen node and a SUT node: a link that delays, throttles,
 * stops, is cut or reset, without root. Each direction of a connection keeps its order.
 */
export class TcpShim {
  address = '';
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #state: ShimState;

  private constructor(
    target: string,
    { oneWayMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY }: ShimOptions,
  ) {
    const [host, port] = target.split(':') as [string, string];
    const state = { oneWayMs, bytesPerSecond, isCut: false, held: new Set<ShimDirection>() };
    this.#state = state;
    this.#server = createServer({ noDelay: true }, (near) => {
      const far = connect({ host, port: Number(port), noDelay: true });
      this.#links.add({ near, far });
      relay(near, far, 'up', state);
      relay(far, near, 'down', state);
    });
  }

  static async start(target: string, options: ShimOptions = {}): Promise<TcpShim> {
    const shim = new TcpShim(target, options);
    shim.address = await listenTcp(shim.#server);
    return shim;
  }

  /**
   * Takes nothing more from one side: what it writes fills the buffers, as behind a slow reader.
   */
  hold(direction: ShimDirection): void {
    this.#state.held.add(direction);
    this.#update();
  }

  /** Lets the bytes of a held direction go on. */
  release(direction: ShimDirection): void {
    this.#state.held.delete(direction);
    this.#update();
  }

  /** Lets every byte vanish from now on, in both directions, and says nothing: a cut cable. */
  cut(): void {
    this.#state.isCut = true;
  }

  /** Resets every connection (RST) on both sides. */
  reset(): void {
    for (const { near, far } of this.#links) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  stop(): void {
    this.#server.close();
    for (const { near, far } of this.#links) {
      near.destroy();
      far.destroy();
    }
  }

  #update(): void {
    for (const { near, far } of this.#links) {
      flow(near, !this.#state.held.has('up'));
      flow(far, !this.#state.held.has('down'));
    }
  }
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
}

interface ShimState {
  readonly oneWayMs: number;
  readonly bytesPerSecond: number;
  isCut: boolean;
  readonly held: Set<ShimDirection>;
}

function flow(socket: Socket, isFlowing: boolean): void {
  if (isFlowing) socket.resume();
  else socket.pause();
}

function relay(from: Socket, to: Socket, direction: ShimDirection, state: ShimState): void {
  /** When the link has carried what it took so far, in ms. */
  let freeAtMs = 0;
  // A timer may fire up to 1 ms early: the delay must never be shorter than asked for.
  const holdMs = state.oneWayMs === 0 ? 0 : state.oneWayMs + 1;
  /** One after the other, whatever the timers do: two of them may fire in the other order. */
  let last = Promise.resolve();
  const later = (act: () => void): void => {
    const atMs = Math.max(freeAtMs, performance.now()) + holdMs;
    last = last.then(async () => {
      while (performance.now() < atMs) await sleep(atMs - performance.now());
      act();
    });
  };
  const carry = (bytes: Buffer): void => {
    if (state.isCut || to.destroyed) return;
    if (to.write(bytes)) return;
    from.pause();
    to.once('drain', () => flow(from, !state.held.has(direction)));
  };
  from.on('data', (bytes) => {
    if (state.isCut) return;
    freeAtMs = Math.max(freeAtMs, performance.now()) + (bytes.length / state.bytesPerSecond) * 1e3;
    later(() => carry(bytes));
  });
  from.on('error', () => from.destroy());
  from.on('end', () => later(() => state.isCut || to.end()));
  from.on('close', () => later(() => state.isCut || to.destroy()));
  if (state.held.has(direction)) from.pause();
}
