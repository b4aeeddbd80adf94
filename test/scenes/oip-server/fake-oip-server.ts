import { setTimeout as wait } from 'node:timers/promises';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ModelConfig } from '../../../proto/gen/inference/ModelConfig.ts';
import type { ModelInferRequest__Output } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { ModelInferResponse } from '../../../proto/gen/inference/ModelInferResponse.ts';
import type { ModelMetadataResponse } from '../../../proto/gen/inference/ModelMetadataResponse.ts';
import type { ModelStatistics } from '../../../proto/gen/inference/ModelStatistics.ts';
import { OIP_SERVICE } from '../../../shared/wire/oip/oip-contract.ts';
import { decodeRequest, encodeResponse, encodeStreamResponse } from './oip-messages.ts';

/** How an answer goes out. */
export interface Answerer {
  /** True in a call of its own, false on a stream. */
  readonly isCall: boolean;
  /** One of any number of responses: the only one of a call of its own. */
  respond(response: ModelInferResponse): void;
  /** Bytes in the place of a response. */
  send(bytes: Buffer): void;
  /** A status of the call of its own; in a stream an in-band error. */
  refuse(code: number, details: string): void;
  /** Ends the call with a status, also that of a stream. */
  endWith(code: number, details: string): void;
}

/** What a fake server does; every part has an honest default. */
export interface OipBehaviour {
  readonly name?: string;
  readonly model?: ModelMetadataResponse;
  /** Undefined: the server has no ModelConfig. */
  readonly config?: ModelConfig;
  /** Not ready for so many questions. */
  readonly notReadyCount?: number;
  /** A status in place of so many answers to ModelReady. */
  readonly modelReadyRefusal?: {
    readonly count: number;
    readonly code: number;
    readonly details: string;
  };
  /** Undefined: the server has no RepositoryIndex. */
  readonly repository?: readonly { readonly name: string; readonly version: string }[];
  /** Undefined: the server has no ModelStatistics. */
  readonly statistics?: () => ModelStatistics;
  readonly hasStream?: boolean;
  /** MLServer's: plain responses on the stream. */
  readonly streamsPlainResponses?: boolean;
  /** Methods that the server does not have. */
  readonly without?: readonly string[];
  /** A stream's next request is begun when the one before is done: when the promise of `onInfer` is kept. */
  readonly streamsInTurn?: boolean;
  /** Default: answers with the first input's raw contents as the one output. */
  readonly onInfer?: (request: ModelInferRequest__Output, answer: Answerer) => void | Promise<void>;
}

/** FP32, one output as long as the input. */
export const ECHO_MODEL: ModelMetadataResponse = {
  name: 'echo',
  versions: ['1'],
  platform: 'test',
  inputs: [{ name: 'in', datatype: 'FP32', shape: [-1, 2] }],
  outputs: [{ name: 'out', datatype: 'FP32', shape: [-1, 2] }],
};

/** The answer that gives back the first input. */
export function echoOf({
  id,
  inputs,
  rawInputContents,
}: ModelInferRequest__Output): ModelInferResponse {
  return {
    modelName: 'echo',
    id,
    outputs: [{ name: 'out', datatype: 'FP32', shape: inputs[0]?.shape ?? [] }],
    rawOutputContents: rawInputContents.slice(0, 1),
  };
}

/** A unary method of any of the service's messages. */
type Unary = (
  call: { readonly request: { readonly name: string; readonly version: string } & Buffer },
  callback: (error: unknown, answer?: object) => void,
) => void;

/** A server of the Open Inference Protocol for tests: real gRPC; keeps every request that it got. */
export class FakeOipServer {
  readonly requests: ModelInferRequest__Output[] = [];
  nameCount = 0;
  /** Calls of ModelInfer, and streams that carried a request. */
  inferCallCount = 0;
  address = '';
  readonly #server = new Server({ 'grpc.max_receive_message_length': -1 });
  readonly #behaviour: OipBehaviour;
  #notReadyLeft: number;
  #modelReadyCount = 0;

  private constructor(behaviour: OipBehaviour) {
    this.#behaviour = behaviour;
    this.#notReadyLeft = behaviour.notReadyCount ?? 0;
  }

