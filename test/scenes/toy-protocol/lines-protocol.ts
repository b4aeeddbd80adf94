import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type {
  ChannelEvents,
  ChannelPlace,
  DispatchChannel,
  OutgoingPart,
} from '../../../qdl/dispatch/dispatch-channel.ts';
import {
  askOnce,
  type NamedNode,
  NetworkNames,
  type NodeName,
} from '../../../qdl/dispatch/network-name.ts';
import { OutstandingTable } from '../../../qdl/dispatch/outstanding-table.ts';
import type {
  ChannelCounts,
  OpenedChannels,
  ProtocolDriver,
  QdlNode,
} from '../../../qdl/dispatch/query-dispatch-library.ts';
import { evidenceOfOneEnd, RunLedgerCounter } from '../../../qdl/dispatch/run-ledger.ts';
import type { DispatchSettings } from '../../../qdl/index.ts';
import type { Protocol } from '../../../qdl/protocols/index.ts';
import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { sutLost } from '../../../shared/base/errors/mlperf-error.ts';
import { splitAddress } from '../../../shared/domain/node-address.ts';
import { ClaimBook } from '../../../shared/evidence/node-claims.ts';
import type { LinesAnswer, LinesRequest } from './lines-server.ts';

/** Samples in a line, and samples outstanding on a server. */
const SAMPLES_MAX = 1;
const OUTSTANDING_MAX = 1_024;

/** A connection to a server, in lines of JSON. */
class LinesConnection implements NamedNode {
  readonly address: string;
  readonly #socket: Socket;
  /** Takes each answer. */
  onAnswer: (answer: LinesAnswer) => void = () => {};
  onEnd: () => void = () => {};
  #isClosed = false;

  constructor(address: string) {
    this.address = address;
    this.#socket = connect({ ...splitAddress(address), port: splitAddress(address)?.port ?? 0 });
    this.#socket.setNoDelay(true);
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      if (!this.#isClosed) this.onEnd();
    });
    const lines = createInterface({ input: this.#socket });
    lines.on('line', (line) => this.onAnswer(JSON.parse(line) as LinesAnswer));
  }

  send(request: LinesRequest): void {
    this.#socket.write(`${JSON.stringify(request)}\n`);
  }

  async name(): Promise<NodeName> {
    const begin = performance.now();
    const name = await new Promise<string>((resolve, reject) => {
      this.onAnswer = (answer) => resolve(answer.name ?? '');
      this.onEnd = () => reject(sutLost(`SUT node ${this.address} closed the connection`));
      this.send({ asks: 'name' });
    });
    const path = { loadgen: null, responseHeaders: [], sut: null, requestHeaders: null };
    return {
      ...{ address: this.address, name, identity: '' },
      roundTripNs: Math.round((performance.now() - begin) * 1e6),
      path: { ...path, requestHeadersLeftOut: 0 },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }
}

/** The samples of a run on one connection. */
class LinesChannel implements DispatchChannel {
  readonly place: ChannelPlace;
  readonly outstanding: OutstandingTable;
  readonly connection: LinesConnection;
  #isOpen = true;

  constructor(place: ChannelPlace, events: ChannelEvents) {
    this.place = place;
    this.outstanding = new OutstandingTable(place, OUTSTANDING_MAX);
    this.connection = new LinesConnection(place.address);
    this.connection.onEnd = () => {
      this.#isOpen = false;
      events.onLost(this, sutLost(`SUT node ${place.address} closed the connection`));
    };
    this.connection.onAnswer = ({ id = Number.NaN, payload = '' }) => {
      const bytes = Buffer.from(payload, 'base64') as Uint8Array as BorrowedBytes; // Of this answer alone.
      const sample = { payload: bytes, tokenCount: undefined, durations: undefined };
      events.onCompleted(this, id, sample, events.nowNs());
      events.onRoom();
    };
  }

  canTake(sampleCount: number, bytes: number): boolean {
    return this.hasCreditFor(sampleCount, bytes);
  }

  hasCreditFor(sampleCount: number, _bytes: number): boolean {
    return this.#isOpen && this.outstanding.canTake(sampleCount);
  }

  send({ samples }: OutgoingPart): undefined {
    const encoded = samples.map(({ id, payload }) => ({
      id,
      payload: Buffer.from(payload).toString('base64'),
    }));
    this.connection.send({ samples: encoded });
  }

  releaseAll(): Float64Array {
    return this.outstanding.releaseAll();
  }

  dropUnsent(): void {}

  retire(): void {
    this.#isOpen = false;
  }
}

class LinesDriver implements ProtocolDriver {
  readonly nodes: readonly QdlNode[];
  readonly names: NetworkNames;
  readonly #settings: DispatchSettings;
  readonly #connections: readonly LinesConnection[];
  #channels: readonly LinesChannel[] = [];

  constructor(settings: DispatchSettings) {
    this.#settings = settings;
    this.#connections = settings.nodes.map((address) => new LinesConnection(address));
    this.names = new NetworkNames(this.#connections, settings.division);
    this.nodes = settings.nodes.map(linesNode);
  }

  async connect(): Promise<void> {}

  channelCounts(): ChannelCounts {
    return { channelsPerNode: 1, connectionsPerNode: 1, nodeOutstandingMax: OUTSTANDING_MAX };
  }

  async openChannels(
    places: readonly ChannelPlace[],
    events: ChannelEvents,
  ): Promise<OpenedChannels> {
    this.#channels = places.map((place) => new LinesChannel(place, events));
    const bytesMax = this.#settings.messageBytesMax;
    const limits = { bytesMax, sampleBytesMax: bytesMax, samplesMax: SAMPLES_MAX };
    return { channels: this.#channels, limits };
  }

  async closeChannels(): Promise<void> {
    for (const { connection } of this.#channels) connection.close();
  }

  async compareLedgers(): Promise<readonly string[]> {
    return [];
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close();
  }

  evidence(): { readonly protocol: string } {
    return { protocol: LINES_PROTOCOL.name };
  }
}

function linesNode(address: string): QdlNode {
  const ledger = new RunLedgerCounter();
  const claims = new ClaimBook();
  return {
    ...{ address, ledger, claims },
    evidence: () => evidenceOfOneEnd(address, { ledger, claims }, 'lines have no counts'),
  };
}

/** A JSON object per line, over TCP: a protocol that no file of the program names. */
export const LINES_PROTOCOL: Protocol = {
  name: 'lines',
  title: 'lines of JSON',
  scheme: 'lines',
  traits: {
    peer: 'server',
    message: 'request',
    hasLedger: false,
    hasDigests: false,
    hasNameEcho: false,
    hasDurations: false,
    tokenTimes: 'none',
    hasWarmUp: false,
    hasCompression: false,
  },
  words: {
    nameCall: 'name',
    methods: {},
    idleStreams: '',
    wire: {
      transport: 'lines of JSON',
      framing: 'a line has its names and its end.',
      uncompressed: '',
      answerHeaders: { sender: 'a line', names: [] },
    },
    evidence: { shown: ['Lines have no counts.'], proxies: '', beyond: 'Nothing is beyond lines.' },
  },
  options: {},
  nameOptions: {},
  settings: () => ({ name: 'lines' }),
  plan: () => ({ prepare: null, preparePayloads: null }),
  check: () => {},
  hasHeaders: () => false,
  load: async () => ({
    open: (settings) => new LinesDriver(settings),
    askNames: (settings) => {
      const connections = settings.nodes.map((address) => new LinesConnection(address));
      return askOnce(connections, new NetworkNames(connections, settings.division));
    },
  }),
};
