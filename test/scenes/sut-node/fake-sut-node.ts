import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { DescribeSystemResponse } from '../../../proto/gen/mlperf/network/v1/DescribeSystemResponse.ts';
import type { LedgerResponse } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import type { SamplePayloads } from '../../../shared/domain/query-sample-library.ts';
import type { Query, ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import { decodePart, isPart, type WirePart } from '../../../shared/wire/part-codec.ts';
import { encodeResponses } from '../../../shared/wire/responses-codec.ts';
import {
  decodeLoadGenMessage,
  encodeSutMessage,
  SUT_SERVICE,
  type SutServiceHandlers,
} from '../../../shared/wire/sut-contract.ts';
import { RecordingSink } from '../../support/samples/recording-sink.ts';

/** What a fake node does; every part has an honest default. */
export interface FakeBehaviour {
  readonly name?: string;
  /** Name for every call, by the number of the call from 0; wins over `name`. */
  readonly nameOf?: (call: number) => string;
  /** Never answers these. */
  readonly mute?: readonly ('Ready' | 'Open')[];
  /** Version in Opened, whatever Open asked for. */
  readonly openedVersion?: number;
  readonly identity?: string;
  /** Identity told in Opened, where it is another one than Name's; default: none. */
  readonly openedIdentity?: string;
  /** Told in Opened; default: no name, and the one encoding that Open offers. */
  readonly openedName?: string;
  readonly openedEncodings?: readonly number[];
  readonly echoesNonce?: boolean;
  readonly benchmark?: string;
  /** Tells no model and is not ready, as a node that is still loading. */
  readonly isLoading?: boolean;
  /** What Describe tells of the model; the encoding's form is `raw` unless it is said. */
  readonly model?: {
    readonly model?: string;
    readonly sha256?: string;
    readonly isStandIn?: boolean;
  };
  readonly form?: string;
  readonly protocolVersion?: number;
  /** Totals granted at Opened; more credit comes only when a test calls `grant`. */
  readonly credit?: { readonly samples: number; readonly bytes: number };
  readonly partBytesMax?: number;
  readonly sampleBytesMax?: number;
  /** Called for every part; answers by `complete`, `fail` or not at all. Default: completes all. */
  readonly onPart?: (node: FakeSutNode, part: WirePart) => void;
  /** Optional parts of the protocol that Describe offers, and those that Opened confirms. */
  readonly features?: readonly string[];
  readonly openedFeatures?: readonly string[];
  /** What every response tells of the node's own time; default: nothing. */
  readonly durations?: ServiceTimes;
  /** Called at Close, before the stream ends. */
  readonly onClose?: (node: FakeSutNode) => void;
  /** Does not end the stream when the QDL says Close. */
  readonly ignoresClose?: boolean;
  /** What it says of its machine; without it the node is one from before that question. */
  readonly system?: DescribeSystemResponse;
  readonly ledger?: (honest: LedgerResponse) => LedgerResponse;
}

type Stream = ServerDuplexStream<Buffer, Buffer>;

/**
 * A SUT node for tests: a real gRPC server that speaks the native protocol and keeps every part that
 * it received, so that a test can look at what the QDL really sent.
 */
export class FakeSutNode {
  readonly parts: WirePart[] = [];
  readonly streams: Stream[] = [];
  nameCount = 0;
  isClosedByPeer = false;
  address = '';
  readonly #server = new Server({ 'grpc.max_receive_message_length': -1 });
  readonly #behaviour: FakeBehaviour;
  /** Stream of the message that came last: answers go there. */
  #last: Stream | undefined;
  readonly #counts = { completed: 0, failed: 0, responseBytes: 0 };

  private constructor(behaviour: FakeBehaviour) {
    this.#behaviour = behaviour;
  }

  static async start(behaviour: FakeBehaviour = {}): Promise<FakeSutNode> {
    const node = new FakeSutNode(behaviour);
    node.#server.addService(SUT_SERVICE, node.#handlers());
    const port = await new Promise<number>((resolve, reject) => {
      node.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    node.address = `127.0.0.1:${port}`;
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
    const completed = ids.map((id) => ({
      id,
      payload,
      encoding: 0,
      tokenCount: undefined,
      durations: this.#behaviour.durations,
      offset: 0,
      total: 0,
    }));
    this.#stream.write(encodeResponses({ firstTokens: [], completed, failed: [] }));
  }

  fail(id: number, text: string): void {
    this.#counts.failed += 1;
    this.#stream.write(
      encodeResponses({ firstTokens: [], completed: [], failed: [{ id, code: 1, text }] }),
    );
  }

  grant(samples: number, bytes: number): void {
    this.#stream.write(encodeSutMessage({ credit: { samples, bytes } }));
  }

  drain(reason: string): void {
    this.#stream.write(encodeSutMessage({ draining: { reason } }));
  }

  send(bytes: Buffer): void {
    this.#stream.write(bytes);
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

  #handlers(): SutServiceHandlers {
    const { name = 'fake', identity, echoesNonce = true, benchmark = 'digits' } = this.#behaviour;
    const { protocolVersion: version = 1, model, form = 'raw', system } = this.#behaviour;
    const nodeIdentity = identity ?? `identity of ${name} ${Math.random()}`;
    return {
      Name: (call, callback) => {
        const said = this.#behaviour.nameOf?.(this.nameCount) ?? name;
        this.nameCount += 1;
        callback(null, { name: said, nodeIdentity, nonce: echoesNonce ? call.request.nonce : 5 });
      },
      Describe: (_call, callback) =>
        callback(null, {
          name: this.#behaviour.nameOf?.(this.nameCount) ?? name,
          nodeIdentity,
          protocolVersionMin: version,
          protocolVersionMax: version,
          features: [...(this.#behaviour.features ?? [])],
          models: this.#behaviour.isLoading
            ? []
            : [
                {
                  ...{ model: 'fake', ...model, benchmark },
                  encodings: [{ form, compression: 'identity' }],
                },
              ],
        }),
      Ready: (call, callback) => {
        if (this.#behaviour.mute?.includes('Ready')) return;
        if (this.#behaviour.isLoading) {
          callback(null, { ready: false, state: 'NODE_STATE_LOADING' });
          return;
        }
        const ready = call.request.benchmark === benchmark;
        callback(null, { ready, state: 'NODE_STATE_READY', detail: ready ? '' : 'another one' });
      },
      Ledger: (call, callback) => {
        const honest = this.#ledger(call.request.runId);
        callback(null, this.#behaviour.ledger?.(honest) ?? honest);
      },
      ...(system !== undefined && {
        DescribeSystem: (_call, callback) => callback(null, system),
      }),
      Infer: (stream) => {
        this.streams.push(stream);
        stream.on('data', (bytes: Buffer) => this.#onMessage(stream, bytes));
        stream.on('error', () => {});
      },
    };
  }

  #onMessage(stream: Stream, bytes: Buffer): void {
    this.#last = stream;
    if (isPart(bytes)) {
      const part = decodePart(bytes);
      this.parts.push(part);
      const { onPart } = this.#behaviour;
      if (onPart !== undefined) onPart(this, part);
      else this.complete(part.samples.filter(isLastPiece).map((sample) => sample.id));
      return;
    }
    const message = decodeLoadGenMessage(bytes);
    if (message.open && !this.#behaviour.mute?.includes('Open'))
      this.#answerOpen(stream, message.open.benchmark);
    if (message.close) {
      this.isClosedByPeer = true;
      this.#behaviour.onClose?.(this);
      if (this.#behaviour.ignoresClose !== true) stream.end();
    }
  }

  #answerOpen(stream: Stream, benchmark: string): void {
    if (benchmark !== (this.#behaviour.benchmark ?? 'digits')) {
      stream.emit('error', { code: status.FAILED_PRECONDITION, details: 'unknown benchmark' });
      return;
    }
    const { credit = { samples: 10_000, bytes: 2 ** 30 } } = this.#behaviour;
    const { partBytesMax = 2 ** 22, sampleBytesMax = 2 ** 28 } = this.#behaviour;
    stream.write(
      encodeSutMessage({
        opened: {
          protocolVersion: this.#behaviour.openedVersion ?? 1,
          nodeName: this.#behaviour.openedName ?? '',
          nodeIdentity: this.#behaviour.openedIdentity ?? '',
          credit,
          encodings: [...(this.#behaviour.openedEncodings ?? [0])],
          features: [...(this.#behaviour.openedFeatures ?? this.#behaviour.features ?? [])],
          limits: { partBytesMax, sampleBytesMax },
        },
      }),
    );
  }

  #ledger(runId: string): LedgerResponse {
    const samples = this.parts.flatMap((part) => part.samples);
    return {
      runId,
      known: this.parts.length > 0,
      queryCount: new Set(this.parts.map((part) => part.query)).size,
      partCount: this.parts.length,
      sampleCount: samples.filter((sample) => sample.offset === 0).length,
      payloadBytes:
        samples.reduce((sum, sample) => sum + sample.payload.length, 0) +
        this.parts.reduce((sum, part) => sum + (part.queryPayload?.length ?? 0), 0),
      completedCount: this.#counts.completed,
      failedCount: this.#counts.failed,
      responseBytes: this.#counts.responseBytes,
    };
  }
}

function isLastPiece(sample: WirePart['samples'][number]): boolean {
  return sample.total === 0 || sample.offset + sample.payload.length === sample.total;
}

/** The fake nodes of one test file, and a QDL before them. */
export class FakeNodes {
  readonly #nodes: FakeSutNode[] = [];

  async start(...behaviours: FakeBehaviour[]): Promise<FakeSutNode[]> {
    const started = await Promise.all(behaviours.map((behaviour) => FakeSutNode.start(behaviour)));
    this.#nodes.push(...started);
    return started;
  }

  /** For `afterEach`. */
  readonly stop = (): void => {
    for (const node of this.#nodes.splice(0)) node.stop();
  };
}

/** Sample i has `i + 1` bytes of value i, so that length and contents tell which it is. */
export const COUNTED_PAYLOADS: SamplePayloads = {
  encoding: { form: 'raw', compression: 'identity' },
  payloadOf: (index) => new Uint8Array(index + 1).fill(index),
};

/** Settings for these nodes, with short waits. */
export function settingsFor(
  list: readonly FakeSutNode[],
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
  list: readonly FakeSutNode[],
  payloads: SamplePayloads,
  more: Partial<DispatchSettings> = {},
): Promise<{ qdl: QueryDispatchLibrary; sink: RecordingSink }> {
  const qdl = createQueryDispatchLibrary(settingsFor(list, more), payloads);
  const sink = new RecordingSink();
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
