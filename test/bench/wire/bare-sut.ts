import { Client, type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import type {
  Query,
  ResponseSink,
  SamplePayloads,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import { RECEIVE_WINDOW_BYTES_DEFAULT } from '../../../shared/wire/protocol-versions.ts';
import { INFER_METHOD } from '../../../shared/wire/sut-contract.ts';

/**
 * grpc-js and nothing else: payload out, a few bytes back, on one bidirectional stream with the
 * windows of longhaul. No ids (responses come in order), no credit, no codec: what longhaul costs
 * beyond is its own.
 */
export class BareSut implements SystemUnderTest {
  readonly #client: Client;
  readonly #payloads: SamplePayloads;
  #stream: ClientDuplexStream<Buffer, Buffer> | undefined;
  #nextResponseId = 0;

  constructor(address: string, payloads: SamplePayloads) {
    this.#payloads = payloads;
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc-node.flow_control_window': RECEIVE_WINDOW_BYTES_DEFAULT,
      'grpc.max_receive_message_length': -1,
    });
  }

  name(): Promise<string> {
    return Promise.resolve('Network SUT of grpc-js alone');
  }

  start(sink: ResponseSink): Promise<void> {
    const { path, requestSerialize, responseDeserialize } = INFER_METHOD;
    const stream = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream.on('data', (bytes: Buffer) => {
      const id = this.#nextResponseId;
      this.#nextResponseId += 1;
      sink.complete(id, bytes, 0, sink.nowNs());
    });
    stream.on('error', (error) => sink.fault(new MlperfError('ERR_SUT_LOST', messageOf(error))));
    this.#stream = stream;
    return Promise.resolve();
  }

  issueQuery({ sampleIndices, sampleOffset }: Query): void {
    const payload = this.#payloads.payloadOf(sampleIndices[sampleOffset] as number);
    this.#stream?.write(payload as Buffer);
  }

  flushQueries(): void {}

  stop(): Promise<void> {
    this.#client.close();
    return Promise.resolve();
  }
}
