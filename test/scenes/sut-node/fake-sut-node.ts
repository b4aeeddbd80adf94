import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import type {
  Query,
  SamplePayloads,
  ServiceTimes,
} from '../../../shared/domain/system-under-test.ts';
import {
  PAYLOAD_DIGESTS_FEATURE,
  PayloadDigestSum,
  sha256Words,
} from '../../../shared/evidence/payload-digest.ts';
import type { WirePart } from '../../../shared/wire/part-codec.ts';
import { RecordingSink } from '../simulated-run/recording-sink.ts';
import { type Message, ownBuild, type ProtocolBuild } from './protocol-builds.ts';

/** How a fake node behaves; every part has an honest default. */
export interface FakeBehaviour {
  /** Protocol that it speaks; default: today's. */
  readonly build?: ProtocolBuild;
  readonly name?: string;
  /** Name for each call, by its number from 0; wins over `name`. Undefined: the node dies. */
  readonly nameOf?: (call: number) => string | undefined;
  readonly identity?: string;
  readonly benchmark?: string;
  /**
   * Optional parts of the protocol that Describe offers; Opened confirms those that Open asks for.
   */
  readonly features?: readonly string[];
  /** Fields in place of the honest ones, by message. */
  readonly says?: Readonly<
    Partial<Record<'Name' | 'Describe' | 'Model' | 'Opened' | 'Ledger', Message>>
  >;
  /** The first answers to Ready. */
  readonly notReady?: readonly Message[];
  /** Methods that it never answers. */
  readonly mute?: readonly ('Ready' | 'Open')[];
  /** Optional calls that it does not have. */
  readonly without?: readonly ('Describe' | 'Ready' | 'Ledger')[];
  /** Answer to DescribeSystem; undefined: there is no such call. */
  readonly system?: object;
  /** Totals granted at Opened; more credit comes only when a test calls `grant`. */
  readonly credit?: { readonly samples: number; readonly bytes: number };
  readonly partBytesMax?: number;
  readonly sampleBytesMax?: number;
  /** Called for every part; answers by `complete`, `fail` or not at all. Default: completes all. */
  readonly onPart?: (node: FakeSutNode, part: WirePart) => void;
  /** Times of its own in every response. */
  readonly durations?: ServiceTimes;
  /** Called at Close, before the stream ends. */
  readonly onClose?: (node: FakeSutNode) => void;
  /** Does not end the stream at Close. */
  readonly ignoresClose?: boolean;
}

type Stream = ServerDuplexStream<Message, Message | Buffer>;
type Unary = (call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) => void;

const RAW = { form: 'raw', compression: 'identity' };
const OWN_BUILD = ownBuild();

/**
 * A SUT node for tests: a real gRPC server of the .proto file alone, with none of longhaul's
 * codecs. It keeps every part that it gets.
 */
export class FakeSutNode {
  readonly parts: WirePart[] = [];
  readonly streams: Stream[] = [];
  nameCount = 0;
  /** The last Open that it got. */
  open: Message | undefined;
  isClosedByPeer = false;
  address = '';
  readonly #server = new Server({ 'grpc.max_receive_message_length': -1 });
  readonly #behaviour: FakeBehaviour;
  readonly #identity: string;
  /** Stream of the message that came last: answers go there. */
  #last: Stream | undefined;
  #readyCount = 0;
  readonly #counts = { completed: 0, failed: 0, responseBytes: 0 };

  private constructor(behaviour: FakeBehaviour) {
    this.#behaviour = behaviour;
    const { name = 'fake', identity = `identity of ${name} ${Math.random()}` } = behaviour;
    this.#identity = identity;
  }

