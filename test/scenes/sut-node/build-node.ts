import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
  sha256Words,
} from '../../../shared/evidence/payload-digest.ts';
import type { Message, ProtoBuild } from './protocol-builds.ts';

type Unary = (call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) => void;
type Stream = ServerDuplexStream<Message, Message>;

interface WirePart {
  readonly query: number;
  readonly samples: readonly { readonly id: number; readonly payload: Buffer }[];
}

/** What a node of another build is. */
export interface BuildParts {
  readonly name: string;
  /** Versions of the protocol that it speaks; undefined: it tells none. */
  readonly versions?: readonly [min: number, max: number];
  readonly software?: string;
  readonly softwareVersion?: string;
  readonly features?: readonly string[];
  /** What it answers to the first calls of Ready. */
  readonly notReady?: readonly Message[];
  /** Fails every sample with this code. */
  readonly fails?: string;
  /** Sends more than an old peer knows: a member of the stream's messages. */
  readonly sendsHints?: boolean;
}

/** A SUT node of another build of the protocol: honest, and nothing of it knows what this build's messages are. */
export class BuildNode {
  readonly #server = new Server();
  readonly #parts: BuildParts;
  readonly #counts = {
    queries: new Set<number>(),
    parts: 0,
    samples: 0,
    bytes: 0,
    responseBytes: 0,
  };
  #readyCount = 0;
  #digest = new PayloadDigestSum(0);
  address = '';
  /** Open as this build reads it. */
  open: Message | undefined;

  private constructor(parts: BuildParts) {
    this.#parts = parts;
  }

  static async start(build: ProtoBuild, parts: BuildParts): Promise<BuildNode> {
    const node = new BuildNode(parts);
    node.#server.addService(build.service, node.#handlers());
    const port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, at: number): void =>
        error ? reject(error) : resolve(at);
      node.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), bound);
    });
    node.address = `127.0.0.1:${port}`;
    return node;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #handlers(): Record<string, Unary | ((stream: Stream) => void)> {
    const { name, versions = [0, 0], features = [], notReady = [] } = this.#parts;
    const { software = '', softwareVersion = '' } = this.#parts;
    const encodings = [{ form: 'raw', compression: 'identity' }];
    const models = [{ benchmark: 'null', model: 'null', encodings }];
    const [protocolVersionMin, protocolVersionMax] = versions;
    const description = {
      name,
      software,
      softwareVersion,
      protocolVersionMin,
      protocolVersionMax,
      features,
      models,
    };
    return {
      Name: ({ request }, callback) => callback(null, { name, nonce: request['nonce'] }),
      Describe: (_call, callback) => callback(null, description),
      Ready: (_call, callback) => {
        const answer = notReady[this.#readyCount] ?? { ready: true, state: 'NODE_STATE_READY' };
        this.#readyCount += 1;
        callback(null, answer);
      },
      Ledger: ({ request }, callback) => callback(null, this.#ledger(request['runId'])),
      Infer: (stream: Stream) => {
        stream.on('error', () => {});
        stream.on('data', (message: Message) => this.#take(stream, message));
      },
    };
  }

  #take(stream: Stream, message: Message): void {
    const { open, part, close } = message as { open?: Message; part?: WirePart; close?: Message };
    if (open) this.#answerOpen(stream, open);
    if (part) this.#answerPart(stream, part);
    if (close) stream.end();
  }

  #answerOpen(stream: Stream, open: Message): void {
    this.open = open;
    const { features = [], sendsHints = false } = this.#parts;
    const wanted = (open['features'] ?? []) as string[];
    const agreed = features.filter((feature) => wanted.includes(feature));
    const digests = agreed.includes(PAYLOAD_DIGESTS_FEATURE) ? Number(open['digestPerMillion']) : 0;
    this.#digest = new PayloadDigestSum(digests);
    const credit = { samples: 1_000_000_000, bytes: 2 ** 40 };
    const { protocolVersion } = open;
    stream.write({ opened: { protocolVersion, encodings: [0], features: agreed, credit } });
    if (sendsHints) stream.write({ hint: { text: 'a message that nobody knew' } });
  }

  #answerPart(stream: Stream, { query, samples }: WirePart): void {
    const { fails: code } = this.#parts;
    if (code !== undefined) {
      const failed = samples.map(({ id }) => ({ id, code, text: 'of a later kind' }));
      stream.write({ responses: { failed } });
      return;
    }
    const counts = this.#counts;
    counts.queries.add(query);
    counts.parts += 1;
    const completed = samples.map(({ id, payload }) => {
      counts.samples += 1;
      counts.bytes += payload.length;
      counts.responseBytes += 4;
      this.#digest.add(id, sha256Words([payload]));
      return { id, payload: Buffer.alloc(4) };
    });
    stream.write({ responses: { completed } });
  }

  #ledger(runId: unknown): Message {
    const { queries, parts, samples, bytes, responseBytes } = this.#counts;
    return {
      ...{ runId, known: samples > 0, queryCount: queries.size, partCount: parts },
      ...{ sampleCount: samples, payloadBytes: bytes, completedCount: samples, responseBytes },
      ...{ payloadDigest: this.#digest.toBytes(), digestedSampleCount: this.#digest.count },
      encodings: samples > 0 ? [{ form: 'raw', compression: 'identity' }] : [],
      streamCount: 1,
    };
  }
}
