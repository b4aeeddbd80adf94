import { connect, type Socket } from 'node:net';
import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  Query,
  ResponseSink,
  SamplePayloads,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';

/** Bytes that tcp-server.ts answers each payload with. */
const RESPONSE_BYTES = 4;

/**
 * One raw TCP connection: payloads one behind the other, four bytes back for each. What a link can
 * carry.
 */
export class TcpSut implements SystemUnderTest {
  readonly #socket: Socket;
  readonly #payloads: SamplePayloads;
  #receivedBytes = 0;
  #nextResponseId = 0;

  constructor(address: string, payloads: SamplePayloads) {
    const [host, port] = address.split(':') as [string, string];
    this.#payloads = payloads;
    this.#socket = connect({ host, port: Number(port), noDelay: true });
  }

  name(): Promise<string> {
    return Promise.resolve('Network SUT of TCP alone');
  }

  start(sink: ResponseSink): Promise<void> {
    this.#socket.on('data', (bytes) => {
      this.#receivedBytes += bytes.length;
      const atNs = sink.nowNs();
      while (this.#receivedBytes >= (this.#nextResponseId + 1) * RESPONSE_BYTES) {
        this.#nextResponseId += 1;
        sink.complete(this.#nextResponseId - 1, bytes, 0, atNs);
      }
    });
    this.#socket.on('error', (error) => {
      sink.fault(new MlperfError('ERR_SUT_LOST', messageOf(error)));
    });
    return Promise.resolve();
  }

  issueQuery({ sampleIndices, sampleOffset }: Query): void {
    this.#socket.write(this.#payloads.payloadOf(sampleIndices[sampleOffset] as number));
  }

  flushQueries(): void {}

  stop(): Promise<void> {
    this.#socket.destroy();
    return Promise.resolve();
  }
}
