import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** A line to the server: a question for its name, or samples of a query. Payloads in base64. */
export interface LinesRequest {
  readonly asks?: 'name';
  readonly samples?: readonly { readonly id: number; readonly payload: string }[];
}

/** A line from the server: its name, or the answer to one sample, which is the sample itself. */
export interface LinesAnswer {
  readonly name?: string;
  readonly id?: number;
  readonly payload?: string;
}

/** A server that sends each sample back: a JSON object per line, over TCP. */
export class LinesServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(name: string) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      createInterface({ input: socket }).on('line', (line) => {
        const { samples = [] } = JSON.parse(line) as LinesRequest;
        const answers: readonly LinesAnswer[] = samples.length === 0 ? [{ name }] : samples;
        socket.write(answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
      });
    });
  }

  static async start(name: string): Promise<LinesServer> {
    const started = new LinesServer(name);
    await new Promise<void>((resolve) => {
      started.#server.listen(0, '127.0.0.1', resolve);
    });
    return started;
  }

  /** Without a scheme. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it does not listen');
    return `127.0.0.1:${address.port}`;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