  static async start(behaviour: OipBehaviour = {}): Promise<FakeOipServer> {
    const server = new FakeOipServer(behaviour);
    server.#server.addService(OIP_SERVICE, server.#handlers());
    const port = await new Promise<number>((resolve, reject) => {
      server.#server.bindAsync(
        '127.0.0.1:0',
        ServerCredentials.createInsecure(),
        (error, bound) => {
          if (error === null) resolve(bound);
          else reject(error);
        },
      );
    });
    server.address = `127.0.0.1:${port}`;
    return server;
  }

  /** At once, as a process that is killed. */
  stop(): void {
    this.#server.forceShutdown();
  }

  #handlers(): Parameters<Server['addService']>[1] {
    const { config, repository, statistics, hasStream = true } = this.#behaviour;
    const model = this.#behaviour.model ?? ECHO_MODEL;
    const unknown = { code: status.NOT_FOUND, details: 'no such model' };
    const isKnown = ({ name, version }: { name: string; version: string }): boolean =>
      name === model.name && (version === '' || model.versions?.includes(version) === true);
    const unary: Record<string, Unary | undefined> = {
      ServerLive: (_, callback) => callback(null, { live: true }),
      ServerReady: (_, callback) => {
        this.#notReadyLeft -= 1;
        callback(null, { ready: this.#notReadyLeft < 0 });
      },
      ServerMetadata: (_, callback) => {
        this.nameCount += 1;
        const { name = 'server' } = this.#behaviour;
        callback(null, { name, version: '9', extensions: ['x'] });
      },
      ModelReady: ({ request }, callback) => {
        this.#modelReadyCount += 1;
        const { modelReadyRefusal: refusal } = this.#behaviour;
        if (this.#modelReadyCount <= (refusal?.count ?? 0)) callback(refusal);
        else callback(null, { ready: isKnown(request) });
      },
      ModelMetadata: ({ request }, callback) =>
        isKnown(request) ? callback(null, model) : callback(unknown),
      ModelConfig: config && ((_, callback) => callback(null, { config })),
      RepositoryIndex: repository && ((_, callback) => callback(null, { models: [...repository] })),
      ModelStatistics:
        statistics && ((_, callback) => callback(null, { modelStats: [statistics()] })),
      ModelInfer: ({ request }, callback) => this.#unary(request, callback),
    };
    const { without = [] } = this.#behaviour;
    const present = Object.fromEntries(
      Object.entries(unary).filter(([name, method]) => method && !without.includes(name)),
    );
    const stream = (call: ServerDuplexStream<Buffer, Buffer>): void => this.#stream(call);
    return { ...present, ...(hasStream ? { ModelStreamInfer: stream } : {}) } as Parameters<
      Server['addService']
    >[1];
  }

  #unary(bytes: Buffer, callback: (error: unknown, answer?: Buffer) => void): void {
    this.inferCallCount += 1;
    const endWith = (code: number, details: string): void => callback({ code, details });
    void this.#infer(bytes, {
      isCall: true,
      respond: (response) => callback(null, encodeResponse(response)),
      send: (message) => callback(null, message),
      refuse: endWith,
      endWith,
    });
  }

  #stream(call: ServerDuplexStream<Buffer, Buffer>): void {
    const isPlain = this.#behaviour.streamsPlainResponses === true;
    let last: Promise<unknown> = Promise.resolve();
    const { streamsInTurn = false } = this.#behaviour;
    call.on('error', () => {});
    call.on('end', () => void last.then(() => call.end()));
    call.once('data', () => {
      this.inferCallCount += 1;
    });
    call.on('data', (bytes: Buffer) => {
      const { id } = decodeRequest(bytes);
      const answer: Answerer = {
        isCall: false,
        respond: (response) =>
          call.write(
            isPlain ? encodeResponse(response) : encodeStreamResponse({ inferResponse: response }),
          ),
        send: (message) => call.write(message),
        refuse: (_code, errorMessage) =>
          call.write(encodeStreamResponse({ errorMessage, inferResponse: { id } })),
        endWith: (code, details) => call.emit('error', { code, details }),
      };
      const answered = streamsInTurn
        ? last.then(() => this.#infer(bytes, answer))
        : this.#infer(bytes, answer);
      last = Promise.all([last, answered]);
    });
  }

  #infer(bytes: Buffer, answer: Answerer): void | Promise<void> {
    const request = decodeRequest(bytes);
    this.requests.push(request);
    const { onInfer = (asked, to) => to.respond(echoOf(asked)) } = this.#behaviour;
    return onInfer(request, answer);
  }
}

/** The fake servers of one test file. */
export class FakeOipServers {
  readonly #servers: FakeOipServer[] = [];

  async start(...behaviours: OipBehaviour[]): Promise<FakeOipServer[]> {
    const started = await Promise.all(behaviours.map((one) => FakeOipServer.start(one)));
    this.#servers.push(...started);
    return started;
  }

  /** For `afterEach`. */
  readonly stop = (): void => {
    for (const server of this.#servers.splice(0)) server.stop();
  };
}

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