  static async start(behaviour: FakeBehaviour = {}): Promise<FakeSutNode> {
    const node = new FakeSutNode(behaviour);
    const { service } = (behaviour.build ?? OWN_BUILD).Client;
    const infer = service['Infer'] as (typeof service)[string];
    const responseSerialize = (message: Message | Buffer): Buffer =>
      Buffer.isBuffer(message) ? message : infer.responseSerialize(message);
    const methods = { ...service, Infer: { ...infer, responseSerialize } };
    node.#server.addService(methods, node.#handlers());
    node.address = await listen(node.#server);
    return node;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  /** Ids of all samples that were received, in order. */
  get sampleIds(): number[] {
    return this.parts.flatMap((part) => part.samples.map((sample) => sample.id));
  }

  complete(ids: readonly number[], payload: Uint8Array = Buffer.from([1, 2, 3, 4])): void {
    this.#counts.completed += ids.length;
    this.#counts.responseBytes += ids.length * payload.length;
    const { durations } = this.#behaviour;
    this.say({ responses: { completed: ids.map((id) => ({ id, payload, durations })) } });
  }

  /**
   * The same with tokens, int32: what is streamed first, the response, and how many are counted.
   */
  generate(
    ids: readonly number[],
    { first, tokens, count }: { first: number; tokens: readonly number[]; count: number },
  ): void {
    const bytesOf = (...list: readonly number[]) => new Uint8Array(Int32Array.from(list).buffer);
    const payload = bytesOf(...tokens);
    this.#counts.completed += ids.length;
    this.#counts.responseBytes += ids.length * payload.length;
    const firstTokens = ids.map((id) => ({ id, payload: bytesOf(first) }));
    this.say({
      responses: {
        // Only where the run asks for them.
        firstTokens: this.open?.['tokenLatencies'] === true ? firstTokens : [],
        completed: ids.map((id) => ({ id, payload, tokenCount: count })),
      },
    });
  }

  fail(ids: readonly number[], text: string, code = 'FAILURE_CODE_BAD_SAMPLE'): void {
    this.#counts.failed += ids.length;
    this.say({ responses: { failed: ids.map((id) => ({ id, code, text })) } });
  }

  grant(samples: number, bytes: number): void {
    this.say({ credit: { samples, bytes } });
  }

  drain(reason: string): void {
    this.say({ draining: { reason } });
  }

  /** Sends a message of the stream, or any bytes in its place. */
  say(message: Message | Buffer): void {
    this.#stream.write(message);
  }

  /** Ends the stream from this side. */
  end(): void {
    this.#stream.end();
  }

  /** Ends the stream with a status that is not OK. */
  endWith(code: number, details: string): void {
    this.#stream.emit('error', { code, details });
  }

  get #stream(): Stream {
    const stream = this.#last ?? this.streams.at(-1);
    if (stream === undefined) throw new Error('no stream is open');
    return stream;
  }

  #handlers(): Record<string, Unary | ((stream: Stream) => void)> {
    const { name = 'fake', nameOf = () => name, benchmark = 'digits' } = this.#behaviour;
    const { features = [], says = {}, system, without = [], mute = [] } = this.#behaviour;
    const nodeIdentity = this.#identity;
    const models = [{ benchmark, model: 'fake', encodings: [RAW], ...says.Model }];
    const versions = { protocolVersionMin: 1, protocolVersionMax: 1 };
    const handlers: Record<string, Unary> = {
      Name: ({ request: { nonce } }, callback) => {
        const own = nameOf(this.nameCount);
        this.nameCount += 1;
        if (own === undefined) {
          this.stop();
          callback({ code: status.UNAVAILABLE, details: 'the node is gone' });
        } else callback(null, { name: own, nodeIdentity, nonce, ...says.Name });
      },
      Describe: (_call, callback) => {
        const own = nameOf(this.nameCount) ?? name;
        callback(null, {
          ...{ name: own, nodeIdentity, ...versions, features, models, ...says.Describe },
        });
      },
      Ready: ({ request }, callback) => {
        const answer = this.#behaviour.notReady?.[this.#readyCount];
        this.#readyCount += 1;
        const ready = request['benchmark'] === benchmark;
        const detail = ready ? '' : 'another one';
        callback(null, answer ?? { ready, state: 'NODE_STATE_READY', detail });
      },
      Ledger: ({ request }, callback) =>
        callback(null, { ...this.#ledger(), runId: request['runId'], ...says.Ledger }),
      ...(system !== undefined && {
        DescribeSystem: (_call, callback) => callback(null, system as Message),
      }),
    };
    for (const call of without) delete handlers[call];
    if (mute.includes('Ready')) handlers['Ready'] = () => {};
    const infer = (stream: Stream): void => {
      this.streams.push(stream);
      stream.on('data', (message: Message) => this.#onMessage(stream, message));
      stream.on('error', () => {});
    };
    return { ...handlers, Infer: infer };
  }

  #onMessage(stream: Stream, { open, part, close }: Message): void {
    this.#last = stream;
    if (part) this.#onPart(part as WirePart);
    if (open && !this.#behaviour.mute?.includes('Open')) this.#answerOpen(stream, open as Message);
    if (close) {
      this.isClosedByPeer = true;
      this.#behaviour.onClose?.(this);
      if (this.#behaviour.ignoresClose !== true) stream.end();
    }
  }

  #onPart(part: WirePart): void {
    this.parts.push(part);
    const { onPart } = this.#behaviour;
    if (onPart !== undefined) onPart(this, part);
    else this.complete(part.samples.filter(isLastPiece).map((sample) => sample.id));
  }

  #answerOpen(stream: Stream, open: Message): void {
    this.open = open;
    const { benchmark = 'digits', features = [], says } = this.#behaviour;
    if (open['benchmark'] !== benchmark) {
      stream.emit('error', { code: status.FAILED_PRECONDITION, details: 'unknown benchmark' });
      return;
    }
    const { credit = { samples: 10_000, bytes: 2 ** 30 } } = this.#behaviour;
    const { partBytesMax = 2 ** 22, sampleBytesMax = 2 ** 28 } = this.#behaviour;
    const asked = (open['features'] ?? []) as readonly string[];
    const agreed = features.filter((feature) => asked.includes(feature));
    const limits = { partBytesMax, sampleBytesMax };
    const opened = { protocolVersion: 1, encodings: [0], features: agreed, credit, limits };
    this.say({ opened: { ...opened, ...says?.Opened } });
  }

  #ledger(): Message {
    const { parts } = this;
    const samples = parts.flatMap((part) => part.samples);
    return {
      known: parts.length > 0,
      queryCount: new Set(parts.map((part) => part.query)).size,
      partCount: parts.length,
      sampleCount: samples.filter(({ offset }) => !offset).length,
      payloadBytes:
        samples.reduce((sum, sample) => sum + sample.payload.length, 0) +
        parts.reduce((sum, part) => sum + (part.queryPayload?.length ?? 0), 0),
      completedCount: this.#counts.completed,
      failedCount: this.#counts.failed,
      responseBytes: this.#counts.responseBytes,
      ...(this.#behaviour.features?.includes(PAYLOAD_DIGESTS_FEATURE) && this.#digest()),
    };
  }

  /** The digest of the samples that Open asks for, their pieces put together. */
  #digest(): Message {
    const pieces = new Map<number, Uint8Array[]>();
    for (const { id, payload } of this.parts.flatMap((part) => part.samples)) {
      pieces.set(id, [...(pieces.get(id) ?? []), payload]);
    }
    const sum = new PayloadDigestSum(Number(this.open?.['digestPerMillion'] ?? 0));
    for (const [id, list] of pieces) sum.add(id, sha256Words(list));
    return { payloadDigest: sum.toBytes(), digestedSampleCount: sum.count };
  }
}

function isLastPiece({ offset, payload, total }: WirePart['samples'][number]): boolean {
  return !total || offset + payload.length === total;
}

/** Starts a gRPC server on a free port of loopback. @returns Its address. */
export async function listen(
  server: Server,
  credentials: ServerCredentials = ServerCredentials.createInsecure(),
): Promise<string> {
  return await new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, port) =>
      error === null ? resolve(`127.0.0.1:${port}`) : reject(error),
    );
  });
}

