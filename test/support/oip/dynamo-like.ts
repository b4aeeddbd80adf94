import { setTimeout as wait } from 'node:timers/promises';
import type { ModelInferRequest__Output } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ModelInferResponse } from '../../../proto/gen/inference/ModelInferResponse.ts';
import { type Answerer, FakeOipServer } from './fake-oip-server.ts';

const DELTAS = ['a', ' b', ' c'];
const DELTA_MS = 8;
const INVALID_ARGUMENT = 3;

/**
 * A response as NVIDIA Dynamo makes it: typed contents, and a finish reason that is empty while more follow.
 * @param isOld An older version: the finish reason has no element while more follow.
 */
export function dynamoResponse(
  id: string,
  text: string,
  reason: string,
  isOld = false,
): ModelInferResponse {
  const reasons = isOld && reason === '' ? [] : [Buffer.from(reason)];
  const bytes = (name: string, elements: Buffer[]) => ({
    ...{ name, datatype: 'BYTES', shape: [elements.length] },
    contents: { bytesContents: elements },
  });
  return {
    ...{ modelName: 'qwen', modelVersion: '1', id },
    outputs: [bytes('text_output', [Buffer.from(text)]), bytes('finish_reason', reasons)],
  };
}

/**
 * A server of language models as NVIDIA Dynamo is one: no ServerMetadata and no ServerLive, ModelConfig without a policy of
 * responses, streamed answers without a mark of the end, one request of a stream at a time. Calls run beside each other.
 */
export class DynamoLike {
  readonly server: FakeOipServer;
  readonly #counts: { now: number; most: number };

  private constructor(server: FakeOipServer, counts: { now: number; most: number }) {
    this.server = server;
    this.#counts = counts;
  }

  static async start(): Promise<DynamoLike> {
    const counts = { now: 0, most: 0 };
    const text = { name: 'text_output', datatype: 'BYTES', shape: [-1] };
    const server = await FakeOipServer.start({
      model: {
        ...{ name: 'qwen', versions: ['1'], platform: 'dynamo' },
        inputs: [
          { name: 'text_input', datatype: 'BYTES', shape: [1] },
          { name: 'streaming', datatype: 'BOOL', shape: [1] },
        ],
        outputs: [text, { ...text, name: 'finish_reason' }],
      },
      config: { name: 'qwen' },
      without: ['ServerMetadata', 'ServerLive', 'ServerReady', 'ModelReady'],
      streamsInTurn: true,
      onInfer: async (request, answer) => {
        counts.now += 1;
        counts.most = Math.max(counts.most, counts.now);
        await answerTo(request, answer);
        counts.now -= 1;
      },
    });
    return new DynamoLike(server, counts);
  }

  get address(): string {
    return this.server.address;
  }

  /** The most requests that it worked on at once. */
  get mostAtOnce(): number {
    return this.#counts.most;
  }

  stop(): void {
    this.server.stop();
  }
}

async function answerTo(request: ModelInferRequest__Output, answer: Answerer): Promise<void> {
  const { id, rawInputContents } = request;
  if (rawInputContents[1]?.[0] !== 1) {
    await wait(DELTAS.length * DELTA_MS);
    answer.respond(dynamoResponse(id, DELTAS.join(''), 'stop'));
    return;
  }
  if (answer.isCall) {
    answer.refuse(INVALID_ARGUMENT, 'Streaming is not supported for this endpoint');
    return;
  }
  for (const [i, delta] of DELTAS.entries()) {
    await wait(DELTA_MS);
    answer.respond(dynamoResponse(id, delta, i === DELTAS.length - 1 ? 'length' : ''));
  }
}
