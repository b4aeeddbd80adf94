import {
  type Client,
  type ClientDuplexStream,
  credentials,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import type { Message, ProtoBuild } from './protocol-builds.ts';

type Calls = Record<
  string,
  (request: Message, callback: (error: ServiceError | null, answer: Message) => void) => void
>;

/** A LoadGen node of another build of the protocol: what it asks, and one stream. */
export class BuildClient {
  readonly #client: Client;

  constructor(build: ProtoBuild, address: string) {
    this.#client = new build.Client(address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  close(): void {
    this.#client.close();
  }

  /** Makes a unary call. */
  ask(method: string, request: Message = {}): Promise<Message> {
    return new Promise((resolve, reject) => {
      const calls = this.#client as unknown as Calls;
      calls[method]?.call(this.#client, request, (error, answer) =>
        error === null ? resolve(answer) : reject(error),
      );
    });
  }

  /** Opens a stream, sends these messages as the answers allow it, and returns what came until its end. */
  async infer(
    messages: readonly Message[],
  ): Promise<{ readonly answers: Message[]; readonly end: StatusObject }> {
    const infer = (this.#client as unknown as { Infer(): ClientDuplexStream<Message, Message> })
      .Infer;
    const stream = infer.call(this.#client);
    const answers: Message[] = [];
    stream.on('data', (message: Message) => answers.push(message));
    stream.on('error', () => {});
    const ended = new Promise<StatusObject>((resolve) => stream.on('status', resolve));
    for (const message of messages) stream.write(message);
    return { end: await ended, answers };
  }
}