/** Starts one for each behaviour; they end with the running test. */
export async function startEach<B extends readonly unknown[], T extends { stop(): void }>(
  behaviours: B,
  start: (behaviour: B[number]) => Promise<T>,
): Promise<{ -readonly [K in keyof B]: T }> {
  const started = await Promise.all(behaviours.map(start));
  onTestFinished(() => {
    for (const one of started) one.stop();
  });
  return started as { -readonly [K in keyof B]: T };
}

export function fakeSutNodes<const B extends readonly FakeBehaviour[]>(...behaviours: B) {
  return startEach(behaviours, FakeSutNode.start);
}

/** Sample i has `i + 1` bytes of value i, so that length and contents tell which it is. */
export const COUNTED_PAYLOADS: SamplePayloads = {
  encoding: { form: 'raw', compression: 'identity' },
  payloadOf: (index) => new Uint8Array(index + 1).fill(index),
};

/** Settings for these nodes, with short waits. */
export function settingsFor(
  list: readonly { readonly address: string }[],
  more: Partial<DispatchSettings> = {},
): DispatchSettings {
  return {
    ...defaultDispatchSettings(list.map((node) => node.address)),
    benchmark: 'digits',
    callTimeoutMs: 2000,
    ...more,
  };
}

/** A QDL that has opened its streams to these nodes. */
export async function openQdl(
  list: readonly { readonly address: string }[],
  more: Partial<DispatchSettings> = {},
  payloads: SamplePayloads = COUNTED_PAYLOADS,
): Promise<{ qdl: QueryDispatchLibrary; sink: RecordingSink }> {
  return await startQdl(settingsFor(list, more), payloads, new RecordingSink());
}

/** A QDL that has opened its streams. */
export async function startQdl<S extends RecordingSink>(
  settings: DispatchSettings,
  payloads: SamplePayloads,
  sink: S,
): Promise<{ qdl: QueryDispatchLibrary; sink: S }> {
  const qdl = await createQueryDispatchLibrary(settings, payloads);
  await qdl.connect();
  await qdl.name();
  await qdl.start(sink);
  return { qdl, sink };
}

/** A query of these samples. */
export function queryOf(id: number, firstResponseId: number, indices: readonly number[]): Query {
  return {
    id,
    firstResponseId,
    sampleIndices: Uint32Array.from(indices),
    sampleOffset: 0,
    sampleCount: indices.length,
    responseIdStride: 1,
  };
}
